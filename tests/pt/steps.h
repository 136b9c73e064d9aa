/* SPDX-License-Identifier: MIT */
/*
 * Shared by tests of steps: files as bytes, and all steps of a flow as a list; free both's p. Comparing
 * lists, and damage to bytes.
 */
#ifndef SONDE_TESTS_PT_STEPS_H
#define SONDE_TESTS_PT_STEPS_H

#include <sonde/pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (16u << 20) /* bytes read at most */

struct bytes {
	uint8_t *p;
	size_t n;
};

struct steps {
	struct sonde_pt_step *p;
	size_t n, cap;
};

static inline struct bytes load(const char *path)
{
	FILE *in = fopen(path, "rb");
	struct bytes b = {calloc(1, FILE_MAX), 0};

	b.n = in != NULL && b.p != NULL ? fread(b.p, 1, FILE_MAX, in) : 0;
	if (in != NULL) {
		(void)fclose(in);
	}
	return b;
}

static inline void add(struct steps *list, const struct sonde_pt_step *step)
{
	if (list->n == list->cap) {
		list->cap = list->cap * 2 + 1024;
		list->p = realloc(list->p, list->cap * sizeof(*list->p));
		if (list->p == NULL) {
			abort();
		}
	}
	list->p[list->n++] = *step;
}

static inline struct steps decode(struct sonde_pt_graph *graph, const struct bytes *trace,
        const struct sonde_pt_flow_options *options)
{
	struct sonde_pt_flow *flow = sonde_pt_flow_new(graph, trace->p, trace->n, options);
	const struct sonde_pt_step *step;
	struct steps list = {NULL, 0, 0};

	while (flow != NULL && sonde_pt_flow_next(flow, &step) > 0) {
		add(&list, step);
	}
	sonde_pt_flow_free(flow);
	return list;
}

static inline bool same_event(const struct sonde_pt_event *a, const struct sonde_pt_event *b)
{
	return a->ip == b->ip && a->value == b->value && a->extra == b->extra &&
	       memcmp(a->data, b->data, sizeof(a->data)) == 0 && a->tsc == b->tsc &&
	       a->kind == b->kind && a->count == b->count && a->has_ip == b->has_ip;
}

static inline bool same_step(const struct sonde_pt_step *a, const struct sonde_pt_step *b)
{
	return a->kind == b->kind && a->ip == b->ip && a->to == b->to && a->last == b->last &&
	       a->insns == b->insns && a->tsc == b->tsc && a->exact_tsc == b->exact_tsc &&
	       a->cycles == b->cycles && a->cycle_insns == b->cycle_insns &&
	       a->offset == b->offset && a->end == b->end && a->psb == b->psb &&
	       a->error == b->error && a->count == b->count && a->size == b->size &&
	       a->speculative == b->speculative && a->resync == b->resync && a->first == b->first &&
	       a->sampled == b->sampled && a->branch == b->branch && a->call == b->call &&
	       a->jump == b->jump && a->calls == b->calls && a->returns == b->returns &&
	       a->conditional == b->conditional && a->taken == b->taken &&
	       same_event(&a->event, &b->event);
}

/* The first step that differs, or SIZE_MAX. */
static inline size_t difference(const struct steps *a, const struct steps *b)
{
	size_t n = a->n < b->n ? a->n : b->n;

	for (size_t i = 0; i < n; i++) {
		if (!same_step(&a->p[i], &b->p[i])) {
			return i;
		}
	}
	return a->n == b->n ? SIZE_MAX : n;
}

static inline uint64_t pick(uint64_t *random, uint64_t n)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (*random >> 32) % n;
}

/* Changes, removes or repeats bytes, or moves a whole piece. */
static inline void damage(struct bytes *b, uint64_t *random)
{
	size_t at = pick(random, b->n);
	size_t n = 1 + pick(random, 40);

	n = n < b->n - at ? n : b->n - at;
	switch (pick(random, 4)) {
	case 0: b->p[at] = (uint8_t)pick(random, 256); break;
	case 1:
		memmove(b->p + at, b->p + at + n, b->n - at - n);
		b->n -= n;
		break;
	case 2:
		memmove(b->p + at + n, b->p + at, b->n - at);
		b->n += n;
		break;
	default:
		for (size_t i = 0; i < n; i++) {
			b->p[at + i] = (uint8_t)pick(random, 256);
		}
		break;
	}
}

#endif
