/* SPDX-License-Identifier: MIT */
/* Names of the functions of a recording, by code address. A function has a number, from 0. */
#ifndef SONDE_PTVIEW_NAMES_H
#define SONDE_PTVIEW_NAMES_H

#include "core/intern.h"
#include "frame/frame.h"

#define PTVIEW_KERNEL_START (UINT64_C(1) << 63)
#define PTVIEW_CACHE        1024u

struct ptview_name {
	const char *name, *object; /* object NULL: unknown */
	bool named; /* it has a symbol */
};

struct ptview_names {
	struct frame_reader frames;
	struct intern texts; /* names of functions and objects */
	struct intern keys; /* "NAME OBJECT", ids of texts; ids are functions */
	struct ptview_name *list; /* [n], by function */
	size_t n, cap;
	struct { /* of symbols, direct-mapped */
		const struct symbol *symbol;
		uint32_t object, function;
	} cache[PTVIEW_CACHE];
};

/* A code location. */
struct ptview_place {
	uint64_t ip;
	uint32_t function;
	bool start; /* the first instruction of its function, or of no known function */
};

/* SONDE_ENOMEM. Call ptview_names_fini in any case. */
int ptview_names_init(struct ptview_names *n, const struct frame_resolver *frames);
void ptview_names_fini(struct ptview_names *n);

/* Finds the function of an address; without a symbol each address is one. SONDE_ENOMEM. */
int ptview_locate(struct ptview_names *n, const struct timeline_view *view, uint64_t ip,
        struct ptview_place *out);

/* Whether a symbol is the beginning of a function, not its part for unlikely code. */
bool ptview_is_start(const struct ptview_names *n, const struct frame *f);

/*
 * Returns the function of a symbol of an object, or SONDE_ENOMEM. symbol NULL: all code of the
 * object without a symbol; object FRAME_NOWHERE: all code without an object.
 */
int64_t ptview_function_of(struct ptview_names *n, uint32_t object, const struct symbol *symbol);

static inline uint32_t ptview_mode(uint64_t ip)
{
	return ip >= PTVIEW_KERNEL_START ? MISC_KERNEL : MISC_USER;
}

#endif
