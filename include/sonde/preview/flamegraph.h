/* SPDX-License-Identifier: MIT */
/*
 * Writes a recording as a flame graph: one HTML page that loads nothing else. Preview: may change in
 * any release.
 */
#ifndef SONDE_PREVIEW_FLAMEGRAPH_H
#define SONDE_PREVIEW_FLAMEGRAPH_H

#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Selects the first event that has samples. */
#define SONDE_FLAMEGRAPH_FIRST_EVENT SIZE_MAX

struct sonde_flamegraph_options {
	size_t size; /* sizeof(struct sonde_flamegraph_options) of the caller */
	const char *title; /* UTF-8; NULL: "Flame graph" */
	size_t event; /* 0 .. sonde_session_events() - 1, or SONDE_FLAMEGRAPH_FIRST_EVENT */
};

/*
 * Counts all samples of one event by call chain, on the session's workers, and passes the page to
 * `write` in pieces, on the calling thread. The bytes do not depend on the number of workers. The
 * session must be open; options may be NULL.
 *
 * 1; 0: the page was written, but the event has no samples; SONDE_EARG: there is no such event, or
 * the session is not open; SONDE_ENOMEM; SONDE_EOUTPUT. sonde_session_error has the text.
 */
SONDE_API int sonde_flamegraph_write(struct sonde_session *s,
        const struct sonde_flamegraph_options *options, sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
