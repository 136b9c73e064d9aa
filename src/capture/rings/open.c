/* SPDX-License-Identifier: MIT */
/* Opens every event on every cpu for every thread, and a ring for each cpu. */
#include "capture/rings/rings.h"
#include "host/refusal.h"
#include "proc/proc.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_RING_BYTES ((size_t)512 * 1024)
#define RINGS_TOO_LARGE    1 /* in addition to 0 and errors */
/* With stacks that are unwound: the recorder's turn may come late while programs keep all cpus busy, and
 * the default size holds 60 copies of 8 KiB, which are 60 ms at 1,000 samples a second. */
#define STACK_RING_BYTES ((size_t)2 * 1024 * 1024)
#define ALL_RINGS_BYTES  ((size_t)256 << 20) /* bytes of all rings whose size was not requested */

static int open_failed(struct capture_rings *r, const struct event *event, int why)
{
	const struct host_refusal refusal = {.root = r->root,
	        .name = event->name,
	        .attr = &event->attr,
	        .pmu = event->pmu,
	        .all = r->plan->targets == CAPTURE_ALL,
	        .tasks = r->plan->targets == CAPTURE_TASKS ? &r->tasks : NULL};

	if (why == EINVAL && r->plan->aux.pmu == NULL && event->attr.aux_sample_size != 0) {
		return error_set(r->err, SONDE_EARG, NO_OFFSET,
		        "No AUX area event to sample: '%s' wants one, such as intel_pt//, to lead "
		        "its group",
		        event->name);
	}
	return host_refusal(r->err, &refusal, why);
}

static int open_one(struct capture_rings *r, size_t e, size_t at, int leader)
{
	const struct event *event = &r->plan->events.v[e];
	int cpu = (int)r->cpus[at / r->tasks.nthreads];
	pid_t pid = event->everywhere ? -1 : r->tasks.threads[at % r->tasks.nthreads];
	int fd;

	if (r->cgroup_fds != NULL && r->cgroup_fds[e] >= 0) {
		fd = r->kernel->open(&event->attr, r->cgroup_fds[e], cpu, leader, HOST_OPEN_CGROUP);
		capture_log_open(r->log, r->cgroup_fds[e], cpu, leader, HOST_OPEN_CGROUP, fd);
		return fd;
	}
	fd = r->kernel->open(&event->attr, pid, cpu, leader, 0);
	capture_log_open(r->log, pid, cpu, leader, 0, fd);
	return fd;
}

/* Nothing to open: a cpu that was not selected, or a thread covered by an event for all tasks. */
static bool left_out(const struct capture_rings *r, const struct event *event, size_t at)
{
	size_t i;

	if (event->everywhere) {
		return at % r->tasks.nthreads != 0;
	}
	if (event->tracking || r->picked == NULL) {
		return false;
	}
	for (i = 0; i < r->npicked && r->picked[i] != r->cpus[at / r->tasks.nthreads]; i++) {
	}
	return i == r->npicked;
}

/* Whether an event could not be opened because its cpu is off-line now; keeps errno. */
static bool went_off_line(struct capture_rings *r, size_t at)
{
	int kept = errno;
	pid_t *list = NULL;
	size_t i, n = 0;
	bool there = true;

	if (kept != ENODEV || r->plan->per_thread || r->ncpus < 2) {
		return false;
	}
	if (proc_read_cpus(r->root, "sys/devices/system/cpu/online", &list, &n) == 0) {
		for (i = 0; i < n && list[i] != r->cpus[at / r->tasks.nthreads]; i++) {
		}
		there = i < n;
	}
	free(list);
	errno = kept;
	if (!there && at % r->tasks.nthreads == 0) {
		capture_say(r->log, SONDE_RECORDER_WARNING,
		        "cpu %d went off-line: going on without it",
		        (int)r->cpus[at / r->tasks.nthreads]);
	}
	return !there;
}

/* -1 with errno; 0 even if some threads have ended; ESRCH if all have. */
static int open_event(struct capture_rings *r, size_t e)
{
	const struct event *event = &r->plan->events.v[e];
	const int *leaders = event->leader != e ? r->opened[event->leader].fds : NULL;
	bool gone = false, any = false;
	size_t i;
	int fd;

	capture_log_attr(r->log, &event->attr);
	for (i = 0; i < capture_cells(r); i++) {
		if (leaders != NULL && leaders[i] < 0) {
			continue; /* the thread had ended when the leader was opened */
		}
		if (left_out(r, event, i)) {
			continue;
		}
		fd = open_one(r, e, i, leaders != NULL ? leaders[i] : -1);
		if (fd < 0 && !(errno == ESRCH && r->tasks.nthreads > 1) && !went_off_line(r, i)) {
			return -1;
		}
		gone |= fd < 0 && errno == ESRCH;
		any |= fd >= 0;
		r->opened[e].fds[i] = fd;
	}
	if (e == 0 && gone && !any) {
		errno = ESRCH;
		return -1;
	}
	return 0;
}

