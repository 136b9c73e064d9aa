/* SPDX-License-Identifier: MIT */
/*
 * The hot loop: node after node, one branch each. It stops with the flow at the beginning of a node
 * where a branch does not fit its packet, where code is missing, and at every packet except TNT,
 * TIP and (if the caller wants no time) packets of time. The slower files then handle exactly that
 * case.
 */
#include "pt/fast.h"

#include "core/span.h"
#include "pt/clock.h"
#include "pt/edge.h"
#include "pt/more.h"
#include "pt/stack.h"
#include "pt/step.h"
#include "pt/unit.h"

/*
 * Maximum distance to the first packet of the bits: all packets in between are scanned to find a
 * bit.
 */
#define GATHER_BYTES 4096
#define FRESH_MAX    (1u << 31) /* hops that fit into 32-bit counts */
#define QUEUE_SOME   64 /* runs that are queued before the caller gets them */

/* A byte 02 may be the start of a PSB that cuts the packet off; then the packet reader decides. */
static inline bool has_02(uint32_t v)
{
	uint32_t x = v ^ 0x02020202u;

	return ((x - 0x01010101u) & ~x & 0x80808080u) != 0;
}

/* Reads a TIP at the cursor, the most frequent forms first; false: no TIP, or a rare form. */
static inline bool fast_tip(struct sonde_pt_flow *f, uint64_t *ip)
{
	const uint8_t *p = f->cursor.p;
	uint32_t low;
	uint16_t word;

	if (f->cursor.end - p < 9 || HOST_BIG_ENDIAN) {
		return pt_clock_tip(f, ip);
	}
	if (*p == 0x2d && p[1] != 2 && p[2] != 2) {
		memcpy(&word, p + 1, 2);
		f->last_ip = (f->last_ip & ~0xffffULL) | word;
		f->cursor.p = p + 3;
	} else if (*p == 0x4d && memcpy(&low, p + 1, 4) != NULL && !has_02(low)) {
		f->last_ip = (f->last_ip & ~0xffffffffULL) | low;
		f->cursor.p = p + 5;
	} else {
		return pt_clock_tip(f, ip);
	}
	*ip = f->last_ip;
	return true;
}

/*
 * Reads up to eight consecutive TNTs of six bits. Returns their bits; *n: how many TNTs. Such a
 * byte is 1xxxxxx0; the first one holds the oldest bits.
 */
static inline uint64_t full_tnts(const uint8_t *p, unsigned *n)
{
	uint64_t word, other;

	memcpy(&word, p, 8);
	word = HOST_BIG_ENDIAN ? word : __builtin_bswap64(word);
	other = (word & 0x8181818181818181u) ^ 0x8080808080808080u;
	*n = other != 0 ? (unsigned)__builtin_clzll(other) / 8 : 8;
	word = word >> 1 & 0x3f3f3f3f3f3f3f3fu;
	word = (word & 0x003f003f003f003fu) | (word & 0x3f003f003f003f00u) >> 2;
	word = (word & 0x00000fff00000fffu) | (word & 0x0fff00000fff0000u) >> 4;
	word = (word & 0xffffff) | (word >> 8 & 0xffffff000000u);
	return word >> (48 - *n * 6);
}

/*
 * As pt_refill, but fast: only if nothing but TNTs of at most 14 bytes follow and no bit is left.
 */
static inline bool refill(struct sonde_pt_flow *f)
{
	const uint8_t *p = f->cursor.p;
	uint64_t bits;
	unsigned packets, n;

	if (f->tnt.nbits != 0) {
		return p - f->tnt.gather < GATHER_BYTES && pt_refill(f);
	}
	if (f->cursor.bip_size != 0 || f->cursor.end - p < 9) {
		return pt_refill(f);
	}
	if ((*p & 0x1f) == 0x0d) {
		return false;
	}
	bits = full_tnts(p, &packets);
	n = 6 * packets;
	p += packets;
	if ((*p & 0x81) == 0 && *p > 2) {
		unsigned count = 30u - (unsigned)__builtin_clz(*p);

		bits = bits << count | ((*p >> 1) & ((1u << count) - 1));
		n += count;
		p++;
	}
	if (n == 0) {
		return pt_refill(f);
	}
	f->tnt.gather = f->cursor.p;
	f->tnt.gathered = n;
	f->tnt.nbits = n;
	f->tnt.bits = bits << (64 - n);
	f->cursor.p = p;
	return true;
}

