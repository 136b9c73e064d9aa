/* SPDX-License-Identifier: MIT */
/*
 * Every worker counts chunks into its own tree, whose frames are numbers that mean something to
 * that worker only. The trees are then merged by what the frames are called, and brought in order.
 */
#include "flamegraph/tree.h"

#include "core/array.h"
#include "core/pool.h"
#include "core/text.h"
#include "flamegraph/count.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A node of the merged tree before it is put in order. */
struct merged_node {
	uint32_t parent;
	uint32_t frame; /* number by first use; later the rank */
	uint32_t id;
	uint64_t weight, samples;
};

struct merge {
	struct flame_tree *tree;
	size_t frames_cap;
	struct flame_map frame_ids; /* (name and object, kind) -> frame */
	struct flame_map node_ids; /* (parent, frame) -> node */
	struct merged_node *nodes; /* parents before children */
	size_t nnodes, nodes_cap;
};

static uint32_t add_text(struct merge *m, const char *s)
{
	return intern_add(&m->tree->texts, s, strlen(s));
}

static uint32_t add_frame(struct merge *m, enum flame_kind kind, const char *name, const char *dso)
{
	struct flame_tree *tree = m->tree;
	struct flame_frame f = {.kind = kind, .name = add_text(m, name), .dso = add_text(m, dso)};
	uint64_t texts = (uint64_t)f.name << 32 | f.dso;
	uint32_t id = flame_map_get(&m->frame_ids, texts, kind);

	if (f.name == INTERN_NONE || f.dso == INTERN_NONE) {
		return FLAME_NONE;
	}
	if (id != FLAME_NONE) {
		return id;
	}
	id = (uint32_t)tree->nframes;
	if (id == FLAME_NONE || flame_map_put(&m->frame_ids, texts, kind, id) < 0 ||
	        !array_reserve(&tree->frames, &m->frames_cap, tree->nframes + 1, sizeof(f))) {
		return FLAME_NONE;
	}
	tree->frames[tree->nframes++] = f;
	return id;
}

/* An address without a symbol is called as its object: "[libc.so.6]". */
static uint32_t add_unresolved(struct merge *m, const char *dso)
{
	const char *slash = strrchr(dso, '/');
	const char *base = slash != NULL ? slash + 1 : dso;
	struct text name = {0};
	uint32_t id = FLAME_NONE;

	if (base[0] == '[') {
		return add_frame(m, FLAME_UNRESOLVED, base, dso);
	}
	text_char(&name, '[');
	text_str(&name, base);
	text_bytes(&name, "]", 2);
	if (!name.failed) {
		id = add_frame(m, FLAME_UNRESOLVED, name.p, dso);
	}
	text_fini(&name);
	return id;
}

static uint32_t add_place(struct merge *m, struct sonde_session *s, const struct flame_place *p)
{
	const struct timeline *t = session_timeline(s);
	const char *dso;

	if (p->kind == FLAME_COMM) {
		return add_frame(m, p->kind, timeline_text(t, p->comm), "");
	}
	if (p->object == FLAME_NONE) {
		return add_frame(m, p->kind, "[unknown]", "");
	}
	dso = timeline_text(t, timeline_object(t, p->object)->name);
	return p->symbol != NULL ? add_frame(m, p->kind, p->symbol, dso) : add_unresolved(m, dso);
}

static uint32_t add_node(struct merge *m, uint32_t parent, uint32_t frame)
{
	uint32_t id = flame_map_get(&m->node_ids, parent, frame);

	if (id != FLAME_NONE) {
		return id;
	}
	id = (uint32_t)m->nnodes;
	if (id == FLAME_NONE || flame_map_put(&m->node_ids, parent, frame, id) < 0 ||
	        !array_reserve(&m->nodes, &m->nodes_cap, m->nnodes + 1, sizeof(*m->nodes))) {
		return FLAME_NONE;
	}
	m->nodes[m->nnodes++] = (struct merged_node){.parent = parent, .frame = frame, .id = id};
	return id;
}

