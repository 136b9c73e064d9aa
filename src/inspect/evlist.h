/* SPDX-License-Identifier: MIT */
/* Events of a recording as text. */
#ifndef SONDE_INSPECT_EVLIST_H
#define SONDE_INSPECT_EVLIST_H

#include "core/text.h"
#include "file/file.h"

enum inspect_evlist_mode {
	EVLIST_NAMES,
	EVLIST_FREQ, /* with period or frequency */
	EVLIST_DETAIL, /* with all fields of the attr */
	EVLIST_GROUPS /* groups as {a,b} */
};

/* trace_fields: with the fields of tracepoints. */
void inspect_evlist(
        struct text *out, const struct file *f, enum inspect_evlist_mode mode, bool trace_fields);

#endif
