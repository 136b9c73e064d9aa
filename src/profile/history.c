/* SPDX-License-Identifier: MIT */
/*
 * Branch stacks as entries of call chains. As in perf, the target of a branch precedes its source,
 * and graphs of callers begin with the oldest branch:
 *
 *	stack        newest  A->B, C->D  oldest        chain  leaf, main
 *	callees:     B A D C, leaf main
 *	callers:     D C B A, main leaf
 *
 * As in perf, the chain loses as many words as there are branches, at its end in graphs.
 */
#include "profile/profile.h"

#define PAGE_BITS  12
#define LARGE_BITS 21 /* of a page of 2 MiB */
#define NO_BRANCH  UINT8_MAX

/* perf's table of branches, derived from the repetitions that it does not find in recordings. */
#define SLOTS       127u
#define SLOT_FACTOR UINT64_C(0x61c8864680b583eb)

/* Sets the bits of a branch's kind and distance. */
static uint64_t kinds_of(const struct branch_entry *b)
{
	uint64_t bits = 0;

	if (b->kind == 0) {
		return 0;
	}
	if (b->kind == BRANCH_CONDITIONAL) {
		bits = b->to > b->from ? PROFILE_HOP_FORWARD : PROFILE_HOP_BACKWARD;
	}
	if (b->from >> LARGE_BITS != b->to >> LARGE_BITS) {
		bits |= PROFILE_HOP_CROSS_2M;
	} else if (b->from >> PAGE_BITS != b->to >> PAGE_BITS) {
		bits |= PROFILE_HOP_CROSS_4K;
	}
	return bits | UINT64_C(1) << b->kind;
}

/* Number of branches from `again` on that repeat those from `first` on; 0: they differ. */
static size_t repeated(const struct profile_jump *jumps, size_t n, size_t first, size_t again)
{
	size_t same = 0;

	for (; first + same < again && again + same < n; same++) {
		if (jumps[first + same].branch.from != jumps[again + same].branch.from) {
			return 0;
		}
	}
	return same;
}

/* The slot of a branch by its source. */
static size_t slot_of(const struct branch_entry *b)
{
	return (b->from * SLOT_FACTOR >> 57) % SLOTS;
}

/*
 * Leaves out repeated branches, which are counted at the branch after them, and returns the number
 * of the others. As in perf, branches with the same source are the same, and one whose slot an
 * earlier one has with another source is not compared.
 */
static size_t loops_remove(struct profile_jump *jumps, size_t n)
{
	uint8_t first[SLOTS];

	memset(first, NO_BRANCH, sizeof(first));
	for (size_t i = 0; i < n; i++) {
		uint8_t *slot = &first[slot_of(&jumps[i].branch)];
		size_t same = *slot != NO_BRANCH ? repeated(jumps, n, *slot, i) : 0;
		uint64_t cycles = 0;

		*slot = *slot != NO_BRANCH ? *slot : (uint8_t)i;
		for (size_t k = 0; k < same; k++) {
			cycles += jumps[i + k].branch.cycles;
		}
		n -= same;
		memmove(jumps + i, jumps + i + same, (n - i) * sizeof(*jumps));
		if (same != 0 && i < n) {
			jumps[i].loops++;
			jumps[i].loop_cycles = cycles;
		}
	}
	return n;
}

size_t profile_jumps(
        const struct session_sample *s, const struct profile_options *o, struct profile_jump *jumps)
{
	size_t all = (size_t)s->s.branch_len, n = all;

	n = n < o->max_stack ? n : o->max_stack;
	n = n < PROFILE_JUMPS ? n : PROFILE_JUMPS;
	for (size_t i = 0; i < n; i++) {
		jumps[i] =
		        (struct profile_jump){.branch = branch_at(s, o->caller ? all - 1 - i : i)};
	}
	return loops_remove(jumps, n);
}

struct profile_hop profile_hop_of(const struct profile_jump *jump, bool source, uint64_t time)
{
	const struct branch_entry *b = &jump->branch;

	if (source) {
		return (struct profile_hop){.branches = 1,
		        .sources = 1,
		        .cycles = b->cycles,
		        .loops = jump->loops,
		        .loop_cycles = jump->loop_cycles,
		        .time = time,
		        .source = true};
	}
	return (struct profile_hop){.branches = 1,
	        .predicted = b->predicted,
	        .aborted = b->aborted,
	        .kinds = kinds_of(b),
	        .time = time};
}

void profile_hop_add(struct profile_hop *to, const struct profile_hop *more)
{
	if (more->branches != 0 && (to->branches == 0 || more->time > to->time)) {
		to->source = more->source;
		to->time = more->time;
	} else if (more->branches != 0 && more->time == to->time) {
		to->source = to->source && more->source;
	}
	to->branches += more->branches;
	to->predicted += more->predicted;
	to->aborted += more->aborted;
	to->sources += more->sources;
	to->cycles += more->cycles;
	to->loops += more->loops;
	to->loop_cycles += more->loop_cycles;
	to->kinds |= more->kinds;
}

struct profile_hop profile_graph_hop(
        const struct profile *p, const struct profile_node *node, uint32_t depth)
{
	struct profile_hop sum = {0};

	for (size_t i = 0; i < node->nrefs; i++) {
		const struct profile_ref *ref = &node->refs[i];
		uint64_t pos =
		        p->options.caller ? (uint64_t)ref->pos - depth : (uint64_t)ref->pos + depth;

		profile_hop_add(&sum, &p->counts.hops[p->counts.chains[ref->chain].first + pos]);
	}
	return sum;
}