static void close_event(struct capture_rings *r, size_t e)
{
	size_t i;

	for (i = 0; i < capture_cells(r); i++) {
		if (r->opened[e].fds[i] >= 0) {
			(void)r->kernel->close(r->opened[e].fds[i]);
			r->opened[e].fds[i] = -1;
		}
	}
}

/* Whether the event can be opened if it does not sample. */
static bool only_counts(const struct capture_rings *r, size_t e)
{
	struct sonde_attr attr = r->plan->events.v[e].attr;
	bool uncore = r->plan->events.v[e].uncore;

	if (r->plan->events.v[e].pmu == NULL) {
		return false;
	}
	attr.sample_period = 0;
	attr.sample_type = 0;
	record_attr_set(&attr, SONDE_FLAG_FREQ, false);
	record_attr_set(&attr, SONDE_FLAG_DISABLED, true);
	return host_kernel_takes(r->kernel, &attr, uncore ? -1 : 0, uncore ? (int)r->cpus[0] : -1);
}

static int open_all(struct capture_rings *r)
{
	const struct capture_machine machine = {r->kernel, r->root, r->log, r->err};
	size_t e = 0;
	size_t k;
	int why;

	capture_plan_sizes(r->plan, false);
	while (e < r->plan->events.n) {
		if (open_event(r, e) == 0) {
			e++;
			continue;
		}
		why = errno;
		if (capture_plan_older(r->plan, &machine, e, why)) {
			for (k = 0; k <= e; k++) {
				close_event(r, k);
			}
			e = 0; /* all events keep the same shape */
			continue;
		}
		if (why == ESRCH) {
			return error_set(r->err, SONDE_ENOENT, NO_OFFSET, "process %d has ended",
			        (int)r->tasks.threads[0]);
		}
		if (why == EINVAL && only_counts(r, e)) {
			return error_set(r->err, SONDE_EUNSUPPORTED, NO_OFFSET,
			        "the PMU '%s' counts, but takes no samples: try 'sonde stat -e %s'",
			        r->plan->events.v[e].pmu, r->plan->events.v[e].name);
		}
		return open_failed(r, &r->plan->events.v[e], why);
	}
	capture_plan_sizes(r->plan, true);
	if (r->plan->kernel_excluded) {
		capture_say(r->log, SONDE_RECORDER_WARNING,
		        "kernel.perf_event_paranoid does not allow kernel profiling: recording "
		        "user space only");
	}
	return 0;
}

static int map_failed(struct capture_rings *r, int why)
{
	size_t ring_kb = (r->pages + 1) * (size_t)sysconf(_SC_PAGESIZE) / 1024;
	int64_t mlock_kb = 0;

	if (why == EINVAL && (r->pages & (r->pages - 1)) != 0) {
		return error_set(r->err, SONDE_EARG, NO_OFFSET,
		        "a ring of %zu pages is not possible: use a power of two", r->pages);
	}
	if (why != EPERM) {
		return error_errno(
		        r->err, SONDE_EIO, why, "cannot map a ring of %zu pages", r->pages);
	}
	(void)proc_read_number(r->root, "proc/sys/kernel/perf_event_mlock_kb", &mlock_kb);
	return error_set(r->err, SONDE_EPERM, NO_OFFSET,
	        "not allowed to map %zu kB for the ring of each cpu: kernel.perf_event_mlock_kb is "
	        "%lld; ask for less with -m, raise it as root with 'sysctl "
	        "kernel.perf_event_mlock_kb=%zu', or raise 'ulimit -l'",
	        ring_kb, (long long)mlock_kb, ring_kb);
}

/* RINGS_TOO_LARGE: without -m, larger than limits allow. */
static int map_ring(struct capture_rings *r, struct capture_ring *ring, int fd, bool backward)
{
	size_t size = (r->pages + 1) * (size_t)sysconf(_SC_PAGESIZE);
	void *map = r->kernel->map(fd, size, backward);

	if (map == NULL) {
		return (errno == EPERM || errno == ENOMEM) &&
		                       r->plan->options->buffers.pages == 0 && r->pages > 1
		               ? RINGS_TOO_LARGE
		               : map_failed(r, errno);
	}
	if (!capture_ring_init(ring, map, size)) {
		return error_set(r->err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "the kernel's ring has a layout that is not known");
	}
	ring->backward = backward;
	ring->fd = fd;
	return 0;
}

/*
 * Assigns a ring to every descriptor; ring_fds: the descriptor that each ring is mapped from, or
 * -1.
 */
