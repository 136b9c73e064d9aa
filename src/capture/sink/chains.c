/* SPDX-License-Identifier: MIT */
/*
 * A round is what one pass over the rings has read: each ring's records in the order of time, one
 * ring after the other. Mappings are those of the sample's time, so a round with side-band is
 * worked through in the order of time, and written in its own order:
 *
 *	bytes      ring 0: S1 M4 S6 | ring 1: S2 F3 S5     S: sample, M: mapping, F: fork
 *	steps      S1 S2 F3 M4 S5 S6
 *	output     S1 M4 S6 S2 F3 S5
 */
#define _GNU_SOURCE
#include "capture/sink/chains.h"

#include "abi/abi.h"
#include "core/array.h"
#include "core/index.h"
#include "record/user_stack.h"
#include "unwind/space.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUEUE_BYTES  ((size_t)64 << 20)
#define SPARE_ROUNDS 2u /* kept for more rounds */
#define NICENESS     10 /* of the worker */
#define PIECES       512u
#define RECORD_MAX   65536u
#define CHAIN_MAX    8192u /* words that fit into a record */
#define SIDE_BAND                                                                                  \
	(1u << RECORD_MMAP | 1u << RECORD_MMAP2 | 1u << RECORD_COMM | 1u << RECORD_FORK |          \
	        1u << RECORD_EXIT)

struct segment {
	enum capture_chains_kind kind;
	size_t at, end; /* in the round's bytes */
};

struct round {
	struct round *next;
	uint8_t *bytes;
	size_t n, cap;
	struct segment *segments;
	size_t nsegments, segments_cap;
	bool copies; /* written without unwinding */
};

/* A record that changes the mappings, or a sample to unwind. */
struct step {
	uint64_t time;
	size_t at; /* in the round's bytes */
	size_t out, out_size; /* of a sample: its new record in the bytes made */
	const struct capture_chains_event *event; /* NULL: side-band */
};

struct capture_chains {
	struct capture_lane lane;
	struct capture_chains_event *events;
	struct record_plan *plans; /* by event */
	struct sonde_attr *attrs;
	size_t nevents;
	struct index ids; /* by id, to numbers of `owners` */
	struct owner {
		uint64_t id;
		size_t event;
	} * owners;
	size_t nowners, owners_cap;
	bool keep_regs;
	size_t most;

	/* the worker's */
	struct unwind_spaces *spaces;
	struct step *steps;
	size_t nsteps, steps_cap;
	uint8_t *made; /* records of one round */
	size_t nmade, made_cap;
	struct iovec pieces[PIECES]; /* to write together */
	size_t npieces;
	uint64_t *words; /* of a chain */
	uint64_t *regs; /* aligned */
	struct capture_chains_counts counts;

	struct round *filling; /* the recorder's; NULL: none */

	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t more; /* for the worker */
	pthread_cond_t room; /* for the recorder */
	struct round *first, *last; /* complete */
	struct round *spare;
	size_t nspare;
	size_t held; /* bytes of complete rounds, with that of the worker */
	bool busy, ending, stopping;
	int rc;
	struct error error;
	uint64_t written;
};

#if defined(__x86_64__)
#define MACHINE UNWIND_X86_64
#elif defined(__aarch64__)
#define MACHINE UNWIND_AARCH64
#else
#define MACHINE UNWIND_OTHER
#endif

bool capture_chains_supported(void)
{
	return MACHINE != UNWIND_OTHER;
}

/* ---- ids of events ---- */

static int ids_add(struct capture_chains *c, size_t event, uint64_t id)
{
	uint32_t hash = (uint32_t)hash_u64(id);
	size_t at = hash;

	if (index_room(&c->ids) < 0 ||
	        !array_reserve(&c->owners, &c->owners_cap, c->nowners + 1, sizeof(*c->owners))) {
		return SONDE_ENOMEM;
	}
	while (index_next(&c->ids, hash, &at) != INDEX_NONE) {
		at++;
	}
	index_put(&c->ids, hash, at, (uint32_t)c->nowners);
	c->owners[c->nowners++] = (struct owner){.id = id, .event = event};
	return 0;
}

