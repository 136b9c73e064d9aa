/* SPDX-License-Identifier: MIT */
/* Carries what is alive at the end of a track over into the next one. */
#include "timeline/track.h"

#include "core/array.h"

#include <stdlib.h>

struct carry {
	const struct track *from;
	struct track *to;
	uint32_t *nodes; /* new index of each node and each mapping; 0, NONE: not copied yet */
	uint32_t *mappings;
	uint32_t *processes; /* new index; NONE: dropped */
};

static int copy_mapping(struct carry *c, uint32_t *mapping)
{
	struct track *to = c->to;

	if (*mapping == NONE) {
		return 0;
	}
	if (c->mappings[*mapping] == NONE) {
		if (!array_reserve(&to->mappings, &to->mappings_cap, to->nmappings + 1,
		            sizeof(*to->mappings))) {
			return SONDE_ENOMEM;
		}
		c->mappings[*mapping] = (uint32_t)to->nmappings;
		to->mappings[to->nmappings++] = c->from->mappings[*mapping];
	}
	*mapping = c->mappings[*mapping];
	return 0;
}

/* Copies a tree, sharing what was copied before; *root: the copy's. As deep as the tree. */
static int copy_space(struct carry *c, uint32_t *root)
{
	struct space_node n;
	uint32_t old = *root;

	if (old == 0) {
		return 0;
	}
	if (c->nodes[old] == 0) {
		n = c->from->pool.nodes[old];
		TRY(copy_space(c, &n.left));
		TRY(copy_space(c, &n.right));
		TRY(copy_mapping(c, &n.mapping));
		c->nodes[old] = space_add(&c->to->pool, &n);
		if (c->nodes[old] == 0) {
			return SONDE_ENOMEM;
		}
	}
	*root = c->nodes[old];
	return 0;
}

static int copy_process(struct carry *c, uint32_t id)
{
	const struct process *old = &c->from->processes[id];
	uint32_t root = old->root, new;

	if (c->processes[id] != NONE) {
		return 0;
	}
	TRY(copy_space(c, &root));
	new = track_process_new(c->to, old->pid, 0, root);
	if (new == NONE) {
		return SONDE_ENOMEM;
	}
	c->to->processes[new].ppid = old->ppid;
	c->to->processes[new].start = old->start;
	c->processes[id] = new;
	return 0;
}

static int copy_thread(struct carry *c, uint32_t id)
{
	const struct thread *old = &c->from->threads[id];
	struct thread *th;
	uint32_t new;

	TRY(copy_process(c, old->process));
	new = track_thread_new(c->to, c->processes[old->process], old->tid, 0);
	if (new == NONE) {
		return SONDE_ENOMEM;
	}
	th = &c->to->threads[new];
	th->ptid = old->ptid;
	th->start = old->start;
	th->ended = old->ended;
	th->forked = old->forked;
	return old->names.n == 0 || track_name(c->to, new, 0, old->name) ? 0 : SONDE_ENOMEM;
}

static int copy_live(struct carry *c, uint64_t ended)
{
	const struct track *t = c->from;

	for (size_t i = 0; i < t->nprocesses; i++) {
		c->processes[i] = NONE;
	}
	for (size_t i = 0; i < t->nmappings; i++) {
		c->mappings[i] = NONE;
	}
	TRY(copy_process(c, t->kernel));
	c->to->kernel = c->processes[t->kernel];
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct thread *th = &t->threads[i];

		if (track_thread(t, th->tid) == i && (th->ended == 0 || th->ended > ended)) {
			TRY(copy_thread(c, (uint32_t)i));
		}
	}
	return 0;
}

int track_carry(const struct track *t, struct track *next, uint64_t ended)
{
	struct carry c = {.from = t,
	        .to = next,
	        .nodes = calloc(t->pool.count + 1, sizeof(*c.nodes)),
	        .mappings = calloc(t->nmappings + 1, sizeof(*c.mappings)),
	        .processes = calloc(t->nprocesses + 1, sizeof(*c.processes))};
	int rc = SONDE_ENOMEM;

	if (c.nodes != NULL && c.mappings != NULL && c.processes != NULL) {
		rc = copy_live(&c, ended);
	}
	free(c.nodes);
	free(c.mappings);
	free(c.processes);
	return rc;
}
