/* SPDX-License-Identifier: MIT */
/*
 * The text of configuration files, in the syntax of perf's:
 *
 *	# a comment; ';' begins one too
 *	[report]
 *		percent-limit = 0.5
 *		sort = "comm,dso"
 *
 * The key of a variable is section.name: report.percent-limit. Rules, as seen of perf 6.1: a
 * section is of letters, digits, '.', '-' and '_'; [a "B c"] is the section a.B c. A name begins
 * with a letter and is of letters, digits, '-' and '_'. Sections, and the first letter of a name,
 * are in lower case. A value ends with its line, unless a backslash is the last character. Blanks
 * around a value are ignored, several within it are one; quotes keep them, and '#' and ';'. \n, \t,
 * \b, \" and \\ are as in C.
 */
#ifndef SONDE_CMD_CONFIG_TEXT_H
#define SONDE_CMD_CONFIG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_WORD_MAX 1024 /* bytes of a key or a value, with NUL */

struct config_variable {
	char key[CONFIG_WORD_MAX];
	char value[CONFIG_WORD_MAX];
	unsigned line; /* of its name, from 1 */
};

struct config_parser {
	const char *p, *end;
	unsigned line; /* after an error: of the mistake */
	size_t section; /* bytes of the present section in `variable.key`, with its dot; 0: none */
	struct config_variable variable; /* the last one */
	const char *name; /* where its name begins in the text */
};

/* Begins to parse n bytes, which must stay valid. */
void config_parse_begin(struct config_parser *c, const char *text, size_t n);

/* Parses the next variable: 1; 0: the end; -1: a mistake in c->line. */
int config_parse_next(struct config_parser *c);

/* Whether text is a key that a file can hold: section.name. */
bool config_key_good(const char *text);

/*
 * Returns the text with the variable set: its last line is replaced, or a line is added to its
 * section, or both at the end. All other bytes stay. The caller frees it; NULL: out of memory, or a
 * key or value that a file cannot hold.
 */
char *config_text_set(const char *text, size_t n, const char *key, const char *value);

#endif
