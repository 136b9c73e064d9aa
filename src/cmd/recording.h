/* SPDX-License-Identifier: MIT */
/*
 * A recording that a command opens, with the options of all such commands. Members are targets of
 * option tables:
 *
 *	struct recording r = RECORDING;
 *	... OPTION_TEXT('i', "input", &r.input, ...), RECORDING_SYMFS(&r.symfs)
 *	struct sonde_session *s = recording_open(&r);
 */
#ifndef SONDE_CMD_RECORDING_H
#define SONDE_CMD_RECORDING_H

#include "cmd/caches.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <sonde/session.h>

#define RECORDING_FAILED 255 /* exit status if it cannot be opened */

#define ROOTS_MAX 64u

/* The folders of several options --symfs. */
struct symfs_list {
	const char *v[ROOTS_MAX + 1]; /* the last one is followed by NULL */
	unsigned n;
};

/* OPTION_CALL for --symfs; the target is a struct symfs_list. */
int recording_symfs(const struct option_def *def, const char *arg, bool unset);
#define RECORDING_SYMFS(list)                                                                      \
	OPTION_CALL(0, "symfs", OPTION_REQUIRED, recording_symfs, (list), "DIR",                   \
	        "look for objects below DIR; may be repeated")

/* Sets the options of a session that correspond to the list, which must outlive it. */
void symfs_list_set(const struct symfs_list *list, struct sonde_session_options *o);

struct recording {
	const char *input;
	struct sonde_session_options session;
	struct symfs_list symfs;
	uint64_t jobs; /* 0: one for each processor */
	bool demangle, force; /* force: files of other users too */
	const char *itrace_bare; /* letters of the option --itrace without letters */
	bool notes; /* show notes about the whole file, which have no consequences for the user */
	unsigned shown; /* diagnostics */
	struct terminal_progress progress;
	struct caches caches;
};

#define RECORDING                                                                                  \
	{                                                                                          \
		.input = options_input(),                                                          \
		.session = {.size = sizeof(struct sonde_session_options)}, .demangle = true        \
	}

/* OPTION_CALL for --itrace[=LETTERS]; the target is a struct recording. */
int recording_itrace(const struct option_def *def, const char *arg, bool unset);
#define RECORDING_ITRACE(r)                                                                        \
	OPTION_CALL(0, "itrace", OPTION_OPTIONAL, recording_itrace, (r), "LETTERS",                \
	        "samples to make of Intel PT traces: i[PERIOD] y b c r x w p e[-o] g G l L sN, "   \
	        "d: a log; "                                                                       \
	        "--no-itrace: "                                                                    \
	        "none")

/* Names the debuginfod servers; NULL: those of $DEBUGINFOD_URLS. Negative: no memory, reported. */
int recording_debuginfod_urls(const char *urls);
/* Prints progress on a terminal, and why no more files are asked for. */
void recording_download_print(const struct sonde_download *d);

/*
 * The option --debuginfod[=URLS]; r: a struct recording; after: perf has options of such a name, which
 * come first when it is cut.
 */
int recording_debuginfod(const struct option_def *def, const char *arg, bool unset);
#define RECORDING_DEBUGINFOD(r, after)                                                             \
	{                                                                                          \
		.long_name = "debuginfod", .kind = OPTION_KIND_CALL, .arg = OPTION_OPTIONAL,       \
		.call = recording_debuginfod, .target = (r), .arg_name = "URLS",                   \
		.help = "ask these servers, or those of DEBUGINFOD_URLS, for missing objects and " \
		        "debug files",                                                             \
		.yields = (after)                                                                  \
	}

/* Opens it; *r must outlive the session. NULL after printing why not. */
struct sonde_session *recording_open(struct recording *r);

/* Prints a warning if part of the recording was not read. Returns whether it did. */
bool recording_damaged(const struct recording *r, const struct sonde_session *s);

#endif
