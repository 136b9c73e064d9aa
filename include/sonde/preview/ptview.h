/* SPDX-License-Identifier: MIT */
/*
 * Views of the Intel PT traces of a recording: calls with entry and exit times. Preview: may change
 * in any release.
 */
#ifndef SONDE_PREVIEW_PTVIEW_H
#define SONDE_PREVIEW_PTVIEW_H

#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_ptview_calls_options {
	size_t size; /* sizeof(struct sonde_ptview_calls_options) of the caller */
	bool json; /* schema sonde-pt-calls, see doc/json.md; else text */
	bool no_tree; /* leave out the calls, print only sums */
	uint32_t outliers; /* print at most so many */
	/* Times from each entry of `from` to the next entry of `to` on the same thread; names of
	   functions, which may be equal. Both NULL: none. */
	const char *from, *to;
};

/*
 * Follows the branches of all traces and passes the calls to `write` in pieces. The session must be
 * open, with `itrace` "be" in its options; options may be NULL.
 *
 * 1; 0: the recording has traces, but no branches; SONDE_EARG: the session is not open, it makes no
 * samples of branches of all kinds, or a function of `from` and `to` is not in the trace;
 * SONDE_ENOMEM; SONDE_EOUTPUT. sonde_session_error has the text.
 */
SONDE_API int sonde_ptview_calls_write(struct sonde_session *s,
        const struct sonde_ptview_calls_options *options, sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