/* frames[place] and nodes[step] are to be filled with the merged tree's numbers. */
static int merge_into(
        struct merge *m, const struct flame_worker *w, uint32_t *frames, uint32_t *nodes)
{
	const struct flame_step *step;
	struct merged_node *n;
	size_t i;

	assert(m->nodes != NULL); /* the root is there */
	for (i = 0; i < w->nplaces; i++) {
		frames[i] = add_place(m, w->session, &w->places[i]);
		if (frames[i] == FLAME_NONE) {
			return SONDE_ENOMEM;
		}
	}
	for (i = 0; i < w->nnodes; i++) {
		step = &w->nodes[i];
		nodes[i] = i == 0 ? 0 : add_node(m, nodes[step->parent], frames[step->place]);
		if (nodes[i] == FLAME_NONE) {
			return SONDE_ENOMEM;
		}
		n = &m->nodes[nodes[i]];
		n->samples += step->samples;
		m->tree->samples += step->samples;
		if (__builtin_add_overflow(n->weight, step->weight, &n->weight)) {
			n->weight = UINT64_MAX;
		}
	}
	return 0;
}

static int merge_worker(struct merge *m, const struct flame_worker *w)
{
	uint32_t *frames = calloc(w->nplaces + 1, sizeof(*frames));
	uint32_t *nodes = calloc(w->nnodes + 1, sizeof(*nodes));
	int rc = SONDE_ENOMEM;

	if (frames != NULL && nodes != NULL) {
		rc = merge_into(m, w, frames, nodes);
	}
	free(frames);
	free(nodes);
	return rc;
}

struct frame_order {
	const struct intern *texts;
	const struct flame_frame *frame;
};

static int compare_frames(const void *a, const void *b)
{
	const struct frame_order *x = a;
	const struct frame_order *y = b;
	int c = strcmp(
	        intern_text(x->texts, x->frame->name), intern_text(y->texts, y->frame->name));

	if (c == 0) {
		c = strcmp(
		        intern_text(x->texts, x->frame->dso), intern_text(y->texts, y->frame->dso));
	}
	return c != 0 ? c : (int)x->frame->kind - (int)y->frame->kind;
}

/* Sorts the frames and gives the nodes their new numbers. */
static int order_frames(struct merge *m)
{
	struct flame_tree *tree = m->tree;
	size_t n = tree->nframes;
	struct frame_order *order = calloc(n, sizeof(*order));
	struct flame_frame *frames = calloc(n, sizeof(*frames));
	uint32_t *rank = calloc(n, sizeof(*rank));
	size_t i;

	if (order == NULL || frames == NULL || rank == NULL) {
		free(order);
		free(frames);
		free(rank);
		return SONDE_ENOMEM;
	}
	for (i = 0; i < n; i++) {
		order[i] = (struct frame_order){.texts = &tree->texts, .frame = &tree->frames[i]};
	}
	qsort(order, n, sizeof(*order), compare_frames);
	for (i = 0; i < n; i++) {
		frames[i] = *order[i].frame;
		rank[order[i].frame - tree->frames] = (uint32_t)i;
	}
	for (i = 0; i < m->nnodes; i++) {
		m->nodes[i].frame = rank[m->nodes[i].frame];
	}
	free(tree->frames);
	tree->frames = frames;
	free(order);
	free(rank);
	return 0;
}

/* By parent; the last of a parent's children first, so that a stack gives them back in order. */
static int compare_nodes(const void *a, const void *b)
{
	const struct merged_node *x = a;
	const struct merged_node *y = b;

	if (x->parent != y->parent) {
		return x->parent < y->parent ? -1 : 1;
	}
	return x->frame < y->frame ? 1 : -1; /* children of one parent have different frames */
}

/* What is known of a node while the tree is walked. */
struct pending {
	uint32_t node; /* index among the sorted nodes */
	uint32_t depth;
};

