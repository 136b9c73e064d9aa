/* SPDX-License-Identifier: MIT */
/* Strings stored once and named by a small number. Ids count up from 0 and never move. */
#ifndef SONDE_CORE_INTERN_H
#define SONDE_CORE_INTERN_H

#include "core/arena.h"
#include "core/index.h"

#include <stdint.h>

#define INTERN_NONE UINT32_MAX

/* Zero-initialised is a valid empty table. Reading is safe from many threads once writing ended. */
struct intern {
	struct arena arena;
	const char **texts;
	size_t count;
	size_t cap;
	struct index index;
};

void intern_fini(struct intern *in);

/* The id of s[0..n); INTERN_NONE when there is no memory. */
uint32_t intern_add(struct intern *in, const char *s, size_t n);

/* The text of an id, NUL-terminated, until intern_fini. */
static inline const char *intern_text(const struct intern *in, uint32_t id)
{
	return in->texts[id];
}

#endif
