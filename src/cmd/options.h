/* SPDX-License-Identifier: MIT */
/*
 * Command-line options as tables, which the parser, `--help` and the checks of the man pages use.
 *
 *	struct report { bool counts; bool children; const char *input; uint64_t jobs; };
 *
 *	struct report r = {.children = true, .input = "perf.data"};
 *	const struct option_def defs[] = {
 *		OPTION_TEXT('i', "input", &r.input, "FILE", "input file"),
 *		OPTION_SWITCH('n', "show-nr-samples", &r.counts, "show the number of samples"),
 *		OPTION_SWITCH(0, "children", &r.children, "add up what callees took"),
 *		OPTION_UINT('j', "jobs", &r.jobs, "N", "worker threads"),
 *		OPTION_CALL('g', "call-graph", OPTION_OPTIONAL, on_graph, &r, "MODE", "graphs"),
 *		OPTION_END,
 *	};
 *	const struct option_command command = {
 *		.name = "report", .usage = "[options]", .defs = defs,
 *	};
 *	struct option_rest rest;
 *	int rc = options_parse(&command, argc, argv, &rest);  // argv[0] is the command's name
 *	if (rc != OPTIONS_RUN) {
 *		return rc;  // 0 after --help, 129 after a mistake, which was printed
 *	}
 *
 * The rules are those of perf: long options may be abbreviated as long as they are unique, also
 * among the options that only perf has, and perf's take precedence over those marked `yields`;
 * `--no-x` undoes `--x` (and `--x` undoes an option that is called "no-x"); `-ab` is `-a -b`;
 * `-oFILE`, `-o FILE`, `--output FILE` and `--output=FILE` are the same; an optional argument must
 * be attached (`-zLEVEL`, `--threads=SPEC`), except with OPTION_APART; `--` ends the options; the
 * last one of several wins.
 */
#ifndef SONDE_CMD_OPTIONS_H
#define SONDE_CMD_OPTIONS_H

#include "cmd/option.h"

/*
 * The words that are no options: argv[0..argc), NULL-terminated. It points into the parsed argv,
 * which is reordered if `anywhere` is set.
 */
struct option_rest {
	int argc;
	char **argv;
};

#define OPTIONS_RUN (-1)

struct config;

/* Sets the defaults of options_parse from now on; config must stay valid. */
void options_use_config(const struct config *config);

/*
 * Sets the options that configuration files name, then parses argv[1..argc); argv[0] is the
 * command's name. May print help (to stdout), or a mistake and the usage (to stderr). Returns
 * OPTIONS_RUN, 0 after help, or OPTIONS_USAGE.
 */
int options_parse(
        const struct option_command *command, int argc, char **argv, struct option_rest *rest);

/* Prints a mistake that the command found, and the usage. Returns OPTIONS_USAGE. */
int options_mistake(const struct option_command *command, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* Returns the input without -i: as in perf, "-" if standard input is a pipe, else "perf.data". */
const char *options_input(void);

/*
 * Parses "fd:N[,N]" or "fifo:NAME[,NAME]" of --control: descriptors for commands, and for answers
 * (-1: none). arg NULL: without --control. Returns 0, or -1 after printing the mistake.
 */
int options_control(const char *command, const char *arg, int *control_fd, int *ack_fd);

#endif