/* first[id]: where the children of a node start among m->nodes, which are sorted by parent. */
static void walk_nodes(const struct merge *m, const uint32_t *first, struct pending *stack)
{
	struct flame_tree *tree = m->tree;
	const struct merged_node *n;
	struct pending p;
	size_t depth = 0; /* of the stack: each node is pushed once, so nnodes are enough */
	uint32_t child;

	/* the root's parent is FLAME_NONE: it is the last one */
	stack[depth++] = (struct pending){.node = (uint32_t)m->nnodes - 1, .depth = 0};
	while (depth > 0) {
		p = stack[--depth];
		n = &m->nodes[p.node];
		tree->nodes[tree->nnodes++] = (struct flame_node){.frame = n->frame,
		        .depth = p.depth,
		        .weight = n->weight,
		        .samples = n->samples};
		for (child = first[n->id]; child < first[n->id + 1]; child++) {
			stack[depth++] = (struct pending){.node = child, .depth = p.depth + 1};
		}
	}
}

static int order_nodes(struct merge *m)
{
	size_t n = m->nnodes;
	uint32_t *first = calloc(n + 1, sizeof(*first));
	struct pending *stack = calloc(n + 1, sizeof(*stack));
	size_t id, next = 0;

	assert(n > 0);
	m->tree->nodes = calloc(n, sizeof(*m->tree->nodes));
	if (first == NULL || stack == NULL || m->tree->nodes == NULL) {
		free(first);
		free(stack);
		return SONDE_ENOMEM;
	}
	qsort(m->nodes, n, sizeof(*m->nodes), compare_nodes);
	for (id = 0; id <= n; id++) {
		while (next < n - 1 && m->nodes[next].parent < id) {
			next++;
		}
		first[id] = (uint32_t)next;
	}
	walk_nodes(m, first, stack);
	free(first);
	free(stack);
	return 0;
}

static int merge_workers(
        struct flame_tree *tree, const struct flame_worker *workers, unsigned nworkers)
{
	struct merge m = {.tree = tree};
	uint32_t root = add_frame(&m, FLAME_ROOT, "all", "");
	int rc = root == FLAME_NONE || add_node(&m, FLAME_NONE, root) == FLAME_NONE ? SONDE_ENOMEM
	                                                                            : 0;
	unsigned i;

	for (i = 0; i < nworkers && rc >= 0; i++) {
		rc = merge_worker(&m, &workers[i]);
	}
	if (rc >= 0) {
		rc = order_frames(&m);
	}
	if (rc >= 0) {
		rc = order_nodes(&m);
	}
	flame_map_fini(&m.frame_ids);
	flame_map_fini(&m.node_ids);
	free(m.nodes);
	return rc;
}

static int count_chunk(void *arg, unsigned worker, size_t chunk)
{
	struct flame_worker *workers = arg;

	return flame_worker_count(&workers[worker], chunk);
}

int flame_tree_build(struct flame_tree *tree, struct sonde_session *s, uint32_t event)
{
	unsigned jobs = session_jobs(s);
	struct flame_worker *workers = calloc(jobs, sizeof(*workers));
	unsigned ready = 0;
	int rc = workers == NULL ? SONDE_ENOMEM : 0;

	while (rc >= 0 && ready < jobs) {
		rc = flame_worker_init(&workers[ready++], s, event);
	}
	if (rc >= 0) {
		rc = pool_run(jobs, session_chunks(s), count_chunk, workers);
	}
	if (rc >= 0) {
		rc = merge_workers(tree, workers, jobs);
	}
	while (ready > 0) {
		flame_worker_fini(&workers[--ready]);
	}
	free(workers);
	return rc == SONDE_ENOMEM ? error_nomem(session_error(s)) : rc;
}

void flame_tree_fini(struct flame_tree *tree)
{
	intern_fini(&tree->texts);
	free(tree->frames);
	free(tree->nodes);
	*tree = (struct flame_tree){0};
}
