/* SPDX-License-Identifier: MIT */
/*
 * Threads and their names, as COMM and FORK records make them. The comm of a sample is that with
 * which its process began the program that runs (as in perf), not the present name of the thread.
 */
#include "export/export.h"

#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t add_comm(struct export *x, const char *name, size_t n, uint64_t time, bool exec)
{
	uint32_t text = intern_add(&x->names, name, n);

	if (text == INTERN_NONE ||
	        !array_reserve(&x->comms, &x->comms_cap, x->ncomms + 1, sizeof(*x->comms))) {
		return EXPORT_NO_COMM;
	}
	x->comms[x->ncomms] = (struct export_comm){.text = text, .time = time, .exec = exec};
	return (uint32_t)x->ncomms++;
}

/* Until a record names it, a thread is called ":TID". */
static uint32_t add_default_comm(struct export *x, uint32_t tid)
{
	char name[16] = "swapper";
	int n = tid == 0 ? (int)strlen(name) : snprintf(name, sizeof(name), ":%d", (int)tid);

	return add_comm(x, name, (size_t)n, 0, false);
}

static int64_t new_task(struct export *x, uint32_t pid, uint32_t tid)
{
	uint32_t comm = add_default_comm(x, tid);
	size_t at;
	uint32_t old;

	if (comm == EXPORT_NO_COMM || index_room(&x->tids) < 0 ||
	        !array_reserve(&x->tasks, &x->tasks_cap, x->ntasks + 1, sizeof(*x->tasks))) {
		return SONDE_ENOMEM;
	}
	x->tasks[x->ntasks] = (struct export_task){.pid = pid,
	        .tid = tid,
	        .first = comm,
	        .now = comm,
	        .second = EXPORT_NO_COMM,
	        .exec = EXPORT_NO_COMM};
	old = index_find_u32(&x->tids, tid, &at);
	if (old != INDEX_NONE) {
		index_replace(&x->tids, at, (uint32_t)x->ntasks);
	} else {
		index_put_u32(&x->tids, tid, at, (uint32_t)x->ntasks);
	}
	return (int64_t)x->ntasks++;
}

int64_t export_task_find(struct export *x, uint32_t pid, uint32_t tid)
{
	size_t at;
	uint32_t i = index_find_u32(&x->tids, tid, &at);

	return i != INDEX_NONE && x->tasks[i].pid == pid ? i : new_task(x, pid, tid);
}

bool export_task_exists(const struct export *x, uint32_t pid, uint32_t tid)
{
	size_t at;
	uint32_t i = index_find_u32(&x->tids, tid, &at);

	return i != INDEX_NONE && x->tasks[i].pid == pid;
}

/* Names a thread; the first name replaces ":TID". */
static int name_task(struct export *x, size_t task, struct span name, uint64_t time, bool exec)
{
	uint32_t comm = add_comm(x, (const char *)name.p, name.n, time, exec);
	struct export_task *t = &x->tasks[task];

	if (comm == EXPORT_NO_COMM) {
		return SONDE_ENOMEM;
	}
	if (!t->named) {
		t->first = comm;
	} else if (t->second == EXPORT_NO_COMM) {
		t->second = comm;
	}
	t->named = true;
	t->now = comm;
	t->exec = exec ? comm : t->exec;
	return 0;
}

static int on_comm(struct export *x, const struct record *r, uint64_t time)
{
	struct record_comm comm;
	int64_t task;

	if (!record_comm_decode(r, session_swap(x->session), &comm)) {
		return 0;
	}
	task = export_task_find(x, comm.pid, comm.tid);
	return task < 0 ? (int)task : name_task(x, (size_t)task, comm.name, time, comm.exec);
}

/* A new thread has the name of the one that made it. */
static int on_fork(struct export *x, const struct record *r, uint64_t time)
{
	struct record_task fork;
	const char *name;
	int64_t parent, task;

	if (!record_task_decode(r, session_swap(x->session), &fork)) {
		return 0;
	}
	parent = export_task_find(x, fork.ppid, fork.ptid);
	task = parent < 0 ? parent : new_task(x, fork.pid, fork.tid);
	if (task < 0 || (!x->tasks[parent].named && fork.ptid != 0)) {
		return task < 0 ? (int)task : 0;
	}
	name = intern_text(&x->names, x->comms[x->tasks[parent].now].text);
	return name_task(
	        x, (size_t)task, (struct span){(const uint8_t *)name, strlen(name)}, time, false);
}

