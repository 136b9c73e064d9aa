/* SPDX-License-Identifier: MIT */
/*
 * The stage that keeps some of the samples: by time, process, name of the thread, processor and
 * event, or a random share, whose periods are scaled so that sums stay about the same.
 *
 * It reads the recording twice. The first pass finds which processes the kept samples are of; the
 * mappings, names and so on of these and of their ancestors, from which they inherited mappings, are
 * kept. After the last kept sample nothing of the kernel is needed. Traces stay whole.
 */
#include "edit/inside.h"

#include "core/array.h"
#include "file/reader.h"
#include "session/pick.h"

#include <stdlib.h>

#define KERNEL_PID  UINT32_MAX
#define SHARE_START UINT64_C(0x736f6e6465) /* the same samples are chosen each time */

struct process {
	uint32_t pid;
	uint32_t parent; /* index + 1; 0: unknown */
	bool needed;
};

struct edit_keep {
	struct sonde_editor *e;
	const struct file *f;
	struct pick pick;
	struct timeline_cursor cursor;
	bool *events; /* by number of the event; NULL: all */
	struct process *processes;
	size_t nprocesses, processes_cap;
	struct index by_pid;
	uint64_t first, last; /* times of the kept samples, ns */
	uint64_t nsamples; /* seen in this pass */
	bool any; /* a sample is kept */
	bool timed; /* samples have times */
};

/* Returns the process with a number; NULL: out of memory. */
static struct process *process_of(struct edit_keep *k, uint32_t pid)
{
	size_t at;
	uint32_t i;

	if (index_room(&k->by_pid) < 0) {
		return NULL;
	}
	i = index_find_u32(&k->by_pid, pid, &at);
	if (i == INDEX_NONE) {
		if (!array_reserve(&k->processes, &k->processes_cap, k->nprocesses + 1,
		            sizeof(*k->processes))) {
			return NULL;
		}
		i = (uint32_t)k->nprocesses++;
		k->processes[i] = (struct process){.pid = pid};
		index_put_u32(&k->by_pid, pid, at, i);
	}
	return &k->processes[i];
}

/* ---- which samples ---- */

/* What is known of a sample for choosing it. */
struct fixed {
	uint32_t pid, tid, cpu; /* UINT32_MAX: not recorded */
	uint64_t time; /* 0: not recorded */
};

static struct fixed fixed_of(
        const struct edit_keep *k, const struct record_plan *p, const uint8_t *body)
{
	bool swap = k->f->swap;
	struct fixed out = {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0};

	if (p->tid != RECORD_NOT_THERE) {
		out.pid = load_u32(body + p->tid, swap);
		out.tid = load_u32(body + p->tid + 4, swap);
	}
	if (p->cpu != RECORD_NOT_THERE) {
		out.cpu = load_u32(body + p->cpu, swap);
	}
	if (p->time != RECORD_NOT_THERE) {
		out.time = load_u64(body + p->time, swap);
	}
	return out;
}

static bool in_share(const struct edit_keep *k)
{
	uint64_t every = k->e->o.one_in;

	return every <= 1 || hash_u64(k->nsamples + SHARE_START) % every == 0;
}

/* Whether a sample is kept; *event and *out are set. Samples of unknown events are kept. */
static bool is_kept(struct edit_keep *k, const struct sonde_raw_record *r,
        const struct file_event **event, struct fixed *out)
{
	const struct timeline *t = session_timeline(k->e->session);
	const struct record view = edit_view(r);
	const struct file_event *found = file_sample_event(k->f, &view);

	*event = found;
	*out = (struct fixed){UINT32_MAX, UINT32_MAX, UINT32_MAX, 0};
	k->nsamples++;
	if (found == NULL || found->plan.fixed_size > view.body.n) {
		return true;
	}
	*out = fixed_of(k, &found->plan, view.body.p);
	if ((k->events != NULL && !k->events[found - k->f->events]) ||
	        !pick_takes(&k->pick, out->cpu, out->time) ||
	        !pick_thread(&k->pick, out->pid, out->tid)) {
		return false;
	}
	if (k->pick.comms != NULL &&
	        !pick_comm(&k->pick,
	                timeline_at(t, &k->cursor, out->pid, out->tid, out->time)->comm)) {
		return false;
	}
	return in_share(k);
}

/* ---- the first pass ---- */

