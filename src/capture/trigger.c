/* SPDX-License-Identifier: MIT */
/*
 * Events that are not recorded: each time that one happens, on whatever cpu, the recording goes on in
 * another file (--switch-output-event). They have small rings of their own, of which only the
 * headers of records are looked at.
 */
#include "abi/abi.h"
#include "capture/capture.h"
#include "core/span.h"
#include "proc/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define RING_PAGES 1

static int plan(struct sonde_record *r, struct event *event)
{
	struct sonde_attr *attr = &event->attr;
	bool own = (event->terms.set & (EVENT_TERM_PERIOD | EVENT_TERM_FREQ)) != 0;

	if (event->clock && !own) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
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
	attr->wakeup_events = 1; /* bytes: at once */
	return 0;
}

static int refused(struct sonde_record *r, const struct event *event, int why)
{
	if (why == EACCES || why == EPERM) {
		return error_set(&r->error, SONDE_EPERM, NO_OFFSET,
		        "--switch-output-event: not allowed to watch '%s' on all cpus; as root run "
		        "'sysctl kernel.perf_event_paranoid=-1', or give sonde the capability "
		        "CAP_PERFMON",
		        event->name);
	}
	return error_set(&r->error, SONDE_EUNSUPPORTED, NO_OFFSET,
	        "--switch-output-event: cannot watch '%s' here: %s", event->name,
	        why == ENOENT || why == ENODEV || why == EOPNOTSUPP ? "it is not supported"
	                                                            : strerror(why));
}

static int open_one(struct sonde_record *r, const struct event *event, pid_t cpu)
{
	struct capture_triggers *t = &r->triggers;
	size_t size = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	int fd = r->kernel->open(&event->attr, -1, (int)cpu, -1, 0);
	void *map;
	int why;

	capture_log_open(&r->log, -1, (int)cpu, -1, 0, fd);
	if (fd < 0) {
		return errno == ENODEV ? 0 : refused(r, event, errno); /* went off-line */
	}
	map = r->kernel->map(fd, size, false);
	if (map == NULL) {
		why = errno;
		(void)r->kernel->close(fd);
		return refused(r, event, why);
	}
	t->fds[t->n] = fd;
	(void)capture_ring_init(&t->rings[t->n], map, size);
	t->n++;
	return 0;
}

static int open_all(struct sonde_record *r, const pid_t *cpus, size_t ncpus)
{
	struct capture_triggers *t = &r->triggers;
	size_t e, i;

	t->rings = calloc(t->events.n * ncpus, sizeof(*t->rings));
	t->fds = calloc(t->events.n * ncpus, sizeof(*t->fds));
	if (t->rings == NULL || t->fds == NULL) {
		return error_nomem(&r->error);
	}
	for (e = 0; e < t->events.n; e++) {
		capture_log_attr(&r->log, &t->events.v[e].attr);
		for (i = 0; i < ncpus; i++) {
			TRY(open_one(r, &t->events.v[e], cpus[i]));
		}
	}
	return 0;
}

int capture_triggers_plan(struct sonde_record *r)
{
	struct event_list *events = &r->triggers.events;
	size_t i;

	for (i = 0; i < r->options.ntriggers; i++) {
		TRY(event_parse(events, r->root_fd, r->options.triggers[i], &r->error));
	}
	for (i = 0; i < events->n; i++) {
		TRY(plan(r, &events->v[i]));
	}
	return 0;
}

int capture_triggers_open(struct sonde_record *r)
{
	pid_t *cpus = NULL;
	size_t n = 0;
	int rc;

	if (r->triggers.events.n == 0) {
		return 0;
	}
	/* all of them, whichever are recorded */
	if (proc_read_cpus(r->root_fd, "sys/devices/system/cpu/online", &cpus, &n) != 0) {
		return error_set(&r->error, SONDE_EIO, NO_OFFSET,
		        "--switch-output-event: cannot read which cpus are on-line: %s",
		        strerror(errno));
	}
	rc = open_all(r, cpus, n);
	free(cpus);
	return rc;
}

/* Whether a sample is in the ring; empties it. */
static bool happened(struct capture_ring *ring)
{
	uint64_t mask = ring->size - 1;
	bool any = false;
	uint8_t head[RECORD_HEADER_SIZE];
	uint64_t size;
	size_t k;

	if (!capture_ring_look(ring)) {
		return false;
	}
	while (ring->head - ring->tail >= sizeof(head)) {
		for (k = 0; k < sizeof(head); k++) {
			head[k] = ring->data[(ring->tail + k) & mask];
		}
		size = load_u16(head + 6, false);
		if (size < sizeof(head) || size > ring->head - ring->tail) {
			break;
		}
		any |= load_u32(head, false) == RECORD_SAMPLE;
		ring->tail += size;
	}
	capture_ring_release(ring);
	return any;
}

bool capture_triggers_look(struct sonde_record *r)
{
	struct capture_triggers *t = &r->triggers;
	bool any = false;
	size_t i;

	for (i = 0; i < t->n; i++) {
		any |= happened(&t->rings[i]);
	}
	return any;
}

void capture_triggers_close(struct sonde_record *r)
{
	struct capture_triggers *t = &r->triggers;
	size_t i;

	for (i = 0; i < t->n; i++) {
		r->kernel->unmap(t->rings[i].page, t->rings[i].map_size);
		(void)r->kernel->close(t->fds[i]);
	}
	free(t->rings);
	free(t->fds);
	event_list_fini(&t->events);
	*t = (struct capture_triggers){0};
}
