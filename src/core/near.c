/* SPDX-License-Identifier: MIT */
#include "core/near.h"

#define NAME_MOST 64 /* longest name for comparison, in bytes */

/* Edit distance: letters added, removed or changed, and two neighbours swapped. */
static unsigned distance(const char *a, size_t an, const char *b, size_t bn)
{
	unsigned rows[3][NAME_MOST + 1];
	unsigned *before = rows[0], *last = rows[1], *now = rows[2], *turn;
	size_t i, k;

	an = an < NAME_MOST ? an : NAME_MOST;
	bn = bn < NAME_MOST ? bn : NAME_MOST;
	memset(rows, 0, sizeof(rows));
	for (k = 0; k <= bn; k++) {
		last[k] = (unsigned)k;
	}
	for (i = 1; i <= an; i++) {
		now[0] = (unsigned)i;
		for (k = 1; k <= bn; k++) {
			unsigned best = last[k - 1] + ((a[i - 1] | 0x20) != (b[k - 1] | 0x20));

			best = last[k] + 1 < best ? last[k] + 1 : best;
			best = now[k - 1] + 1 < best ? now[k - 1] + 1 : best;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
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

void near_offer(struct near *near, const char *name, size_t n)
{
	unsigned d = distance(near->word, near->size, name, n);
	unsigned most = (unsigned)(near->size < 12 ? (near->size + 1) / 3 : 4);
	size_t i;

	if (near->size <= n && memcmp(near->word, name, near->size) == 0 && d > most) {
		d = most; /* a name that begins with the word */
	}
	if (near->size == 0 || d > most) {
		return;
	}
	for (i = 0; i < near->n; i++) {
		if (near->best[i].size == n && memcmp(near->best[i].name, name, n) == 0) {
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
		near->best[i].name = name;
		near->best[i].size = n;
		near->distance[i] = d;
	}
}

bool near_text(const struct near *near, struct text *out)
{
	for (size_t i = 0; i < near->n; i++) {
		text_str(out, i == 0 ? "'" : i + 1 == near->n ? " or '" : ", '");
		text_bytes(out, near->best[i].name, near->best[i].size);
		text_char(out, '\'');
	}
	return near->n != 0 && !out->failed;
}

void near_question(const struct near *near, struct text *out)
{
	if (near->n != 0) {
		text_str(out, " (did you mean ");
		(void)near_text(near, out);
		text_str(out, "?)");
	}
}