static int events_choose(struct edit_keep *k, const char *list)
{
	bool any = false;

	if (list == NULL) {
		return 0;
	}
	k->events = calloc(k->f->nevents + 1, sizeof(*k->events));
	if (k->events == NULL) {
		return error_nomem(&k->e->error);
	}
	for (size_t n; *list != '\0'; list += n + (list[n] == ',')) {
		bool found = false;

		n = strcspn(list, ",");
		for (size_t i = 0; i < k->f->nevents; i++) {
			const char *name = k->f->events[i].name;

			if (strlen(name) == n && memcmp(name, list, n) == 0) {
				k->events[i] = found = true;
			}
		}
		if (!found && n != 0) {
			return error_set(&k->e->error, SONDE_EARG, NO_OFFSET,
			        "no event of the recording is called '%.*s'; 'sonde evlist' lists "
			        "them",
			        (int)(n < 200 ? n : 200), list);
		}
		any |= found;
	}
	return any ? 0
	           : error_set(&k->e->error, SONDE_EARG, NO_OFFSET, "the list of events is empty");
}

static int open_all(struct edit_keep *k, struct sonde_rewriter *rw)
{
	const struct sonde_filter none = {0};
	struct sonde_editor *e = k->e;
	int rc;

	if (k->f != NULL) {
		return 0;
	}
	k->f = reader_file(sonde_rewriter_file(rw));
	TRY(edit_open(e, rw));
	rc = pick_init(&k->pick, e->session, e->o.keep != NULL ? e->o.keep : &none);
	if (rc < 0) {
		return error_take(&e->error, sonde_session_error(e->session));
	}
	return events_choose(k, e->o.keep_events);
}

/* A fork: the child inherits the mappings of its parent. */
static int fork_note(struct edit_keep *k, const struct record *r)
{
	struct record_task task;
	struct process *parent, *child;
	uint32_t number;

	if (!record_task_decode(r, k->f->swap, &task) || task.pid == task.ppid) {
		return 0;
	}
	parent = process_of(k, task.ppid);
	if (parent == NULL) {
		return SONDE_ENOMEM;
	}
	number = (uint32_t)(parent - k->processes) + 1;
	child = process_of(k, task.pid);
	if (child == NULL) {
		return SONDE_ENOMEM;
	}
	child->parent = number;
	return 0;
}

static int sample_note(struct edit_keep *k, const struct sonde_raw_record *r)
{
	const struct file_event *event;
	struct fixed fixed;
	struct process *p;

	if (!is_kept(k, r, &event, &fixed)) {
		return 0;
	}
	k->timed |= event != NULL && event->plan.time != RECORD_NOT_THERE;
	k->first = !k->any || fixed.time < k->first ? fixed.time : k->first;
	k->last = fixed.time > k->last ? fixed.time : k->last;
	k->any = true;
	p = process_of(k, fixed.pid);
	if (p == NULL) {
		return SONDE_ENOMEM;
	}
	p->needed = true;
	return 0;
}

static int look(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_keep *k = arg;
	const struct record view = edit_view(r);
	int rc = open_all(k, rw);

	if (rc >= 0 && r->type == RECORD_FORK) {
		rc = fork_note(k, &view);
	} else if (rc >= 0 && r->type == RECORD_SAMPLE) {
		rc = sample_note(k, r);
	}
	return edit_failed(k->e, rw, rc);
}

/* ---- between the passes ---- */

/* Ancestors of needed processes are needed; a number that was used twice can make a circle. */
static void ancestors_mark(struct edit_keep *k)
{
	for (size_t i = 0; i < k->nprocesses; i++) {
		struct process *p = &k->processes[i];

		while (p->needed && p->parent != 0 && !k->processes[p->parent - 1].needed) {
			p = &k->processes[p->parent - 1];
			p->needed = true;
		}
	}
}

/* Events with a fixed period that samples do not record: the attr has it. */
static int periods_scale(struct edit_keep *k, struct sonde_rewriter *rw)
{
	uint8_t bytes[ATTR_SIZE_NOW];

	for (size_t i = 0; i < k->f->nevents && k->e->o.one_in > 1; i++) {
		const struct file_event *e = &k->f->events[i];
		struct sonde_rewriter_event changed = {.size = sizeof(changed), .attr = bytes};
		struct sonde_attr attr = e->attr;

		if (e->plan.period != RECORD_NOT_THERE || e->bytes.n > sizeof(bytes) ||
		        (attr.flags >> SONDE_FLAG_FREQ & 1) != 0) {
			continue;
		}
		attr.sample_period *= k->e->o.one_in;
		record_attr_encode_as(&attr, k->f->swap, bytes);
		changed.attr_size = e->bytes.n;
		TRY(sonde_rewriter_set_event(rw, i, &changed));
	}
	return 0;
}

