/* SPDX-License-Identifier: MIT */
/*
 * Counting without steps: counts are kept by node while the flow runs and become edges at the end.
 *
 * The tables are not those of core/index.h: a slot holds the count itself, so that counting an edge
 * touches one cache line, not a slot and an element.
 */
#include "pt/edge.h"

#include "core/hash.h"
#include "pt/memory.h"

#include <stdlib.h>
#include <string.h>

#define LINKS_FIRST 4096u /* a power of two */

static struct pt_edge *find(const struct pt_edge_table *t, const struct pt_edge *edge)
{
	size_t i = hash_step(hash_u64(edge->from + edge->space), edge->to) & (t->size - 1);

	while (t->slots[i].count != 0 &&
	        (t->slots[i].from != edge->from || t->slots[i].to != edge->to ||
	                t->slots[i].space != edge->space)) {
		i = (i + 1) & (t->size - 1);
	}
	return &t->slots[i];
}

static bool grow(struct pt_edge_table *t)
{
	struct pt_edge_table bigger = {.size = t->size != 0 ? t->size * 2 : 1024, .used = t->used};

	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (bigger.slots == NULL) {
		return false;
	}
	for (size_t i = 0; i < t->size; i++) {
		if (t->slots[i].count != 0) {
			*find(&bigger, &t->slots[i]) = t->slots[i];
		}
	}
	free(t->slots);
	*t = bigger;
	return true;
}

bool pt_edge_add(struct pt_edge_table *t, const struct pt_edge *edge)
{
	struct pt_edge *slot;
	uint64_t before;

	if (t->used >= t->size / 2 && !grow(t)) {
		return false;
	}
	slot = find(t, edge);
	before = slot->count;
	t->used += before == 0;
	*slot = *edge;
	slot->count += before;
	return true;
}

static bool grow_links(struct pt_links *t);

/* The table always has an empty slot. */
static bool add(struct pt_links *t, uint64_t key, uint64_t count)
{
	uint32_t i;

	if (__builtin_expect(t->used >= t->size / 2, 0) && !grow_links(t)) {
		return false;
	}
	i = (uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 32) & (t->size - 1);
	while (t->slots[i].key != key) {
		if (t->slots[i].count == 0) {
			t->slots[i].key = key;
			t->used++;
			break;
		}
		i = (i + 1) & (t->size - 1);
	}
	t->slots[i].count += count;
	return true;
}

static bool grow_links(struct pt_links *t)
{
	struct pt_links bigger = {.size = t->size != 0 ? t->size * 2 : LINKS_FIRST};

	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (bigger.slots == NULL) {
		return false;
	}
	for (uint32_t i = 0; i < t->size; i++) {
		if (t->slots[i].count != 0) {
			(void)add(&bigger, t->slots[i].key, t->slots[i].count);
		}
	}
	free(t->slots);
	*t = bigger;
	return true;
}

/* Most edges repeat soon: a small direct-mapped table in front of the large one counts them. */
static void count_link(struct sonde_pt_flow *f, uint64_t key)
{
	struct pt_link *recent =
	        &f->tally.counts->recent[(uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 40) &
	                                 (PT_RECENT_LINKS - 1)];

	if (recent->key == key) {
		recent->count++;
		return;
	}
	if (recent->count != 0 && !add(&f->tally.counts->links, recent->key, recent->count)) {
		f->failed = true;
	}
	*recent = (struct pt_link){.key = key, .count = 1};
}

void pt_counts_flush_log(struct sonde_pt_flow *f)
{
	struct pt_edge_log *log = &f->tally.counts->log;

	for (unsigned i = 0; i < log->count; i++) {
		count_link(f, log->edges[i]);
	}
	log->count = 0;
}

/* Adds the count of a hop to each node on its path. */
static bool spread(
        struct sonde_pt_flow *f, uint32_t at, const struct pt_hop_bits *bits, uint64_t count)
{
	struct pt_counts *c = f->tally.counts;
	struct pt_hop_path path;

	if (!pt_hop_walk(f->graph, at, bits, &path)) {
		return false;
	}
	for (unsigned i = 0; i < path.count; i++) {
		uint32_t node = path.steps[i].node;
		uint32_t to = i + 1 < path.count ? path.steps[i + 1].node : path.to;

		c->nodes[2 * (size_t)node + path.steps[i].bit] += count;
		if (to != PT_NODE_NONE && PT_NODE_KIND(f->graph->nodes[node].info) == PT_NODE_RET &&
		        !add(&c->links, (uint64_t)node << 32 | to, count)) {
			return false;
		}
	}
	return true;
}

