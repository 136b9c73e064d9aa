/* SPDX-License-Identifier: MIT */
/*
 * Names of threads in the records that describe the state at the start of a recording. These have
 * time 0, so the timeline's names hold from the beginning; perf names a thread by the records
 * before, in the order of the file:
 *
 *	:10       FORK(10:10):(2:2)    2 has no name yet
 *	kworker   COMM kworker:10/10
 *	init      FORK(11:11):(1:1)    the name of 1
 */
#include "script/script.h"

#include "core/array.h"
#include "core/hash.h"

#include <stdlib.h>

static uint32_t hash_of(uint32_t tid)
{
	return (uint32_t)hash_u64(tid);
}

/* Returns the name of a thread: an id in names; INTERN_NONE: none yet. */
static uint32_t find_name(const struct script_start *s, uint32_t tid)
{
	size_t at = hash_of(tid);
	uint32_t i;

	if (s->index.nslots == 0) {
		return INTERN_NONE;
	}
	while ((i = index_next(&s->index, hash_of(tid), &at)) != INDEX_NONE) {
		if (s->threads[i].tid == tid) {
			return s->threads[i].name;
		}
		at++;
	}
	return INTERN_NONE;
}

/* name: INTERN_NONE: the thread loses its name. */
static int set_name(struct script_start *s, uint32_t tid, uint32_t name)
{
	size_t at = hash_of(tid);
	uint32_t i;

	TRY(index_room(&s->index));
	while ((i = index_next(&s->index, hash_of(tid), &at)) != INDEX_NONE) {
		if (s->threads[i].tid == tid) {
			s->threads[i].name = name;
			return 0;
		}
		at++;
	}
	if (!array_reserve(&s->threads, &s->cap, s->n + 1, sizeof(*s->threads))) {
		return SONDE_ENOMEM;
	}
	s->threads[s->n] = (struct script_thread){.tid = tid, .name = name};
	index_put(&s->index, hash_of(tid), at, (uint32_t)s->n++);
	return 0;
}

static int add_comm(struct script_start *s, const struct record *r, bool swap, uint32_t *tid)
{
	struct record_comm comm;
	uint32_t name;

	if (!record_comm_decode(r, swap, &comm)) {
		return 0;
	}
	name = intern_add(&s->names, (const char *)comm.name.p, comm.name.n);
	*tid = comm.tid;
	return name != INTERN_NONE ? set_name(s, comm.tid, name) : SONDE_ENOMEM;
}

/* The child has the name of its parent; the kernel's needs no record. */
static int add_fork(struct script_start *s, const struct record *r, bool swap, uint32_t *tid)
{
	static const char kernel[] = "swapper";
	struct record_task task;
	uint32_t name;

	if (!record_task_decode(r, swap, &task)) {
		return 0;
	}
	*tid = task.tid;
	name = find_name(s, task.ptid);
	if (name == INTERN_NONE && task.ptid == 0) {
		name = intern_add(&s->names, kernel, sizeof(kernel) - 1);
		TRY(name == INTERN_NONE ? SONDE_ENOMEM : 0);
	}
	return set_name(s, task.tid, name);
}

int script_start_add(struct script_start *s, const struct record *r, bool swap,
        const struct session_sample *sample, const char **name)
{
	uint32_t tid = sample->view->tid;
	uint32_t found;

	*name = NULL;
	if (r->type == RECORD_COMM) {
		TRY(add_comm(s, r, swap, &tid));
	} else if (r->type == RECORD_FORK) {
		TRY(add_fork(s, r, swap, &tid));
	}
	found = find_name(s, tid);
	if (found != INTERN_NONE) {
		*name = intern_text(&s->names, found);
		return 0;
	}
	if (tid == 0) { /* the kernel, which has a name without a record */
		return 0;
	}
	s->unnamed.n = 0;
	text_printf(&s->unnamed, ":%d", (int)tid);
	text_char(&s->unnamed, '\0');
	*name = s->unnamed.p;
	return s->unnamed.failed ? SONDE_ENOMEM : 0;
}

void script_start_fini(struct script_start *s)
{
	index_fini(&s->index);
	intern_fini(&s->names);
	text_fini(&s->unnamed);
	free(s->threads);
	*s = (struct script_start){0};
}
