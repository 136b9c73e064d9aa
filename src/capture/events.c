/* SPDX-License-Identifier: MIT */
/*
 * Events as files describe them. With --call-graph unwind, an event that records stacks has two
 * attrs: the first one has plain call chains, and the second one, with ids of its own, is for the
 * samples that keep their copies of stacks.
 */
#include "capture/recorder.h"
#include "record/user_stack.h"

#include <stdlib.h>

static bool records_stacks(const struct event *event)
{
	return (event->attr.sample_type & SONDE_SAMPLE_STACK_USER) != 0;
}

static void add_copies(struct capture_events *out, size_t e)
{
	const struct host_ids *from = &out->ids[e];
	uint64_t *ids = out->copied + out->ncopied;
	struct event copy = out->list.v[e];

	for (size_t i = 0; i < from->n; i++) {
		ids[i] = from->v[i] | RECORD_STACK_COPY_ID;
	}
	out->ncopied += from->n;
	copy.leader = out->list.n; /* it is in no group */
	copy.members = 1;
	out->ids[out->list.n] = (struct host_ids){ids, from->n};
	out->list.v[out->list.n++] = copy;
}

int capture_events_make(struct capture_events *out, const struct sonde_recorder *r, bool copies)
{
	size_t n = r->plan.events.n, nids = 0;

	*out = (struct capture_events){0};
	for (size_t i = 0; i < n; i++) {
		nids += r->rings.opened[i].nids;
	}
	out->list.v = calloc(2 * n + 1, sizeof(*out->list.v));
	out->ids = calloc(2 * n + 1, sizeof(*out->ids));
	out->copied = calloc(nids + 1, sizeof(*out->copied));
	if (out->list.v == NULL || out->ids == NULL || out->copied == NULL) {
		capture_events_fini(out);
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		out->list.v[i] = r->plan.events.v[i];
		out->ids[i] = (struct host_ids){r->rings.opened[i].ids, r->rings.opened[i].nids};
	}
	out->list.n = n;
	for (size_t i = 0; i < n && r->output.chains != NULL; i++) {
		if (copies && records_stacks(&out->list.v[i])) {
			add_copies(out, i);
		}
		(void)capture_content_plain(&r->plan.content, &out->list.v[i].attr);
	}
	return 0;
}

void capture_events_fini(struct capture_events *e)
{
	free(e->list.v);
	free(e->ids);
	free(e->copied);
	*e = (struct capture_events){0};
}

/* Starts the stage that makes call chains. */
int capture_events_unwind(struct sonde_recorder *r)
{
	struct capture_chains_options o = {.keep_regs = r->plan.content.user_regs != 0};
	struct capture_chains_event *events;
	size_t i;
	int rc;

	if (r->plan.content.chain != CAPTURE_CHAIN_UNWIND) {
		return 0;
	}
	events = calloc(r->plan.events.n, sizeof(*events));
	if (events == NULL) {
		return error_nomem(&r->error);
	}
	for (i = 0; i < r->plan.events.n; i++) {
		events[i] = (struct capture_chains_event){.attr = &r->plan.events.v[i].attr,
		        .ids = r->rings.opened[i].ids,
		        .nids = r->rings.opened[i].nids};
	}
	o.events = events;
	o.nevents = r->plan.events.n;
	rc = capture_chains_new(&o, &r->output.chains, &r->error);
	free(events);
	return rc;
}
