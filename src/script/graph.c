/* SPDX-License-Identifier: MIT */
/*
 * Calls of some functions. As in perf, a sample whose function is in the list begins a part of its
 * thread, and the first later one that is not deeper ends it and is not printed itself:
 *
 *	depth    1       2       2       1       1       3
 *	sample   call A  call B  call C  call D  call A  call E
 *	         shown   shown   shown   hidden  shown   shown
 */
#include "script/graph.h"

#include "core/array.h"
#include "script/script.h"

#include <stdlib.h>

struct script_graph_thread {
	uint32_t tid;
	uint32_t depth; /* calls around its last sample of a trace */
	uint32_t entry; /* that of the sample that began the part */
	bool inside; /* a part */
};

int script_graph_open(struct script *s, const struct sonde_script_options *o)
{
	const struct sonde_filter filter = {.symbols = o->graph_functions};

	if (o->graph_functions == NULL) {
		return 0;
	}
	if (!session_has_traces(s->session)) {
		return error_set(session_error(s->session), SONDE_EARG, NO_OFFSET,
		        "--graph-function is for recordings of Intel PT: other samples have no "
		        "calls "
		        "in their order");
	}
	s->graph.on = true;
	TRY(pick_init(&s->graph.names, s->session, &filter));
	s->graph.names.addresses.n = 0; /* as in perf, names only */
	return 0;
}

void script_graph_close(struct script *s)
{
	pick_fini(&s->graph.names);
	free(s->graph.threads);
	index_fini(&s->graph.by_tid);
	s->graph = (struct script_graph){0};
}

/* NULL: out of memory. */
static struct script_graph_thread *thread_of(struct script_graph *g, uint32_t tid)
{
	size_t at;
	uint32_t id;

	if (index_room(&g->by_tid) < 0) {
		return NULL;
	}
	id = index_find_u32(&g->by_tid, tid, &at);
	if (id != INDEX_NONE) {
		return &g->threads[id];
	}
	if (!array_reserve(&g->threads, &g->cap, g->n + 1, sizeof(*g->threads))) {
		return NULL;
	}
	g->threads[g->n] = (struct script_graph_thread){.tid = tid};
	index_put_u32(&g->by_tid, tid, at, (uint32_t)g->n);
	return &g->threads[g->n++];
}

/* Whether the function that a branch enters, or that a return or an end of tracing leaves, is in the list. */
static int names_function(
        struct script *s, struct script_worker *w, const struct session_sample *sample)
{
	struct frame_reader *frames = &w->line.addresses.frames;
	uint32_t flags = sample->extra != NULL ? sample->extra->flags : 0;
	bool enters = (flags & (AUX_FLAG_CALL | AUX_FLAG_BEGIN)) != 0;
	uint64_t at = enters ? sample->s.addr : sample->s.ip;
	const struct frame *frame;
	const char *name;

	if (enters ? !s->plans[sample->event].branch
	           : (flags & (AUX_FLAG_RETURN | AUX_FLAG_END)) == 0) {
		return 0;
	}
	frame = frame_find(
	        frames, sample->view, frame_mode_of(frames, sample->view, sample->cpumode, at), at);
	if (frame == NULL) {
		return SONDE_ENOMEM;
	}
	if (frame->symbol == NULL) {
		return 0;
	}
	name = frame_symbol_name(frames->resolver, frame->object, frame->symbol);
	return name != NULL ? pick_names_symbol(&s->graph.names, name, frame->symbol->start, at)
	                    : SONDE_ENOMEM;
}

int script_graph_passes(
        struct script *s, struct script_worker *w, const struct session_sample *sample)
{
	struct script_graph_thread *t = thread_of(&s->graph, sample->s.tid);
	int rc;

	if (t == NULL) {
		return SONDE_ENOMEM;
	}
	if (sample->extra != NULL) { /* the field callindent counts a call that returns here */
		t->depth = sample->extra->depth -
		           (s->plans[sample->event].branch &&
		                   (sample->extra->flags & AUX_FLAG_RETURN) != 0);
	}
	if (t->inside) {
		t->inside = t->depth > t->entry;
		return t->inside;
	}
	rc = names_function(s, w, sample);
	if (rc > 0) {
		t->inside = true;
		t->entry = t->depth;
	}
	return rc;
}