/* Returns the node that a TIP leads to. Most IPs repeat soon: a small table caches the graph's. */
static inline pt_at node_of(struct sonde_pt_flow *f, uint64_t ip)
{
	struct pt_tip *tip = &f->tips[(ip ^ ip >> 12) & (PT_TIPS - 1)];
	pt_at at;

	if (tip->ip == ip && tip->turn == f->units.turn) {
		return (pt_at)tip->bias << 32 | tip->node;
	}
	at = pt_unit_node(f, ip);
	if (at != PT_NODE_NONE && PT_AT_BIAS(at) <= UINT16_MAX) {
		*tip = (struct pt_tip){.ip = ip,
		        .node = PT_AT_NODE(at),
		        .bias = (uint16_t)PT_AT_BIAS(at),
		        .turn = f->units.turn};
	}
	return at;
}

/* Returns where a return goes: by a TNT bit to the last call, else by a TIP. */
static inline pt_at fast_ret(struct sonde_pt_flow *f)
{
	pt_at next = pt_stack_top(f);
	uint64_t ip;

	if (f->tnt.nbits != 0 || pt_refill(f)) {
		if (f->tnt.bits >> 63 == 0 || next == PT_NODE_NONE) {
			return PT_NODE_NONE;
		}
		f->tnt.bits <<= 1;
		f->tnt.nbits--;
	} else if (fast_tip(f, &ip)) {
		next = node_of(f, ip);
	} else {
		return PT_NODE_NONE;
	}
	pt_stack_pop(f);
	return next;
}

static inline pt_at fast_indirect(struct sonde_pt_flow *f)
{
	uint64_t ip;

	return pt_deferred(f) && fast_tip(f, &ip) ? node_of(f, ip) : PT_NODE_NONE;
}

static inline bool tip_is_next(const struct sonde_pt_flow *f)
{
	return f->cursor.p != f->cursor.end && (*f->cursor.p & 0x1f) == 0x0d;
}

/* Whether a TIP is next that leads somewhere. */
static bool tip_follows(const struct sonde_pt_flow *f)
{
	struct pt_cursor ahead = f->cursor;
	uint64_t last = f->last_ip;
	struct sonde_pt_packet p;

	return tip_is_next(f) && pt_cursor_next(&ahead, &p) > 0 && p.kind == SONDE_PT_TIP &&
	       sonde_pt_packet_ip(&p, &last);
}

/* Without a following branch, code without decisions could lead past the address of an event. */
static inline bool branch_follows(struct sonde_pt_flow *f)
{
	return f->tnt.nbits != 0 || pt_refill(f) || tip_follows(f);
}

static inline void record(
        struct sonde_pt_flow *f, pt_at at, unsigned which, pt_at next, bool counting)
{
	if (counting) {
		f->tally.counts->nodes[2 * (size_t)PT_AT_NODE(at) + which]++;
		return;
	}
	pt_emit_node(f, at, next, which != 0);
}

static inline uint32_t kind_of(const struct sonde_pt_flow *f, pt_at at)
{
	return PT_NODE_KIND(
	        __atomic_load_n(&f->graph->nodes[PT_AT_NODE(at)].info, __ATOMIC_ACQUIRE));
}

static inline void push(struct sonde_pt_flow *f, pt_at at, uint32_t node)
{
	if (node != PT_NODE_NONE) {
		f->calls.nodes[f->calls.sp++] = PT_AT_HERE(at) | node;
	}
}

/* Returns where code goes on that leaves its unit. */
static pt_at leave(struct sonde_pt_flow *f, pt_at at)
{
	return branch_follows(f) && pt_unit_may_leave(f) ? node_of(f, pt_at_ip(f, at))
	                                                 : PT_NODE_NONE;
}

/*
 * Follows one node. PT_NODE_NONE: not possible here, and nothing was changed. A return inside a
 * folded call needs the push first, so the push is undone if the decision fails.
 */
static inline __attribute__((always_inline)) pt_at step(
        struct sonde_pt_flow *f, pt_at at, bool counting)
{
	const struct pt_node n = f->graph->nodes[PT_AT_NODE(at)];
	unsigned sp = f->calls.sp;
	pt_at next;
	unsigned bit = 1;