/* Spreads the count of one hop of a node; `by` is its index among the hops of that node. */
static bool spread_one(struct sonde_pt_flow *f, uint32_t at, unsigned by, bool tip)
{
	uint32_t *counts = tip ? f->tally.counts->tip_hops : f->tally.counts->hops;
	uint32_t *count = &counts[(size_t)at * PT_HOPS + by];
	struct pt_hop_bits bits = {.value = by, .count = PT_HOP_BITS, .tip = tip};

	if (*count == 0) {
		return true;
	}
	if (tip) {
		bits.count = 31u - (unsigned)__builtin_clz(by);
		bits.value = by & ~(1u << bits.count);
	}
	if (!spread(f, at, &bits, *count)) {
		return false;
	}
	*count = 0;
	return true;
}

bool pt_counts_flush_hops(struct sonde_pt_flow *f)
{
	uint32_t nodes = atomic_load_explicit(&f->graph->count, memory_order_acquire);

	if (f->tally.counts->since == 0) {
		return true;
	}
	f->tally.counts->since = 0;
	for (uint32_t at = 1; at < nodes; at++) {
		for (unsigned by = 0; by < PT_HOPS; by++) {
			if (!spread_one(f, at, by, false) || !spread_one(f, at, by, true)) {
				return false;
			}
		}
	}
	return true;
}

void pt_counts_plain(struct sonde_pt_flow *f, uint64_t from, uint64_t to)
{
	const struct pt_edge edge = {.from = from, .to = to, .count = 1, .space = f->code.now};

	f->failed = !pt_edge_add(&f->tally.counts->plain, &edge) || f->failed;
}

static bool flush_recent(struct pt_counts *c, struct pt_links *to)
{
	for (unsigned i = 0; i < PT_RECENT_LINKS; i++) {
		struct pt_link *r = &c->recent[i];

		if (r->count != 0 && !add(to, r->key, r->count)) {
			return false;
		}
		*r = (struct pt_link){0, 0};
	}
	return true;
}

bool pt_counts_new(struct sonde_pt_flow *f)
{
	if (f->tally.counts == NULL) {
		f->tally.counts = calloc(1, sizeof(*f->tally.counts));
		if (f->tally.counts == NULL) {
			return false;
		}
		f->tally.counts->nodes_max = f->graph->nodes_max;
		f->tally.counts->nodes =
		        pt_reserve(sizeof(uint64_t) * 2 * f->tally.counts->nodes_max);
		f->tally.counts->hops =
		        pt_reserve(sizeof(uint32_t) * PT_HOPS * f->tally.counts->nodes_max);
		f->tally.counts->tip_hops =
		        pt_reserve(sizeof(uint32_t) * PT_HOPS * f->tally.counts->nodes_max);
	}
	f->tally.counting = true;
	return f->tally.counts->nodes != NULL && f->tally.counts->hops != NULL &&
	       f->tally.counts->tip_hops != NULL;
}

void pt_counts_free(struct pt_counts *c)
{
	if (c != NULL) {
		pt_release(c->nodes, sizeof(uint64_t) * 2 * c->nodes_max);
		pt_release(c->hops, sizeof(uint32_t) * PT_HOPS * c->nodes_max);
		pt_release(c->tip_hops, sizeof(uint32_t) * PT_HOPS * c->nodes_max);
		free(c->links.slots);
		free(c->plain.slots);
		free(c->all.slots);
		free(c);
	}
}

bool pt_counts_finish(struct sonde_pt_flow *f)
{
	return pt_counts_flush_hops(f) && flush_recent(f->tally.counts, &f->tally.counts->links);
}

static bool merge_table(struct pt_edge_table *to, const struct pt_edge_table *from)
{
	for (size_t i = 0; i < from->size; i++) {
		const struct pt_edge *e = &from->slots[i];

		if (e->count != 0 && !pt_edge_add(to, e)) {
			return false;
		}
	}
	return true;
}

static bool merge_links(struct pt_links *to, const struct pt_links *from)
{
	for (uint32_t i = 0; i < from->size; i++) {
		const struct pt_link *l = &from->slots[i];

		if (l->count != 0 && !add(to, l->key, l->count)) {
			return false;
		}
	}
	return true;
}

bool pt_counts_merge(struct sonde_pt_flow *f, struct sonde_pt_flow *other)
{
	uint32_t nodes;

	if (!pt_counts_flush_hops(other)) {
		return false;
	}
	nodes = atomic_load_explicit(&f->graph->count, memory_order_acquire);
	for (size_t i = 0; i < 2 * (size_t)nodes; i++) {
		f->tally.counts->nodes[i] += other->tally.counts->nodes[i];
	}
	f->tally.counts->insns += other->tally.counts->insns;
	f->tally.counts->branches += other->tally.counts->branches;
	f->tally.counts->taken += other->tally.counts->taken;
	f->tally.events += other->tally.events;
	f->tally.errors += other->tally.errors;
	f->tally.gaps += other->tally.gaps;
	f->tally.gap_bytes += other->tally.gap_bytes;
	return flush_recent(other->tally.counts, &f->tally.counts->links) &&
	       merge_links(&f->tally.counts->links, &other->tally.counts->links) &&
	       merge_table(&f->tally.counts->plain, &other->tally.counts->plain);
}
