/* SPDX-License-Identifier: MIT */
/*
 * Options and a machine to a plan: the tasks to record, the events, and their attrs. A plan is a
 * value: capture_plan_make queries the machine, capture_plan_attrs computes all attrs from the plan
 * alone, in one pass, and capture_plan_older removes what a kernel refuses. Nothing else changes the
 * attrs.
 */
#ifndef SONDE_CAPTURE_PLAN_PLAN_H
#define SONDE_CAPTURE_PLAN_PLAN_H

#include "capture/log.h"
#include "capture/plan/aux.h"
#include "capture/plan/content.h"
#include "core/text.h"
#include "event/event.h"

/* Which tasks are recorded. */
enum capture_targets {
	CAPTURE_WORKLOAD = 0, /* the command and its children */
	CAPTURE_TASKS, /* running processes or threads */
	CAPTURE_ALL /* all tasks on the cpus */
};

/* The machine to query, and the buffer for error texts. */
struct capture_machine {
	const struct host_kernel *kernel;
	int root; /* descriptor of the directory that contains proc and sys */
	const struct capture_log *log;
	struct error *err;
};

struct capture_plan {
	const struct sonde_recorder_options *options;
	enum capture_targets targets;
	bool per_thread; /* a ring for each thread, on cpu -1; else one for each cpu */
	bool inherit; /* children are recorded too */
	bool delayed; /* events do not start at once */
	uint64_t frequency; /* Hz, limited by the kernel */
	struct event_list events;
	struct sonde_attr *asked; /* for each event: its attr as parsed */
	size_t *parsed; /* [k]: number of events from the first k event strings; [nevents]: all */
	struct capture_content content;
	struct capture_aux_plan aux;
	bool kernel_excluded; /* from all events, as the kernel does not allow it */
};

/* SONDE_EARG, SONDE_ELIMIT, SONDE_EUNSUPPORTED, ...: see machine->err. */
int capture_plan_make(struct capture_plan *p, const struct sonde_recorder_options *options,
        const struct capture_machine *machine);
void capture_plan_fini(struct capture_plan *p);

/*
 * Computes the attrs of all events from the rest of the plan, for a kernel that refuses nothing; the
 * result is always the same.
 */
void capture_plan_attrs(struct capture_plan *p);

/*
 * The kernel refused event e with errno `why`: removes what it does not support, from the attrs of
 * all events, so that they keep the same shape, and logs it. True: open the events again; false:
 * nothing is left to remove.
 */
bool capture_plan_older(struct capture_plan *p, const struct capture_machine *m, size_t e, int why);

/*
 * Sets the sizes of all attrs: as large as their fields for opening, after which capture_plan_older
 * may reduce them; in files all have one size, and no address of this process.
 */
void capture_plan_sizes(struct capture_plan *p, bool in_file);

/* Sets the bytes of trace after which the kernel wakes the recorder, once the area has a size. */
void capture_plan_watermark(struct capture_plan *p, uint64_t bytes);

/* Logs the attr of each event, as it is logged again when it is opened. */
void capture_plan_log(const struct capture_plan *p, const struct capture_log *log);

/* Only a workload started for this recording: events wait for its exec. */
static inline bool capture_plan_waits(const struct capture_plan *p)
{
	return p->options->targets.workload != NULL && p->targets == CAPTURE_WORKLOAD;
}

/* --kcore: checks that it is allowed and adds the event that records code changes. */
int capture_kcore_plan(struct event_list *events, int root, struct error *err);
void capture_kcore_attrs(struct event_list *events);

/* Terms of an event override the options in its attr. */
void capture_terms_apply(struct event *event);

#endif