/* Returns the number of the event with an id; SIZE_MAX: none. */
static size_t event_of(const struct capture_chains *c, uint64_t id)
{
	uint32_t hash = (uint32_t)hash_u64(id), i;
	size_t at = hash;

	if (c->ids.nslots == 0) {
		return SIZE_MAX;
	}
	while ((i = index_next(&c->ids, hash, &at)) != INDEX_NONE) {
		if (c->owners[i].id == id) {
			return c->owners[i].event;
		}
		at++;
	}
	return SIZE_MAX;
}

/* ---- side-band ---- */

static int take_mapping(struct capture_chains *c, const struct record *r)
{
	struct record_mmap m;
	struct unwind_mapped mapped;

	if (!record_mmap_decode(r, false, &m) || m.pid == UINT32_MAX ||
	        (r->misc & MISC_CPUMODE_MASK) == MISC_KERNEL ||
	        (r->type == RECORD_MMAP2 ? (m.prot & PROT_EXEC) == 0
	                                 : (r->misc & MISC_MMAP_DATA) != 0)) {
		return 0;
	}
	mapped = (struct unwind_mapped){
	        .pid = m.pid, .start = m.start, .size = m.len, .offset = m.pgoff, .path = m.name};
	if (m.build_id_size == 0) {
		mapped.inode = m.ino;
		mapped.generation = m.ino_generation;
	}
	return unwind_spaces_map(c->spaces, &mapped);
}

static int take_side_band(struct capture_chains *c, const struct record *r)
{
	struct record_comm comm;
	struct record_task task;

	switch (r->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2: return take_mapping(c, r);
	case RECORD_COMM:
		if (record_comm_decode(r, false, &comm) && comm.exec) {
			unwind_spaces_exec(c->spaces, comm.pid);
		}
		return 0;
	case RECORD_FORK:
		return record_task_decode(r, false, &task)
		               ? unwind_spaces_fork(c->spaces, task.pid, task.ppid)
		               : 0;
	case RECORD_EXIT:
		if (record_task_decode(r, false, &task) && task.pid == task.tid) {
			unwind_spaces_exit(c->spaces, task.pid, task.time);
		}
		return 0;
	default: return 0;
	}
}

/* ---- samples ---- */

/* The record at an offset of the round; false: the bytes there are no record. */
static bool record_at(const struct round *round, size_t at, size_t end, struct record *r)
{
	const uint8_t *p;

	if (end - at < RECORD_HEADER_SIZE) {
		return false;
	}
	p = round->bytes + at;
	*r = (struct record){.type = load_u32(p, false),
	        .misc = load_u16(p + 4, false),
	        .size = load_u16(p + 6, false)};
	if (r->size < RECORD_HEADER_SIZE || r->size > end - at) {
		return false;
	}
	r->body = (struct span){p + RECORD_HEADER_SIZE, r->size - (size_t)RECORD_HEADER_SIZE};
	return true;
}

/* Makes room for the largest record. */
static uint8_t *made_room(struct capture_chains *c)
{
	return array_reserve(&c->made, &c->made_cap, c->nmade + RECORD_MAX, 1) ? c->made + c->nmade
	                                                                       : NULL;
}

/* Passes a sample on with its copy of the stack, as one of the second event. */
static int keep_copy(struct capture_chains *c, const struct record *r, size_t event)
{
	const struct record_plan *plan = &c->plans[event];
	const uint8_t at[] = {plan->sample_id, plan->id};
	uint8_t *to = made_room(c), *id;

	if (to == NULL) {
		return SONDE_ENOMEM;
	}
	memcpy(to, r->body.p - RECORD_HEADER_SIZE, r->size);
	for (size_t i = 0; i < sizeof(at); i++) {
		if (at[i] != RECORD_NOT_THERE) {
			id = to + RECORD_HEADER_SIZE + at[i];
			store_u64(id, load_u64(id, false) | RECORD_STACK_COPY_ID, false);
		}
	}
	c->nmade += r->size;
	c->counts.copies++;
	return 0;
}