	switch (PT_NODE_KIND(n.info)) {
	case PT_NODE_COND:
		if (__builtin_expect(f->tnt.nbits == 0, 0) && !pt_refill(f)) {
			return PT_NODE_NONE;
		}
		push(f, at, n.push);
		bit = (unsigned)(f->tnt.bits >> 63);
		f->tnt.bits <<= 1;
		f->tnt.nbits--;
		next = PT_AT_HERE(at) | n.next[bit];
		break;
	case PT_NODE_RET:
		push(f, at, n.push);
		next = fast_ret(f);
		break;
	case PT_NODE_TIP:
		push(f, at, n.push);
		next = fast_indirect(f);
		break;
	case PT_NODE_GOTO:
		if (!branch_follows(f)) {
			return PT_NODE_NONE;
		}
		push(f, at, n.push);
		next = PT_AT_HERE(at) | n.next[0];
		break;
	case PT_NODE_LEAVE: return leave(f, at);
	default: return PT_NODE_NONE;
	}
	if (next == PT_NODE_NONE) {
		f->calls.sp = sp;
		return PT_NODE_NONE;
	}
	record(f, at, bit, next, counting);
	if (counting &&
	        (PT_NODE_KIND(n.info) == PT_NODE_RET || PT_NODE_KIND(n.info) == PT_NODE_TIP)) {
		f->tally.counts->log.edges[f->tally.counts->log.count++] =
		        (uint64_t)PT_AT_NODE(at) << 32 | PT_AT_NODE(next);
	}
	return next;
}

/*
 * The loop for most of a trace, when counting: hop after hop, with no branch of our own that
 * depends on the traced code, since it would be mispredicted. Ends at an unknown hop and when too
 * few bits are left for one. The log and the return stack have room for all that f->tnt.bits can lead
 * to; slots above the top of the stack may hold garbage. Nodes have no bias here.
 */
static __attribute__((noinline)) uint32_t hot(struct sonde_pt_flow *f, uint32_t at)
{
	const uint64_t *hops = f->graph->hops;
	uint32_t *counts = f->tally.counts->hops;
	struct pt_edge_log *log = &f->tally.counts->log;
	uint64_t *logged = log->edges + log->count;
	pt_at *sp = f->calls.nodes + f->calls.sp;
	uint64_t bits = f->tnt.bits;
	unsigned nbits = f->tnt.nbits;

	while (nbits >= PT_HOP_BITS) {
		size_t index = (size_t)at * PT_HOPS + (bits >> (64 - PT_HOP_BITS));
		uint64_t hop = __atomic_load_n(&hops[index], __ATOMIC_ACQUIRE);
		uint32_t next = PT_HOP_TO(hop);
		uint32_t top = PT_AT_NODE(sp[-1]);
		bool returns = next == PT_NODE_NONE;

		/* Keeps compilers from making this a branch, which would often be mispredicted. */
		__asm__("" : "+r"(top));
		next = returns ? top : next;
		__asm__("" : "+r"(next));
		if (hop <= PT_HOP_CANNOT || next == PT_NODE_NONE) {
			break;
		}
		counts[index]++;
		*logged = (hop & ~0xffULL) | next;
		logged += returns;
		*sp = PT_HOP_NODE(hop);
		sp += PT_HOP_DEPTH(hop);
		bits <<= PT_HOP_TAKEN(hop);
		nbits -= PT_HOP_TAKEN(hop);
		at = next;
	}
	f->tnt.bits = bits;
	f->tnt.nbits = nbits;
	f->calls.sp = (unsigned)(sp - f->calls.nodes);
	log->count = (unsigned)(logged - log->edges);
	return at;
}

/*
 * Takes the next hop, when no bits follow, and the TIP after it. PT_NODE_NONE: not possible, and
 * nothing was changed.
 */
static inline uint32_t hop_by_tip(struct sonde_pt_flow *f, uint32_t at)
{
	const struct pt_hop_bits bits = {
	        .value = (unsigned)(f->tnt.bits >> 1 >> (63 - f->tnt.nbits)),
	        .count = f->tnt.nbits,
	        .tip = true};
	struct pt_edge_log *log = &f->tally.counts->log;
	uint64_t hop, ip;
	uint32_t next;

	if (!tip_is_next(f)) {
		return PT_NODE_NONE;
	}
	hop = __atomic_load_n(pt_hop_slot(f->graph, at, &bits), __ATOMIC_ACQUIRE);
	if (hop <= PT_HOP_CANNOT || !fast_tip(f, &ip)) {
		return PT_NODE_NONE;
	}
	next = PT_AT_NODE(node_of(f, ip));
	f->tally.counts->tip_hops[pt_hop_index(at, &bits)]++;
	log->edges[log->count++] = (uint64_t)PT_HOP_TO(hop) << 32 | next;
	f->calls.nodes[f->calls.sp] = PT_HOP_NODE(hop);
	f->calls.sp += (unsigned)PT_HOP_DEPTH(hop);
	f->calls.sp += f->calls.sp == 0; /* the stack was empty */
	f->tnt.bits = 0;
	f->tnt.nbits = 0;
	return next;
}

