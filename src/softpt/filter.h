/* SPDX-License-Identifier: MIT */
/* Address filters of user code, and their addresses in a process. */
#ifndef SONDE_SOFTPT_FILTER_H
#define SONDE_SOFTPT_FILTER_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

/* Bits of an address. */
enum {
	FILTER_INSIDE = 1, /* in a region of `filter` */
	FILTER_START = 2, /* tracing starts here */
	FILTER_STOP = 4, /* tracing stops here */
	FILTER_TRACESTOP = 8 /* in a region of `tracestop` */
};

struct filter_range {
	unsigned bit;
	uint64_t from, size; /* offset in the object, bytes */
	const char *file; /* absolute path, in `text` */
};

struct filter {
	char *text; /* in the kernel's form; NULL: no filter */
	char *own; /* the same with NULs between the parts, for `file` */
	struct filter_range *v;
	size_t n;
	unsigned bits; /* kinds of filters that are used */
};

/* Ranges of addresses in a process. */
struct filter_places {
	struct filter_place {
		unsigned bit;
		uint64_t start, end;
	} * v;
	size_t n, cap;
};

/* Parses filters of the kernel's form; SONDE_EARG: one of them is for the kernel. */
int filter_parse(struct filter *filter, const char *text, struct error *err);
void filter_fini(struct filter *filter);

/* Adds the ranges of a mapped file, [start, end) from offset pgoff. SONDE_ENOMEM. */
int filter_place(const struct filter *filter, const char *file, uint64_t pgoff, uint64_t start,
        uint64_t end, struct filter_places *out);
void filter_places_clear(struct filter_places *places);

/* The bits of an address. */
unsigned filter_at(const struct filter_places *places, uint64_t at);

#endif
