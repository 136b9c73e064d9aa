/* SPDX-License-Identifier: MIT */
/*
 * The text of an address: " sym+0xoff (dso)". Texts are cached, because samples often hit the same
 * addresses: a direct-mapped cache with a fixed number of slots for each worker.
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
	ADDRESS_PATH = 32, /* print paths of kernel modules, not their names */
	ADDRESS_SOURCE = 64, /* a line with file and line of the source */
	ADDRESS_SOURCE_PATH = 128, /* print the path of that file, not only its name */
	ADDRESS_INLINED = 256, /* with ADDRESS_LINE: a line for each inlined function too */
	ADDRESS_CALLER = 512, /* with ADDRESS_INLINED: the address follows a call */
	ADDRESS_LINE = 16 /* a line of a call chain: tab and address before the text, newline
	                     after it */
};

struct address_slot {
	uint64_t address;
	char *longer; /* a text that does not fit into the slot, owned */
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

/* Appends the text of an address in cpumode, for the thread of the view. */
void address_text(struct address_cache *c, struct text *out, const struct timeline_view *view,
        uint32_t cpumode, uint64_t address, unsigned parts);

/*
 * Prefetches the slots of n addresses, of which those in the upper half of all are taken for kernel
 * ones: waiting for a slot would take a fifth of the time of `script` with call chains.
 */
void address_prefetch(struct address_cache *c, const struct timeline_view *view,
        const uint64_t *addresses, size_t n);

/* Appends "OBJECT[ADDRESS]" for a frame without a source line; nothing if nothing is mapped. */
void address_unknown_source(struct text *out, const struct timeline *t, const struct frame *f,
        const struct lines_place *place);

/* Appends "(OBJECT)" for a frame; parts: ADDRESS_PATH, ADDRESS_DSOFF. */
void address_object(
        struct text *out, const struct timeline *t, const struct frame *f, unsigned parts);

#endif
