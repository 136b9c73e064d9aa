/* SPDX-License-Identifier: MIT */
/*
 * The hot loop: node after node, one branch each. It stops, with the flow at the beginning of a
 * node, where a branch does not fit its packet, where code is missing, and at every packet but TNT,
 * TIP and, when nobody asks for time, those of time. The slower files then say exactly what is
 * there.
 */
#include "pt/flow.h"

#include "core/span.h"

#define GOTO_MAX   (1u << 12) /* nodes without a decision: an endless loop, or nearly one */
#define QUEUE_SOME 64 /* runs that are made before the caller gets them */

/* A TIP at the cursor, the most frequent forms first; false: it is none, or an odd one. */
static inline bool fast_tip(struct sonde_pt_flow *f, uint64_t *ip)
{
	const uint8_t *p = f->cursor.p;
	uint32_t low;
	uint16_t word;

	if (f->cursor.end - p < 9 || HOST_BIG_ENDIAN) {
		return pt_flow_tip(f, ip);
	}
	if (*p == 0x2d) {
		memcpy(&word, p + 1, 2);
		f->last_ip = (f->last_ip & ~0xffffULL) | word;
		f->cursor.p = p + 3;
	} else if (*p == 0x4d) {
		memcpy(&low, p + 1, 4);
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

static inline void record(
        struct sonde_pt_flow *f, uint32_t at, unsigned which, uint32_t next, bool counting)
{
	if (counting) {
		f->counts->nodes[2 * (size_t)at + which]++;
		return;
	}
	pt_emit_run(f, f->graph->cold[at].ip, PT_NODE_INSNS(f->graph->nodes[at].info));
	pt_emit_branch(f, f->graph->cold[next].ip, which != 0);
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
	const struct pt_node *node = &f->graph->nodes[at];
	struct pt_node n = *node;
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

static inline __attribute__((always_inline)) uint32_t run(
        struct sonde_pt_flow *f, uint32_t at, uint32_t context, bool counting)
{
	while (!f->failed) {
		uint32_t kind =
		        PT_NODE_KIND(__atomic_load_n(&f->graph->nodes[at].info, __ATOMIC_ACQUIRE));
		uint32_t next;

		if (kind == PT_NODE_UNBUILT) {
			f->failed = !pt_graph_build(f->graph, at);
			continue;
		}
		if (kind == PT_NODE_GOTO) {
			/* Without a branch to come it may lead past the place of an event. */
			if (++f->gotos > GOTO_MAX ||
			        (f->nbits == 0 && !pt_refill(f) &&
			                (f->cursor.p == f->cursor.end ||
			                        (*f->cursor.p & 0x1f) != 0x0d))) {
				break;
			}
		} else {
			f->gotos = 0;
		}
		next = step(f, at, context, counting);
		if (next == PT_NODE_NONE) {
			break;
		}
		at = next;
		if (!counting && f->tail - f->head >= QUEUE_SOME) {
			break;
		}
	}
	return at;
}

void pt_fast_run(struct sonde_pt_flow *f)
{
	uint32_t context = pt_flow_context(f);
	uint32_t at;

	if (f->nbits == 0 && !pt_refill(f) &&
	        (f->cursor.p == f->cursor.end || (*f->cursor.p & 0x1f) != 0x0d)) {
		return;
	}
	at = pt_graph_node(f->graph, context, f->ip);
	if (at == PT_NODE_NONE) {
		f->failed = true;
		return;
	}
	f->fresh = false;
	at = f->counting ? run(f, at, context, true) : run(f, at, context, false);
	f->ip = f->graph->cold[at].ip;
}
