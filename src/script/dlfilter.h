/* SPDX-License-Identifier: MIT */
/* Runs a filter of samples from a shared object (sonde/preview/dlfilter.h). */
#ifndef SONDE_SCRIPT_DLFILTER_H
#define SONDE_SCRIPT_DLFILTER_H

#include "session/session.h"

#include <sonde/preview/script.h>

struct script;
struct script_worker;
struct script_filter;

/*
 * Loads the filter of the options and calls its start; s->filter is NULL without one. SONDE_EARG,
 * SONDE_ENOMEM or SONDE_EIO with a text in the session's error. Call script_filter_close in any
 * case.
 */
int script_filter_open(struct script *s, const struct sonde_script_options *o);
void script_filter_close(struct script *s);

/*
 * Whether the filter keeps a sample, early: before the other filters. 1, 0, or a negative status
 * with a text.
 */
int script_filter_keeps(
        struct script *s, struct script_worker *w, const struct session_sample *sample, bool early);

#endif
