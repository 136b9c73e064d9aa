/* SPDX-License-Identifier: MIT */
/*
 * Building nodes. Memory for all nodes is reserved at once and touched when they are built, so that
 * an index is an address without a further load and nodes never move while others read them.
 *
 * Readers take no lock: the builder stores a node's `info` last, and an entry of the table when its
 * node is complete. A table that becomes too small is replaced and freed with the graph.
 */
#include "pt/graph.h"

#include "core/hash.h"
#include "pt/memory.h"

#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_FIRST (1u << 12)
#define DIRECT_MAX  256 /* direct branches inside one node */
#define DIRECT_NODE 2 /* room for direct branches, for each node that there is room for */

struct pt_table {
	struct pt_table *older;
	uint32_t mask;
	_Atomic uint32_t slots[];
};

static struct pt_table *table_new(uint32_t size, struct pt_table *older)
{
	struct pt_table *t = calloc(1, sizeof(*t) + size * sizeof(t->slots[0]));

	if (t != NULL) {
		t->mask = size - 1;
		t->older = older;
	}
	return t;
}

static void nodes_release(struct sonde_pt_graph *g)
{
	pt_release(g->nodes, sizeof(*g->nodes) * g->nodes_max);
	pt_release(g->cold, sizeof(*g->cold) * g->nodes_max);
	pt_release(g->hops, sizeof(*g->hops) * PT_HOPS * g->nodes_max);
	pt_release(g->tip_hops, sizeof(*g->tip_hops) * PT_HOPS * g->nodes_max);
	pt_release(g->weights, sizeof(*g->weights) * PT_HOPS * g->nodes_max);
	pt_release(g->tip_weights, sizeof(*g->tip_weights) * PT_HOPS * g->nodes_max);
	pt_release(g->directs, sizeof(*g->directs) * g->directs_max);
	g->nodes = NULL;
	g->cold = NULL;
	g->hops = NULL;
	g->tip_hops = NULL;
	g->weights = NULL;
	g->tip_weights = NULL;
	g->directs = NULL;
}

static bool is_reserved(const struct sonde_pt_graph *g)
{
	return g->nodes != NULL && g->cold != NULL && g->hops != NULL && g->tip_hops != NULL &&
	       g->weights != NULL && g->tip_weights != NULL && g->directs != NULL;
}

/*
 * About 5 GB of address space for PT_NODES_MAX: too much under a limit (ulimit -v,
 * vm.overcommit_memory). As much again must remain for the counts of flows.
 */
static bool nodes_reserve(struct sonde_pt_graph *g)
{
	size_t hops = sizeof(*g->hops) * PT_HOPS * g->nodes_max;
	size_t spare = 2 * hops + (sizeof(*g->nodes) + sizeof(*g->cold)) * g->nodes_max;
	void *counts = pt_reserve(spare);

	g->nodes = pt_reserve(sizeof(*g->nodes) * g->nodes_max);
	g->cold = pt_reserve(sizeof(*g->cold) * g->nodes_max);
	g->hops = pt_reserve(hops);
	g->tip_hops = pt_reserve(hops);
	g->weights = pt_reserve(sizeof(*g->weights) * PT_HOPS * g->nodes_max);
	g->tip_weights = pt_reserve(sizeof(*g->tip_weights) * PT_HOPS * g->nodes_max);
	g->directs_max = g->nodes_max * DIRECT_NODE;
	g->ndirects = 1;
	g->directs = pt_reserve(sizeof(*g->directs) * g->directs_max);
	pt_release(counts, spare);
	return counts != NULL && is_reserved(g);
}

struct sonde_pt_graph *sonde_pt_graph_new(const struct sonde_pt_image *image)
{
	struct sonde_pt_graph *g = calloc(1, sizeof(*g));
	struct pt_table *table = table_new(TABLE_FIRST, NULL);

