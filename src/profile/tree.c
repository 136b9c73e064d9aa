/* SPDX-License-Identifier: MIT */
/*
 * Trees of calls. A node has the paths of its samples. Opening the node groups them by child,
 * within the node's range of one array, so that closing it has nothing to restore.
 *
 *	paths   [ all paths of the root                   ]
 *	        [ paths that end here | child 1 | child 2 ]     after the root was opened
 */
#include "profile/public.h"

#include "core/array.h"
#include "core/options.h"

#include <assert.h>
#include <stdlib.h>

/* The frames of one chain below the root of a tree. */
struct path {
	const uint32_t *frames; /* the first one after the keys; the next is tree.step away */
	uint32_t nframes, group;
	uint64_t samples, period;
};

struct branch {
	struct sonde_profile_node shown;
	uint32_t frame;
	struct path *paths;
	size_t npaths;
};

struct sonde_profile_tree {
	struct sonde_profile *profile;
	struct sonde_profile_tree_options options;
	const struct profile_named_row *row;
	int step; /* from a frame to the next in profile.words: 1 or -1 */
	unsigned nkeys; /* levels above the frames */
	struct branch root;
	struct path *spare; /* room for the paths of the root */
	struct branch *made; /* children of the node being opened, in the order of its paths */
	size_t nmade, made_cap;
	uint32_t *slots; /* by frame: index in made, + 1; 0: none */
};

/* ---- the root ---- */

/* The frames of a chain below the row: index of the first one, and their number. */
struct way {
	uint32_t first, n;
};

/* For rows of sampled functions only: up to the callers, or down from the outermost caller. */
static struct way way_of_leaf(const struct profile_chain *c, bool up)
{
	return (struct way){.first = up ? 1 : c->n - 1, .n = up && c->n != 0 ? c->n - 1 : c->n};
}

/* With recursion, a row is several times in a chain: up from the first time, down from the last. */
static struct way way_of_row(const struct sonde_profile *p, const struct profile_chain *c,
        uint32_t row, bool up, bool *found)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < c->n && !(*found && up); i++) {
		if (p->rows_of[c->first + i] == row) {
			at = i;
			*found = true;
		}
	}
	if (up) {
		return (struct way){.first = at + 1, .n = c->n > at ? c->n - at - 1 : 0};
	}
	return (struct way){.first = at - 1, .n = at};
}

/* Makes the path of a chain; false: the chain is not in the tree. */
static bool path_make(
        const struct sonde_profile_tree *t, const struct profile_chain *c, struct path *path)
{
	const struct sonde_profile *p = t->profile;
	bool up = t->step > 0;
	bool found = t->row != NULL ? &p->rows[c->row] == t->row
	                            : profile_group(p, c->who)[0] == t->options.event;
	struct way way = {.first = up ? 0 : c->n - 1, .n = c->n};

	*path = (struct path){
	        .group = c->who, .samples = c->samples, .period = profile_chain_period(c)};
	if (t->row != NULL && p->rows_of == NULL) {
		way = way_of_leaf(c, up);
	} else if (t->row != NULL) {
		way = way_of_row(p, c, (uint32_t)(t->row - p->rows), up, &found);
	} else if (c->n == 0) {
		path->frames = &c->leaf;
		path->nframes = 1;
	}
	if (way.n != 0) {
		path->frames = p->words + c->first + way.first;
		path->nframes = way.n;
	}
	return found;
}

static bool path_ends(const struct sonde_profile_tree *t, const struct path *path, uint32_t depth)
{
	return depth >= t->nkeys + path->nframes;
}

/* Returns the next frame of a path after a node at `depth`; the path does not end in that node. */
static uint32_t path_step(
        const struct sonde_profile_tree *t, const struct path *path, uint32_t depth)
{
	if (depth < t->nkeys) {
		return profile_group(t->profile, path->group)[1 + depth];
	}
	return path->frames[(ptrdiff_t)t->step * (ptrdiff_t)(depth - t->nkeys)];
}

