/* SPDX-License-Identifier: MIT */
/* Texts before they are passed to the caller. */
#include "report/report.h"

int report_flush(struct report *r, size_t above)
{
	int rc;

	if (r->text.failed) {
		return SONDE_ENOMEM;
	}
	if (r->text.n <= above) {
		return 0;
	}
	rc = status_of_output(r->write(r->arg, r->text.p, r->text.n));
	r->text.n = 0;
	return rc;
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