/* Makes the next hop if it is unknown; false: there can be none. */
static bool learn(struct sonde_pt_flow *f, uint32_t at)
{
	struct pt_hop_bits bits = {.count = f->tnt.nbits < PT_HOP_BITS ? f->tnt.nbits : PT_HOP_BITS,
	        .tip = f->tnt.nbits < PT_HOP_BITS};
	const uint64_t *hop;

	if (bits.tip && !tip_is_next(f)) {
		return false;
	}
	bits.value = (unsigned)(f->tnt.bits >> 1 >> (63 - bits.count));
	hop = pt_hop_slot(f->graph, at, &bits);
	if (__atomic_load_n(hop, __ATOMIC_ACQUIRE) != 0) {
		return false;
	}
	f->failed = !pt_hop_make(f->graph, at, &bits);
	return !f->failed && __atomic_load_n(hop, __ATOMIC_ACQUIRE) > PT_HOP_CANNOT;
}

static inline void make_room(struct sonde_pt_flow *f)
{
	if (f->tally.counts->log.count > PT_EDGE_LOG - PT_HOT_ROOM) {
		pt_counts_flush_log(f);
	}
	if (f->calls.sp > PT_STACK_SIZE - PT_HOT_ROOM) {
		pt_stack_shrink(f);
	}
	f->tally.counts->since += PT_HOT_ROOM;
	if (f->tally.counts->since > FRESH_MAX) {
		f->failed = !pt_counts_flush_hops(f);
	}
}

static uint32_t run_counting(struct sonde_pt_flow *f, uint32_t at)
{
	uint32_t next;

	while (!f->failed) {
		make_room(f);
		at = hot(f, at);
		next = f->tnt.nbits < PT_HOP_BITS ? hop_by_tip(f, at) : PT_NODE_NONE;
		if (next != PT_NODE_NONE) {
			at = next;
			(void)refill(f);
			continue;
		}
		if ((f->tnt.nbits < PT_HOP_BITS && refill(f)) || learn(f, at)) {
			continue;
		}
		if (kind_of(f, at) == PT_NODE_UNBUILT) {
			f->failed = !pt_graph_build(f->graph, at);
			continue;
		}
		next = PT_AT_NODE(step(f, at, true));
		if (next == PT_NODE_NONE) {
			break;
		}
		at = next;
	}
	pt_counts_flush_log(f);
	return at;
}

/* Whether nothing is wanted of the next nodes except an instruction by its number. */
static inline bool is_quiet(const struct sonde_pt_flow *f)
{
	return (f->wanted.kinds & ~(SONDE_PT_WANT_EVENTS | SONDE_PT_WANT_NOTHING)) == 0 &&
	       !f->clock.cycled && !f->clock.moved;
}

/* The number of the next instruction that is wanted; not below `insns`. */
static inline uint64_t wanted_insn(const struct sonde_pt_flow *f)
{
	uint64_t next = f->wanted.sample_at < f->wanted.ticks.limit ? f->wanted.sample_at
	                                                            : f->wanted.ticks.limit;

	return next > f->insns ? next : f->insns;
}

/* Sums of weights: instructions in 32 bits, taken branches and calls in 16 bits each. */
static inline uint64_t sums_of(uint32_t weight)
{
	return PT_WEIGHT_INSNS(weight) | (uint64_t)PT_WEIGHT_TAKEN(weight) << 32 |
	       (uint64_t)PT_WEIGHT_CALLS(weight) << 48;
}

static inline void add_sums(struct sonde_pt_flow *f, uint64_t sums)
{
	f->insns += (uint32_t)sums;
	pt_passed_add(&f->passed, f->clock.time.tsc, sums >> 32 & 0xffff, sums >> 48);
}

/*
 * Passes nodes by hops as `hot` does. If weighs, it sums up what they pass, up to a hop that has a
 * wanted instruction.
 */
static inline __attribute__((always_inline)) pt_at pass_hops(
        struct sonde_pt_flow *f, pt_at at, bool weighs)
{
	const uint64_t *hops = f->graph->hops;
	const uint32_t *weights = f->graph->weights;
	pt_at *sp = f->calls.nodes + f->calls.sp;
	uint64_t bits = f->tnt.bits;
	uint64_t end = wanted_insn(f) - f->insns;
	uint64_t sums = 0;
	unsigned nbits = f->tnt.nbits;

