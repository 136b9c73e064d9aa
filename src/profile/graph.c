/* SPDX-License-Identifier: MIT */
/*
 * Call graphs. A row's graph is never stored: it starts as the list of chains that contain the row,
 * and is opened level by level; branches below the limit are dropped at once.
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

/* Numbers the rows with graphs, and lists them in rows[] from index 1 on; they are few. */
static int graphs_number(struct profile *p, uint32_t **rows)
{
	size_t cap = 0;

	p->ngraphs = 1;
	for (size_t i = 0; i < p->nrows; i++) {
		struct profile_row *r = &p->rows[i];

		r->graph = 0;
		if (r->depth == 0 || !row_wants(p, r)) {
			continue;
		}
		if (!array_reserve(rows, &cap, p->ngraphs + 1, sizeof(**rows))) {
			return SONDE_ENOMEM;
		}
		(*rows)[p->ngraphs] = (uint32_t)i;
		r->graph = (uint32_t)p->ngraphs++;
	}
	p->graphs = calloc(p->ngraphs, sizeof(*p->graphs));
	return p->graphs != NULL ? 0 : SONDE_ENOMEM;
}

int profile_graph_prepare(struct profile *p)
{
	uint32_t *rows = NULL;
	int rc = graphs_number(p, &rows);

	if (rc >= 0 && p->ngraphs > 1) {
		rc = profile_refs_find(p, rows);
	}
	free(rows);
	return rc;
}

static int nodes_begin(const struct profile *p, struct profile_nodes *nodes)
{
	size_t frames = p->counts.nframes + 1;

	if (nodes->spare != NULL) {
		return 0;
	}
	nodes->sums = calloc(frames, sizeof(*nodes->sums));
	nodes->buckets = calloc(frames, sizeof(*nodes->buckets));
	nodes->order = malloc(frames * sizeof(*nodes->order));
	nodes->spare = malloc((p->nrefs + 1) * sizeof(*nodes->spare));
	nodes->steps = malloc((p->nrefs + 1) * sizeof(*nodes->steps));
	if (!nodes->sums || !nodes->buckets || !nodes->order || !nodes->spare || !nodes->steps) {
		profile_nodes_fini(nodes);
		return SONDE_ENOMEM;
	}
	return 0;
}

void profile_nodes_fini(struct profile_nodes *nodes)
{
	free(nodes->p);
	free(nodes->spare);
	free(nodes->steps);
	free(nodes->sums);
	free(nodes->buckets);
	free(nodes->order);
	*nodes = (struct profile_nodes){0};
}

/* The frame of a ref in `words`: counts.words, or those of graphs. */
static inline uint32_t graph_step(
        const struct profile *p, const uint32_t *words, struct profile_ref ref, uint32_t depth)
{
	const struct profile_chain *c = &p->counts.chains[ref.chain];
	uint64_t pos = (uint64_t)ref.pos + depth;

	if (p->options.caller) {
		return depth > ref.pos ? PROFILE_NONE : words[c->first + ref.pos - depth];
	}
	return pos >= c->n ? PROFILE_NONE : words[c->first + pos];
}

uint32_t profile_graph_step(const struct profile *p, struct profile_ref ref, uint32_t depth)
{
	return graph_step(p, p->graph_words, ref, depth);
}

const struct profile_frame *profile_graph_shown(
        const struct profile *p, const struct profile_ref *refs, size_t n, uint32_t depth)
{
	const struct profile_chain *chains = p->counts.chains;
	size_t first = 0;

	for (size_t i = 1; i < n && p->options.by_line; i++) {
		const struct profile_chain *x = &chains[refs[i].chain];
		const struct profile_chain *y = &chains[refs[first].chain];

		if (x->time < y->time || (x->time == y->time && x->first_tid < y->first_tid)) {
			first = i;
		}
	}
	return &p->counts.frames[graph_step(p, p->counts.words, refs[first], depth)];
}

const struct profile_frame *profile_graph_frame(
        const struct profile *p, const struct profile_node *node, uint32_t depth)
{
	return &p->counts.frames[profile_graph_step(p, node->refs[0], depth)];
}

