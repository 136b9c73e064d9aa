/* SPDX-License-Identifier: MIT */
/* First pass, on all workers: samples to counts of distinct keys. Nothing is resolved here. */
#include "profile/profile.h"

#include "core/array.h"
#include "core/hash.h"
#include "core/pool.h"

#include <stdlib.h>

static uint32_t count_hash(const struct profile_count *c)
{
	uint64_t h = hash_step(c->ip, (uint64_t)c->comm << 32 | c->root);

	h = hash_step(h, (uint64_t)c->kernel_root << 32 | c->later_root);
	h = hash_step(h, (uint64_t)c->tid << 32 | c->cpu);
	h = hash_step(h, (uint64_t)c->event << 32 | c->cpumode);
	for (uint32_t i = 0; i < c->n; i++) {
		h = hash_step(h, c->chain[i]);
	}
	return (uint32_t)(hash_u64(h) >> 32);
}

static bool count_same(const struct profile_count *a, const struct profile_count *b)
{
	return a->hash == b->hash && a->ip == b->ip && a->n == b->n && a->comm == b->comm &&
	       a->root == b->root && a->kernel_root == b->kernel_root &&
	       a->later_root == b->later_root && a->tid == b->tid && a->cpu == b->cpu &&
	       a->event == b->event && a->cpumode == b->cpumode &&
	       (a->n == 0 || memcmp(a->chain, b->chain, a->n * sizeof(uint64_t)) == 0);
}

static int table_grow(struct profile_table *t)
{
	size_t n = t->nslots == 0 ? 4096 : t->nslots * 2;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (slots == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < t->n; i++) {
		size_t at = t->counts[i].hash & (n - 1);

		while (slots[at] != 0) {
			at = (at + 1) & (n - 1);
		}
		slots[at] = (uint32_t)i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->nslots = n;
	return 0;
}

/* Chains that lie in the mapped file stay there; others are copied. */
static int chain_keep(struct profile_table *t, struct span file, struct profile_count *c)
{
	const uint8_t *from = (const uint8_t *)c->chain;
	uint64_t *copy;

	if (c->n == 0 || (from >= file.p && from < file.p + file.n)) {
		return 0;
	}
	copy = arena_alloc(&t->arena, c->n * sizeof(uint64_t));
	if (copy == NULL) {
		return SONDE_ENOMEM;
	}
	memcpy(copy, c->chain, c->n * sizeof(uint64_t));
	c->chain = copy;
	return 0;
}

static int table_add(struct profile_table *t, struct span file, struct profile_count *c)
{
	size_t at;

	if (t->n * 2 >= t->nslots) {
		TRY(table_grow(t));
	}
	c->hash = count_hash(c);
	for (at = c->hash & (t->nslots - 1); t->slots[at] != 0; at = (at + 1) & (t->nslots - 1)) {
		struct profile_count *old = &t->counts[t->slots[at] - 1];

		if (count_same(old, c)) {
			old->samples += c->samples;
			old->period += c->period;
			if (c->time < old->time ||
			        (c->time == old->time && c->first_tid < old->first_tid)) {
				old->time = c->time;
				old->first_pid = c->first_pid;
				old->first_tid = c->first_tid;
			}
			return 0;
		}
	}
	if (t->n >= UINT32_MAX - 1 || !array_reserve(&t->counts, &t->cap, t->n + 1, sizeof(*c))) {
		return SONDE_ENOMEM;
	}
	TRY(chain_keep(t, file, c));
	t->counts[t->n++] = *c;
	t->slots[at] = (uint32_t)t->n;
	return 0;
}

static int collect_chunk(void *arg, unsigned worker, size_t chunk)
{
	struct profile *p = arg;
	struct profile_table *t = &p->tables[worker];
	const struct profile_options *o = &p->options;
	bool chains = o->children || o->graph;
	struct span file = session_file(p->session)->bytes;
	struct session_sample s;
	int rc;

	session_chunk_open(&t->worker, chunk);
	while ((rc = session_worker_next(&t->worker, &s)) > 0) {
		struct profile_count c = {.ip = s.s.ip, .samples = 1, .period = s.s.period};

		if (o->cpu != UINT32_MAX && o->cpu != s.s.cpu) {
			continue;
		}
		c.time = s.s.time;
		c.comm = s.view->comm;
		c.root = s.view->root;
		c.kernel_root = s.view->kernel_root;
		c.later_root = s.view->later_root;
		c.tid = o->key[PROFILE_PID] ? s.view->tid : 0;
		c.first_pid = s.view->pid;
		c.first_tid = s.view->tid;
		c.pid = o->key[PROFILE_PID] ? s.view->pid : 0;
		c.cpu = o->key[PROFILE_CPU] ? s.s.cpu : 0;
		c.event = s.event;
		c.cpumode = s.cpumode;
		if (chains) {
			c.chain = s.s.callchain;
			c.n = (uint32_t)s.s.callchain_len;
		}
		TRY(table_add(t, file, &c));
	}
	return rc;
}

int profile_collect(struct profile *p)
{
	size_t chunks = session_chunks(p->session);
	unsigned jobs = session_jobs(p->session);

	p->tables = calloc(jobs, sizeof(*p->tables));
	if (p->tables == NULL) {
		return SONDE_ENOMEM;
	}
	p->ntables = jobs;
	for (unsigned i = 0; i < jobs; i++) {
		session_worker_init(&p->tables[i].worker, p->session);
	}
	TRY(pool_run(jobs, chunks, collect_chunk, p));
	for (unsigned i = 0; i < jobs; i++) {
		free(p->tables[i].slots);
		p->tables[i].slots = NULL;
	}
	return 0;
}
