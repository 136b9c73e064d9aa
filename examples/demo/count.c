/* SPDX-License-Identifier: MIT */
/* A hash table of words with chains. */
#include "mill.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096u

struct word {
	struct word *next;
	const char *text; /* in the caller's text */
	size_t length;
	size_t seen;
};

struct table {
	struct word *buckets[BUCKETS];
	size_t distinct;
};

static uint32_t hash_word(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ (uint8_t)s[i]) * 16777619u;
	}
	return h;
}

static struct word *find_word(struct word *w, const char *s, size_t n)
{
	while (w != NULL && (w->length != n || memcmp(w->text, s, n) != 0)) {
		w = w->next;
	}
	return w;
}

static void add_word(struct table *t, const char *s, size_t n)
{
	struct word **bucket = &t->buckets[hash_word(s, n) % BUCKETS];
	struct word *w = find_word(*bucket, s, n);

	if (w == NULL) {
		w = calloc(1, sizeof(*w));
		if (w == NULL) {
			return;
		}
		w->text = s;
		w->length = n;
		w->next = *bucket;
		*bucket = w;
		t->distinct++;
	}
	w->seen++;
}

static void split_words(struct table *t, const char *text)
{
	while (*text != '\0') {
		size_t n = strcspn(text, " \n");

		if (n != 0) {
			add_word(t, text, n);
		}
		text += n + (text[n] != '\0');
	}
}

static void free_table(struct table *t)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		while (t->buckets[i] != NULL) {
			struct word *w = t->buckets[i];

			t->buckets[i] = w->next;
			free(w);
		}
	}
	free(t);
}

size_t count_words(const char *text)
{
	struct table *t = calloc(1, sizeof(*t));
	size_t distinct;

	if (t == NULL) {
		return 0;
	}
	split_words(t, text);
	distinct = t->distinct;
	free_table(t);
	return distinct;
}
