/* SPDX-License-Identifier: MIT */
/* Messages about invalid strings: where the mistake is, and what was probably meant. */
#include "event/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_MOST 64 /* longest name for comparison, in bytes */
#define SHOWN     72 /* columns of the string in a message */

bool word_is(struct word w, const char *text)
{
	return strlen(text) == w.n && memcmp(text, w.p, w.n) == 0;
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

/* Edit distance: letters added, removed or changed, and two neighbours swapped. */
static unsigned distance(struct word a, const char *b)
{
	unsigned rows[3][NAME_MOST + 1];
	unsigned *before = rows[0], *last = rows[1], *now = rows[2], *turn;
	size_t bn = strnlen(b, NAME_MOST);
	size_t an = a.n < NAME_MOST ? a.n : NAME_MOST;
	size_t i, k;

	memset(rows, 0, sizeof(rows));
	for (k = 0; k <= bn; k++) {
		last[k] = (unsigned)k;
	}
	for (i = 1; i <= an; i++) {
		now[0] = (unsigned)i;
		for (k = 1; k <= bn; k++) {
			unsigned best = last[k - 1] + ((a.p[i - 1] | 0x20) != (b[k - 1] | 0x20));

			best = last[k] + 1 < best ? last[k] + 1 : best;
			best = now[k - 1] + 1 < best ? now[k - 1] + 1 : best;
			if (i > 1 && k > 1 && a.p[i - 1] == b[k - 2] && a.p[i - 2] == b[k - 1] &&
			        before[k - 2] + 1 < best) {
				best = before[k - 2] + 1;
			}
			now[k] = best;
		}
		turn = before;
		before = last;
		last = now;
		now = turn;
	}
	return last[bn];
}

void near_offer(struct near *near, const char *name)
{
	unsigned d = distance(near->word, name);
	unsigned most = (unsigned)(near->word.n < 12 ? near->word.n / 3 + 1 : 4);
	size_t i;

	if (near->word.n == 0 || d > most) {
		return;
	}
	for (i = 0; i < near->n; i++) {
		if (word_is(near->best[i], name)) {
			return;
		}
	}
	for (i = near->n < NEAR_MAX ? near->n++ : NEAR_MAX; i > 0 && near->distance[i - 1] > d;
	        i--) {
		if (i < NEAR_MAX) {
			near->best[i] = near->best[i - 1];
			near->distance[i] = near->distance[i - 1];
		}
	}
	if (i < NEAR_MAX) {
		near->best[i] = (struct word){name, strlen(name)};
		near->distance[i] = d;
	}
}

void near_hint(const struct near *near, struct error *err)
{
	char line[256];
	size_t n = 0;
	size_t i;

	for (i = 0; i < near->n && n < sizeof(line); i++) {
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s'%.*s'",
		        i == 0             ? ""
		        : i + 1 == near->n ? " or "
		                           : ", ",
		        (int)near->best[i].n, near->best[i].p);
	}
	if (near->n > 0) {
		(void)event_hint(err, "did you mean %s?", line);
	}
}
