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
 * among the options that only perf has, and perf's take precedence over those marked `yields`; `--no-x` undoes `--x` (and `--x` undoes an option that is
 * called "no-x"); `-ab` is `-a -b`; `-oFILE`, `-o FILE`, `--output FILE` and `--output=FILE` are
 * the same; an optional argument must be attached (`-zLEVEL`, `--threads=SPEC`), except with
 * OPTION_APART; `--` ends the options; the last one of several wins.
 */
#ifndef SONDE_CMD_OPTIONS_H
#define SONDE_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum option_kind {
	OPTION_KIND_END = 0,
	OPTION_KIND_SWITCH, /* bool: true; --no-x: false */
	OPTION_KIND_COUNT, /* int: incremented each time (-vv); --no-x: 0 */
	OPTION_KIND_TEXT, /* const char *: points into argv; --no-x: NULL */
	OPTION_KIND_UINT, /* uint64_t, decimal or 0x; --no-x: 0 */
	OPTION_KIND_CALL, /* option_fn */
	OPTION_KIND_HEADING, /* no option: `help` is a heading in --help */
	OPTION_KIND_PERF_ONLY /* perf_only.h: perf has it, Sonde does not yet */
};

enum option_arg {
	OPTION_NONE = 0,
	OPTION_REQUIRED,
	OPTION_OPTIONAL, /* without an argument: TEXT is set to fallback; CALL has arg NULL */
	OPTION_APART /* the same, but the next word is the argument unless it begins with '-' */
};

struct option_def;

/*
 * Handles one option. arg is NULL for `--no-x` (unset is true), and without an optional argument.
 * Returns 0, or a negative number after printing the mistake in the argument, without a usage line.
 */
typedef int (*option_fn)(const struct option_def *def, const char *arg, bool unset);

struct option_def {
	char short_name; /* 0: none */
	const char *long_name; /* NULL: none */
	enum option_kind kind;
	enum option_arg arg;
	void *target; /* type by kind; for CALL that of the function, may be NULL */
	bool *given; /* set to true if the option, or its --no-, was given; may be NULL */
	option_fn call; /* CALL only */
	const char *fallback; /* TEXT with OPTION_OPTIONAL */
	const char *arg_name; /* in --help */
	const char
	        *values; /* words for completion of the argument, with blanks between; NULL: none */
	const char *help; /* one line; NULL hides the option from --help */
	bool no_negation; /* --no-x is an error */
	bool each; /* each one counts, not the last one: not set by configuration files */
	bool config_only; /* set only by configuration files */
	bool yields; /* not meant by beginnings of its name that are also those of other options */
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
/* v: values for completion */
#define OPTION_WORD(s, l, t, a, v, h)                                                              \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_TEXT,                     \
		.arg = OPTION_REQUIRED, .target = (t), .arg_name = (a), .values = (v), .help = (h) \
	}
#define OPTION_UINT(s, l, t, a, h)                                                                 \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_UINT,                     \
		.arg = OPTION_REQUIRED, .target = (t), .arg_name = (a), .help = (h)                \
	}
/* how: enum option_arg */
#define OPTION_CALL(s, l, how, f, t, a, h)                                                         \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_CALL, .arg = (how),       \
		.call = (f), .target = (t), .arg_name = (a), .help = (h)                           \
	}
#define OPTION_CALL_WORD(s, l, f, t, a, v, h)                                                      \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_CALL,                     \
		.arg = OPTION_REQUIRED, .call = (f), .target = (t), .arg_name = (a),               \
		.values = (v), .help = (h)                                                         \
	}
/* An option with an argument that may be given several times. */
#define OPTION_EACH(s, l, f, t, a, h)                                                              \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_CALL,                     \
		.arg = OPTION_REQUIRED, .call = (f), .target = (t), .arg_name = (a), .help = (h),  \
		.each = true                                                                       \
	}
#define OPTION_HEADING(h)                                                                          \
	{                                                                                          \
		.kind = OPTION_KIND_HEADING, .help = (h)                                           \
	}
#define OPTION_END                                                                                 \
	{                                                                                          \
		.kind = OPTION_KIND_END                                                            \
	}

/* Appends an array of options to a table that has room for it. Returns the end of the table. */
#define OPTIONS_PUT(to, group)                                                                     \
	((struct option_def *)memcpy((to), (group), sizeof(group)) +                               \
	        sizeof(group) / sizeof((group)[0]))

struct option_command {
	const char *name; /* "record" */
	const char *usage; /* text after the name: "[options] [--] command" */
	const char *about; /* one sentence for --help; may be NULL */
	const struct option_def *defs;
	void (*more)(void); /* prints the rest of --help after the options; may be NULL */
	bool anywhere; /* options may follow other words; else parsing stops at the first word */
	enum { OPTION_ANY_WORDS = 0, OPTION_NO_WORDS, OPTION_ONE_WORD } words; /* besides options */
};

/*
 * The words that are no options: argv[0..argc), NULL-terminated. It points into the parsed argv,
 * which is reordered if `anywhere` is set.
 */
struct option_rest {
	int argc;
	char **argv;
};

#define OPTIONS_RUN   (-1)
#define OPTIONS_USAGE 129 /* exit status after a mistake in the options */

struct config;

/* Sets the defaults of options_parse from now on; config must stay valid. */
void options_use_config(const struct config *config);

/*
 * Sets the options that configuration files name, then parses argv[1..argc); argv[0] is the
 * command's name. May print help (to stdout), or a mistake and
 * the usage (to stderr). Returns OPTIONS_RUN, 0 after help, or OPTIONS_USAGE.
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

/* Parses a whole number, decimal or 0x; false: no number, too large, or followed by other text. */
bool options_number(const char *text, uint64_t *value);

#endif
