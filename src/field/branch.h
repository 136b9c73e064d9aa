/* SPDX-License-Identifier: MIT */
/*
 * The entries of a branch stack: struct perf_branch_entry of <linux/perf_event.h>. Flags, from bit
 * 0 up:
 *
 *	mispredicted 1 | predicted 1 | in_tx 1 | abort 1 | cycles 16 | kind 4 | spec 2 | new kind 4
 */
#ifndef SONDE_FIELD_BRANCH_H
#define SONDE_FIELD_BRANCH_H

#include "frame/code.h"
#include "session/session.h"

#define BRANCH_CONDITIONAL 1u /* PERF_BR_COND */
#define BRANCH_KIND_IS_NEW 15u /* PERF_BR_EXTEND_ABI: the kind is in the newer bits */
#define BRANCH_KINDS       31u /* the older ones, then the newer ones */
#define BRANCH_WORDS       3u /* of an entry in sonde_sample.branches */

struct branch_entry {
	uint64_t from, to;
	bool predicted, mispredicted; /* both false: not recorded */
	bool in_tx, aborted; /* in a transaction; it was aborted */
	uint16_t cycles; /* since the branch before it; 0: not recorded */
	uint8_t kind; /* < BRANCH_KINDS: PERF_BR_*, or 15 + PERF_BR_NEW_*; 0: not recorded */
};

/* Returns the i-th branch of a sample, from the newest. */
static inline struct branch_entry branch_at(const struct session_sample *s, uint64_t i)
{
	const uint64_t *entry = s->s.branches + BRANCH_WORDS * i;
	uint64_t flags = entry[2], kind = flags >> 20 & 15;

	return (struct branch_entry){.from = entry[0],
	        .to = entry[1],
	        .mispredicted = (flags & 1) != 0,
	        .predicted = (flags >> 1 & 1) != 0,
	        .in_tx = (flags >> 2 & 1) != 0,
	        .aborted = (flags >> 3 & 1) != 0,
	        .cycles = (uint16_t)(flags >> 4),
	        .kind = (uint8_t)(kind + (kind == BRANCH_KIND_IS_NEW ? flags >> 26 & 15 : 0))};
}

/* Returns the name of a kind of branches; NULL: it has none. */
const char *branch_kind_name(unsigned kind);

/* Texts of lines of `script`. */
enum brstack_form {
	BRSTACK_ADDRESSES,
	BRSTACK_SYMBOLS, /* functions and offsets */
	BRSTACK_OFFSETS /* addresses in the objects */
};

struct address_cache;
struct srccode;
struct text;

/* Appends all branches of a sample; parts: ADDRESS_DSO with or without ADDRESS_PATH. */
void brstack_text(struct text *out, struct address_cache *c, const struct session_sample *s,
        enum brstack_form form, unsigned parts);

/* How the code between branches is printed. */
struct brcode_style {
	struct frame_code *code;
	bool lengths; /* the length of each instruction too */
	bool texts; /* instructions as text, not as bytes */
	unsigned
	        parts; /* ADDRESS_SOURCE with or without ADDRESS_SOURCE_PATH: after function names */
	uint64_t max_blocks; /* newest pieces of code; 0: all */
	struct srccode *source_code; /* prints that of each instruction too; NULL: none */
};

/* Appends lines with the instructions that ran between the branches of a sample. */
void brcode_text(struct text *out, struct address_cache *c, const struct session_sample *s,
        const struct brcode_style *style);

#endif
