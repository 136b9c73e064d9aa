/* SPDX-License-Identifier: MIT */
/*
 * The text of one address: " sym+0xoff (dso)". Made once and remembered, because samples hit the
 * same addresses again and again: a direct-mapped cache with a fixed number of slots, one for each
 * worker.
 */
#ifndef SONDE_FIELD_FRAME_H
#define SONDE_FIELD_FRAME_H

#include "core/text.h"
#include "session/session.h"

#define FRAME_SLOTS  16384u
#define FRAME_INLINE 96u

/* What follows the address in the text; bits. */
enum frame_part {
	FRAME_SYM = 1,
	FRAME_SYMOFF = 2,
	FRAME_DSO = 4,
	FRAME_DSOFF = 8,
	FRAME_PATH = 32, /* kernel modules by their paths, not their names */
	FRAME_LINE = 16 /* a line of a call chain: tab and address in front, newline behind */
};

struct frame_slot {
	uint64_t address;
	char *longer; /* the text when it does not fit below, owned */
	uint32_t root, later_root; /* the address space */
	uint32_t n; /* bytes of the text; 0: free slot */
	uint16_t cpumode, parts;
	char text[FRAME_INLINE];
};

struct frame_cache {
	struct sonde_session *session;
	struct frame_slot *slots;
};

int frame_cache_init(struct frame_cache *c, struct sonde_session *session); /* SONDE_ENOMEM */
void frame_cache_fini(struct frame_cache *c);

/* Appends the text of an address seen by the thread of the view in cpumode. */
void frame_text(struct frame_cache *c, struct text *out, const struct timeline_view *view,
        uint32_t cpumode, uint64_t address, unsigned parts);

/* The name of an object beside an address: its path; of a module that no list of build ids has by
 * its path, the name without it. */
const char *frame_object_name(const struct timeline *t, const struct timeline_object *o);

#endif
