/* SPDX-License-Identifier: MIT */
#include "record/user_stack.h"

#include "abi/abi.h"

#define BRANCH_HW_INDEX (1u << 17)
#define BRANCH_COUNTERS (1u << 19)
#define RECORD_MOST     0xfff8u /* bytes, the largest multiple of 8 that fits into a record's size */

#define USER_STACK_BITS                                                                            \
	((uint64_t)(SONDE_SAMPLE_CALLCHAIN | SONDE_SAMPLE_REGS_USER | SONDE_SAMPLE_STACK_USER))

/* Skips `count` elements of `size` bytes. */
static void skip(struct cursor *c, uint64_t count, size_t size)
{
	if (count > cursor_left(c) / size) {
		c->bad = true;
		c->p = c->end;
		return;
	}
	(void)cursor_take(c, (size_t)count * size);
}

/* Skips the parts between the call chain and the registers. */
static void skip_middle(const struct record_plan *plan, struct cursor *c)
{
	uint64_t nr;

	if ((plan->sample_type & SONDE_SAMPLE_RAW) != 0) {
		skip(c, cursor_u32(c), 1);
	}
	if ((plan->sample_type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
		nr = cursor_u64(c);
		if ((plan->branch_sample_type & BRANCH_HW_INDEX) != 0) {
			(void)cursor_u64(c);
		}
		skip(c, nr, 24);
		if ((plan->branch_sample_type & BRANCH_COUNTERS) != 0) {
			skip(c, nr, 8);
		}
	}
}

bool record_user_stack_find(
        const struct record_plan *plan, struct span body, bool swap, struct record_user_stack *out)
{
	struct cursor c = cursor_make(body, swap);
	struct record_counts counts;
	struct sonde_record_read_value value;

	*out = (struct record_user_stack){0};
	if ((plan->sample_type & USER_STACK_BITS) != USER_STACK_BITS) {
		return false;
	}
	(void)cursor_take(&c, plan->fixed_size);
	if ((plan->sample_type & SONDE_SAMPLE_READ) != 0) {
		if (!record_counts_begin(plan, body, swap, &counts)) {
			return false;
		}
		while (record_counts_next(&counts, &value)) {
		}
		c = counts.c;
	}
	out->chain = (size_t)(c.p - body.p);
	skip(&c, cursor_u64(&c), 8);
	out->chain_end = (size_t)(c.p - body.p);
	skip_middle(plan, &c);
	out->regs = (size_t)(c.p - body.p);
	out->abi = cursor_u64(&c);
	skip(&c, out->abi != 0 ? plan->user_regs : 0, 8);
	out->regs_end = out->stack = (size_t)(c.p - body.p);
	out->size = cursor_u64(&c);
	skip(&c, out->size, 1);
	out->valid = out->size != 0 ? cursor_u64(&c) : 0;
	out->valid = out->valid < out->size ? out->valid : out->size;
	out->stack_end = (size_t)(c.p - body.p);
	return !c.bad;
}

/* Bytes of the record but for the words of its chain. */
static size_t other_bytes(const struct record_user_stack *p, struct span body, bool keep_regs)
{
	return RECORD_HEADER_SIZE + body.n - (p->chain_end - p->chain - 8) -
	       (p->stack_end - (keep_regs ? p->stack : p->regs));
}

size_t record_user_stack_room(const struct record_user_stack *p, struct span body, bool keep_regs)
{
	return (RECORD_MOST - other_bytes(p, body, keep_regs)) / 8;
}

static uint8_t *put(uint8_t *to, struct span body, size_t from, size_t end)
{
	memcpy(to, body.p + from, end - from);
	return to + (end - from);
}

size_t record_user_stack_replace(const struct record_user_stack *p, const struct record *r,
        bool swap, bool keep_regs, struct record_chain chain, uint8_t *to)
{
	size_t size = other_bytes(p, r->body, keep_regs) + chain.n * 8;
	uint8_t *at = to + RECORD_HEADER_SIZE;

	store_u32(to, r->type, swap);
	store_u16(to + 4, r->misc, swap);
	store_u16(to + 6, (uint16_t)size, swap);
	at = put(at, r->body, 0, p->chain);
	store_u64(at, chain.n, swap);
	at += 8;
	if (chain.n != 0) {
		memcpy(at, chain.words, chain.n * 8);
		at += chain.n * 8;
	}
	at = put(at, r->body, p->chain_end, p->regs);
	if (keep_regs) {
		at = put(at, r->body, p->regs, p->regs_end);
	}
	(void)put(at, r->body, p->stack_end, r->body.n);
	return size;
}
