/* SPDX-License-Identifier: MIT */
/*
 * The stage that makes plain call chains of copied user stacks, as `record --call-graph unwind` does
 * while it records. Samples that such a recording kept with their copies become samples of its first
 * event again (record/user_stack.h).
 */
#include "edit/inside.h"

#include "file/reader.h"
#include "record/user_stack.h"

#include <stdlib.h>

#define CHAIN_MAX 8192u /* words that fit into a record */

struct edit_chains {
	struct sonde_editor *e;
	struct frame_reader frames;
	struct timeline_cursor cursor;
	struct record_scratch scratch;
	uint64_t words[CHAIN_MAX];
	bool begun; /* the reader must be freed */
};

/* Gives an event whose samples have copies of stacks the attr of plain call chains. */
static int event_change(struct sonde_rewriter *rw, size_t i, struct sonde_attr attr, bool swap)
{
	uint8_t bytes[144];
	struct sonde_rewriter_event event = {.size = sizeof(event), .attr = bytes};

	attr.sample_type &= ~(uint64_t)(SONDE_SAMPLE_REGS_USER | SONDE_SAMPLE_STACK_USER);
	attr.sample_regs_user = 0;
	attr.sample_stack_user = 0;
	record_attr_set(&attr, SONDE_FLAG_EXCLUDE_CALLCHAIN_USER, false);
	attr.size = attr.size <= sizeof(bytes) ? attr.size : sizeof(bytes);
	record_attr_encode_as(&attr, swap, bytes);
	event.attr_size = attr.size;
	return sonde_rewriter_set_event(rw, i, &event);
}

static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct edit_chains *c = arg;
	struct sonde_editor *e = c->e;
	const struct file *f = reader_file(sonde_rewriter_file(rw));

	TRY(edit_failed(e, rw, edit_open(e, rw)));
	if (frame_reader_init(&c->frames, session_frames(e->session)) < 0) {
		return edit_failed(e, rw, error_nomem(&e->error));
	}
	c->begun = true;
	for (size_t i = 0; i < f->nevents; i++) {
		struct sonde_attr attr;

		if (record_attr_decode(f->events[i].bytes, f->swap, &attr) &&
		        frame_stack_copies(&attr) &&
		        (attr.sample_type & SONDE_SAMPLE_CALLCHAIN) != 0) {
			TRY(event_change(rw, i, attr, f->swap));
		}
	}
	return 0;
}

/* Makes the chain of a sample: its words, in the byte order of the input. SONDE_ENOMEM. */
static int chain_make(struct edit_chains *c, const struct sonde_sample *s, uint32_t mode,
        const struct sonde_attr *attr, struct record_chain *out)
{
	const struct timeline *t = session_timeline(c->e->session);
	bool swap = session_swap(c->e->session);
	struct frame_chain chain;

	TRY(frame_chain_open(&c->frames, s, timeline_at(t, &c->cursor, s->pid, s->tid, s->time),
	        mode, attr, &chain));
	*out = (struct record_chain){chain.words, chain.n};
	if (swap) {
		out->n = chain.n < CHAIN_MAX ? chain.n : CHAIN_MAX;
		for (size_t i = 0; i < out->n; i++) {
			c->words[i] = __builtin_bswap64(chain.words[i]);
		}
		out->words = c->words;
	}
	return 0;
}

/* Gives a sample that kept its copy the id of the first event again. */
static void id_restore(
        const struct edit_chains *c, const struct record_plan *plan, uint8_t *body, uint64_t id)
{
	uint64_t first = id & ~RECORD_STACK_COPY_ID;
	bool swap = session_swap(c->e->session);

	if (id == first || session_event_by_id(c->e->session, first) == NULL) {
		return;
	}
	store_u64(body + plan->sample_id, first, swap);
	if (plan->id != RECORD_NOT_THERE) {
		store_u64(body + plan->id, first, swap);
	}
}

static int sample_put(struct edit_chains *c, struct sonde_rewriter *rw,
        const struct sonde_raw_record *r, const struct session_event *event)
{
	bool swap = session_swap(c->e->session);
	struct sonde_raw_record raw = *r;
	struct record view = edit_view(r);
	struct record_user_stack parts;
	struct record_chain chain;
	struct sonde_sample s;
	size_t room;

	if (!record_user_stack_find(&event->plan, view.body, swap, &parts) ||
	        record_sample_decode(&event->plan, view.body, swap, &c->scratch, &s) <= 0) {
		return sonde_rewriter_fail(rw, SONDE_EFORMAT,
		        "a sample with a copy of its stack does not fit its fields; 'sonde repair' "
		        "leaves it out");
	}
	if (chain_make(c, &s, view.misc & MISC_CPUMODE_MASK, &event->attr, &chain) < 0) {
		return edit_failed(c->e, rw, error_nomem(&c->e->error));
	}
	room = record_user_stack_room(&parts, view.body, false);
	chain.n = chain.n < room ? chain.n : room;
	raw.size = record_user_stack_replace(&parts, &view, swap, false, chain, c->e->room);
	raw.bytes = c->e->room;
	if (event->plan.sample_id != RECORD_NOT_THERE) {
		id_restore(c, &event->plan, c->e->room + RECORD_HEADER_SIZE, s.id);
	}
	return sonde_rewriter_put(rw, &raw);
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_chains *c = arg;
	const struct file *f = reader_file(sonde_rewriter_file(rw));
	const struct session_event *events = session_events(c->e->session);
	const struct record view = edit_view(r);
	const struct file_event *event;

	if (r->type != RECORD_SAMPLE) {
		return sonde_rewriter_put(rw, r);
	}
	event = file_sample_event(f, &view);
	if (event == NULL || !frame_stack_copies(&events[event - f->events].attr) ||
	        (events[event - f->events].plan.sample_type & SONDE_SAMPLE_CALLCHAIN) == 0) {
		return sonde_rewriter_put(rw, r);
	}
	return sample_put(c, rw, r, &events[event - f->events]);
}

int edit_chains_stage(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .begin = begin, .record = record};

	e->chains = calloc(1, sizeof(*e->chains));
	if (e->chains == NULL) {
		return error_nomem(&e->error);
	}
	e->chains->e = e;
	stage.arg = e->chains;
	return sonde_rewriter_add(rw, &stage);
}

void edit_chains_fini(struct sonde_editor *e)
{
	struct edit_chains *c = e->chains;

	if (c != NULL && c->begun) {
		frame_reader_fini(&c->frames);
		timeline_cursor_fini(session_timeline(e->session), &c->cursor);
		record_scratch_fini(&c->scratch);
	}
	free(c);
}
