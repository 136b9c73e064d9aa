/* SPDX-License-Identifier: MIT */
/*
 * The text of one address: " sym+0xoff (dso)". Made once and remembered, because samples hit the
 * same addresses again and again: a direct-mapped cache with a fixed number of slots, one for each
 * worker.
 */
#ifndef SONDE_FIELD_ADDRESS_H
#define SONDE_FIELD_ADDRESS_H

#include "core/text.h"
#include "session/session.h"

#define ADDRESS_SLOTS  16384u
#define ADDRESS_INLINE 96u

/* What follows the address in the text; bits. */
enum address_part {
	ADDRESS_SYM = 1,
	ADDRESS_SYMOFF = 2,
	ADDRESS_DSO = 4,
	ADDRESS_DSOFF = 8,
	ADDRESS_PATH = 32, /* kernel modules by their paths, not their names */
	ADDRESS_LINE = 16 /* a line of a call chain: tab and address in front, newline behind */
};

struct address_slot {
	uint64_t address;
	char *longer; /* the text when it does not fit below, owned */
	uint32_t root, later_root; /* the address space */
	uint32_t n; /* bytes of the text; 0: free slot */
	uint16_t cpumode, parts;
	char text[ADDRESS_INLINE];
};

struct address_cache {
	struct sonde_session *session;
	struct frame_reader frames;
	struct address_slot *slots;
};

int address_cache_init(struct address_cache *c, struct sonde_session *session); /* SONDE_ENOMEM */
void address_cache_fini(struct address_cache *c);

/* Appends the text of an address seen by the thread of the view in cpumode. */
void address_text(struct address_cache *c, struct text *out, const struct timeline_view *view,
        uint32_t cpumode, uint64_t address, unsigned parts);

#endif