int export_tasks_add(struct export *x, const struct record *r, uint64_t time)
{
	return r->type == RECORD_COMM ? on_comm(x, r, time) : on_fork(x, r, time);
}

void export_tasks_fini(struct export *x)
{
	free(x->tasks);
	free(x->comms);
	index_fini(&x->tids);
	intern_fini(&x->names);
}

/* ---- rows ---- */

static int machine_row(struct export *x, uint64_t *id)
{
	const struct sonde_export_value row[] = {EXPORT_NUMBER(x->bases[EXPORT_MACHINES] + 1),
	        EXPORT_NUMBER(-1), export_text(x, 0, "")};

	*id = (uint64_t)row[0].number;
	if (x->ids[EXPORT_MACHINES] == *id) {
		return 0;
	}
	x->ids[EXPORT_MACHINES] = *id;
	return export_row(x, EXPORT_MACHINES, row);
}

/* *new: the thread had no row yet */
static int thread_row(struct export *x, size_t task, size_t leader, uint64_t machine, bool *new)
{
	struct export_task *t = &x->tasks[task];

	*new = t->id == 0;
	if (t->id != 0) {
		return 0;
	}
	t->id = export_id(x, EXPORT_THREADS);
	return export_row(x, EXPORT_THREADS,
	        (struct sonde_export_value[]){EXPORT_NUMBER(t->id), EXPORT_NUMBER(machine),
	                EXPORT_NUMBER(x->tasks[leader].id), EXPORT_NUMBER((int32_t)t->pid),
	                EXPORT_NUMBER((int32_t)t->tid)});
}

static int comm_row(struct export *x, uint32_t comm, uint64_t thread, bool *new)
{
	struct export_comm *c = &x->comms[comm];

	*new = c->id == 0;
	if (c->id != 0) {
		return 0;
	}
	c->id = export_id(x, EXPORT_COMMS);
	return export_row(x, EXPORT_COMMS,
	        (struct sonde_export_value[]){EXPORT_NUMBER(c->id),
	                export_text(x, 0, intern_text(&x->names, c->text)), EXPORT_NUMBER(thread),
	                EXPORT_NUMBER(c->time), EXPORT_NUMBER(c->exec)});
}

static int comm_thread_row(struct export *x, uint64_t comm, uint64_t thread)
{
	return export_row(x, EXPORT_COMM_THREADS,
	        (struct sonde_export_value[]){EXPORT_NUMBER(export_id(x, EXPORT_COMM_THREADS)),
	                EXPORT_NUMBER(comm), EXPORT_NUMBER(thread)});
}

/*
 * The comm of all samples and switches of a process: of its last exec, or its first name. The oldest name of a
 * process that was there before the recording may be that of its parent, from a FORK record with time
 * 0: then it is the next one.
 */
static uint32_t program_comm(const struct export *x, const struct export_task *t)
{
	if (t->exec != EXPORT_NO_COMM) {
		return t->exec;
	}
	return t->second != EXPORT_NO_COMM && x->comms[t->first].time == 0 ? t->second : t->first;
}

static int find_both(struct export *x, uint32_t pid, uint32_t tid, size_t *task, size_t *leader)
{
	int64_t main = export_task_find(x, pid, pid);
	int64_t own = main < 0 || pid == tid ? main : export_task_find(x, pid, tid);

	if (main < 0 || own < 0) {
		return SONDE_ENOMEM;
	}
	*leader = (size_t)main;
	*task = (size_t)own;
	return 0;
}

int export_who(struct export *x, uint32_t pid, uint32_t tid, struct export_who *out)
{
	bool new_leader, new_thread, new_comm;
	size_t task, leader;
	uint32_t comm;

	TRY(find_both(x, pid, tid, &task, &leader));
	comm = program_comm(x, &x->tasks[leader]);
	TRY(machine_row(x, &out->machine));
	TRY(thread_row(x, leader, leader, out->machine, &new_leader));
	TRY(comm_row(x, comm, x->tasks[leader].id, &new_comm));
	out->comm = x->comms[comm].id;
	if (new_comm) {
		TRY(comm_thread_row(x, out->comm, x->tasks[leader].id));
	}
	if (task != leader) {
		TRY(thread_row(x, task, leader, out->machine, &new_thread));
		TRY(new_thread ? comm_thread_row(x, out->comm, x->tasks[task].id) : 0);
	}
	out->thread = x->tasks[task].id;
	return comm_row(x, x->tasks[task].now, out->thread, &new_comm);
}