/* Appends the chain of user space to the words of the recorded one; 0, 1: it cannot be made here. */
static int unwind_sample(struct capture_chains *c, const struct record *r, size_t event,
        const struct record_user_stack *parts, size_t *n)
{
	const struct sonde_attr *attr = &c->attrs[event];
	struct unwind_stack stack = {.machine = MACHINE,
	        .memory.bytes = {r->body.p + parts->stack + 8, (size_t)parts->valid}};
	size_t room = record_user_stack_room(parts, r->body, c->keep_regs), more;
	uint32_t pid = load_u32(r->body.p + c->plans[event].tid, false);

	if (parts->abi == 0 || parts->valid == 0) {
		return 0; /* of a kernel thread, or the stack could not be read */
	}
	memcpy(c->regs, r->body.p + parts->regs + 8, parts->regs_end - parts->regs - 8);
	if (parts->abi != RECORD_REGS_ABI_64 || *n + 2 > room ||
	        !unwind_regs_take(MACHINE, attr->sample_regs_user, c->regs, &stack.regs)) {
		return 1;
	}
	stack.memory.address = stack.regs.value[unwind_stack_pointer(MACHINE)];
	c->words[(*n)++] = CALLCHAIN_USER;
	TRY(unwind_spaces_stack(c->spaces, pid, &stack, c->words + *n, room - *n, &more));
	*n += more;
	return 0;
}

/* Makes the new record of a sample. */
static int take_sample(struct capture_chains *c, const struct record *r, size_t event)
{
	struct record_user_stack parts;
	size_t n;
	uint8_t *to;
	int rc;

	if (!record_user_stack_find(&c->plans[event], r->body, false, &parts)) {
		return keep_copy(c, r, event);
	}
	n = (parts.chain_end - parts.chain) / 8 - 1;
	memcpy(c->words, r->body.p + parts.chain + 8, n * 8);
	rc = unwind_sample(c, r, event, &parts, &n);
	if (rc != 0) {
		return rc < 0 ? rc : keep_copy(c, r, event);
	}
	to = made_room(c);
	if (to == NULL) {
		return SONDE_ENOMEM;
	}
	c->nmade += record_user_stack_replace(
	        &parts, r, false, c->keep_regs, (struct record_chain){c->words, n}, to);
	c->counts.unwound++;
	return 0;
}

/* ---- rounds ---- */

/* Adds the step of a record, if it is one. */
static int add_step(struct capture_chains *c, const struct record *r, size_t at)
{
	struct step step = {.at = at};
	struct record_trailer trailer;
	size_t event;

	if (r->type == RECORD_SAMPLE) {
		event = r->body.n >= c->plans[0].fixed_size
		                ? event_of(c, load_u64(r->body.p, false))
		                : SIZE_MAX;
		if (event == SIZE_MAX || r->body.n < c->plans[event].fixed_size ||
		        (c->attrs[event].sample_type & SONDE_SAMPLE_STACK_USER) == 0) {
			return 0; /* of an event that records no stacks */
		}
		step.time = load_u64(r->body.p + c->plans[event].time, false);
		step.event = &c->events[event];
	} else if (r->type >= 32 || (SIDE_BAND >> r->type & 1) == 0) {
		return 0;
	} else if (record_trailer_decode(&c->plans[0], r->body, false, &trailer)) {
		step.time = trailer.time;
	}
	if (!array_reserve(&c->steps, &c->steps_cap, c->nsteps + 1, sizeof(*c->steps))) {
		return SONDE_ENOMEM;
	}
	c->steps[c->nsteps++] = step;
	return 0;
}

/* Bytes after a record that belong to it. */
static size_t payload_of(const struct record *r, size_t left)
{
	uint64_t n = r->type == RECORD_AUXTRACE && r->body.n >= 8 ? load_u64(r->body.p, false) : 0;

	return n < left ? (size_t)n : left;
}

static int add_steps(struct capture_chains *c, const struct round *round)
{
	struct record r;

	c->nsteps = 0;
	for (size_t i = 0; i < round->nsegments; i++) {
		size_t at = round->segments[i].at, end = round->segments[i].end;

		while (record_at(round, at, end, &r)) {
			TRY(add_step(c, &r, at));
			at += r.size;
			at += payload_of(&r, end - at);
		}
	}
	return 0;
}

