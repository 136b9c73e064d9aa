/* SPDX-License-Identifier: MIT */
/*
 * `report --tasks`: all threads as a tree, each below the thread that created it; `--mmaps`: with
 * the mappings of their processes at the end of the recording. If a tid was reused, its last thread.
 *
 * As in perf, siblings are in the order of tid modulo 256, then of tid, but a task with children is
 * listed as early as the first of these.
 */
#include "report/report.h"

#include "abi/abi.h"
#include "core/escape.h"

#include <inttypes.h>
#include <stdlib.h>

#define NONE       UINT32_MAX
#define BUCKETS    256u /* of perf's table of threads */
#define MMAP_BLANK 32 /* before the mappings of a task at the top of the tree */

/* Rights of mmap(2), the same on all systems that record them. */
#define READ_RIGHT  1u
#define WRITE_RIGHT 2u
#define EXEC_RIGHT  4u
#define SHARED_FLAG 1u

struct task {
	uint32_t pid, tid, ppid; /* ppid, as perf calls it: the thread that created it; NONE */
	uint32_t age; /* number in the timeline's list: later threads have higher ones */
	uint64_t until; /* ns; the timeline knows it until then */
	const char *comm;
	uint32_t child, last, next; /* in the tree; NONE */
	uint32_t up; /* its parent's number, while and after it is added; NONE: at the top */
	uint32_t depth;
	bool added;
};

struct tasks {
	struct task *list;
	size_t n;
	uint32_t first, last; /* at the top of the tree */
	struct timeline_cursor *cursor;
};

static int task_order(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	if (x->tid % BUCKETS != y->tid % BUCKETS) {
		return x->tid % BUCKETS < y->tid % BUCKETS ? -1 : 1;
	}
	if (x->tid != y->tid) {
		return x->tid < y->tid ? -1 : 1;
	}
	return x->age > y->age ? -1 : x->age < y->age; /* the last thread first */
}

static int tid_order(const void *tid, const void *task)
{
	struct task key = {.tid = *(const uint32_t *)tid, .age = ((const struct task *)task)->age};

	return task_order(&key, task);
}

static int tasks_read(struct tasks *all, const struct timeline *t)
{
	size_t n = timeline_threads(t), kept = 0;
	struct timeline_life life;

	all->list = calloc(n + 1, sizeof(*all->list));
	if (all->list == NULL || n >= NONE) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		TRY(timeline_thread(t, all->cursor, i, &life));
		all->list[i] = (struct task){.pid = life.pid,
		        .tid = life.tid,
		        .ppid = life.ptid,
		        .age = (uint32_t)i,
		        .until = life.last,
		        .comm = timeline_text(t, life.comm)};
	}
	/* as in perf, the idle task is always listed, and is no thread of a process */
	all->list[n] = (struct task){.ppid = NONE, .age = (uint32_t)n, .comm = "swapper"};
	n++;
	qsort(all->list, n, sizeof(*all->list), task_order);
	for (size_t i = 0; i < n; i++) {
		bool ended =
		        all->list[i].tid == NONE; /* a sample of a task without an id any more */

		if (!ended && (kept == 0 || all->list[i].tid != all->list[kept - 1].tid)) {
			all->list[kept++] = all->list[i];
		}
	}
	all->n = kept;
	return 0;
}

/* Makes a task the last child of its parent. */
static void task_add(struct tasks *all, uint32_t i)
{
	struct task *task = &all->list[i];
	struct task *parent = task->up != NONE ? &all->list[task->up] : NULL;
	uint32_t *first = parent != NULL ? &parent->child : &all->first;
	uint32_t *last = parent != NULL ? &parent->last : &all->last;

	task->depth = parent != NULL ? parent->depth + 1 : 0;
	*(*last == NONE ? first : &all->list[*last].next) = i;
	*last = i;
	task->added = true;
}

/* Returns the number of the thread that created a task; NONE: unknown, or the task itself. */
static uint32_t task_parent(const struct tasks *all, uint32_t i)
{
	uint32_t ppid = all->list[i].ppid;
	const struct task *found =
	        ppid != NONE ? bsearch(&ppid, all->list, all->n, sizeof(*found), tid_order) : NULL;

	return found != NULL && found != &all->list[i] ? (uint32_t)(found - all->list) : NONE;
}

/*
 * Adds a task after the tasks above it that were not added yet: finds the uppermost of them, and
 * goes back down. A circle of parents, which only damaged records have, is cut.
 */
