/* SPDX-License-Identifier: MIT */
/* Options as entries of tables (options.h parses them). */
#ifndef SONDE_CMD_OPTION_H
#define SONDE_CMD_OPTION_H

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

#define OPTIONS_USAGE 129 /* exit status after a mistake in the options */

/* Parses a whole number, decimal or 0x; false: no number, too large, or followed by other text. */
bool options_number(const char *text, uint64_t *value);

#endif