static int join_rings(struct capture_rings *r, int *ring_fds)
{
	size_t e, i, ring;
	bool backward;
	int fd, rc;

	for (i = 0; i < capture_cells(r); i++) {
		for (e = 0; e < r->plan->events.n; e++) {
			fd = r->opened[e].fds[i];
			backward = sonde_attr_has(
			        &r->plan->events.v[e].attr, SONDE_FLAG_WRITE_BACKWARD);
			ring = capture_ring_of(r, i) + (backward ? r->n / 2 : 0);
			if (fd < 0) {
				continue;
			}
			if (ring_fds[ring] >= 0) {
				if (r->kernel->redirect(fd, ring_fds[ring]) < 0) {
					return error_errno(r->err, SONDE_EIO, errno,
					        "cannot share a ring between events");
				}
				continue;
			}
			rc = map_ring(r, &r->v[ring], fd, backward);
			if (rc != 0) {
				return rc;
			}
			if (e == 0) {
				TRY(capture_aux_map(r, ring, fd,
				        (int)r->cpus[i / r->tasks.nthreads],
				        r->tasks.threads[i % r->tasks.nthreads]));
			}
			ring_fds[ring] = fd;
			/* overwritten rings are not polled */
			r->polls[ring] =
			        (struct pollfd){.fd = fd, .events = (short)(backward ? 0 : POLLIN)};
		}
	}
	return 0;
}

static int read_ids(struct capture_rings *r, struct capture_fds *o)
{
	size_t i;

	for (i = 0; i < capture_cells(r); i++) {
		if (o->fds[i] < 0) {
			continue;
		}
		if (r->kernel->id(o->fds[i], &o->ids[o->nids]) < 0) {
			return error_errno(r->err, SONDE_EIO, errno, "cannot read an event's id");
		}
		o->nids++;
	}
	return 0;
}

static int allocate(struct capture_rings *r)
{
	size_t n = capture_cells(r);
	size_t i, k;

	/* the first half is written forward, the second half backward */
	r->n = 2 * (r->plan->per_thread ? r->tasks.nthreads : r->ncpus);
	r->opened = calloc(r->plan->events.n, sizeof(*r->opened));
	r->v = calloc(r->n, sizeof(*r->v));
	r->aux.rings = calloc(r->n, sizeof(*r->aux.rings));
	r->aux.nrings = r->aux.rings != NULL ? r->n : 0; /* the second half stays empty */
	r->polls = calloc(r->n, sizeof(*r->polls));
	if (r->opened == NULL || r->v == NULL || r->polls == NULL || r->aux.rings == NULL) {
		return error_nomem(r->err);
	}
	for (i = 0; i < r->n; i++) {
		r->polls[i].fd = -1;
	}
	for (i = 0; i < r->plan->events.n; i++) {
		r->opened[i].fds = calloc(n, sizeof(int));
		r->opened[i].ids = calloc(n, sizeof(uint64_t));
		for (k = 0; r->opened[i].fds != NULL && k < n; k++) {
			r->opened[i].fds[k] = -1;
		}
		if (r->opened[i].fds == NULL || r->opened[i].ids == NULL) {
			return error_nomem(r->err);
		}
	}
	return 0;
}

/* Rings of thousands of threads must not use all memory: default sizes share a limit. */
static size_t default_pages(const struct capture_rings *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	bool stacks = r->plan->content.chain == CAPTURE_CHAIN_UNWIND;
	size_t pages = (stacks ? STACK_RING_BYTES : DEFAULT_RING_BYTES) / page;

	while (pages > 2 && pages * page * r->n / 2 > ALL_RINGS_BYTES) {
		pages /= 2;
	}
	return pages;
}

static void unmap_rings(struct capture_rings *r)
{
	size_t i;

	capture_aux_unmap(r);
	for (i = 0; r->v != NULL && i < r->n; i++) {
		if (r->v[i].page != NULL) {
			r->kernel->unmap(r->v[i].page, r->v[i].map_size);
		}
		r->v[i] = (struct capture_ring){0};
	}
}

/*
 * All rings have one size: without -m the limits are divided, so that the last ring gets its share.
 * Events that shared a ring are moved to another one when that is mapped.
 */
static int map_rings(struct capture_rings *r)
{
	int *ring_fds = malloc(r->n * sizeof(*ring_fds));
	size_t i;
	int rc;

	if (ring_fds == NULL) {
		return error_nomem(r->err);
	}
	for (;; r->pages /= 2) {
		for (i = 0; i < r->n; i++) {
			ring_fds[i] = -1;
		}
		rc = join_rings(r, ring_fds);
		if (rc != RINGS_TOO_LARGE) {
			break;
		}
		unmap_rings(r);
	}
	free(ring_fds);
	return rc;
}