static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct edit_keep *k = arg;
	uint8_t times[16];

	TRY(edit_failed(k->e, rw, open_all(k, rw)));
	ancestors_mark(k);
	k->nsamples = 0;
	if (k->any && k->timed && file_has_feature(k->f, FEATURE_SAMPLE_TIME)) {
		store_u64(times, k->first, k->f->swap);
		store_u64(times + 8, k->last, k->f->swap);
		TRY(sonde_rewriter_set_feature(rw, FEATURE_SAMPLE_TIME, times, sizeof(times)));
	}
	return periods_scale(k, rw);
}

/* ---- the second pass ---- */

static int sample_put(
        struct edit_keep *k, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	const struct file_event *event;
	struct sonde_raw_record made = *r;
	struct fixed fixed;
	uint8_t *period;

	if (!is_kept(k, r, &event, &fixed)) {
		return 0;
	}
	/* periods of counts are differences: they include those of the samples that are left out */
	if (k->e->o.one_in <= 1 || event == NULL || event->plan.period == RECORD_NOT_THERE ||
	        (event->plan.sample_type & SONDE_SAMPLE_READ) != 0) {
		return sonde_rewriter_put(rw, r);
	}
	memcpy(k->e->room, r->bytes, r->size);
	period = k->e->room + RECORD_HEADER_SIZE + event->plan.period;
	store_u64(period, load_u64(period, k->f->swap) * k->e->o.one_in, k->f->swap);
	made.bytes = k->e->room;
	return sonde_rewriter_put(rw, &made);
}

/* Whether a record that describes a process describes a needed one. */
static bool is_of_needed(const struct edit_keep *k, const struct sonde_raw_record *r)
{
	const uint8_t *bytes = r->bytes;
	uint32_t pid, i;
	size_t at;

	if (r->size < RECORD_HEADER_SIZE + 4) {
		return true;
	}
	pid = load_u32(bytes + RECORD_HEADER_SIZE, k->f->swap);
	i = index_find_u32(&k->by_pid, pid, &at);
	return pid == KERNEL_PID || (i != INDEX_NONE && k->processes[i].needed);
}

/* The time of a record that is no sample; 0: not recorded. */
static uint64_t time_of(const struct edit_keep *k, const struct sonde_raw_record *r)
{
	const struct record view = edit_view(r);
	const struct file_event *event = file_record_event(k->f, &view);
	struct record_trailer trailer;

	return event != NULL && record_trailer_decode(&event->plan, view.body, k->f->swap, &trailer)
	               ? trailer.time
	               : 0;
}

static bool is_side_band_kept(const struct edit_keep *k, const struct sonde_raw_record *r)
{
	uint64_t time = time_of(k, r);

	if (r->type >= RECORD_USER_START) {
		return true;
	}
	if (k->timed && time != UINT64_MAX && time > k->last) {
		return false;
	}
	switch (r->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT:
	case RECORD_NAMESPACES: return is_of_needed(k, r);
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES:
	case RECORD_THROTTLE:
	case RECORD_UNTHROTTLE: /* about the samples around them */
		return time == 0 || time >= k->first;
	default: return true;
	}
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_keep *k = arg;

	if (r->type == RECORD_SAMPLE) {
		return sample_put(k, rw, r);
	}
	return is_side_band_kept(k, r) ? sonde_rewriter_put(rw, r) : 0;
}

int edit_keep_stage(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .look = look, .begin = begin, .record = record};

	e->keep = calloc(1, sizeof(*e->keep));
	if (e->keep == NULL) {
		return error_nomem(&e->error);
	}
	e->keep->e = e;
	stage.arg = e->keep;
	return sonde_rewriter_add(rw, &stage);
}

void edit_keep_fini(struct sonde_editor *e)
{
	struct edit_keep *k = e->keep;

	if (k == NULL) {
		return;
	}
	if (e->session != NULL) {
		timeline_cursor_fini(session_timeline(e->session), &k->cursor);
	}
	pick_fini(&k->pick);
	index_fini(&k->by_pid);
	free(k->processes);
	free(k->events);
	free(k);
}
