/* SPDX-License-Identifier: MIT */
/*
 * Views of the Intel PT traces of a recording: calls with entry and exit times, the code that ran,
 * and where two recordings differ. Preview: may change in any release.
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

enum sonde_ptview_cover_format {
	SONDE_PTVIEW_COVER_TEXT,
	SONDE_PTVIEW_COVER_JSON, /* schema sonde-pt-cover, see doc/json.md */
	SONDE_PTVIEW_COVER_LCOV /* a tracefile of lcov and genhtml */
};

struct sonde_ptview_cover_options {
	size_t size; /* sizeof(struct sonde_ptview_cover_options) of the caller */
	enum sonde_ptview_cover_format format;
	bool blocks; /* list blocks too; text and JSON */
	bool no_lines; /* leave out source lines; text and JSON */
	bool all; /* also source files of which no line ran, and functions that did not run */
	const char *objects; /* only these: paths or file names, separated by commas; NULL: all */
};

/*
 * Passes to `write` which functions, blocks and source lines the traces ran, and how often. The session
 * is that of sonde_ptview_calls_write, and so are the results.
 */
SONDE_API int sonde_ptview_cover_write(struct sonde_session *s,
        const struct sonde_ptview_cover_options *options, sonde_write_fn write, void *arg);

struct sonde_ptview_diff_options {
	size_t size; /* sizeof(struct sonde_ptview_diff_options) of the caller */
	bool json; /* schema sonde-pt-diff, see doc/json.md; else text */
	bool no_functions; /* leave out the functions */
	bool kernel; /* compare code of the kernel too */
	const char *objects; /* only the flow of these: paths or file names; NULL: all */
};

/*
 * Compares the traces of two recordings, a thread with the thread that was started at the same place
 * of the other one's order, and passes to `write` the first branch of each that differs, and the
 * functions whose numbers of calls or instructions differ. The sessions are two, as that of
 * sonde_ptview_calls_write.
 *
 * 1: both are the same; 0: they differ; negative as sonde_ptview_calls_write: if a session makes
 * no samples of branches, the text is in its error, else in that of the first one.
 */
SONDE_API int sonde_ptview_diff_write(struct sonde_session *a, struct sonde_session *b,
        const struct sonde_ptview_diff_options *options, sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