	if (g == NULL || table == NULL) {
		free(g);
		free(table);
		return NULL;
	}
	g->image = image;
	g->nodes_max = PT_NODES_MAX;
	while (!nodes_reserve(g) && g->nodes_max > PT_NODES_MIN) {
		nodes_release(g);
		g->nodes_max /= 2;
	}
	atomic_init(&g->table, table);
	atomic_init(&g->count, 1);
	atomic_flag_clear(&g->busy);
	if (!is_reserved(g)) {
		sonde_pt_graph_free(g);
		return NULL;
	}
	return g;
}

void sonde_pt_graph_free(struct sonde_pt_graph *graph)
{
	struct pt_table *table;

	if (graph == NULL) {
		return;
	}
	table = atomic_load(&graph->table);
	while (table != NULL) {
		struct pt_table *older = table->older;

		free(table);
		table = older;
	}
	nodes_release(graph);
	free(graph);
}

static void lock(struct sonde_pt_graph *g)
{
	while (atomic_flag_test_and_set_explicit(&g->busy, memory_order_acquire)) {
		(void)sched_yield();
	}
}

static void unlock(struct sonde_pt_graph *g)
{
	atomic_flag_clear_explicit(&g->busy, memory_order_release);
}

/* Returns the node, or PT_NODE_NONE and its slot in *slot. */
static uint32_t probe(const struct sonde_pt_graph *g, const struct pt_table *table,
        uint32_t context, uint64_t ip, uint32_t *slot)
{
	uint32_t i = (uint32_t)hash_u64(ip + ((uint64_t)context << 48)) & table->mask;

	for (;; i = (i + 1) & table->mask) {
		uint32_t index = atomic_load_explicit(&table->slots[i], memory_order_acquire);

		*slot = i;
		if (index == PT_NODE_NONE ||
		        (g->cold[index].ip == ip && g->cold[index].context == context)) {
			return index;
		}
	}
}

static struct pt_table *grow(struct sonde_pt_graph *g, struct pt_table *old)
{
	uint32_t count = atomic_load_explicit(&g->count, memory_order_relaxed);
	struct pt_table *table = table_new((old->mask + 1) * 2, old);

	if (table == NULL) {
		return NULL;
	}
	for (uint32_t i = 1; i < count; i++) {
		uint32_t slot;

		(void)probe(g, table, g->cold[i].context, g->cold[i].ip, &slot);
		atomic_store_explicit(&table->slots[slot], i, memory_order_relaxed);
	}
	atomic_store_explicit(&g->table, table, memory_order_release);
	return table;
}

/* The caller holds the lock. */
static uint32_t add(struct sonde_pt_graph *g, uint32_t context, uint64_t ip)
{
	struct pt_table *table = atomic_load_explicit(&g->table, memory_order_relaxed);
	uint32_t index = atomic_load_explicit(&g->count, memory_order_relaxed);
	uint32_t slot;
	uint32_t found = probe(g, table, context, ip, &slot);

	if (found != PT_NODE_NONE || index == g->nodes_max) {
		return found;
	}
	if (index >= table->mask / 2) {
		table = grow(g, table);
		if (table == NULL) {
			return PT_NODE_NONE;
		}
		(void)probe(g, table, context, ip, &slot);
	}
	g->cold[index] = (struct pt_cold){.ip = ip, .context = context};
	g->nodes[index].info = PT_NODE_UNBUILT;
	atomic_store_explicit(&table->slots[slot], index, memory_order_release);
	atomic_store_explicit(&g->count, index + 1, memory_order_release);
	return index;
}

uint32_t pt_graph_node(struct sonde_pt_graph *graph, uint32_t context, uint64_t ip)
{
	const struct pt_table *table = atomic_load_explicit(&graph->table, memory_order_acquire);
	uint32_t slot;
	uint32_t index = probe(graph, table, context, ip, &slot);

	if (index == PT_NODE_NONE) {
		lock(graph);
		index = add(graph, context, ip);
		unlock(graph);
	}
	return index;
}