struct profile_node profile_graph_root(const struct profile *p, const struct profile_row *row)
{
	const struct profile_graph *graph = &p->graphs[row->graph];
	struct profile_node root = {.refs = p->refs + graph->first, .nrefs = graph->n};

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

/* The frames of a ref from a depth of its row's graph on: words[0], words[step], ... */
struct rest {
	const uint32_t *words;
	ptrdiff_t step;
	uint32_t n;
};

static inline struct rest graph_rest(
        const struct profile *p, struct profile_ref ref, uint32_t depth)
{
	const struct profile_chain *c = &p->counts.chains[ref.chain];
	bool caller = p->options.caller;
	uint32_t n = caller ? ref.pos + 1 : c->n - ref.pos;

	if (depth >= n) {
		return (struct rest){.n = 0};
	}
	return (struct rest){
	        .words = &p->graph_words[c->first + (caller ? ref.pos - depth : ref.pos + depth)],
	        .step = caller ? -1 : 1,
	        .n = n - depth};
}

/* Adds the next frames to a node without frames as long as all its chains share them. */
static void node_extend(const struct profile *p, struct profile_node *node)
{
	struct rest first = graph_rest(p, node->refs[0], node->depth);

	for (size_t i = 1; i < node->nrefs && first.n != 0; i++) {
		struct rest rest = graph_rest(p, node->refs[i], node->depth);
		uint32_t n = 0;

		while (n < first.n && n < rest.n && *rest.words == first.words[n * first.step]) {
			rest.words += rest.step;
			n++;
		}
		first.n = n;
	}
	node->n = first.n;
}

/*
 * Sums the periods by next frame, and stores it for each ref in out->steps. Returns the number of
 * distinct frames, which out->order lists.
 */
static size_t node_sums(const struct profile *p, const struct profile_node *node, uint32_t depth,
        struct profile_nodes *out)
{
	size_t met = 0;

	for (size_t i = 0; i < node->nrefs; i++) {
		uint32_t frame = out->steps[i] = profile_graph_step(p, node->refs[i], depth);

		if (frame == PROFILE_NONE) {
			continue;
		}
		if (out->buckets[frame]++ == 0) {
			out->order[met++] = frame;
		}
		out->sums[frame] += p->counts.chains[node->refs[i].chain].period;
	}
	return met;
}

/*
 * Whether object x comes before y. perf's trees have the objects that it met last first; it meets
 * those in the list of build ids first, as it reads the header first, then the others as they are
 * mapped.
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

/* Orders nodes by weight, the heaviest first, then by their first frames. */
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

/* Returns the smallest sum of periods of a shown child. */
static uint64_t node_limit(const struct profile *p, uint32_t event, struct profile_node *node,
        const struct profile_nodes *out, size_t met)
{
	node->below = 0;
	for (size_t i = 0; i < met; i++) {
		node->below += out->sums[out->order[i]];
	}
	return p->options.fractal ? percent_of(node->below, p->options.graph_limit)
	                          : graph_limit(p, event);
}

int profile_graph_expand(const struct profile *p, uint32_t event, struct profile_node *node,
        struct profile_nodes *out)
{
	uint32_t depth = node->depth + node->n;
	struct profile_node rest = {.depth = depth};
	size_t first = out->n, at = 0;
	size_t met;
	uint64_t limit;
	bool good;

	TRY(nodes_begin(p, out));
	met = node_sums(p, node, depth, out);
	good = array_reserve(&out->p, &out->cap, out->n + met + 1, sizeof(*out->p));
	limit = node_limit(p, event, node, out, met);
	if (node->whole) { /* shares include chains that end here */
		rest.sum = node->sum - node->below;
	}
	for (size_t i = 0; i < met; i++) {
		uint32_t frame = out->order[i];
		uint32_t n = out->buckets[frame];

		out->buckets[frame] = 0;
		if (good && out->sums[frame] >= limit && out->sums[frame] != 0) {
			struct profile_node *child = &out->p[out->n++];

			*child = (struct profile_node){.refs = node->refs + at, .depth = depth};
			child->sum = out->sums[frame];
			out->buckets[frame] = (uint32_t)(out->n - first);
			at += n;
		} else {
			rest.sum += out->sums[frame];
		}
		out->sums[frame] = 0;
	}
	for (size_t i = 0; i < node->nrefs; i++) {
		out->spare[i] = node->refs[i];
	}
	/* refs of hidden branches come after those of visible ones */
	for (size_t i = 0; i < node->nrefs; i++) {
		uint32_t frame = out->steps[i];

		if (frame == PROFILE_NONE || out->buckets[frame] == 0) {
			node->refs[at++] = out->spare[i];
			rest.hidden_samples +=
			        frame == PROFILE_NONE
			                ? 0
			                : p->counts.chains[out->spare[i].chain].samples;
		} else {
			struct profile_node *child = &out->p[first + out->buckets[frame] - 1];

			child->refs[child->nrefs++] = out->spare[i];
		}
	}
	for (size_t i = first; i < out->n; i++) {
		out->buckets[profile_graph_step(p, out->p[i].refs[0], depth)] = 0;
		node_extend(p, &out->p[i]);
	}
	nodes_sort(p, out->p + first, out->n - first);
	if (good && p->options.fractal && rest.sum != 0 && out->n > first) {
		out->p[out->n++] = rest;
	}
	return good ? 0 : SONDE_ENOMEM;
}
