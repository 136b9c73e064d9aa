/* SPDX-License-Identifier: MIT */
#include "frame/stitch.h"

#include "core/hash.h"

#include <sonde/base.h>

#include <stdbool.h>
#include <stdlib.h>

#define WORDS ((size_t)3) /* of a call: from, to, flags */

/* The calls of a thread's last sample. */
struct stack {
	uint64_t *calls; /* [STITCH_CALLS * WORDS], newest first; NULL: free */
	uint64_t slot; /* of the newest */
	uint32_t n; /* calls */
	uint32_t own; /* those that the sample had itself */
	uint32_t tid;
};

struct frame_stitch {
	struct stack stacks[STITCH_THREADS];
	uint64_t spare[STITCH_CALLS * WORDS]; /* for making the next stack */
	uint32_t slots;
};

struct frame_stitch *frame_stitch_new(uint32_t slots)
{
	struct frame_stitch *s = calloc(1, sizeof(*s));

	if (s != NULL) {
		s->slots = slots;
	}
	return s;
}

void frame_stitch_free(struct frame_stitch *s)
{
	for (size_t i = 0; s != NULL && i < STITCH_THREADS; i++) {
		free(s->stacks[i].calls);
	}
	free(s);
}

static bool same_call(const uint64_t *a, const uint64_t *b)
{
	return memcmp(a, b, WORDS * sizeof(*a)) == 0;
}

/* Index of the sample's oldest call in the stack before it; STITCH_CALLS: it is not there. */
static uint32_t find_oldest(
        const struct frame_stitch *s, const struct stack *before, const struct sonde_sample *sample)
{
	uint64_t oldest = sample->branch_len - 1;
	uint64_t slot = (sample->branch_hw_index + s->slots - oldest) % s->slots;
	uint64_t at = (before->slot + s->slots - slot) % s->slots;

	if (at >= before->own ||
	        !same_call(before->calls + WORDS * at, sample->branches + WORDS * oldest)) {
		return STITCH_CALLS;
	}
	return (uint32_t)at;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

int64_t frame_stitch_add(
        struct frame_stitch *s, const struct sonde_sample *sample, const uint64_t **calls)
{
	struct stack *stack = &s->stacks[hash_u64(sample->tid) % STITCH_THREADS];
	bool known = stack->calls != NULL && stack->tid == sample->tid && stack->n != 0;
	uint32_t own, at, older = 0;

	*calls = sample->branches;
	if (sample->branch_len == 0 || sample->branch_len > s->slots ||
	        sample->branch_len > STITCH_CALLS || sample->branch_hw_index >= s->slots) {
		stack->n = stack->tid == sample->tid ? 0 : stack->n;
		return (int64_t)sample->branch_len;
	}
	if (stack->calls == NULL) {
		stack->calls = malloc(sizeof(s->spare));
		if (stack->calls == NULL) {
			return SONDE_ENOMEM;
		}
	}
	own = (uint32_t)sample->branch_len;
	memcpy(s->spare, sample->branches, own * WORDS * sizeof(*s->spare));
	at = known ? find_oldest(s, stack, sample) : STITCH_CALLS;
	if (at != STITCH_CALLS) {
		older = min_u32(stack->n - 1 - at, STITCH_CALLS - own);
		memcpy(s->spare + WORDS * own, stack->calls + WORDS * (at + 1),
		        older * WORDS * sizeof(*s->spare));
	}
	*stack = (struct stack){.calls = stack->calls,
	        .slot = sample->branch_hw_index,
	        .n = own + older,
	        .own = own,
	        .tid = sample->tid};
	memcpy(stack->calls, s->spare, stack->n * WORDS * sizeof(*s->spare));
	*calls = stack->calls;
	return stack->n;
}