/* A node while it is being built. */
struct build {
	struct pt_insn insn;
	uint64_t ip; /* address of insn, or of the bytes that could not be read */
	uint64_t entered; /* the address after the call that was followed ... */
	uint32_t insns, direct;
	int error;
	/* ... and the state of the build at that call. */
	bool called;
	uint64_t call_ip, call_target;
	uint32_t call_insns, call_direct;
	uint8_t call_size;
	struct pt_bounds bounds;
	struct pt_branch directs[DIRECT_MAX];
};

static bool is_inside(const struct build *b, uint64_t ip)
{
	return ip >= b->bounds.first && ip <= b->bounds.last;
}

/* Follows code from b->ip to a decision, a second call, a limit, missing code, or out of its unit. */
static void follow(const struct sonde_pt_graph *g, uint32_t context, struct build *b)
{
	for (;;) {
		uint64_t to;

		b->error = pt_image_insn(g->image, context, b->ip, &b->insn);
		if (b->error != 0) {
			return;
		}
		b->insns++;
		if (b->insn.class == PT_CLASS_OTHER) {
			if (b->insns == PT_NODE_INSNS_MAX || !is_inside(b, b->ip + b->insn.size)) {
				return;
			}
			b->ip += b->insn.size;
			continue;
		}
		if (b->insn.class != PT_CLASS_JUMP &&
		        (b->insn.class != PT_CLASS_CALL || b->called)) {
			return;
		}
		to = pt_insn_target(&b->insn, b->ip, pt_context_mode(context));
		b->directs[b->direct++] = (struct pt_branch){.from = b->ip,
		        .to = to,
		        .insns = (uint16_t)b->insns,
		        .size = b->insn.size,
		        .class = b->insn.class};
		if (b->insn.class == PT_CLASS_CALL) {
			b->called = b->insn.disp != 0;
			b->entered = b->ip + b->insn.size;
			b->call_ip = b->ip;
			b->call_target = to;
			b->call_insns = b->insns;
			b->call_direct = b->direct;
			b->call_size = b->insn.size;
		}
		if (b->insns == PT_NODE_INSNS_MAX || b->direct == DIRECT_MAX || !is_inside(b, to)) {
			return;
		}
		b->ip = to;
	}
}

static enum pt_node_kind kind_of(const struct build *b)
{
	static const uint8_t kinds[PT_CLASSES] = {
	        [PT_CLASS_OTHER] = PT_NODE_GOTO,
	        [PT_CLASS_COND] = PT_NODE_COND,
	        [PT_CLASS_JUMP] = PT_NODE_GOTO,
	        [PT_CLASS_CALL] = PT_NODE_GOTO,
	        [PT_CLASS_JUMP_IND] = PT_NODE_TIP,
	        [PT_CLASS_CALL_IND] = PT_NODE_TIP,
	        [PT_CLASS_RET] = PT_NODE_RET,
	        [PT_CLASS_FAR_CALL] = PT_NODE_TIP,
	        [PT_CLASS_FAR_RET] = PT_NODE_TIP,
	        [PT_CLASS_FAR_JUMP] = PT_NODE_TIP,
	};

	return b->error != 0 ? PT_NODE_DEAD : (enum pt_node_kind)kinds[b->insn.class];
}

/* If code after a followed call does not fit into the same node, the node ends with the call. */
static bool end_at_call(const struct build *b, enum pt_node_kind kind)
{
	return b->called &&
	       (kind == PT_NODE_DEAD || kind == PT_NODE_GOTO || b->insn.class == PT_CLASS_CALL_IND);
}

static void connect(struct sonde_pt_graph *g, struct pt_cold *cold, struct pt_node *n,
        const struct build *b, enum pt_node_kind kind)
{
	enum pt_mode mode = pt_context_mode(cold->context);
	uint64_t behind = b->ip + b->insn.size;

	if (b->called) {
		n->push = add(g, cold->context, b->entered);
	}
	if (kind == PT_NODE_COND) {
		n->next[0] = add(g, cold->context, behind);
		n->next[1] = add(g, cold->context, pt_insn_target(&b->insn, b->ip, mode));
	} else if (kind == PT_NODE_GOTO) {
		n->next[0] = add(g, cold->context,
		        b->insn.class == PT_CLASS_OTHER ? behind
		                                        : pt_insn_target(&b->insn, b->ip, mode));
		n->next[1] = n->next[0];
	} else if (b->insn.class == PT_CLASS_CALL_IND) {
		n->push = add(g, cold->context, behind);
	}
}

