/* SPDX-License-Identifier: MIT */
/*
 * Context switches. The changes of one processor usually arrive in time order, as each processor
 * has its own ring.
 *
 *	SWITCH          the thread of the trailer begins to run (in) or stops (out, misc bit 13)
 *	SWITCH_CPU_WIDE u32 pid, tid of the other thread: the next (out), or the previous (in)
 *
 * (perf_event_open(2))
 */
#include "timeline/switches.h"

#include "core/array.h"
#include "core/search.h"
#include "core/sort.h"

#include <stdlib.h>

static const struct timeline_thread unknown = {TIMELINE_NO_THREAD, TIMELINE_NO_THREAD};

void switches_fini(struct switches *s)
{
	for (size_t i = 0; i < s->ncpus; i++) {
		free(s->cpus[i].changes);
	}
	free(s->cpus);
	index_fini(&s->index);
	*s = (struct switches){0};
}

static struct switches_cpu *cpu_get(struct switches *s, uint32_t cpu)
{
	size_t at;
	uint32_t i;

	if (index_room(&s->index) < 0) {
		return NULL;
	}
	i = index_find_u32(&s->index, cpu, &at);
	if (i != INDEX_NONE) {
		return &s->cpus[i];
	}
	if (!array_reserve(&s->cpus, &s->cpus_cap, s->ncpus + 1, sizeof(*s->cpus))) {
		return NULL;
	}
	index_put_u32(&s->index, cpu, at, (uint32_t)s->ncpus);
	s->cpus[s->ncpus] =
	        (struct switches_cpu){.cpu = cpu, .first_time = UINT64_MAX, .first = unknown};
	return &s->cpus[s->ncpus++];
}

int switches_add(struct switches *s, uint32_t cpu, uint64_t time, struct timeline_thread from,
        struct timeline_thread to)
{
	struct switches_cpu *c = cpu_get(s, cpu);

	if (c == NULL || !array_reserve(&c->changes, &c->cap, c->n + 1, sizeof(*c->changes))) {
		return SONDE_ENOMEM;
	}
	c->disorder = c->disorder || (c->n != 0 && c->changes[c->n - 1].time > time);
	c->changes[c->n++] = (struct switches_change){.time = time, .to = to, .from = from.tid};
	if (time < c->first_time) {
		c->first_time = time;
		c->first = from;
	}
	return 0;
}

static int cpu_sort(struct switches_cpu *c)
{
	uint64_t *times = calloc(3 * c->n, sizeof(*times)); /* times, and room for sorting pairs */
	uint32_t *order = calloc(c->n, sizeof(*order));
	struct switches_change *sorted = calloc(c->n, sizeof(*sorted));
	bool good = times != NULL && order != NULL && sorted != NULL;

	for (size_t i = 0; good && i < c->n; i++) {
		times[i] = c->changes[i].time;
		order[i] = (uint32_t)i;
	}
	if (good) {
		sort_order(times, order, times + c->n, c->n);
		for (size_t i = 0; i < c->n; i++) {
			sorted[i] = c->changes[order[i]];
		}
		memcpy(c->changes, sorted, c->n * sizeof(*sorted));
	}
	free(times);
	free(order);
	free(sorted);
	return good ? 0 : SONDE_ENOMEM;
}

int switches_seal(struct switches *s)
{
	for (size_t i = 0; i < s->ncpus; i++) {
		if (s->cpus[i].disorder) {
			TRY(cpu_sort(&s->cpus[i]));
		}
	}
	return 0;
}

/* Whether a switch between these two is missing. One switch may be recorded twice, by both threads. */
static bool misses_switch(const struct switches_change *a, const struct switches_change *b)
{
	return b->from != a->to.tid && b->from != TIMELINE_NO_THREAD &&
	       a->to.tid != TIMELINE_NO_THREAD && b->to.tid != a->to.tid;
}

struct timeline_thread switches_at(const struct switches *s, uint32_t cpu, uint64_t time)
{
	const struct switches_cpu *c;
	size_t at;
	uint32_t i = index_find_u32(&s->index, cpu, &at);

	if (i == INDEX_NONE) {
		return unknown;
	}
	c = &s->cpus[i];
	at = SEARCH_LAST(c->changes, c->n, time, time);
	if (c->changes[at].time > time) {
		return c->first;
	}
	if (at + 1 < c->n && misses_switch(&c->changes[at], &c->changes[at + 1])) {
		return unknown;
	}
	return c->changes[at].to;
}

uint64_t switches_after(const struct switches *s, uint32_t cpu, uint64_t time)
{
	const struct switches_cpu *c;
	size_t at;
	uint32_t i = index_find_u32(&s->index, cpu, &at);

	if (i == INDEX_NONE) {
		return UINT64_MAX;
	}
	c = &s->cpus[i];
	at = SEARCH_LAST(c->changes, c->n, time, time);
	if (c->changes[at].time > time) {
		return c->changes[at].time;
	}
	return at + 1 < c->n ? c->changes[at + 1].time : UINT64_MAX;
}
