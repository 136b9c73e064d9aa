/* SPDX-License-Identifier: MIT */
/*
 * Options and a machine to a plan: who is recorded, which events, and their attrs. A plan is a
 * value: capture_plan_make asks the machine, and capture_plan_attrs computes all attrs from the plan
 * alone, in one pass.
 */
#ifndef SONDE_CAPTURE_PLAN_PLAN_H
#define SONDE_CAPTURE_PLAN_PLAN_H

#include "capture/log.h"
#include "capture/plan/aux.h"
#include "capture/plan/content.h"
#include "core/text.h"
#include "event/event.h"

/* Who is recorded. */
enum capture_targets {
	CAPTURE_WORKLOAD = 0, /* the command and what it starts */
	CAPTURE_TASKS, /* running processes or threads */
	CAPTURE_ALL /* everything on the cpus */
};

/* The machine that is asked, and where words go. */
struct capture_machine {
	const struct host_kernel *kernel;
	int root; /* where proc and sys are */
	const struct capture_log *log;
	struct error *err;
};

struct capture_plan {
	const struct sonde_recorder_options *options;
	enum capture_targets targets;
	bool per_thread; /* a ring for each thread, on cpu -1; else one for each cpu */
	bool inherit; /* children are recorded, too */
	bool delayed; /* events do not start by themselves */
	uint64_t frequency; /* Hz, as the kernel allows it */
	struct event_list events;
	struct sonde_attr *asked; /* of each event: its attr as its string says */
	size_t *parsed; /* [k]: events that the first k event strings made; [nevents]: all */
	struct capture_content content;
	struct capture_aux_plan aux;
};

/* SONDE_EARG, SONDE_ELIMIT, SONDE_EUNSUPPORTED, ...: machine->err says why. */
int capture_plan_make(struct capture_plan *p, const struct sonde_recorder_options *options,
        const struct capture_machine *machine);
void capture_plan_fini(struct capture_plan *p);

/* The attrs of all events, from everything else in the plan: the same each time. */
void capture_plan_attrs(struct capture_plan *p);

/* Do samples have times, as asked for? */
bool capture_plan_times(const struct capture_plan *p);

/* A workload that was started for this, and nothing else: events wait for its exec. */
static inline bool capture_plan_waits(const struct capture_plan *p)
{
	return p->options->workload != NULL && p->targets == CAPTURE_WORKLOAD;
}

/* --kcore: checks that it is allowed and adds the event that records code changes; its attr. */
int capture_kcore_plan(struct event_list *events, int root, struct error *err);
void capture_kcore_attrs(struct event_list *events);

/* What the terms of an event say wins over what options made of its attr. */
void capture_terms_apply(struct event *event);

#endif
