/* SPDX-License-Identifier: MIT */
/* Messages about invalid strings: where the mistake is, and what was probably meant. */
#include "event/parts.h"

#include "core/span.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 72 /* columns of the string in a message */

bool word_is(struct word w, const char *text)
{
	return bytes_are(w.p, w.n, text);
}

struct word word_trim(struct word w)
{
	while (w.n > 0 && (*w.p == ' ' || *w.p == '\t' || *w.p == '\n')) {
		w.p++;
		w.n--;
	}
	while (w.n > 0 && (w.p[w.n - 1] == ' ' || w.p[w.n - 1] == '\t' || w.p[w.n - 1] == '\n')) {
		w.n--;
	}
	return w;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

bool word_number(struct word w, uint64_t *value)
{
	unsigned base = w.n > 2 && w.p[0] == '0' && (w.p[1] | 0x20) == 'x' ? 16 : 10;
	uint64_t v = 0;
	size_t i;

	for (i = base == 16 ? 2 : 0; i < w.n; i++) {
		unsigned d = (unsigned)digit(w.p[i]);

		if (d >= base || v > (UINT64_MAX - d) / base) {
			return false;
		}
		v = v * base + d;
	}
	*value = v;
	return w.n > 0;
}

int event_hint(struct error *err, const char *fmt, ...)
{
	va_list ap;
	(void)error_append(err, "\n  ");
	va_start(ap, fmt);
	(void)error_append_v(err, fmt, ap);
	va_end(ap);
	return error_status(err);
}

/* Replaces control characters, which would shift the marks or control the user's terminal. */
static void put_visible(char *out, const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		out[i] = '?';
		if ((unsigned char)s[i] >= ' ' && s[i] != 0x7f) {
			out[i] = s[i];
		}
	}
	out[n] = '\0';
}

int event_fail(const struct parse *p, struct word at, const char *fmt, ...)
{
	size_t offset = (size_t)(at.p - p->text);
	size_t all = strlen(p->text);
	size_t skip = all > SHOWN && offset > SHOWN / 2 ? offset - SHOWN / 2 : 0;
	size_t shown = all - skip < SHOWN ? all - skip : SHOWN;
	size_t marks = at.n == 0 ? 1 : at.n;
	char line[SHOWN + 1], under[2 * SHOWN + 8];
	va_list ap;

	(void)error_set(p->err, SONDE_EARG, offset, "%s", "");
	va_start(ap, fmt);
	(void)error_append_v(p->err, fmt, ap);
	va_end(ap);
	put_visible(line, p->text + skip, shown);
	marks = marks > SHOWN - (offset - skip) ? SHOWN - (offset - skip) : marks;
	marks = marks == 0 ? 1 : marks;
	memset(under, ' ', offset - skip);
	memset(under + (offset - skip), '^', marks);
	under[offset - skip + marks] = '\0';
	return event_hint(p->err, "%s%s%s\n  %s%s", skip > 0 ? ".." : "", line,
	        skip + shown < all ? ".." : "", skip > 0 ? "  " : "", under);
}

void near_hint(const struct near *near, struct error *err)
{
	struct text names = {0};

	if (near_text(near, &names)) {
		(void)event_hint(err, "did you mean %.*s?", (int)names.n, names.p);
	}
	text_fini(&names);
}