static bool complete(const struct pt_node *n, const struct build *b, enum pt_node_kind kind)
{
	if (kind == PT_NODE_DEAD) {
		return true;
	}
	if ((b->called || b->insn.class == PT_CLASS_CALL_IND) && n->push == PT_NODE_NONE) {
		return false;
	}
	if (kind == PT_NODE_COND && n->next[1] == PT_NODE_NONE) {
		return false;
	}
	return (kind != PT_NODE_COND && kind != PT_NODE_GOTO) || n->next[0] != PT_NODE_NONE;
}

/* Whether a node leads back to itself without a decision: the trace cannot leave such a loop. */
static bool circles(const struct sonde_pt_graph *g, uint32_t index, uint32_t at)
{
	while (at != index && PT_NODE_KIND(g->nodes[at].info) == PT_NODE_GOTO) {
		at = g->nodes[at].next[0];
	}
	return at == index;
}

/* Keeps the direct branches of a node; returns the first one. The caller holds the lock. */
static uint32_t keep_directs(struct sonde_pt_graph *g, const struct build *b)
{
	uint32_t first = g->ndirects;

	if (b->direct == 0 || b->direct > g->directs_max - first) {
		return PT_NODE_NONE;
	}
	memcpy(&g->directs[first], b->directs, b->direct * sizeof(*b->directs));
	g->ndirects += b->direct;
	return first;
}

/* The caller holds the lock. */
static bool build(struct sonde_pt_graph *g, uint32_t index)
{
	struct pt_cold *cold = &g->cold[index];
	struct pt_node *node = &g->nodes[index];
	struct pt_node n = {.info = 0};
	struct build b;
	enum pt_node_kind kind;

	if (PT_NODE_KIND(node->info) != PT_NODE_UNBUILT) {
		return true;
	}
	memset(&b, 0, offsetof(struct build, directs));
	b.ip = cold->ip;
	b.bounds = pt_image_bounds(g->image, cold->context >> 2);
	if (!is_inside(&b, cold->ip)) {
		cold->end = cold->ip;
		__atomic_store_n(&node->info, PT_NODE_LEAVE, __ATOMIC_RELEASE);
		return true;
	}
	follow(g, cold->context, &b);
	kind = kind_of(&b);
	if (end_at_call(&b, kind)) {
		kind = PT_NODE_GOTO;
		b.insns = b.call_insns;
		b.direct = b.call_direct;
		b.ip = b.call_ip;
		b.insn = (struct pt_insn){.size = b.call_size,
		        .class = PT_CLASS_CALL,
		        .disp = (int32_t)(b.call_target - b.call_ip - b.call_size)};
		b.error = 0;
	}
	connect(g, cold, &n, &b, kind);
	if (!complete(&n, &b, kind)) {
		return false;
	}
	if (kind == PT_NODE_GOTO && circles(g, index, n.next[0])) {
		kind = PT_NODE_DEAD;
	}
	cold->end = b.ip;
	cold->direct = (uint16_t)b.direct;
	cold->size = b.insn.size;
	cold->class = (uint8_t)(b.insn.class | b.insn.special << 4);
	cold->first = keep_directs(g, &b);
	node->next[0] = n.next[0];
	node->next[1] = n.next[1];
	node->push = n.push;
	__atomic_store_n(&node->info, b.insns << 4 | (uint32_t)kind, __ATOMIC_RELEASE);
	return true;
}

bool pt_graph_build(struct sonde_pt_graph *graph, uint32_t index)
{
	bool good;

	lock(graph);
	good = build(graph, index);
	unlock(graph);
	return good;
}
