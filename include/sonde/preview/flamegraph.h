/* SPDX-License-Identifier: MIT */
/*
 * A recording as a flame graph: one HTML page that needs nothing but a browser.
 * Preview: names and shapes here may change between releases.
 */
#ifndef SONDE_PREVIEW_FLAMEGRAPH_H
#define SONDE_PREVIEW_FLAMEGRAPH_H

#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first event that has samples. */
#define SONDE_FLAMEGRAPH_FIRST_EVENT SIZE_MAX

struct sonde_flamegraph_options {
	size_t size; /* sizeof(struct sonde_flamegraph_options) of the caller */
	const char *title; /* UTF-8; NULL: "Flame graph" */
	size_t event; /* 0 .. sonde_session_events() - 1, or SONDE_FLAMEGRAPH_FIRST_EVENT */
};

/*
 * Counts all samples of one event by call chain, on the session's workers, and hands the page to
 * `write` piece by piece, on the calling thread. The session must be open; options may be NULL. The
 * bytes are the same for any number of workers.
 *
 * 1; 0: the page was written, but the event has no samples; SONDE_EARG: no such event;
 * SONDE_ENOMEM; SONDE_EOUTPUT. sonde_session_error has the words.
 */
SONDE_API int sonde_flamegraph_write(struct sonde_session *s,
        const struct sonde_flamegraph_options *options, sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
