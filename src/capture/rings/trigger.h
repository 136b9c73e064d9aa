/* SPDX-License-Identifier: MIT */
/*
 * Events that are not recorded: each time one happens, on any cpu, the recording continues in
 * another file (--switch-output-event).
 */
#ifndef SONDE_CAPTURE_RINGS_TRIGGER_H
#define SONDE_CAPTURE_RINGS_TRIGGER_H

#include "capture/rings/watch.h"
#include "core/status.h"
#include "event/event.h"

struct capture_rings;

struct capture_triggers {
	struct event_list events;
	struct capture_watch watch;
};

/* options->switching.triggers to events. SONDE_EARG. */
int capture_triggers_plan(struct capture_triggers *t, const struct sonde_recorder_options *options,
        int root, struct error *err);

/* Opens them on all on-line cpus, whichever are recorded. SONDE_EPERM, SONDE_EUNSUPPORTED. */
int capture_triggers_open(struct capture_triggers *t, const struct capture_rings *r);

/* Whether one happened since the last call. */
bool capture_triggers_look(struct capture_triggers *t);
void capture_triggers_close(struct capture_triggers *t, const struct host_kernel *kernel);

#endif
