/* SPDX-License-Identifier: MIT */
/* Texts before they are passed to the caller. */
#include "report/report.h"

int report_flush(struct report *r, size_t above)
{
	return text_flush(&r->text, above, r->write, r->arg);
}

void report_text_clean(const struct report *r, struct text *text, size_t start)
{
	const char *separator = r->options.separator;

	for (size_t i = start; separator != NULL && separator[1] == 0 && i < text->n; i++) {
		if (text->p[i] == separator[0]) {
			text->p[i] = '.';
		}
	}
}
