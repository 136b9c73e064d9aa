/* SPDX-License-Identifier: MIT */
/* Foreign text in JSON and HTML: nothing that comes from a recording may become markup or code. */
#ifndef SONDE_CORE_ESCAPE_H
#define SONDE_CORE_ESCAPE_H

#include "core/text.h"

/*
 * Writes s[0..n) as a JSON string with its quotes. Each byte that is no part of valid UTF-8 becomes
 * U+FFFD. in_script: safe inside a <script> element as well: '<', '>' and '&' are written as \u
 * escapes, so no "</script>" or "<!--" can be formed; else only what JSON asks for is escaped.
 */
void escape_json(struct text *t, const char *s, size_t n, bool in_script);

/* Writes s[0..n) as the content of an HTML element or of a quoted attribute; UTF-8 as above. */
void escape_html(struct text *t, const char *s, size_t n);

#endif