	while (nbits >= PT_HOP_BITS) {
		size_t index = (size_t)PT_AT_NODE(at) * PT_HOPS + (bits >> (64 - PT_HOP_BITS));
		uint64_t hop = __atomic_load_n(&hops[index], __ATOMIC_ACQUIRE);
		uint32_t weight = weighs ? __atomic_load_n(&weights[index], __ATOMIC_RELAXED) : 0;
		uint64_t more = sums + sums_of(weight);
		pt_at next = PT_AT_HERE(at) | PT_HOP_TO(hop);
		pt_at top = sp[-1];
		bool returns = PT_HOP_TO(hop) == PT_NODE_NONE;

		__asm__("" : "+r"(top)); /* as in `hot` */
		next = returns ? top : next;
		__asm__("" : "+r"(next));
		if (hop <= PT_HOP_CANNOT || next == PT_NODE_NONE ||
		        (weighs && (uint32_t)more >= end)) {
			break;
		}
		sums = more;
		*sp = PT_AT_HERE(at) | PT_HOP_NODE(hop);
		sp += PT_HOP_DEPTH(hop);
		bits <<= PT_HOP_TAKEN(hop);
		nbits -= PT_HOP_TAKEN(hop);
		at = next;
	}
	if (weighs) {
		add_sums(f, sums);
	}
	f->tnt.bits = bits;
	f->tnt.nbits = nbits;
	f->calls.sp = (unsigned)(sp - f->calls.nodes);
	return at;
}

static __attribute__((noinline)) pt_at pass_weighed(struct sonde_pt_flow *f, pt_at at)
{
	return pass_hops(f, at, true);
}

static __attribute__((noinline)) pt_at pass_unweighed(struct sonde_pt_flow *f, pt_at at)
{
	return pass_hops(f, at, false);
}

/* As hop_by_tip, without counts: nothing of the hop is wanted. */
static inline __attribute__((always_inline)) pt_at quiet_tip(
        struct sonde_pt_flow *f, pt_at at, bool weighs)
{
	const struct pt_hop_bits bits = {
	        .value = (unsigned)(f->tnt.bits >> 1 >> (63 - f->tnt.nbits)),
	        .count = f->tnt.nbits,
	        .tip = true};
	uint64_t hop, ip;
	uint64_t sums = 0;
	pt_at next;

	if (!tip_is_next(f)) {
		return PT_NODE_NONE;
	}
	hop = __atomic_load_n(pt_hop_slot(f->graph, PT_AT_NODE(at), &bits), __ATOMIC_ACQUIRE);
	if (weighs) {
		sums = sums_of(__atomic_load_n(
		        pt_hop_weight(f->graph, PT_AT_NODE(at), &bits), __ATOMIC_RELAXED));
	}
	if (hop <= PT_HOP_CANNOT || (weighs && f->insns + (uint32_t)sums >= wanted_insn(f)) ||
	        !fast_tip(f, &ip)) {
		return PT_NODE_NONE;
	}
	next = node_of(f, ip);
	if (weighs) {
		add_sums(f, sums);
	}
	f->calls.nodes[f->calls.sp] = PT_AT_HERE(at) | PT_HOP_NODE(hop);
	f->calls.sp += (unsigned)PT_HOP_DEPTH(hop);
	f->calls.sp += f->calls.sp == 0; /* the stack was empty */
	f->tnt.bits = 0;
	f->tnt.nbits = 0;
	return next;
}

/*
 * Passes nodes as `step` would, up to the one that has a wanted instruction, and keeps their taken
 * branches; no branch of our own depends on the direction of the traced ones. PT_HOT_ROOM nodes fit
 * into the return stack.
 */
