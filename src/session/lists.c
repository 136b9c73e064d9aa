/* SPDX-License-Identifier: MIT */
/* Lists of processes, threads, objects and mappings for the public API. */
#include "session/inside.h"

int sonde_session_next_process(
        struct sonde_session *s, size_t *at, const struct sonde_process **process)
{
	struct timeline_life life;

	TRY(session_ready(s));
	while (*at < timeline_processes(s->timeline)) {
		TRY(timeline_process(s->timeline, &s->next.cursor, (*at)++, &life));
		if (life.pid == UINT32_MAX) {
			continue; /* the kernel */
		}
		s->process = (struct sonde_process){.pid = life.pid,
		        .ppid = life.ppid,
		        .start = life.start,
		        .comm = life.named ? timeline_text(s->timeline, life.comm) : NULL};
		*process = &s->process;
		return 1;
	}
	return 0;
}

int sonde_session_next_thread(
        struct sonde_session *s, size_t *at, const struct sonde_thread_life **thread)
{
	struct timeline_life life;

	TRY(session_ready(s));
	if (*at >= timeline_threads(s->timeline)) {
		return 0;
	}
	TRY(timeline_thread(s->timeline, &s->next.cursor, (*at)++, &life));
	s->thread = (struct sonde_thread_life){.pid = life.pid,
	        .tid = life.tid,
	        .start = life.start,
	        .comm = timeline_text(s->timeline, life.comm)};
	*thread = &s->thread;
	return 1;
}

static struct sonde_object object_of(const struct timeline *t, uint32_t i)
{
	static const enum sonde_object_kind kinds[] = {
	        [TIMELINE_USER] = SONDE_OBJECT_FILE,
	        [TIMELINE_KERNEL] = SONDE_OBJECT_KERNEL,
	        [TIMELINE_MODULE] = SONDE_OBJECT_MODULE,
	        [TIMELINE_VDSO] = SONDE_OBJECT_VDSO,
	        [TIMELINE_ANON] = SONDE_OBJECT_ANONYMOUS,
	        [TIMELINE_JIT] = SONDE_OBJECT_JIT,
	        [TIMELINE_CODE] = SONDE_OBJECT_CODE,
	        [TIMELINE_NONE] = SONDE_OBJECT_DATA,
	};
	const struct timeline_object *o = timeline_object(t, i);

	return (struct sonde_object){.kind = kinds[o->kind],
	        .name = timeline_text(t, o->name),
	        .short_name = timeline_text(t, o->short_name),
	        .build_id = o->build_id,
	        .build_id_size = o->build_id_size};
}

int sonde_session_next_object(
        struct sonde_session *s, size_t *at, const struct sonde_object **object)
{
	TRY(session_ready(s));
	if (*at >= timeline_objects(s->timeline)) {
		return 0;
	}
	s->object = object_of(s->timeline, (uint32_t)(*at)++);
	*object = &s->object;
	return 1;
}

int sonde_session_next_mapping(
        struct sonde_session *s, size_t *at, const struct sonde_mapping **mapping)
{
	const struct timeline_mapping *m;

	TRY(session_ready(s));
	if (*at >= timeline_mappings(s->timeline)) {
		return 0;
	}
	TRY(timeline_mapping(s->timeline, &s->next.cursor, (*at)++, &m));
	s->mapped = object_of(s->timeline, m->object);
	s->mapping = (struct sonde_mapping){.pid = m->pid,
	        .prot = m->prot,
	        .flags = m->flags,
	        .start = m->start,
	        .end = m->end,
	        .offset = m->pgoff,
	        .time = m->time,
	        .object = &s->mapped};
	*mapping = &s->mapping;
	return 1;
}

int sonde_session_running(
        struct sonde_session *s, uint32_t cpu, uint64_t time, struct sonde_thread *thread)
{
	struct timeline_cursor *cursor = &s->next.cursor;
	struct timeline_thread who;
	const struct timeline_view *view;

	TRY(session_ready(s));
	who = timeline_running(s->timeline, cursor, cpu, time);
	TRY(cursor->failed);
	if (who.tid == TIMELINE_NO_THREAD) {
		return 0;
	}
	view = timeline_at(s->timeline, cursor, who.pid, who.tid, time);
	TRY(cursor->failed);
	*thread = (struct sonde_thread){.pid = who.pid,
	        .tid = who.tid,
	        .comm = view->known ? timeline_text(s->timeline, view->comm) : "?"};
	return 1;
}