/* A ring is read when it is half full. */
static void warn_of_small_files(struct capture_rings *r)
{
	uint64_t half = r->pages * (uint64_t)sysconf(_SC_PAGESIZE) / 2;

	if (r->plan->options->switching.bytes != 0 && r->plan->options->switching.bytes < half) {
		capture_say(r->log, SONDE_RECORDER_WARNING,
		        "--switch-output: files will be larger than %lluK, as up to %lluK are read "
		        "from a ring at once; smaller rings (-m) make smaller files",
		        (unsigned long long)(r->plan->options->switching.bytes + 1023) / 1024,
		        (unsigned long long)half / 1024);
	}
}

int capture_open(struct capture_rings *r)
{
	size_t i;

	TRY(allocate(r));
	TRY(capture_cgroups_open(r));
	r->pages = r->plan->options->buffers.pages != 0 ? r->plan->options->buffers.pages
	                                                : default_pages(r);
	TRY(capture_aux_plan_sizes(r, r->n / 2));
	TRY(open_all(r));
	TRY(map_rings(r));
	warn_of_small_files(r);
	capture_say(r->log, SONDE_RECORDER_LINE, "mmap size %zuB",
	        (r->pages + 1) * (size_t)sysconf(_SC_PAGESIZE));
	if (r->plan->aux.pmu != NULL) {
		capture_say(r->log, SONDE_RECORDER_LINE, "AUX area mmap length %llu",
		        (unsigned long long)r->aux.size);
	}
	capture_say(r->log, SONDE_RECORDER_LINE, "perf event ring buffer mmapped per %s",
	        r->plan->per_thread ? "thread" : "cpu");
	for (i = 0; i < r->plan->events.n; i++) {
		TRY(read_ids(r, &r->opened[i]));
	}
	return capture_set_filters(r);
}

bool capture_switch(const struct capture_rings *r, size_t e, bool on)
{
	bool good = true;
	size_t i;

	for (i = 0; i < capture_cells(r); i++) {
		if (r->opened[e].fds[i] >= 0) {
			good &= r->kernel->enable(r->opened[e].fds[i], on, false) >= 0;
		}
	}
	return good;
}

int capture_enable(struct capture_rings *r, size_t event, bool on)
{
	size_t e;

	r->aux.running = event == SIZE_MAX || event == 0 ? on : r->aux.running;
	for (e = 0; e < r->plan->events.n; e++) {
		/* side-band continues: it is needed to interpret later samples */
		if ((event == SIZE_MAX ? !r->plan->events.v[e].tracking : e == event) &&
		        !capture_switch(r, e, on)) {
			return error_errno(r->err, SONDE_EIO, errno, "cannot %s '%s'",
			        on ? "enable" : "disable", r->plan->events.v[e].name);
		}
	}
	return 0;
}

void capture_disable_all(struct capture_rings *r)
{
	size_t e;

	r->aux.running = false;
	for (e = 0; e < r->plan->events.n; e++) {
		(void)capture_switch(r, e, false);
	}
}

static bool has_fd(const struct capture_rings *r, size_t at, int fd)
{
	size_t e;

	for (e = 0; e < r->plan->events.n; e++) {
		if (r->opened[e].fds[at] == fd) {
			return true;
		}
	}
	return false;
}

/*
 * The descriptor polled for a ring belongs to a task that has ended: replaces it by another one
 * that shares the ring. -1: all have ended. from: the current one.
 */
int capture_next_poll(const struct capture_rings *r, size_t ring, int from)
{
	struct pollfd p = {.events = POLLIN};
	size_t half = ring % (r->n / 2);
	size_t i, first = r->plan->per_thread ? half : half * r->tasks.nthreads;
	size_t end = r->plan->per_thread ? half + 1 : first + r->tasks.nthreads;
	bool behind = false;

	for (i = first; i < end; i++) {
		p.fd = r->opened[0].fds[i];
		if (p.fd < 0 || !behind) {
			behind |= has_fd(r, i, from);
			continue;
		}
		if (r->kernel->poll(&p, 1, 0) >= 0 && (p.revents & (POLLHUP | POLLERR)) == 0) {
			return p.fd;
		}
	}
	return -1;
}

void capture_close(struct capture_rings *r)
{
	size_t i;

	unmap_rings(r);
	capture_aux_close(r);
	for (i = 0; r->opened != NULL && i < r->plan->events.n; i++) {
		if (r->opened[i].fds != NULL) {
			close_event(r, i);
		}
		free(r->opened[i].fds);
		free(r->opened[i].ids);
	}
	free(r->opened);
	free(r->v);
	free(r->polls);
	capture_cgroups_close(r);
	host_tasks_fini(&r->tasks);
	free(r->cpus);
	free(r->picked);
}
