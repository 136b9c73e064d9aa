/* SPDX-License-Identifier: MIT */
/* Events of a recording as text. */
#ifndef SONDE_OUTPUT_EVLIST_H
#define SONDE_OUTPUT_EVLIST_H

#include "core/text.h"
#include "file/file.h"

enum output_evlist_mode {
	EVLIST_NAMES,
	EVLIST_FREQ, /* with period or frequency */
	EVLIST_DETAIL, /* with everything that the attr says */
	EVLIST_GROUPS /* groups as {a,b} */
};

/* trace_fields: with the fields of tracepoints. */
void output_evlist(
        struct text *out, const struct file *f, enum output_evlist_mode mode, bool trace_fields);

#endif