/* Counts a path in a node at `depth`. */
static void branch_count(const struct sonde_profile_tree *t, struct branch *b,
        const struct path *path, uint32_t depth)
{
	b->npaths++;
	b->shown.samples += path->samples;
	b->shown.period = profile_sum(b->shown.period, path->period);
	if (path_ends(t, path, depth)) {
		b->shown.self_samples += path->samples;
		b->shown.self_period = profile_sum(b->shown.self_period, path->period);
	} else {
		b->shown.more = true;
	}
}

static int root_make(struct sonde_profile_tree *t)
{
	const struct sonde_profile *p = t->profile;
	struct path path;
	size_t n = 0;

	for (size_t i = 0; i < p->nchains; i++) {
		n += path_make(t, &p->chains[i], &path);
	}
	t->root.paths = malloc((n + 1) * sizeof(path));
	t->spare = malloc((n + 1) * sizeof(path));
	t->slots = calloc(p->nframes, sizeof(*t->slots));
	if (t->root.paths == NULL || t->spare == NULL || t->slots == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < p->nchains; i++) {
		if (path_make(t, &p->chains[i], &path)) {
			t->root.paths[t->root.npaths] = path;
			branch_count(t, &t->root, &path, 0);
		}
	}
	t->root.shown.frame = &p->frames[PROFILE_FRAME_ALL].shown;
	t->root.shown.inside = &t->root;
	return 0;
}

static int tree_make(struct sonde_profile_tree *t, struct sonde_profile *p, const void *options)
{
	size_t row;

	t->profile = p;
	TRY(p->failed);
	TRY(options_copy(&t->options, sizeof(t->options), options, &p->error));
	row = t->options.row != NULL ? t->options.row->number : 0;
	if (t->options.row != NULL) {
		t->row = &p->rows[p->order[row]];
	} else if (t->options.event >= p->nevents) {
		return error_set(&p->error, SONDE_EARG, NO_OFFSET,
		        "there is no event %zu: the profile has %zu", t->options.event, p->nevents);
	}
	t->step = t->options.order == SONDE_PROFILE_CALLEE ? 1 : -1;
	t->nkeys = t->row != NULL ? 0 : p->nabove;
	return root_make(t);
}

struct sonde_profile_tree *sonde_profile_tree_new(
        struct sonde_profile *p, const struct sonde_profile_tree_options *options)
{
	struct sonde_profile_tree *t = calloc(1, sizeof(*t));
	int rc = t != NULL ? tree_make(t, p, options) : SONDE_ENOMEM;

	if (rc < 0) {
		(void)error_ensure(&p->error, rc);
		sonde_profile_tree_free(t);
		return NULL;
	}
	return t;
}

void sonde_profile_tree_free(struct sonde_profile_tree *t)
{
	if (t == NULL) {
		return;
	}
	sonde_profile_tree_close(t, &t->root.shown);
	free(t->root.paths);
	free(t->spare);
	free(t->slots);
	free(t->made);
	free(t);
}

const struct sonde_profile_node *sonde_profile_tree_root(const struct sonde_profile_tree *t)
{
	return &t->root.shown;
}

/* ---- nodes ---- */

/* Returns the child for a frame, made if necessary; NULL: out of memory. */
static struct branch *made_get(struct sonde_profile_tree *t, uint32_t frame)
{
	if (t->slots[frame] == 0) {
		if (!array_reserve(&t->made, &t->made_cap, t->nmade + 1, sizeof(*t->made))) {
			return NULL;
		}
		t->made[t->nmade++] = (struct branch){
		        .shown.frame = &t->profile->frames[frame].shown, .frame = frame};
		t->slots[frame] = (uint32_t)t->nmade;
	}
	return &t->made[t->slots[frame] - 1];
}

