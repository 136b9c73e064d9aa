/* SPDX-License-Identifier: MIT */
/*
 * The hot loop: node after node, one branch each. It stops, with the flow at the beginning of a
 * node, where a branch does not fit its packet, where code is missing, and at every packet but TNT,
 * TIP and, when nobody asks for time, those of time. The slower files then say exactly what is
 * there.
 */
#include "pt/flow.h"

#include "core/span.h"

#define FRESH_MAX  (1u << 30) /* decisions; between two of them no node comes twice */
#define QUEUE_SOME 64 /* runs that are made before the caller gets them */

/* A byte 02 may be where a PSB begins and cuts the packet off; the reader of packets looks. */
static inline bool has_02(uint32_t v)
{
	uint32_t x = v ^ 0x02020202u;

	return ((x - 0x01010101u) & ~x & 0x80808080u) != 0;
}

/* A TIP at the cursor, the most frequent forms first; false: it is none, or an odd one. */
static inline bool fast_tip(struct sonde_pt_flow *f, uint64_t *ip)
{
	const uint8_t *p = f->cursor.p;
	uint32_t low;
	uint16_t word;

	if (f->cursor.end - p < 9 || HOST_BIG_ENDIAN) {
		return pt_flow_tip(f, ip);
	}
	if (*p == 0x2d && p[1] != 2 && p[2] != 2) {
		memcpy(&word, p + 1, 2);
		f->last_ip = (f->last_ip & ~0xffffULL) | word;
		f->cursor.p = p + 3;
	} else if (*p == 0x4d && memcpy(&low, p + 1, 4) != NULL && !has_02(low)) {
		f->last_ip = (f->last_ip & ~0xffffffffULL) | low;
		f->cursor.p = p + 5;
	} else {
		return pt_flow_tip(f, ip);
	}
	*ip = f->last_ip;
	return true;
}

/* Where a return leads: by a bit to the last call, else by a TIP. */
static inline uint32_t fast_ret(struct sonde_pt_flow *f, uint32_t context)
{
	uint32_t *top = &f->stack[(f->sp - 1) & (PT_STACK_SIZE - 1)];
	uint32_t next = *top;
	uint64_t ip;

	if (f->nbits != 0 || pt_refill(f)) {
		if (f->bits >> 63 == 0 || next == PT_NODE_NONE) {
			return PT_NODE_NONE;
		}
		f->bits <<= 1;
		f->nbits--;
	} else if (fast_tip(f, &ip)) {
		next = pt_graph_node(f->graph, context, ip);
		f->failed = f->failed || next == PT_NODE_NONE;
	} else {
		return PT_NODE_NONE;
	}
	*top = PT_NODE_NONE;
	f->sp--;
	return next;
}

static inline uint32_t fast_indirect(struct sonde_pt_flow *f, uint32_t context)
{
	uint32_t next;
	uint64_t ip;

	if (!fast_tip(f, &ip)) {
		return PT_NODE_NONE;
	}
	next = pt_graph_node(f->graph, context, ip);
	f->failed = f->failed || next == PT_NODE_NONE;
	return next;
}

/* Without a branch to come, code that nothing decides may lead past the place of an event. */
static inline bool branch_follows(struct sonde_pt_flow *f)
{
	return f->nbits != 0 || pt_refill(f) ||
	       (f->cursor.p != f->cursor.end && (*f->cursor.p & 0x1f) == 0x0d);
}

static inline void record(
        struct sonde_pt_flow *f, uint32_t at, unsigned which, uint32_t next, bool counting)
{
	if (counting) {
		f->counts->fresh[2 * (size_t)at + which]++;
		return;
	}
	pt_emit_node(f, at, next, which != 0);
}

static inline uint32_t kind_of(const struct sonde_pt_flow *f, uint32_t at)
{
	return PT_NODE_KIND(__atomic_load_n(&f->graph->nodes[at].info, __ATOMIC_ACQUIRE));
}

static inline void push(struct sonde_pt_flow *f, uint32_t node)
{
	f->stack[f->sp & (PT_STACK_SIZE - 1)] = node;
	f->sp += node != PT_NODE_NONE;
}

/*
 * One node; PT_NODE_NONE: it cannot be done here, and nothing was changed. A return inside a folded
 * call needs the push first, so a push is taken back where the decision fails.
 */
static inline __attribute__((always_inline)) uint32_t step(
        struct sonde_pt_flow *f, uint32_t at, uint32_t context, bool counting)
{
	const struct pt_node n = f->graph->nodes[at];
	unsigned sp = f->sp;
	uint32_t saved = f->stack[sp & (PT_STACK_SIZE - 1)];
	uint32_t next;
	unsigned bit = 1;

