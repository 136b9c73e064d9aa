/* SPDX-License-Identifier: MIT */
/*
 * Hops: the combined effect of the next branch bits on a flow at a node. A hop is made when first
 * needed and stored in the graph, in one word. Each node has one for each value of the bits, of two
 * sorts:
 *
 *	by bits      PT_HOP_BITS of them; it ends earlier where something else must be handled
 *	by a TIP     all remaining bits, which are fewer, and then a TIP
 *
 *	0..5    number of bits consumed
 *	6..7    change of the return stack's depth, plus 1; 0 where the hop returns
 *	8..31   the node it leads to; 0: the one on top of the return stack. By a TIP: the node that
 *	        ends with the branch
 *	32..63  the node that is pushed, or, if the stack decides a return, the node that returns
 *
 * Beside each hop is its weight: instructions and branches on its path.
 *
 * A word is 0 until the hop is made, and PT_HOP_CANNOT if there is none. Two threads may make the
 * same hop: both store the same word.
 */
#include "pt/passed.h"

static void pass(struct pt_hop_path *path, uint32_t bit, bool takes_bit, uint32_t next)
{
	path->steps[path->count].node = path->to;
	path->steps[path->count].bit = bit;
	path->count++;
	path->taken += takes_bit;
	path->to = next;
}

/* Follows a return decided by a bit; false: the hop ends before or with it. */
static bool go_return(const struct pt_node *n, uint32_t bit, struct pt_hop_path *path)
{
	uint32_t to = n->push != PT_NODE_NONE ? n->push : path->push;

	if (bit == 0) {
		return false;
	}
	if (n->push == PT_NODE_NONE) {
		path->push = PT_NODE_NONE;
	}
	path->returns = to == PT_NODE_NONE;
	pass(path, 1, true, to);
	return !path->returns;
}

/* Passes one node; false: the hop ends before or with it. */
static bool go(const struct pt_node *n, const struct pt_hop_bits *bits, struct pt_hop_path *path)
{
	enum pt_node_kind kind = PT_NODE_KIND(n->info);
	uint32_t bit = 1;

	if (path->count == PT_HOP_NODES || (path->taken == bits->count && kind != PT_NODE_GOTO)) {
		return false;
	}
	if (kind != PT_NODE_GOTO) {
		bit = bits->value >> (bits->count - 1 - path->taken) & 1;
	}
	if (kind == PT_NODE_RET) {
		return go_return(n, bit, path);
	}
	if ((kind != PT_NODE_COND && kind != PT_NODE_GOTO) ||
	        (n->push != PT_NODE_NONE && path->push != PT_NODE_NONE)) {
		return false;
	}
	path->push = n->push != PT_NODE_NONE ? n->push : path->push;
	pass(path, bit, kind == PT_NODE_COND, n->next[bit]);
	return true;
}

/* Handles the branch that the TIP decides; false: no TIP decides this node. */
static bool end_by_tip(
        const struct pt_node *n, const struct pt_hop_bits *bits, struct pt_hop_path *path)
{
	enum pt_node_kind kind = PT_NODE_KIND(n->info);

	if (path->returns || path->taken != bits->count || path->count == PT_HOP_NODES ||
	        (kind != PT_NODE_RET && kind != PT_NODE_TIP)) {
		return false;
	}
	if (kind == PT_NODE_TIP && n->push != PT_NODE_NONE && path->push != PT_NODE_NONE) {
		return false;
	}
	if (kind == PT_NODE_TIP) {
		path->push = n->push != PT_NODE_NONE ? n->push : path->push;
	} else if (n->push == PT_NODE_NONE) {
		path->pops = path->push == PT_NODE_NONE;
		path->push = PT_NODE_NONE;
	}
	pass(path, 1, false, PT_NODE_NONE);
	return true;
}

bool pt_hop_walk(struct sonde_pt_graph *graph, uint32_t at, const struct pt_hop_bits *bits,
        struct pt_hop_path *path)
{
	const struct pt_node *n;

	*path = (struct pt_hop_path){.to = at};
	do {
		n = &graph->nodes[path->to];
		if (path->taken == bits->count && !bits->tip) {
			return true;
		}
		if (PT_NODE_KIND(__atomic_load_n(&n->info, __ATOMIC_ACQUIRE)) == PT_NODE_UNBUILT &&
		        !pt_graph_build(graph, path->to)) {
			return false;
		}
	} while (go(n, bits, path));
	if (bits->tip && !end_by_tip(n, bits, path)) {
		path->count = 0;
	}
	return true;
}

/* Adds a node to the weight of a hop, by three sums; false: the graph does not keep its branches. */
static bool weigh(const struct sonde_pt_graph *g, uint32_t node, uint32_t bit, unsigned sums[3])
{
	const struct pt_cold *cold = &g->cold[node];
	uint32_t info = g->nodes[node].info;
	bool taken = PT_NODE_KIND(info) != PT_NODE_GOTO && bit != 0;

	sums[0] += PT_NODE_INSNS(info);
	sums[1] += cold->direct + taken;
	sums[2] += taken && pt_class_calls(PT_BRANCH_CLASS(cold->class));
	for (unsigned i = 0; i < cold->direct && cold->first != PT_NODE_NONE; i++) {
		sums[2] += g->directs[cold->first + i].class == PT_CLASS_CALL;
	}
	return cold->direct == 0 || cold->first != PT_NODE_NONE;
}

/* Finds the weight of a path; false: it is too heavy for a hop. */
static bool weight_of(
        const struct sonde_pt_graph *g, const struct pt_hop_path *path, uint32_t *weight)
{
	unsigned sums[3] = {0};

	for (unsigned i = 0; i < path->count; i++) {
		if (!weigh(g, path->steps[i].node, path->steps[i].bit, sums)) {
			return false;
		}
	}
	*weight = PT_WEIGHT(sums[0], sums[1], sums[2]);
	return sums[0] <= UINT16_MAX && sums[1] <= UINT8_MAX && sums[2] <= UINT8_MAX;
}

bool pt_hop_make(struct sonde_pt_graph *graph, uint32_t at, const struct pt_hop_bits *bits)
{
	uint64_t *slot = pt_hop_slot(graph, at, bits);
	struct pt_hop_path path;
	uint32_t last, node, to, weight;
	uint32_t depth = 1;

	if (!pt_hop_walk(graph, at, bits, &path)) {
		return false;
	}
	if (path.count == 0 || (path.taken == 0 && !bits->tip) ||
	        !weight_of(graph, &path, &weight)) {
		__atomic_store_n(slot, PT_HOP_CANNOT, __ATOMIC_RELEASE);
		return true;
	}
	last = path.steps[path.count - 1].node;
	node = path.returns ? last : path.push;
	to = bits->tip ? last : path.to;
	if (path.returns || path.pops) {
		depth = 0;
	} else if (path.push != PT_NODE_NONE) {
		depth = 2;
	}
	__atomic_store_n(pt_hop_weight(graph, at, bits), weight, __ATOMIC_RELAXED);
	__atomic_store_n(
	        slot, (uint64_t)node << 32 | to << 8 | depth << 6 | path.taken, __ATOMIC_RELEASE);
	return true;
}