static int children_count(struct sonde_profile_tree *t, const struct branch *node)
{
	uint32_t depth = node->shown.depth;

	t->nmade = 0;
	for (size_t i = 0; i < node->npaths; i++) {
		const struct path *path = &node->paths[i];
		struct branch *child;

		if (path_ends(t, path, depth)) {
			continue;
		}
		child = made_get(t, path_step(t, path, depth));
		if (child == NULL) {
			return SONDE_ENOMEM;
		}
		branch_count(t, child, path, depth + 1);
	}
	return 0;
}

/* Groups the node's paths by child; paths that end in the node come first. */
static void paths_deal(struct sonde_profile_tree *t, struct branch *node)
{
	uint32_t depth = node->shown.depth;
	struct path *ended = node->paths, *at = node->paths + node->npaths;

	for (size_t i = t->nmade; i-- > 0;) {
		at -= t->made[i].npaths;
		t->made[i].paths = at;
	}
	if (t->nmade == 1 && at == node->paths) {
		return; /* all paths lead to one child */
	}
	memcpy(t->spare, node->paths, node->npaths * sizeof(*t->spare));
	for (size_t i = 0; i < node->npaths; i++) {
		const struct path *path = &t->spare[i];

		if (path_ends(t, path, depth)) {
			*ended++ = *path;
		} else {
			*t->made[t->slots[path_step(t, path, depth)] - 1].paths++ = *path;
		}
	}
	for (size_t i = 0; i < t->nmade; i++) {
		t->made[i].paths -= t->made[i].npaths;
	}
}

static int by_name(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return x->shown.frame->number < y->shown.frame->number ? -1 : 1; /* never equal */
}

static int by_period(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->shown.period != y->shown.period) {
		return x->shown.period > y->shown.period ? -1 : 1;
	}
	return by_name(a, b);
}

static int children_make(struct sonde_profile_tree *t, struct branch *node)
{
	size_t n = t->nmade;
	struct branch *children;

	assert(n != 0); /* shown.more is set */
	children = malloc(n * sizeof(*children));
	if (children == NULL) {
		return SONDE_ENOMEM;
	}
	paths_deal(t, node);
	memcpy(children, t->made, n * sizeof(*children));
	if (n > 1) {
		qsort(children, n, sizeof(*children), t->options.by_name ? by_name : by_period);
	}
	for (size_t i = 0; i < n; i++) {
		struct sonde_profile_node *shown = &children[i].shown;

		shown->parent = &node->shown;
		shown->next = i + 1 < n ? &children[i + 1].shown : NULL;
		shown->depth = node->shown.depth + 1;
		shown->inside = &children[i];
	}
	node->shown.children = &children->shown;
	return 0;
}

int sonde_profile_tree_open(struct sonde_profile_tree *t, const struct sonde_profile_node *shown)
{
	struct branch *node = shown->inside;
	int rc;

	if (node->shown.children != NULL || !node->shown.more) {
		return node->shown.more;
	}
	rc = children_count(t, node);
	if (rc >= 0) {
		rc = children_make(t, node);
	}
	for (size_t i = 0; i < t->nmade; i++) {
		t->slots[t->made[i].frame] = 0;
	}
	return rc < 0 ? error_ensure(&t->profile->error, rc) : 1;
}

void sonde_profile_tree_close(struct sonde_profile_tree *t, const struct sonde_profile_node *shown)
{
	const struct sonde_profile_node *at = shown;

	(void)t;
	/* A walk instead of recursion: depth comes from the input. */
	for (;;) {
		while (at->children != NULL) {
			at = at->children;
		}
		while (at != shown && at->next == NULL) {
			struct branch *parent = at->parent->inside;

			free(parent->shown.children->inside); /* the array of all children */
			parent->shown.children = NULL;
			at = &parent->shown;
		}
		if (at == shown) {
			return;
		}
		at = at->next;
	}
}
