/* SPDX-License-Identifier: MIT */
/*
 * The key cgroup_id: the cgroup namespace of a thread, from its last NAMESPACES record before the
 * sample:
 *
 *	u32 pid, tid; u64 n; { u64 dev, inode }[n]      the 7th is that of control groups
 */
#include "profile/profile.h"

#include "abi/abi.h"
#include "core/array.h"
#include "core/span.h"

#include <stdlib.h>

#define CGROUP_INDEX 6u /* CGROUP_NS_INDEX of <linux/perf_event.h> */

struct entering { /* a thread enters a namespace */
	struct field_entered at;
	uint64_t offset; /* of the record */
	struct field_namespace space;
};

struct enterings {
	struct entering *list;
	size_t n, cap;
	bool swap; /* byte order of the records */
};

static int space_order(const void *a, const void *b)
{
	const struct field_namespace *x = a, *y = b;

	if (x->dev != y->dev) {
		return x->dev < y->dev ? -1 : 1;
	}
	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* By thread, then by time. */
static int entering_order(const void *a, const void *b)
{
	const struct entering *x = a, *y = b;

	if (x->at.tid != y->at.tid) {
		return x->at.tid < y->at.tid ? -1 : 1;
	}
	if (x->at.time != y->at.time) {
		return x->at.time < y->at.time ? -1 : 1;
	}
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int entering_add(void *arg, const struct record *r, const struct session_sample *sample)
{
	struct enterings *x = arg;
	struct cursor c = cursor_make(r->body, x->swap);
	struct entering e = {.offset = r->offset};
	uint64_t n;

	(void)cursor_u32(&c);
	e.at = (struct field_entered){.time = sample->s.time, .tid = cursor_u32(&c)};
	n = cursor_u64(&c);
	for (unsigned i = 0; i <= CGROUP_INDEX; i++) {
		e.space.dev = cursor_u64(&c);
		e.space.inode = cursor_u64(&c);
	}
	if (c.bad || n <= CGROUP_INDEX) {
		return 0;
	}
	if (!array_reserve(&x->list, &x->cap, x->n + 1, sizeof(*x->list))) {
		return SONDE_ENOMEM;
	}
	x->list[x->n++] = e;
	return 0;
}

/* Numbers the namespaces in the order of reports; that of threads without a record is 0/0. */
static int spaces_make(struct enterings *x, struct field_namespaces *out)
{
	size_t distinct = 0;

	out->spaces = malloc((x->n + 1) * sizeof(*out->spaces));
	out->entered = malloc((x->n + 1) * sizeof(*out->entered));
	if (out->spaces == NULL || out->entered == NULL) {
		return SONDE_ENOMEM;
	}
	out->spaces[0] = (struct field_namespace){0};
	for (size_t i = 0; i < x->n; i++) {
		out->spaces[i + 1] = x->list[i].space;
	}
	qsort(out->spaces, x->n + 1, sizeof(*out->spaces), space_order);
	for (size_t i = 0; i <= x->n; i++) {
		if (i == 0 || space_order(&out->spaces[i], &out->spaces[distinct - 1]) != 0) {
			out->spaces[distinct++] = out->spaces[i];
		}
	}
	if (x->n != 0) {
		qsort(x->list, x->n, sizeof(*x->list), entering_order);
	}
	for (size_t i = 0; i < x->n; i++) {
		const struct field_namespace *found = bsearch(&x->list[i].space, out->spaces,
		        distinct, sizeof(*out->spaces), space_order);

		out->entered[i] = x->list[i].at;
		out->entered[i].space = (uint32_t)(found - out->spaces);
	}
	out->n = x->n;
	return 0;
}

int profile_namespaces_make(struct profile *p)
{
	struct enterings x = {.swap = session_swap(p->session)};
	int rc = session_each_record(p->session, 1u << RECORD_NAMESPACES, entering_add, &x);

	rc = rc < 0 ? rc : spaces_make(&x, &p->namespaces);
	p->source.namespaces = &p->namespaces;
	free(x.list);
	return rc;
}

void profile_namespaces_free(struct profile *p)
{
	free(p->namespaces.spaces);
	free(p->namespaces.entered);
}
