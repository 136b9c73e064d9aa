/* SPDX-License-Identifier: MIT */
/*
 * Call graphs. A row's graph is never stored: it starts as the list of chains that meet the row,
 * and is opened level by level; what lies below the limit is dropped at once.
 */
#include "profile/profile.h"

#include "core/array.h"

#include <stdlib.h>

static uint64_t percent_of(uint64_t total, double percent)
{
	return (uint64_t)((double)total * percent / 100.0);
}

static uint64_t graph_limit(const struct profile *p, uint32_t event)
{
	return percent_of(p->shown_totals[event], p->options.graph_limit);
}

static bool row_wants(const struct profile *p, const struct profile_row *row)
{
	uint64_t weight = p->options.children ? row->children : row->period;

	return (p->options.fractal || weight >= graph_limit(p, row->event)) && weight != 0;
}

/* Calls for each row of a chain that has a graph: stores (chain, pos), or only counts. */
static void ref_put(struct profile *p, uint32_t chain, uint32_t row, uint32_t pos, bool store)
{
	struct profile_row *r = &p->rows[row];

	if (r->mark == chain + 1) {
		return;
	}
	r->mark = chain + 1;
	if (!row_wants(p, r)) {
		return;
	}
	if (store) {
		p->refs[r->ref + r->refs] = (struct profile_ref){chain, pos};
	}
	r->refs++;
}

static void chain_refs(struct profile *p, uint32_t chain, bool store)
{
	const struct profile_chain *c = &p->counts.chains[chain];
	bool caller = p->options.caller;

	if (c->n == 0) {
		return;
	}
	ref_put(p, chain, c->row, caller ? c->n - 1 : 0, store);
	for (uint32_t i = 0; i < c->n && p->options.children; i++) {
		uint32_t pos = caller ? c->n - 1 - i : i;

		ref_put(p, chain, p->rows_of[c->first + pos], pos, store);
	}
}

static void marks_clear(struct profile *p)
{
	for (size_t i = 0; i < p->nrows; i++) {
		p->rows[i].mark = 0;
	}
}

int profile_graph_prepare(struct profile *p)
{
	size_t total = 0;

	marks_clear(p);
	for (size_t i = 0; i < p->counts.nchains; i++) {
		chain_refs(p, (uint32_t)i, false);
	}
	for (size_t i = 0; i < p->nrows; i++) {
		p->rows[i].ref = total;
		total += p->rows[i].refs;
		p->nrefs = p->nrefs > p->rows[i].refs ? p->nrefs : p->rows[i].refs;
		p->rows[i].refs = 0;
	}
	p->refs = malloc((total + 1) * sizeof(*p->refs));
	p->spare = malloc((p->nrefs + 1) * sizeof(*p->spare));
	p->sums = calloc(p->counts.nframes + 1, sizeof(*p->sums));
	p->buckets = calloc(p->counts.nframes + 1, sizeof(*p->buckets));
	p->order = malloc((p->counts.nframes + 1) * sizeof(*p->order));
	if (!p->refs || !p->spare || !p->sums || !p->buckets || !p->order) {
		return SONDE_ENOMEM;
	}
	marks_clear(p);
	for (size_t i = 0; i < p->counts.nchains; i++) {
		chain_refs(p, (uint32_t)i, true);
	}
	return 0;
}

uint32_t profile_graph_step(const struct profile *p, struct profile_ref ref, uint32_t depth)
{
	const struct profile_chain *c = &p->counts.chains[ref.chain];
	uint64_t pos = (uint64_t)ref.pos + depth;

	if (p->options.caller) {
		return depth > ref.pos ? PROFILE_NONE : p->counts.words[c->first + ref.pos - depth];
	}
	return pos >= c->n ? PROFILE_NONE : p->counts.words[c->first + pos];
}

const struct profile_frame *profile_graph_frame(
        const struct profile *p, const struct profile_node *node, uint32_t depth)
{
	return &p->counts.frames[profile_graph_step(p, node->refs[0], depth)];
}

struct profile_node profile_graph_root(struct profile *p, const struct profile_row *row)
{
	struct profile_node root = {.refs = p->refs + row->ref, .nrefs = row->refs};

	for (size_t i = 0; i < root.nrefs; i++) {
		root.sum += p->counts.chains[root.refs[i].chain].period;
	}
	return root;
}

uint64_t profile_graph_samples(const struct profile *p, const struct profile_node *node)
{
	uint64_t n = node->hidden_samples;

	for (size_t i = 0; i < node->nrefs; i++) {
		n += p->counts.chains[node->refs[i].chain].samples;
	}
	return n;
}

/* Frames that all chains of the node share. */
static void node_extend(const struct profile *p, struct profile_node *node)
{
	for (;;) {
		uint32_t frame = profile_graph_step(p, node->refs[0], node->depth + node->n);

		if (frame == PROFILE_NONE) {
			return;
		}
		for (size_t i = 1; i < node->nrefs; i++) {
			if (profile_graph_step(p, node->refs[i], node->depth + node->n) != frame) {
				return;
			}
		}
		node->n++;
	}
}

