/* SPDX-License-Identifier: MIT */
/* Generated texts: words for the counter, JSON for the parser. */
#include "mill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX   16
#define OBJECT_MAX 160

static char *append_word(char *p, struct rng *r)
{
	static const char syllables[][4] = {"ba", "co", "du", "fer", "gi", "ho", "lam", "mi", "nor",
	        "pu", "ri", "so", "tel", "vu", "wa", "zi"};
	uint64_t x = rng_next(r);
	unsigned n = 1 + (unsigned)(x & 3);

	for (unsigned i = 0; i < n; i++) {
		const char *s = syllables[(x >> (8 + 4 * i)) & 15];

		while (*s != '\0') {
			*p++ = *s++;
		}
	}
	return p;
}

char *corpus_words(struct rng *r, size_t nwords)
{
	char *text = malloc(nwords * WORD_MAX + 1);
	char *p = text;

	if (text == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < nwords; i++) {
		p = append_word(p, r);
		*p++ = i % 11 == 10 ? '\n' : ' ';
	}
	*p = '\0';
	return text;
}

static char *append_object(char *p, struct rng *r)
{
	p += sprintf(p, "{\"name\": \"");
	p = append_word(p, r);
	p += sprintf(p, "\", \"size\": %u, \"parts\": [%u, %u.5, -%u], \"open\": %s},\n",
	        (unsigned)(rng_next(r) % 9000), (unsigned)(rng_next(r) % 50),
	        (unsigned)(rng_next(r) % 70), (unsigned)(rng_next(r) % 30),
	        rng_next(r) & 1 ? "true" : "null");
	return p;
}

char *corpus_json(struct rng *r, size_t nobjects)
{
	char *text = malloc(nobjects * OBJECT_MAX + 8);
	char *p = text;

	if (text == NULL) {
		return NULL;
	}
	*p++ = '[';
	for (size_t i = 0; i < nobjects; i++) {
		p = append_object(p, r);
	}
	memcpy(p, "0]", 3);
	return text;
}
