/* SPDX-License-Identifier: MIT */
/* Strings that are stored once and identified by a number. Ids count up from 0 and never change. */
#ifndef SONDE_CORE_INTERN_H
#define SONDE_CORE_INTERN_H

#include "core/arena.h"
#include "core/index.h"

#include <stdint.h>

#define INTERN_NONE UINT32_MAX

/* Empty when zero-initialised. Any number of threads may read once writing has ended. */
struct intern {
	struct arena arena;
	const char **texts;
	size_t count;
	size_t cap;
	struct index index;
};

void intern_fini(struct intern *in);

/* Returns the id of s[0..n); INTERN_NONE: out of memory. */
uint32_t intern_add(struct intern *in, const char *s, size_t n);

/* Returns the id of s[0..n), or INTERN_NONE. */
uint32_t intern_find(const struct intern *in, const char *s, size_t n);

/* Returns the text of an id, NUL-terminated; valid until intern_fini. */
static inline const char *intern_text(const struct intern *in, uint32_t id)
{
	return in->texts[id];
}

#endif
