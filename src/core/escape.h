/* SPDX-License-Identifier: MIT */
/* Escapes text for JSON and HTML, so that no text of a recording becomes markup or code. */
#ifndef SONDE_CORE_ESCAPE_H
#define SONDE_CORE_ESCAPE_H

#include "core/text.h"

/*
 * Writes s[0..n) as a JSON string with its quotes. Each byte that is not part of valid UTF-8
 * becomes U+FFFD. in_script: also safe inside a <script> element: '<', '>' and '&' are written as
 * \u escapes, so no "</script>" or "<!--" can occur; else only what JSON requires is escaped.
 */
void escape_json(struct text *t, const char *s, size_t n, bool in_script);

/* Writes s[0..n) as the content of an HTML element or of a quoted attribute; UTF-8 as above. */
void escape_html(struct text *t, const char *s, size_t n);

#endif
