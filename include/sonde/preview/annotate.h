/* SPDX-License-Identifier: MIT */
/*
 * Prints the instructions of functions, with the share of samples at each one and the source lines
 * they were made of. Preview: may change in any release.
 */
#ifndef SONDE_PREVIEW_ANNOTATE_H
#define SONDE_PREVIEW_ANNOTATE_H

#include <sonde/preview/filter.h>
#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a percentage is a share of. */
enum sonde_annotate_percent {
	SONDE_ANNOTATE_LOCAL_PERIOD, /* periods of the function's samples */
	SONDE_ANNOTATE_LOCAL_HITS, /* number of the function's samples */
	SONDE_ANNOTATE_GLOBAL_PERIOD, /* periods of all samples of the event */
	SONDE_ANNOTATE_GLOBAL_HITS /* number of all samples of the event */
};

struct sonde_annotate_options {
	size_t size; /* sizeof(struct sonde_annotate_options) of the caller */
	const char *symbol; /* a function's name; NULL: all functions with samples */
	struct sonde_filter filter; /* only these samples count */
	enum sonde_annotate_percent percent;
	double min_percent; /* leave out functions with a smaller share of all samples; 0: none */
	bool group; /* all events side by side; else only those that were recorded as a group */
	bool show_samples; /* numbers of samples in place of percentages */
	bool show_period; /* sums of periods in place of percentages */
	bool print_line; /* the line of each instruction, and a summary by line */
	bool full_paths;
	bool no_source;
	bool raw; /* the bytes of instructions */
	bool intel; /* Intel's syntax, not that of AT&T */
	bool json; /* see doc/json.md; without the members above from show_samples on */
};

/*
 * Counts all samples by address and prints each function, the one with the largest sum of periods
 * first, event after event, in pieces to `write`, on the calling thread. Functions whose code is
 * not found are reported as SONDE_DIAG_NOT_SHOWN. The session must be open; options may be NULL.
 *
 * 1; 0: no function was printed; SONDE_EARG: wrong options, or the session is not open;
 * SONDE_EUNSUPPORTED: this build has no disassembler; SONDE_ENOMEM; SONDE_EOUTPUT.
 * sonde_session_error has the text.
 */
SONDE_API int sonde_annotate_print(struct sonde_session *s,
        const struct sonde_annotate_options *options, sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
