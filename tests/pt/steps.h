/* SPDX-License-Identifier: MIT */
/* Shared by tests of steps: files as bytes, and all steps of a flow as a list; free both's p. */
#ifndef SONDE_TESTS_PT_STEPS_H
#define SONDE_TESTS_PT_STEPS_H

#include <sonde/pt.h>
#include <stdio.h>
#include <stdlib.h>

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

#endif
