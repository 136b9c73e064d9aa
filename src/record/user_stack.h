/* SPDX-License-Identifier: MIT */
/*
 * Samples with a copy of the user stack, and the same samples with a call chain in place of it:
 *
 *	recorded  fixed  [READ]  CALLCHAIN  [RAW]  [BRANCH]  REGS_USER  STACK_USER  rest
 *	written   fixed  [READ]  CALLCHAIN  [RAW]  [BRANCH]                         rest
 */
#ifndef SONDE_RECORD_USER_STACK_H
#define SONDE_RECORD_USER_STACK_H

#include "record/record.h"

/* Where the parts are in the body, in bytes; [at, end). */
struct record_user_stack {
	size_t chain, chain_end; /* count and words */
	size_t regs, regs_end; /* abi and words */
	size_t stack, stack_end; /* size, bytes and number of valid bytes */
	uint64_t abi; /* enum perf_sample_regs_abi; 0: no registers */
	uint64_t size, valid; /* bytes of the copy; of these, bytes that could be read */
};

#define RECORD_REGS_ABI_64 2u

/*
 * record --call-graph unwind has two events with one name: samples that keep their copies have the id
 * of the first one with this bit, which the kernel's ids do not reach.
 */
#define RECORD_STACK_COPY_ID ((uint64_t)1 << 62)

/* False: the plan has no call chain, registers and stack, or the body is too short for them. */
bool record_user_stack_find(
        const struct record_plan *plan, struct span body, bool swap, struct record_user_stack *out);

/* Most words of a call chain that fit into the record that record_user_stack_replace writes. */
size_t record_user_stack_room(
        const struct record_user_stack *parts, struct span body, bool keep_regs);

struct record_chain {
	const uint64_t *words; /* in the record's byte order */
	size_t n;
};

/*
 * Writes the record with this chain and without the copy of the stack; keep_regs: with the
 * registers. `to` has room for a record of the largest size. Returns the bytes of the record.
 */
size_t record_user_stack_replace(const struct record_user_stack *parts, const struct record *r,
        bool swap, bool keep_regs, struct record_chain chain, uint8_t *to);

#endif