static __attribute__((noinline)) pt_at branches(struct sonde_pt_flow *f, pt_at at)
{
	const struct pt_node *nodes = f->graph->nodes;
	const struct pt_cold *colds = f->graph->cold;
	struct pt_branch *out = f->batch.branches + f->batch.n;
	const struct pt_branch *limit = f->batch.branches + PT_BATCH;
	const uint64_t *biases = f->units.biases;
	uint64_t bias = biases[PT_AT_BIAS(at)];
	pt_at *sp = f->calls.nodes + f->calls.sp;
	uint64_t bits = f->tnt.bits;
	uint64_t insns = f->insns;
	uint64_t end = wanted_insn(f);
	unsigned nbits = f->tnt.nbits;

	for (unsigned i = 0; i < PT_HOT_ROOM && nbits != 0; i++) {
		const struct pt_node *n = &nodes[PT_AT_NODE(at)];
		const struct pt_cold *cold = &colds[PT_AT_NODE(at)];
		uint64_t next_bias;
		uint32_t info = __atomic_load_n(&n->info, __ATOMIC_ACQUIRE);
		uint32_t kind = PT_NODE_KIND(info);
		uint64_t bit = bits >> 63;
		pt_at pushed = PT_AT_HERE(at) | n->push;
		pt_at top = n->push != PT_NODE_NONE ? pushed : sp[-1];
		bool is_ret = kind == PT_NODE_RET;
		pt_at next = PT_AT_HERE(at) | n->next[bit];

		next = is_ret ? top & (0 - bit) : next;
		if (kind > PT_NODE_RET || next == PT_NODE_NONE ||
		        insns + PT_NODE_INSNS(info) >= end || limit - out <= cold->direct ||
		        (cold->direct != 0 && cold->first == PT_NODE_NONE)) {
			break;
		}
		next_bias = biases[PT_AT_BIAS(next)];
		out = pt_copy_directs(f->graph, cold, bias, out);
		*out = (struct pt_branch){.from = cold->end + bias,
		        .to = colds[PT_AT_NODE(next)].ip + next_bias,
		        .size = cold->size,
		        .class = cold->class};
		out += bit & (kind != PT_NODE_GOTO);
		insns += PT_NODE_INSNS(info);
		*sp = pushed;
		sp += n->push != PT_NODE_NONE;
		sp -= is_ret;
		bits <<= kind != PT_NODE_GOTO;
		nbits -= kind != PT_NODE_GOTO;
		at = next;
		bias = next_bias;
	}
	f->insns = insns;
	f->tnt.bits = bits;
	f->tnt.nbits = nbits;
	f->calls.sp = (unsigned)(sp - f->calls.nodes);
	pt_batch_grow(f, out);
	return at;
}

/* Passes nodes of which nothing is wanted but an instruction by its number, if weighs. */
static inline __attribute__((always_inline)) bool pass_by_hops(
        struct sonde_pt_flow *f, pt_at *at, bool weighs)
{
	pt_at next;

	*at = weighs ? pass_weighed(f, *at) : pass_unweighed(f, *at);
	next = f->tnt.nbits < PT_HOP_BITS ? quiet_tip(f, *at, weighs) : PT_NODE_NONE;
	if (next != PT_NODE_NONE) {
		*at = next;
		(void)refill(f);
		return true;
	}
	return (f->tnt.nbits < PT_HOP_BITS && refill(f)) || learn(f, PT_AT_NODE(*at));
}

/* Passes nodes that need no steps; true: more may be passed in the same way. */
static inline bool pass_quietly(struct sonde_pt_flow *f, pt_at *at)
{
	if (pt_batch_fits(f)) {
		*at = branches(f, *at);
		return f->tnt.nbits == 0 && refill(f);
	}
	if (!is_quiet(f)) {
		return false;
	}
	return f->wanted.unnumbered ? pass_by_hops(f, at, false) : pass_by_hops(f, at, true);
}

static pt_at run_steps(struct sonde_pt_flow *f, pt_at at)
{
	while (!f->failed && f->queue.tail - f->queue.head < QUEUE_SOME &&
	        f->batch.n < PT_BATCH / 2) {
		pt_at next;

		if (f->calls.sp > PT_STACK_SIZE - PT_HOT_ROOM) {
			pt_stack_shrink(f);
		}
		if (pass_quietly(f, &at)) {
			continue;
		}
		if (kind_of(f, at) == PT_NODE_UNBUILT) {
			f->failed = !pt_graph_build(f->graph, PT_AT_NODE(at));
			continue;
		}
		next = step(f, at, false);
		if (next == PT_NODE_NONE) {
			break;
		}
		at = next;
	}
	return at;
}

void pt_fast_run(struct sonde_pt_flow *f)
{
	pt_at at;

	if (!branch_follows(f) || pt_unit_is_stuck(f)) {
		return;
	}
	at = pt_unit_node(f, f->now.ip);
	if (at == PT_NODE_NONE) {
		return;
	}
	f->now.fresh = false;
	f->now.by_psb = false;
	at = f->tally.counting ? run_counting(f, PT_AT_NODE(at)) : run_steps(f, at);
	f->now.ip = pt_at_ip(f, at);
}