static void tasks_add(struct tasks *all, uint32_t *path, uint32_t i)
{
	size_t n = 0;

	while (i != NONE && !all->list[i].added) {
		uint32_t up = task_parent(all, i);

		all->list[i].added = true; /* so that a circle ends here */
		all->list[i].up = up;
		path[n++] = i;
		i = up;
	}
	if (n != 0 && i != NONE && all->list[i].depth == NONE) {
		all->list[path[n - 1]].up = NONE; /* i is in the path */
	}
	while (n > 0) {
		task_add(all, path[--n]);
	}
}

static int tree_make(struct tasks *all)
{
	uint32_t *path = malloc((all->n + 1) * sizeof(*path));

	if (path == NULL) {
		return SONDE_ENOMEM;
	}
	all->first = all->last = NONE;
	for (uint32_t i = 0; i < all->n; i++) {
		all->list[i].child = all->list[i].last = all->list[i].next = NONE;
		all->list[i].depth = NONE;
	}
	for (uint32_t i = 0; i < all->n; i++) {
		tasks_add(all, path, i);
	}
	free(path);
	return 0;
}

static void put_mapping(struct report *r, const struct timeline_mapping *m,
        const struct timeline_range *range, uint32_t depth)
{
	const struct timeline *t = session_timeline(r->session);
	const struct timeline_object *o = timeline_object(t, m->object);
	uint64_t offset = o->kind != TIMELINE_VDSO ? m->pgoff + (range->start - m->start) : 0;
	struct text *out = &r->text;

	text_fill(out, ' ', MMAP_BLANK + (size_t)depth);
	text_printf(out, "%" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " %" PRIu64 " ",
	        range->start, range->end, m->prot & READ_RIGHT ? 'r' : '-',
	        m->prot & WRITE_RIGHT ? 'w' : '-', m->prot & EXEC_RIGHT ? 'x' : '-',
	        m->flags & SHARED_FLAG ? 's' : 'p', offset, m->inode);
	text_plain(out, timeline_text(t, o->name));
	text_char(out, '\n');
}

static int put_mappings(struct report *r, struct timeline_cursor *cursor, const struct task *task)
{
	const struct timeline *t = session_timeline(r->session);
	const struct timeline_view *view = timeline_at(t, cursor, task->pid, task->tid, UINT64_MAX);
	const struct timeline_mapping *m;
	struct timeline_range range = {0};

	if (view->root == TIMELINE_NO_ROOT) { /* the timeline has forgotten a task that ended */
		view = timeline_at(t, cursor, task->pid, task->tid, task->until);
	}
	TRY(cursor->failed);
	while ((m = timeline_next(view, range.end, &range)) != NULL) {
		put_mapping(r, m, &range, task->depth);
		if (range.end == UINT64_MAX) {
			break;
		}
	}
	return 0;
}

static int put_tasks(struct report *r, const struct tasks *all)
{
	uint32_t i = all->first;

	text_printf(&r->text, "# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
	while (i != NONE) {
		const struct task *task = &all->list[i];

		text_printf(&r->text, "  %8d %8d %8d |%*s", (int)task->pid, (int)task->tid,
		        (int)task->ppid, (int)task->depth, "");
		text_plain(&r->text, task->comm);
		text_char(&r->text, '\n');
		if (r->options.mmaps && task->tid != 0) {
			TRY(put_mappings(r, all->cursor, task));
		}
		TRY(report_flush(r, REPORT_FLUSH_ABOVE));
		if (task->child != NONE) {
			i = task->child;
			continue;
		}
		while (i != NONE && all->list[i].next == NONE) {
			i = all->list[i].up;
		}
		i = i != NONE ? all->list[i].next : NONE;
	}
	return 0;
}

int report_tasks(struct report *r)
{
	const struct timeline *t = session_timeline(r->session);
	struct tasks all = {.cursor = calloc(1, sizeof(*all.cursor))};
	int rc = all.cursor != NULL ? tasks_read(&all, t) : SONDE_ENOMEM;

	if (rc >= 0) {
		rc = tree_make(&all);
	}
	if (rc >= 0) {
		rc = put_tasks(r, &all);
	}
	if (all.cursor != NULL) {
		timeline_cursor_fini(t, all.cursor);
	}
	free(all.cursor);
	free(all.list);
	return rc;
}
