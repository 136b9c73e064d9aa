/* SPDX-License-Identifier: MIT */
/*
 * The stage that shows where and how long tasks slept. A sample of sched_switch has the call chain
 * where a task went to sleep; a sample of sched_stat_* has how long it slept, as its period, and is
 * taken when it woke up. Both become one: the last switch of the task, with time and period of the
 * sched_stat sample. Samples of other events stay.
 */
#include "edit/inside.h"

#include "core/array.h"
#include "file/reader.h"
#include "trace/format.h"

#include <stdlib.h>

#define SWITCH "sched:sched_switch"
#define EXIT   "sched:sched_process_exit"
#define STAT   "sched:sched_stat_" /* beginning of the names */

enum sched_kind { SCHED_OTHER = 0, SCHED_SWITCH, SCHED_STAT, SCHED_EXIT };

struct sched_event {
	enum sched_kind kind;
	uint32_t pid_at; /* SCHED_STAT: offset of the field pid in the raw data */
};

/* The last switch of a task. */
struct sched_task {
	uint32_t tid;
	uint8_t *record; /* NULL: none */
	size_t size, cap; /* bytes */
	const struct file_event *event;
};

struct edit_sched {
	struct sonde_editor *e;
	const struct file *f;
	struct sched_event *events; /* by number */
	struct sched_task *tasks;
	size_t ntasks, tasks_cap;
	struct index by_tid;
	struct record_scratch scratch;
};

static enum sched_kind kind_of(const char *name)
{
	if (strcmp(name, SWITCH) == 0) {
		return SCHED_SWITCH;
	}
	if (strcmp(name, EXIT) == 0) {
		return SCHED_EXIT;
	}
	return strncmp(name, STAT, strlen(STAT)) == 0 ? SCHED_STAT : SCHED_OTHER;
}

static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct edit_sched *x = arg;
	struct span formats;

	x->f = reader_file(sonde_rewriter_file(rw));
	formats = file_feature(x->f, FEATURE_TRACING_DATA);
	x->events = calloc(x->f->nevents + 1, sizeof(*x->events));
	if (x->events == NULL) {
		return edit_failed(x->e, rw, error_nomem(&x->e->error));
	}
	for (size_t i = 0; i < x->f->nevents; i++) {
		const struct file_event *e = &x->f->events[i];
		struct trace_format format;
		struct trace_field pid;

		x->events[i].kind = kind_of(e->name);
		if (x->events[i].kind != SCHED_STAT) {
			continue;
		}
		if (!trace_format_find(formats, e->attr.config, &format) ||
		        !trace_field_find(&format, SPAN_TEXT("pid"), &pid) || pid.size != 4) {
			return edit_failed(x->e, rw,
			        error_set(&x->e->error, SONDE_EFORMAT, NO_OFFSET,
			                "the header does not have the format of %s, with its "
			                "field pid",
			                e->name));
		}
		x->events[i].pid_at = pid.offset;
	}
	return 0;
}

/* Returns the task with a number; NULL: out of memory, or without `add` not there. */
static struct sched_task *task_of(struct edit_sched *x, uint32_t tid, bool add)
{
	size_t at;
	uint32_t i;

	if (add && index_room(&x->by_tid) < 0) {
		return NULL;
	}
	i = index_find_u32(&x->by_tid, tid, &at);
	if (i == INDEX_NONE) {
		if (!add || !array_reserve(
		                    &x->tasks, &x->tasks_cap, x->ntasks + 1, sizeof(*x->tasks))) {
			return NULL;
		}
		i = (uint32_t)x->ntasks++;
		x->tasks[i] = (struct sched_task){.tid = tid};
		index_put_u32(&x->by_tid, tid, at, i);
	}
	return &x->tasks[i];
}

/* Keeps a copy of the record, instead of the task's last one. */
static int switch_keep(struct edit_sched *x, uint32_t tid, const struct sonde_raw_record *r,
        const struct file_event *event)
{
	struct sched_task *task = task_of(x, tid, true);

	if (task == NULL || !array_reserve(&task->record, &task->cap, r->size, 1)) {
		return error_nomem(&x->e->error);
	}
	memcpy(task->record, r->bytes, r->size);
	task->size = r->size;
	task->event = event;
	return 0;
}

/* Writes the last switch of a task with time and period of another sample. */
static int sleep_put(struct edit_sched *x, struct sonde_rewriter *rw,
        const struct sonde_raw_record *r, const struct sched_task *task,
        const struct sonde_sample *stat)
{
	const struct record_plan *plan = &task->event->plan;
	struct sonde_raw_record made = *r;
	uint8_t *body = x->e->room + RECORD_HEADER_SIZE;

	memcpy(x->e->room, task->record, task->size);
	made.bytes = x->e->room;
	made.size = task->size;
	if (plan->time != RECORD_NOT_THERE) {
		store_u64(body + plan->time, stat->time, x->f->swap);
	}
	if (plan->period != RECORD_NOT_THERE) {
		store_u64(body + plan->period, stat->period, x->f->swap);
	}
	return sonde_rewriter_put(rw, &made);
}

static void task_forget(struct edit_sched *x, uint32_t tid)
{
	struct sched_task *task = task_of(x, tid, false);

	if (task != NULL) {
		task->size = 0;
	}
}

static int sample_take(struct edit_sched *x, struct sonde_rewriter *rw,
        const struct sonde_raw_record *r, const struct file_event *event)
{
	const struct sched_event *kind = &x->events[event - x->f->events];
	const struct record view = edit_view(r);
	const struct sched_task *task;
	struct sonde_sample sample;

	if (record_sample_decode(&event->plan, view.body, x->f->swap, &x->scratch, &sample) ==
	        SONDE_ENOMEM) {
		return edit_failed(x->e, rw, error_nomem(&x->e->error));
	}
	if (kind->kind == SCHED_SWITCH) {
		return edit_failed(x->e, rw, switch_keep(x, sample.tid, r, event));
	}
	if (kind->kind == SCHED_EXIT) {
		task_forget(x, sample.tid);
		return 0;
	}
	if (sample.raw_len < (size_t)kind->pid_at + 4) {
		return 0;
	}
	task = task_of(x, load_u32(sample.raw + kind->pid_at, x->f->swap), false);
	return task != NULL && task->size != 0 ? sleep_put(x, rw, r, task, &sample) : 0;
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_sched *x = arg;
	const struct record view = edit_view(r);
	const struct file_event *event =
	        r->type == RECORD_SAMPLE ? file_sample_event(x->f, &view) : NULL;

	return event != NULL && x->events[event - x->f->events].kind != SCHED_OTHER
	               ? sample_take(x, rw, r, event)
	               : sonde_rewriter_put(rw, r);
}

int edit_sched_stage(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .begin = begin, .record = record};

	e->sched = calloc(1, sizeof(*e->sched));
	if (e->sched == NULL) {
		return error_nomem(&e->error);
	}
	e->sched->e = e;
	stage.arg = e->sched;
	return sonde_rewriter_add(rw, &stage);
}

void edit_sched_fini(struct sonde_editor *e)
{
	struct edit_sched *x = e->sched;

	for (size_t i = 0; x != NULL && i < x->ntasks; i++) {
		free(x->tasks[i].record);
	}
	if (x != NULL) {
		record_scratch_fini(&x->scratch);
		index_fini(&x->by_tid);
		free(x->tasks);
		free(x->events);
	}
	free(x);
}