/* Sums by the next frame; the number of frames met, which stand in p->order. */
static size_t node_sums(struct profile *p, const struct profile_node *node, uint32_t depth)
{
	size_t met = 0;

	for (size_t i = 0; i < node->nrefs; i++) {
		uint32_t frame = profile_graph_step(p, node->refs[i], depth);

		if (frame == PROFILE_NONE) {
			continue;
		}
		if (p->buckets[frame]++ == 0) {
			p->order[met++] = frame;
		}
		p->sums[frame] += p->counts.chains[node->refs[i].chain].period;
	}
	return met;
}

/*
 * Whether x comes in front of y. perf's trees have the objects that it met last first: those of the
 * list of build ids come first, as the header is read first, then the others as they are mapped.
 */
static bool object_before(const struct profile *p, uint32_t x, uint32_t y)
{
	const struct timeline *t = session_timeline(p->session);
	uint32_t listed_x, listed_y;

	if (x == PROFILE_NONE || y == PROFILE_NONE) {
		return y == PROFILE_NONE;
	}
	listed_x = timeline_object(t, x)->list_number;
	listed_y = timeline_object(t, y)->list_number;
	if (listed_x != 0 && listed_y != 0) {
		return listed_x > listed_y;
	}
	return listed_x == listed_y ? x > y : listed_x == 0;
}

bool profile_frame_before(
        const struct profile *p, const struct profile_frame *x, const struct profile_frame *y)
{
	if (x->object != y->object) {
		return object_before(p, x->object, y->object);
	}
	return x->address != y->address ? x->address > y->address : x->ip > y->ip;
}

/* Most first; then by what the branches begin with. */
static bool node_before(
        const struct profile *p, const struct profile_node *a, const struct profile_node *b)
{
	if (a->sum != b->sum) {
		return a->sum > b->sum;
	}
	return profile_frame_before(
	        p, profile_graph_frame(p, a, a->depth), profile_graph_frame(p, b, b->depth));
}

/* Few nodes are visible: at most 100 / limit unless the limit is 0. */
static void nodes_sort(const struct profile *p, struct profile_node *nodes, size_t n)
{
	for (size_t gap = n / 2; gap > 0; gap /= 2) {
		for (size_t i = gap; i < n; i++) {
			struct profile_node node = nodes[i];
			size_t k = i;

			for (; k >= gap && node_before(p, &node, &nodes[k - gap]); k -= gap) {
				nodes[k] = nodes[k - gap];
			}
			nodes[k] = node;
		}
	}
}

/* The least that a node below needs to be shown. */
static uint64_t node_limit(
        const struct profile *p, uint32_t event, struct profile_node *node, size_t met)
{
	node->below = 0;
	for (size_t i = 0; i < met; i++) {
		node->below += p->sums[p->order[i]];
	}
	return p->options.fractal ? percent_of(node->below, p->options.graph_limit)
	                          : graph_limit(p, event);
}

int profile_graph_expand(
        struct profile *p, uint32_t event, struct profile_node *node, struct profile_nodes *out)
{
	uint32_t depth = node->depth + node->n;
	struct profile_node rest = {.depth = depth};
	size_t first = out->n, at = 0;
	size_t met = node_sums(p, node, depth);
	bool good = array_reserve(&out->p, &out->cap, out->n + met + 1, sizeof(*out->p));
	uint64_t limit = node_limit(p, event, node, met);

	if (node->whole) { /* shares are of what ends there too */
		rest.sum = node->sum - node->below;
	}
	for (size_t i = 0; i < met; i++) {
		uint32_t frame = p->order[i];
		uint32_t n = p->buckets[frame];

		p->buckets[frame] = 0;
		if (good && p->sums[frame] >= limit && p->sums[frame] != 0) {
			struct profile_node *child = &out->p[out->n++];

			*child = (struct profile_node){.refs = node->refs + at, .depth = depth};
			child->sum = p->sums[frame];
			p->buckets[frame] = (uint32_t)(out->n - first);
			at += n;
		} else {
			rest.sum += p->sums[frame];
		}
		p->sums[frame] = 0;
	}
	for (size_t i = 0; i < node->nrefs; i++) {
		p->spare[i] = node->refs[i];
	}
	/* hidden ones go behind the visible ones */
	for (size_t i = 0; i < node->nrefs; i++) {
		uint32_t frame = profile_graph_step(p, p->spare[i], depth);

		if (frame == PROFILE_NONE || p->buckets[frame] == 0) {
			node->refs[at++] = p->spare[i];
			rest.hidden_samples +=
			        frame == PROFILE_NONE ? 0
			                              : p->counts.chains[p->spare[i].chain].samples;
		} else {
			struct profile_node *child = &out->p[first + p->buckets[frame] - 1];

			child->refs[child->nrefs++] = p->spare[i];
		}
	}
	for (size_t i = first; i < out->n; i++) {
		p->buckets[profile_graph_step(p, out->p[i].refs[0], depth)] = 0;
		node_extend(p, &out->p[i]);
	}
	nodes_sort(p, out->p + first, out->n - first);
	if (good && p->options.fractal && rest.sum != 0 && out->n > first) {
		out->p[out->n++] = rest;
	}
	return good ? 0 : SONDE_ENOMEM;
}
