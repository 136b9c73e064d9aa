/* SPDX-License-Identifier: MIT */
/*
 * Finds the names that a mistyped word was probably meant to be.
 *
 *	struct near near = {.word = "ovrhead", .size = 7};
 *
 *	near_offer_text(&near, "overhead"); // and all other valid names
 *	near_text(&near, &text); // "'overhead'"
 */
#ifndef SONDE_CORE_NEAR_H
#define SONDE_CORE_NEAR_H

#include "core/text.h"

#define NEAR_MAX 4

struct near {
	const char *word; /* not NUL-terminated */
	size_t size;
	struct {
		const char *name;
		size_t size;
	} best[NEAR_MAX]; /* the nearest names, the nearest one first */
	unsigned distance[NEAR_MAX];
	size_t n;
};

/* Adds the name if it is similar to the word, and among the nearest; it must outlive `near`. */
void near_offer(struct near *near, const char *name, size_t n);

static inline void near_offer_text(struct near *near, const char *name)
{
	near_offer(near, name, strlen(name));
}

/* Appends "'a', 'b' or 'c'". False: no name is similar, nothing is appended. */
bool near_text(const struct near *near, struct text *out);

/* Appends " (did you mean 'a', 'b' or 'c'?)", or nothing. */
void near_question(const struct near *near, struct text *out);

#endif
