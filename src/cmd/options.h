/* SPDX-License-Identifier: MIT */
/*
 * Command-line options as tables: one table gives the parser, `--help` and the checks of the man
 * pages.
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
 * What a perf user's fingers know holds: long options may be cut short as long as one is meant (of
 * those that perf alone has, too);
 * `--no-x` undoes `--x` (and `--x` undoes an option that is called "no-x"); `-ab` is `-a -b`;
 * `-oFILE`, `-o FILE`, `--output FILE` and `--output=FILE` are the same; an optional argument must
 * be stuck on (`-zLEVEL`, `--threads=SPEC`), unless its option says OPTION_APART; `--` ends the options; the last of several wins.
 */
#ifndef SONDE_CMD_OPTIONS_H
#define SONDE_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_KIND_END = 0,
	OPTION_KIND_SWITCH, /* bool: true; --no-x: false */
	OPTION_KIND_COUNT, /* int: one more each time (-vv); --no-x: 0 */
	OPTION_KIND_TEXT, /* const char *: points into argv; --no-x: NULL */
	OPTION_KIND_UINT, /* uint64_t, decimal or 0x; --no-x: 0 */
	OPTION_KIND_DOUBLE, /* double; --no-x: 0 */
	OPTION_KIND_CALL, /* option_fn */
	OPTION_KIND_HEADING, /* no option: `help` becomes a heading in the table that --help prints
	                      */
	OPTION_KIND_PERF_ONLY /* perf_only.h: perf has it, Sonde does not yet */
};

enum option_arg {
	OPTION_NONE = 0,
	OPTION_REQUIRED,
	OPTION_OPTIONAL, /* TEXT: target is set to fallback without one; CALL: arg is NULL */
	OPTION_APART /* the same, but it may be the next word, unless that begins with a '-' */
};

struct option_def;

/*
 * Takes one option. arg is NULL for `--no-x` (unset is true) and for an optional argument that is
 * not there. Returns 0, or a negative number after printing what is wrong with the argument,
 * without a usage line.
 */
typedef int (*option_fn)(const struct option_def *def, const char *arg, bool unset);

struct option_def {
	char short_name; /* 0: none */
	const char *long_name; /* NULL: none */
	enum option_kind kind;
	enum option_arg arg;
	void *target; /* by kind; for CALL whatever the function wants, may be NULL */
	bool *given; /* NULL, or set to true when the option (or its --no-) was there */
	option_fn call; /* CALL only */
	const char *fallback; /* TEXT with OPTION_OPTIONAL */
	const char *arg_name; /* in --help */
	const char *help; /* one line; NULL hides the option from --help */
	bool no_negation; /* there is no --no-x */
};

#define OPTION_SWITCH(s, l, t, h)                                                                  \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_SWITCH, .target = (t),    \
		.help = (h)                                                                        \
	}
#define OPTION_COUNT(s, l, t, h)                                                                   \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_COUNT, .target = (t),     \
		.help = (h)                                                                        \
	}
#define OPTION_TEXT(s, l, t, a, h)                                                                 \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_TEXT,                     \
		.arg = OPTION_REQUIRED, .target = (t), .arg_name = (a), .help = (h)                \
	}
#define OPTION_UINT(s, l, t, a, h)                                                                 \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_UINT,                     \
		.arg = OPTION_REQUIRED, .target = (t), .arg_name = (a), .help = (h)                \
	}
#define OPTION_DOUBLE(s, l, t, a, h)                                                               \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_DOUBLE,                   \
		.arg = OPTION_REQUIRED, .target = (t), .arg_name = (a), .help = (h)                \
	}
/* how: enum option_arg */
#define OPTION_CALL(s, l, how, f, t, a, h)                                                         \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_CALL, .arg = (how),       \
		.call = (f), .target = (t), .arg_name = (a), .help = (h)                           \
	}
#define OPTION_HEADING(h)                                                                          \
	{                                                                                          \
		.kind = OPTION_KIND_HEADING, .help = (h)                                           \
	}
#define OPTION_END                                                                                 \
	{                                                                                          \
		.kind = OPTION_KIND_END                                                            \
	}

struct option_command {
	const char *name; /* "record" */
	const char *usage; /* what follows the name: "[options] [--] command" */
	const char *about; /* one sentence for --help; may be NULL */
	const struct option_def *defs;
	void (*more)(void); /* prints what --help has after the options; may be NULL */
	bool anywhere; /* options may stand behind other words; else parsing stops at the first word
	                */
};

/*
 * The words that are no options: argv[0..argc) of the result, NULL-terminated. They point into the
 * argv that was parsed, which is put in a new order when `anywhere` is set.
 */
struct option_rest {
	int argc;
	char **argv;
};

#define OPTIONS_RUN   (-1)
#define OPTIONS_USAGE 129 /* exit status after a mistake in the options */

/*
 * Parses argv[1..argc); argv[0] is the command's name. Prints help (on stdout) or a mistake and the
 * usage (on stderr). Returns OPTIONS_RUN, 0 after help, or OPTIONS_USAGE.
 */
int options_parse(
        const struct option_command *command, int argc, char **argv, struct option_rest *rest);

/* For a mistake that the command itself finds: prints it and the usage; returns OPTIONS_USAGE. */
int options_mistake(const struct option_command *command, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* What a command reads without -i: standard input when that is a pipe, as in perf, else perf.data.
 */
const char *options_input(void);

/*
 * "fd:N[,N]" or "fifo:NAME[,NAME]" of --control: descriptors for commands and answers, -1 without
 * these; NULL: none. 0, or -1 after printing what is wrong.
 */
int options_control(const char *command, const char *arg, int *control_fd, int *ack_fd);

/* A whole number, decimal or 0x, nothing behind it; false when it is none or does not fit. */
bool options_number(const char *text, uint64_t *value);

#endif
