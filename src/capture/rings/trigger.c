/* SPDX-License-Identifier: MIT */
#include "capture/rings/trigger.h"

#include "abi/abi.h"
#include "capture/rings/rings.h"
#include "core/span.h"
#include "proc/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RING_PAGES 1

static int plan(struct event *event, struct error *err)
{
	struct sonde_attr *attr = &event->attr;
	bool own = (event->terms.set & (EVENT_TERM_PERIOD | EVENT_TERM_FREQ)) != 0;

	if (event->clock && !own) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "--switch-output-event: a clock such as '%s' happens all the time: say how "
		        "often, as cpu-clock/period=NANOSECONDS/, or use --switch-output=TIME",
		        event->name);
	}
	attr->size = HOST_ATTR_SIZE;
	attr->sample_period = event->default_period != 0 ? event->default_period : 1;
	capture_terms_apply(event);
	attr->sample_type = SONDE_SAMPLE_IDENTIFIER;
	attr->read_format = SONDE_READ_ID;
	attr->flags |= 1ull << SONDE_FLAG_WATERMARK | 1ull << SONDE_FLAG_SAMPLE_ID_ALL;
	attr->wakeup_events = 1; /* wake up at once */
	return 0;
}

static int refused(struct error *err, const struct event *event, int why)
{
	if (why == EACCES || why == EPERM) {
		return error_set(err, SONDE_EPERM, NO_OFFSET,
		        "--switch-output-event: not allowed to watch '%s' on all cpus; as root run "
		        "'sysctl kernel.perf_event_paranoid=-1', or give sonde the capability "
		        "CAP_PERFMON",
		        event->name);
	}
	(void)error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET, "%s",
	        why == ENOENT || why == ENODEV || why == EOPNOTSUPP ? "it is not supported"
	                                                            : strerror(why));
	return error_wrap(err, "--switch-output-event: cannot watch '%s' here", event->name);
}

int capture_triggers_plan(struct capture_triggers *t, const struct sonde_recorder_options *options,
        int root, struct error *err)
{
	size_t i;

	for (i = 0; i < options->switching.ntriggers; i++) {
		TRY(event_parse(&t->events, root, options->switching.triggers[i], err));
	}
	for (i = 0; i < t->events.n; i++) {
		TRY(plan(&t->events.v[i], err));
	}
	return 0;
}

/* Skips cpus that are off-line now. */
static int open_all(
        struct capture_triggers *t, const struct capture_rings *r, const pid_t *cpus, size_t ncpus)
{
	const struct event *event;
	size_t e, i;

	for (e = 0; e < t->events.n; e++) {
		event = &t->events.v[e];
		capture_log_attr(r->log, &event->attr);
		for (i = 0; i < ncpus; i++) {
			if (!capture_watch_open(&t->watch, r->kernel, r->log, &event->attr,
			            (int)cpus[i], RING_PAGES) &&
			        errno != ENODEV) {
				return refused(r->err, event, errno);
			}
		}
	}
	return 0;
}

int capture_triggers_open(struct capture_triggers *t, const struct capture_rings *r)
{
	pid_t *cpus = NULL;
	size_t n = 0;
	int rc;

	if (t->events.n == 0) {
		return 0;
	}
	if (proc_read_cpus(r->root, "sys/devices/system/cpu/online", &cpus, &n) != 0) {
		return error_errno(r->err, SONDE_EIO, errno,
		        "--switch-output-event: cannot read which cpus are on-line");
	}
	rc = open_all(t, r, cpus, n);
	free(cpus);
	return rc;
}

static void take_record(void *arg, const uint8_t head[CAPTURE_WATCH_HEAD], size_t size)
{
	bool *any = arg;

	(void)size;
	*any |= load_u32(head, false) == RECORD_SAMPLE;
}

bool capture_triggers_look(struct capture_triggers *t)
{
	bool any = false;

	capture_watch_look(&t->watch, take_record, &any);
	return any;
}

void capture_triggers_close(struct capture_triggers *t, const struct host_kernel *kernel)
{
	capture_watch_close(&t->watch, kernel);
	event_list_fini(&t->events);
}