static int compare_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->time != y->time) {
		return x->time < y->time ? -1 : 1;
	}
	return x->at < y->at ? -1 : x->at > y->at;
}

static int compare_at(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static int take_steps(struct capture_chains *c, const struct round *round)
{
	struct record r;

	c->nmade = 0;
	for (size_t i = 0; i < c->nsteps; i++) {
		struct step *step = &c->steps[i];

		if (!record_at(round, step->at, round->n, &r)) {
			continue;
		}
		if (step->event == NULL) {
			TRY(take_side_band(c, &r));
			continue;
		}
		step->out = c->nmade;
		TRY(round->copies ? keep_copy(c, &r, (size_t)(step->event - c->events))
		                  : take_sample(c, &r, (size_t)(step->event - c->events)));
		step->out_size = c->nmade - step->out;
	}
	return 0;
}

static int write_pieces(struct capture_chains *c, enum capture_chains_kind kind, struct error *err)
{
	int n = (int)c->npieces;

	c->npieces = 0;
	if (n == 0) {
		return 0;
	}
	return kind == CAPTURE_CHAINS_KERNEL ? capture_lane_kernel(&c->lane, c->pieces, n, err)
	                                     : capture_lane_other(&c->lane, c->pieces, n, err);
}

static void add_piece(struct capture_chains *c, const uint8_t *p, size_t n)
{
	struct iovec *iov = &c->pieces[c->npieces];

	if (n != 0) {
		memcpy(&iov->iov_base, &p,
		        sizeof(p)); /* iovec has no const; nothing changes them */
		iov->iov_len = n;
		c->npieces++;
	}
}

/* Writes a segment with new records in place of those of steps, from *step on. */
static int write_segment(struct capture_chains *c, const struct round *round,
        const struct segment *segment, size_t *step, struct error *err)
{
	size_t at = segment->at;

	if (at == segment->end) { /* such as a round without records, which has no bytes at all */
		return 0;
	}
	for (; *step < c->nsteps && c->steps[*step].at < segment->end; ++*step) {
		const struct step *s = &c->steps[*step];

		if (s->event == NULL) {
			continue;
		}
		add_piece(c, round->bytes + at, s->at - at);
		add_piece(c, c->made + s->out, s->out_size);
		at = s->at + load_u16(round->bytes + s->at + 6, false);
		if (c->npieces + 3 > PIECES) {
			TRY(write_pieces(c, segment->kind, err));
		}
	}
	add_piece(c, round->bytes + at, segment->end - at);
	return write_pieces(c, segment->kind, err);
}

static int write_round(struct capture_chains *c, const struct round *round, struct error *err)
{
	size_t step = 0;

	for (size_t i = 0; i < round->nsegments; i++) {
		const struct segment *s = &round->segments[i];

		TRY(s->kind == CAPTURE_CHAINS_MARK ? capture_lane_mark(&c->lane, err)
		                                   : write_segment(c, round, s, &step, err));
	}
	return 0;
}

static int process(struct capture_chains *c, const struct round *round, struct error *err)
{
	bool side_band = false;
	int rc = add_steps(c, round);

	for (size_t i = 0; i < c->nsteps; i++) {
		side_band |= c->steps[i].event == NULL;
	}
	if (rc >= 0 && side_band) {
		qsort(c->steps, c->nsteps, sizeof(*c->steps), compare_time);
	}
	rc = rc < 0 ? rc : take_steps(c, round);
	if (rc < 0) {
		return error_nomem(err);
	}
	if (side_band) {
		qsort(c->steps, c->nsteps, sizeof(*c->steps), compare_at);
	}
	return write_round(c, round, err);
}

/* ---- the queue ---- */

static void round_free(struct round *round)
{
	if (round != NULL) {
		free(round->bytes);
		free(round->segments);
		free(round);
	}
}

static void rounds_free(struct round *round)
{
	while (round != NULL) {
		struct round *next = round->next;

		round_free(round);
		round = next;
	}
}

/* The caller holds the lock. */
static void finished(struct capture_chains *c, struct round *round)
{
	c->held -= round->n;
	c->busy = false;
	c->written = capture_lane_written(&c->lane);
	if (c->nspare >= SPARE_ROUNDS) {
		round_free(round);
	} else {
		round->next = c->spare;
		c->spare = round;
		c->nspare++;
	}
	(void)pthread_cond_signal(&c->room);
}

static void *work(void *arg)
{
	struct capture_chains *c = arg;
	struct error error = {0};
	struct round *round;
	int rc;

	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
	(void)pthread_mutex_lock(&c->lock);
	for (;;) {
		while (c->first == NULL && !c->ending) {
			(void)pthread_cond_wait(&c->more, &c->lock);
		}
		round = c->first;
		if (round == NULL || c->stopping) {
			break;
		}
		c->first = round->next;
		c->last = c->first != NULL ? c->last : NULL;
		c->busy = true;
		rc = c->rc;
		(void)pthread_mutex_unlock(&c->lock);
		rc = rc == 0 ? process(c, round, &error) : rc;
		(void)pthread_mutex_lock(&c->lock);
		if (rc < 0 && c->rc == 0) {
			c->rc = rc;
			(void)error_take(&c->error, error_show(&error));
		}
		finished(c, round);
	}
	(void)pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* The round that the recorder fills; NULL: out of memory. */
static struct round *filling(struct capture_chains *c)
{
	struct round *round = c->filling;

	if (round != NULL) {
		return round;
	}
	(void)pthread_mutex_lock(&c->lock);
	round = c->spare;
	if (round != NULL) {
		c->spare = round->next;
		c->nspare--;
	}
	(void)pthread_mutex_unlock(&c->lock);
	if (round == NULL) {
		round = calloc(1, sizeof(*round));
		if (round == NULL) {
			return NULL;
		}
	}
	round->next = NULL;
	round->n = round->nsegments = 0;
	round->copies = false;
	c->filling = round;
	return round;
}

int capture_chains_put(struct capture_chains *c, enum capture_chains_kind kind,
        const struct iovec *iov, int n, struct error *err)
{
	struct round *round = filling(c);
	size_t bytes = 0;

	for (int i = 0; i < n; i++) {
		bytes += iov[i].iov_len;
	}
	if (round == NULL || !array_reserve(&round->bytes, &round->cap, round->n + bytes, 1) ||
	        !array_reserve(&round->segments, &round->segments_cap, round->nsegments + 1,
	                sizeof(*round->segments))) {
		return error_nomem(err);
	}
	round->segments[round->nsegments++] =
	        (struct segment){.kind = kind, .at = round->n, .end = round->n + bytes};
	for (int i = 0; i < n; i++) {
		if (iov[i].iov_len != 0) {
			memcpy(round->bytes + round->n, iov[i].iov_base, iov[i].iov_len);
			round->n += iov[i].iov_len;
		}
	}
	return 0;
}

static int failed(struct capture_chains *c, struct error *err)
{
	if (c->rc < 0) {
		(void)error_take(err, error_show(&c->error));
	}
	return c->rc;
}

/* The caller holds the lock. */
static int start(struct capture_chains *c, struct error *err)
{
	if (c->started) {
		return 0;
	}
	if (pthread_create(&c->thread, NULL, work, c) != 0) {
		return error_set(err, SONDE_ELIMIT, NO_OFFSET,
		        "cannot start a thread for unwinding; see 'ulimit -u'");
	}
	c->started = true;
	return 0;
}

int capture_chains_mark(struct capture_chains *c, struct error *err)
{
	struct round *round;
	int rc;

	TRY(capture_chains_put(c, CAPTURE_CHAINS_MARK, NULL, 0, err));
	round = c->filling;
	c->filling = NULL;
	(void)pthread_mutex_lock(&c->lock);
	rc = start(c, err);
	while (rc >= 0 && c->held >= c->most && c->rc == 0) {
		(void)pthread_cond_wait(&c->room, &c->lock);
	}
	round->copies = c->held >= c->most / 2;
	c->held += round->n;
	if (c->last != NULL) {
		c->last->next = round;
	} else {
		c->first = round;
	}
	c->last = round;
	rc = rc < 0 ? rc : failed(c, err);
	(void)pthread_cond_signal(&c->more);
	(void)pthread_mutex_unlock(&c->lock);
	return rc;
}

int capture_chains_drain(struct capture_chains *c, struct error *err)
{
	int rc;

	(void)pthread_mutex_lock(&c->lock);
	while (c->first != NULL || c->busy) {
		(void)pthread_cond_wait(&c->room, &c->lock);
	}
	rc = failed(c, err);
	(void)pthread_mutex_unlock(&c->lock);
	return rc < 0 ? rc : capture_lane_drain(&c->lane, err);
}

uint64_t capture_chains_written(struct capture_chains *c)
{
	uint64_t n;

	(void)pthread_mutex_lock(&c->lock);
	n = c->written;
	(void)pthread_mutex_unlock(&c->lock);
	return n;
}

struct capture_lane *capture_chains_lane(struct capture_chains *c)
{
	return &c->lane;
}

struct capture_chains_counts capture_chains_count(const struct capture_chains *c)
{
	return c->counts;
}

void capture_chains_stop(struct capture_chains *c)
{
	(void)pthread_mutex_lock(&c->lock);
	c->ending = c->stopping = true;
	(void)pthread_cond_signal(&c->more);
	(void)pthread_mutex_unlock(&c->lock);
	if (c->started) {
		(void)pthread_join(c->thread, NULL);
		c->started = false;
	}
	rounds_free(c->first);
	c->first = c->last = NULL;
	c->held = 0;
	c->ending = c->stopping = false;
}

/* ---- begin and end ---- */

static int set_events(struct capture_chains *c, const struct capture_chains_options *o)
{
	c->nevents = o->nevents;
	c->events = calloc(o->nevents, sizeof(*c->events));
	c->plans = calloc(o->nevents, sizeof(*c->plans));
	c->attrs = calloc(o->nevents, sizeof(*c->attrs));
	if (c->events == NULL || c->plans == NULL || c->attrs == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < o->nevents; i++) {
		c->events[i] = o->events[i];
		c->attrs[i] = *o->events[i].attr;
		c->events[i].attr = &c->attrs[i];
		record_plan_make(&c->plans[i], &c->attrs[i]);
		for (size_t k = 0; k < o->events[i].nids; k++) {
			TRY(ids_add(c, i, o->events[i].ids[k]));
		}
	}
	return 0;
}

int capture_chains_new(const struct capture_chains_options *options, struct capture_chains **out,
        struct error *err)
{
	struct capture_chains *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (c == NULL) {
		return error_nomem(err);
	}
	(void)pthread_mutex_init(&c->lock, NULL);
	(void)pthread_cond_init(&c->more, NULL);
	(void)pthread_cond_init(&c->room, NULL);
	c->keep_regs = options->keep_regs;
	c->most = options->most != 0 ? options->most : QUEUE_BYTES;
	c->spaces = unwind_spaces_new();
	c->words = calloc(CHAIN_MAX, sizeof(*c->words));
	c->regs = calloc(64, sizeof(*c->regs));
	if (c->spaces == NULL || c->words == NULL || c->regs == NULL ||
	        set_events(c, options) < 0) {
		capture_chains_free(c);
		return error_nomem(err);
	}
	*out = c;
	return 0;
}

void capture_chains_free(struct capture_chains *c)
{
	if (c == NULL) {
		return;
	}
	capture_chains_stop(c);
	capture_lane_close(&c->lane);
	rounds_free(c->spare);
	round_free(c->filling);
	unwind_spaces_free(c->spaces);
	index_fini(&c->ids);
	free(c->owners);
	free(c->events);
	free(c->plans);
	free(c->attrs);
	free(c->steps);
	free(c->made);
	free(c->words);
	free(c->regs);
	(void)pthread_mutex_destroy(&c->lock);
	(void)pthread_cond_destroy(&c->more);
	(void)pthread_cond_destroy(&c->room);
	free(c);
}
