/* SPDX-License-Identifier: MIT */
/*
 * Build ids from the user: "ID PATH" for each, with commas between them in an option, in lines of a
 * file, as `perf buildid-list` prints them.
 */
#include "edit/inside.h"

#include "core/array.h"
#include "image/image.h"

#include <ctype.h>
#include <stdlib.h>

#define FILE_PREFIX "file://"

static unsigned digit_of(char c)
{
	int low = tolower((unsigned char)c);

	return (unsigned)(low <= '9' ? low - '0' : low - 'a' + 10);
}

/* Reads the digits of an id; returns their number, 0: there is no id of up to 20 bytes. */
static size_t id_read(struct edit_known_id *out, const char *s, size_t n)
{
	size_t digits = 0;

	while (digits < n && isxdigit((unsigned char)s[digits])) {
		digits++;
	}
	if (digits == 0 || digits % 2 != 0 || digits / 2 > BUILD_ID_MAX) {
		return 0;
	}
	for (size_t i = 0; i < digits; i++) {
		unsigned v = digit_of(s[i]);

		out->id[i / 2] = (uint8_t)(i % 2 == 0 ? v << 4 : out->id[i / 2] | v);
	}
	out->size = (uint8_t)(digits / 2);
	return digits;
}

static int pair_add(struct sonde_editor *e, const char *s, size_t n)
{
	struct edit_known_ids *known = &e->known;
	struct edit_known_id one = {0};
	size_t at;

	while (n != 0 && isspace((unsigned char)*s)) {
		s++, n--;
	}
	while (n != 0 && isspace((unsigned char)s[n - 1])) {
		n--;
	}
	at = n != 0 ? id_read(&one, s, n) : 0;
	if (n == 0) {
		return 0;
	}
	while (at != 0 && at < n && isblank((unsigned char)s[at])) {
		at++;
	}
	if (at <= (size_t)2 * one.size || at == n) {
		return error_set(&e->error, SONDE_EARG, NO_OFFSET,
		        "'%.*s' is no build id and path; write it like '%s /usr/bin/ls'",
		        (int)(n < 200 ? n : 200), s, "0123456789abcdef0123456789abcdef01234567");
	}
	one.path = arena_text(&e->arena, s + at, n - at);
	if (one.path == NULL ||
	        !array_reserve(&known->items, &known->cap, known->n + 1, sizeof(*known->items))) {
		return error_nomem(&e->error);
	}
	known->items[known->n++] = one;
	return 0;
}

static int list_read(struct sonde_editor *e, const char *s, size_t n, char end)
{
	while (n != 0) {
		const char *stop = memchr(s, end, n);
		size_t len = stop != NULL ? (size_t)(stop - s) : n;

		TRY(pair_add(e, s, len));
		len += stop != NULL;
		s += len;
		n -= len;
	}
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct edit_known_id *x = a, *y = b;

	return strcmp(x->path, y->path);
}

int edit_known_read(struct sonde_editor *e, const char *list)
{
	struct image_text text = {0};
	int rc;

	if (strncmp(list, FILE_PREFIX, strlen(FILE_PREFIX)) != 0) {
		rc = list_read(e, list, strlen(list), ',');
	} else {
		rc = image_text_read(&text, list + strlen(FILE_PREFIX), &e->error);
		rc = rc >= 0 ? list_read(e, (const char *)text.bytes, text.size, '\n') : rc;
		free(text.bytes);
	}
	if (e->known.n != 0) {
		qsort(e->known.items, e->known.n, sizeof(*e->known.items), by_path);
	}
	return rc;
}

const struct edit_known_id *edit_known_find(const struct edit_known_ids *known, const char *path)
{
	const struct edit_known_id key = {.path = path};

	return known->n != 0 ? bsearch(&key, known->items, known->n, sizeof(*known->items), by_path)
	                     : NULL;
}