	switch (PT_NODE_KIND(n.info)) {
	case PT_NODE_COND:
		if (__builtin_expect(f->nbits == 0, 0) && !pt_refill(f)) {
			return PT_NODE_NONE;
		}
		push(f, n.push);
		bit = (unsigned)(f->bits >> 63);
		f->bits <<= 1;
		f->nbits--;
		next = n.next[bit];
		break;
	case PT_NODE_RET:
		push(f, n.push);
		next = fast_ret(f, context);
		break;
	case PT_NODE_TIP:
		push(f, n.push);
		next = fast_indirect(f, context);
		break;
	case PT_NODE_GOTO:
		if (!branch_follows(f)) {
			return PT_NODE_NONE;
		}
		push(f, n.push);
		next = n.next[0];
		break;
	default: return PT_NODE_NONE;
	}
	if (next == PT_NODE_NONE) {
		f->sp = sp;
		f->stack[sp & (PT_STACK_SIZE - 1)] = saved;
		return PT_NODE_NONE;
	}
	record(f, at, bit, next, counting);
	if (counting &&
	        (PT_NODE_KIND(n.info) == PT_NODE_RET || PT_NODE_KIND(n.info) == PT_NODE_TIP)) {
		pt_counts_edge(f, at, next);
	}
	return next;
}

/*
 * What most of a trace is, for counts: nodes that a bit or nothing decides, without a branch of our
 * own that depends on them, since those would be mispredicted. Ends at the first node that is not
 * like that, or when there is no bit.
 */
static uint32_t hot(struct sonde_pt_flow *f, uint32_t at)
{
	const struct pt_node *nodes = f->graph->nodes;
	uint32_t *counts = f->counts->fresh;
	struct pt_edge_log *log = &f->counts->log;
	uint64_t bits = f->bits;
	unsigned nbits = f->nbits;
	unsigned sp = f->sp;
	unsigned logged = log->count;

	for (;;) {
		uint32_t kind = PT_NODE_KIND(__atomic_load_n(&nodes[at].info, __ATOMIC_ACQUIRE));
		uint32_t push = nodes[at].push;
		uint32_t *above = &f->stack[sp & (PT_STACK_SIZE - 1)];
		uint32_t top = f->stack[(sp - 1) & (PT_STACK_SIZE - 1)];
		bool is_ret = kind == PT_NODE_RET;
		uint32_t bit, next;

		if (kind > PT_NODE_RET || nbits == 0 || logged == PT_EDGE_LOG) {
			break;
		}
		bit = (uint32_t)(bits >> 63);
		top = push != PT_NODE_NONE ? push : top;
		next = nodes[at].next[bit];
		next = is_ret ? top & (0 - bit) : next;
		if (next == PT_NODE_NONE) {
			break;
		}
		*above = push;
		sp += push != PT_NODE_NONE;
		sp -= is_ret;
		*(is_ret ? &f->stack[sp & (PT_STACK_SIZE - 1)] : &log->nothing) = PT_NODE_NONE;
		counts[2 * (size_t)at + bit]++;
		log->edges[logged] = (uint64_t)at << 32 | next;
		logged += is_ret;
		bits <<= kind != PT_NODE_GOTO;
		nbits -= kind != PT_NODE_GOTO;
		at = next;
	}
	f->bits = bits;
	f->nbits = nbits;
	f->sp = sp;
	log->count = logged;
	return at;
}

static uint32_t run_counting(struct sonde_pt_flow *f, uint32_t at, uint32_t context)
{
	while (!f->failed) {
		uint32_t next;

		at = hot(f, at);
		pt_counts_flush_log(f);
		if (++f->counts->since > FRESH_MAX) {
			pt_counts_flush_nodes(f);
		}
		if (f->nbits == 0 && pt_refill(f)) {
			f->counts->since += f->nbits;
			continue;
		}
		if (kind_of(f, at) == PT_NODE_UNBUILT) {
			f->failed = !pt_graph_build(f->graph, at);
			continue;
		}
		next = step(f, at, context, true);
		if (next == PT_NODE_NONE) {
			break;
		}
		at = next;
	}
	return at;
}

static uint32_t run_steps(struct sonde_pt_flow *f, uint32_t at, uint32_t context)
{
	while (!f->failed && f->tail - f->head < QUEUE_SOME) {
		uint32_t next;

		if (kind_of(f, at) == PT_NODE_UNBUILT) {
			f->failed = !pt_graph_build(f->graph, at);
			continue;
		}
		next = step(f, at, context, false);
		if (next == PT_NODE_NONE) {
			break;
		}
		at = next;
	}
	return at;
}

void pt_fast_run(struct sonde_pt_flow *f)
{
	uint32_t context = pt_flow_context(f);
	uint32_t at;

	if (!branch_follows(f)) {
		return;
	}
	at = pt_graph_node(f->graph, context, f->ip);
	if (at == PT_NODE_NONE) {
		f->failed = true;
		return;
	}
	f->fresh = false;
	f->by_psb = false;
	at = f->counting ? run_counting(f, at, context) : run_steps(f, at, context);
	f->ip = f->graph->cold[at].ip;
}
