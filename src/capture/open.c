/* SPDX-License-Identifier: MIT */
/* Opens every event on every cpu for every thread, and one ring a cpu. */
#include "capture/capture.h"
#include "proc/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_RING_BYTES ((size_t)512 * 1024)

/* The first process that was asked for and is another user's; 0: none. */
static pid_t foreign_process(const struct sonde_record *r, unsigned *uid)
{
	struct stat st;
	char path[64];
	size_t i;

	for (i = 0; i < r->npids; i++) {
		(void)snprintf(path, sizeof(path), "proc/%d", (int)r->pids[i]);
		if (proc_stat(r->root_fd, path, &st) && st.st_uid != geteuid()) {
			*uid = st.st_uid;
			return r->pids[i];
		}
	}
	return 0;
}

/* What stands in the way: another user's process, the sysctl, or something that says no to all. */
static int not_allowed(struct sonde_record *r, const struct event *event)
{
	bool user_only = sonde_attr_has(&event->attr, SONDE_FLAG_EXCLUDE_KERNEL);
	int needed = r->options.all_cpus ? 0 : user_only ? 2 : 1;
	int64_t paranoid = 2;
	unsigned uid = 0;
	pid_t pid;

	(void)proc_read_number(r->root_fd, "proc/sys/kernel/perf_event_paranoid", &paranoid);
	if (paranoid > needed) {
		return error_set(&r->error, SONDE_EPERM, NO_OFFSET,
		        "not allowed to open '%s'%s: kernel.perf_event_paranoid is %lld; as root "
		        "run 'sysctl kernel.perf_event_paranoid=%d', or give sonde the capability "
		        "CAP_PERFMON",
		        event->name, r->options.all_cpus ? " on all cpus" : "", (long long)paranoid,
		        needed);
	}
	pid = foreign_process(r, &uid);
	if (pid != 0) {
		return error_set(&r->error, SONDE_EPERM, NO_OFFSET,
		        "not allowed to record process %d: it belongs to user %u; record as that "
		        "user or as root, or give sonde the capabilities CAP_PERFMON and "
		        "CAP_SYS_PTRACE",
		        (int)pid, uid);
	}
	return error_set(&r->error, SONDE_EPERM, NO_OFFSET,
	        "not allowed to open '%s' though kernel.perf_event_paranoid is %lld: a security "
	        "module or a container's filter forbids perf_event_open",
	        event->name, (long long)paranoid);
}

static int open_failed(struct sonde_record *r, const struct event *event, int why)
{
	switch (why) {
	case EACCES:
	case EPERM: return not_allowed(r, event);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return error_set(&r->error, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "the event '%s' is not supported here", event->name);
	case EMFILE:
		return error_set(&r->error, SONDE_ELIMIT, NO_OFFSET,
		        "too many open files for '%s': raise the limit with 'ulimit -n'",
		        event->name);
	case ENOSYS:
		return error_set(&r->error, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "this kernel has no perf_event_open, or it is filtered (seccomp)");
	default:
		return error_set(&r->error, SONDE_EIO, NO_OFFSET, "cannot open '%s': %s",
		        event->name, strerror(why));
	}
}

/* Bits that older kernels do not know, newest first. */
static bool drop_newest(struct sonde_record *r)
{
	static const struct {
		int flag; /* -1: read_format LOST */
		const char *name;
	} newest[] = {
	        {-1, "lost counts"},
	        {SONDE_FLAG_CGROUP, "cgroup events"},
	        {SONDE_FLAG_BPF_EVENT, "bpf events"},
	        {SONDE_FLAG_KSYMBOL, "ksymbol events"},
	        {SONDE_FLAG_NAMESPACES, "namespace events"},
	        {SONDE_FLAG_USE_CLOCKID, "clock ids"},
	        {SONDE_FLAG_COMM_EXEC, "exec marks"},
	        {SONDE_FLAG_MMAP2, "mmap2 records"},
	        {SONDE_FLAG_EXCLUDE_GUEST, "guest exclusion"},
	};
	struct sonde_attr *attr;
	size_t i, k;
	bool found = false;

	for (i = 0; !found && i < sizeof(newest) / sizeof(newest[0]); i++) {
		for (k = 0; k < r->events.n; k++) {
			attr = &r->events.v[k].attr;
			if (newest[i].flag < 0) {
				found |= (attr->read_format & SONDE_READ_LOST) != 0;
				attr->read_format &= ~(uint64_t)SONDE_READ_LOST;
				continue;
			}
			found |= (attr->flags >> newest[i].flag & 1) != 0;
			attr->flags &= ~(1ULL << newest[i].flag);
		}
		if (found) {
			capture_say(r, SONDE_RECORD_VERBOSE,
			        "this kernel refuses %s: going without", newest[i].name);
		}
	}
	return found;
}

static bool drop_kernel(struct sonde_record *r)
{
	size_t i;

	if (r->kernel_excluded || r->options.all_cpus) {
		return false;
	}
	for (i = 0; i < r->events.n; i++) {
		if (sonde_attr_has(&r->events.v[i].attr, SONDE_FLAG_EXCLUDE_USER)) {
			return false;
		}
	}
	r->kernel_excluded = true;
	for (i = 0; i < r->events.n; i++) {
		if (!sonde_attr_has(&r->events.v[i].attr, SONDE_FLAG_EXCLUDE_KERNEL)) {
			(void)event_exclude_kernel(&r->events, &r->events.v[i]);
		}
	}
	return true;
}

/* -1 with errno; 0 also when the thread has ended. */
static int open_event(struct sonde_record *r, size_t e)
{
	const struct event *event = &r->events.v[e];
	const int *leaders = event->leader != e ? r->opened[event->leader].fds : NULL;
	size_t i;
	int fd, cpu, group_fd;
	pid_t thread;

	capture_trace_attr(r, &event->attr);
	for (i = 0; i < r->ncpus * r->nthreads; i++) {
		if (leaders != NULL && leaders[i] < 0) {
			continue; /* the thread had ended when the leader was opened */
		}
		if (event->everywhere && i % r->nthreads != 0) {
			continue; /* the cpu's first covers all threads */
		}
		thread = event->everywhere ? -1 : r->threads[i % r->nthreads];
		cpu = (int)r->cpus[i / r->nthreads];
		group_fd = leaders != NULL ? leaders[i] : -1;
		fd = r->kernel->open(&event->attr, thread, cpu, group_fd);
		capture_trace_open(r, thread, cpu, group_fd, fd);
		if (fd < 0 && !(errno == ESRCH && r->nthreads > 1)) {
			return -1;
		}
		r->opened[e].fds[i] = fd;
	}
	return 0;
}

static void close_event(struct sonde_record *r, size_t e)
{
	size_t i;

	for (i = 0; i < r->ncpus * r->nthreads; i++) {
		if (r->opened[e].fds[i] >= 0) {
			(void)r->kernel->close(r->opened[e].fds[i]);
			r->opened[e].fds[i] = -1;
		}
	}
}

static int open_all(struct sonde_record *r)
{
	size_t e = 0;
	size_t k;
	int why;

	while (e < r->events.n) {
		if (open_event(r, e) == 0) {
			e++;
			continue;
		}
		why = errno;
		if (((why == EINVAL || why == E2BIG) && drop_newest(r)) ||
		        ((why == EACCES || why == EPERM) && drop_kernel(r))) {
			for (k = 0; k <= e; k++) {
				close_event(r, k);
			}
			e = 0; /* all events keep the same shape */
			continue;
		}
		if (why == ESRCH) {
			return error_set(&r->error, SONDE_ENOENT, NO_OFFSET, "process %d has ended",
			        (int)r->threads[0]);
		}
		return open_failed(r, &r->events.v[e], why);
	}
	if (r->kernel_excluded) {
		capture_say(r, SONDE_RECORD_WARNING,
		        "kernel.perf_event_paranoid does not allow kernel profiling: recording "
		        "user space only");
	}
	return 0;
}

static int map_failed(struct sonde_record *r, int why)
{
	size_t ring_kb = (r->ring_pages + 1) * (size_t)sysconf(_SC_PAGESIZE) / 1024;
	int64_t mlock_kb = 0;

	if (why == EINVAL && (r->ring_pages & (r->ring_pages - 1)) != 0) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "a ring of %zu pages is not possible: use a power of two", r->ring_pages);
	}
	if (why != EPERM) {
		return error_set(&r->error, SONDE_EIO, NO_OFFSET,
		        "cannot map a ring of %zu pages: %s", r->ring_pages, strerror(why));
	}
	(void)proc_read_number(r->root_fd, "proc/sys/kernel/perf_event_mlock_kb", &mlock_kb);
	return error_set(&r->error, SONDE_EPERM, NO_OFFSET,
	        "not allowed to map %zu kB for the ring of each cpu: kernel.perf_event_mlock_kb is "
	        "%lld; ask for less with -m, raise it as root with 'sysctl "
	        "kernel.perf_event_mlock_kb=%zu', or raise 'ulimit -l'",
	        ring_kb, (long long)mlock_kb, ring_kb);
}

/* Without -m a ring shrinks until the limits allow it. */
static int map_ring(struct sonde_record *r, size_t cpu, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size;
	void *map;

	for (;;) {
		size = (r->ring_pages + 1) * page;
		map = r->kernel->map(fd, size);
		if (map != NULL) {
			break;
		}
		if (errno != EPERM || r->options.mmap_pages != 0 || r->ring_pages == 1) {
			return map_failed(r, errno);
		}
		r->ring_pages /= 2;
	}
	if (!capture_ring_init(&r->rings[cpu], map, size)) {
		return error_set(&r->error, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "the kernel's ring has a layout that is not known");
	}
	return 0;
}

static int join_ring(struct sonde_record *r, size_t e, size_t cpu, int *ring_fd)
{
	struct capture_fds *o = &r->opened[e];
	size_t thread;
	int fd;

	for (thread = 0; thread < r->nthreads; thread++) {
		fd = o->fds[cpu * r->nthreads + thread];
		if (fd < 0) {
			continue;
		}
		if (*ring_fd < 0) {
			TRY(map_ring(r, cpu, fd));
			if (e == 0) {
				TRY(capture_aux_map(
				        r, cpu, fd, (int)r->cpus[cpu], r->threads[thread]));
			}
			*ring_fd = fd;
		} else if (r->kernel->redirect(fd, *ring_fd) < 0) {
			return error_set(&r->error, SONDE_EIO, NO_OFFSET,
			        "cannot share a ring between events: %s", strerror(errno));
		}
	}
	return 0;
}

static int read_ids(struct sonde_record *r, struct capture_fds *o)
{
	size_t i;

	for (i = 0; i < r->ncpus * r->nthreads; i++) {
		if (o->fds[i] < 0) {
			continue;
		}
		if (r->kernel->id(o->fds[i], &o->ids[o->nids]) < 0) {
			return error_set(&r->error, SONDE_EIO, NO_OFFSET,
			        "cannot read an event's id: %s", strerror(errno));
		}
		o->nids++;
	}
	return 0;
}

static int allocate(struct sonde_record *r)
{
	size_t n = r->ncpus * r->nthreads;
	size_t i, k;

	r->opened = calloc(r->events.n, sizeof(*r->opened));
	r->rings = calloc(r->ncpus, sizeof(*r->rings));
	r->aux.rings = calloc(r->ncpus, sizeof(*r->aux.rings));
	r->aux.nrings = r->aux.rings != NULL ? r->ncpus : 0;
	r->polls = calloc(2 + r->npids + r->ncpus, sizeof(*r->polls));
	if (r->opened == NULL || r->rings == NULL || r->polls == NULL || r->aux.rings == NULL) {
		return error_nomem(&r->error);
	}
	for (i = 0; i < r->events.n; i++) {
		r->opened[i].fds = calloc(n, sizeof(int));
		r->opened[i].ids = calloc(n, sizeof(uint64_t));
		if (r->opened[i].fds == NULL || r->opened[i].ids == NULL) {
			return error_nomem(&r->error);
		}
		for (k = 0; k < n; k++) {
			r->opened[i].fds[k] = -1;
		}
	}
	return 0;
}

int capture_open(struct sonde_record *r)
{
	int ring_fd;
	size_t cpu, e;

	TRY(allocate(r));
	r->ring_pages = r->options.mmap_pages != 0
	                        ? r->options.mmap_pages
	                        : DEFAULT_RING_BYTES / (size_t)sysconf(_SC_PAGESIZE);
	TRY(capture_aux_plan_sizes(r, r->ncpus));
	TRY(open_all(r));
	for (cpu = 0; cpu < r->ncpus; cpu++) {
		ring_fd = -1;
		for (e = 0; e < r->events.n; e++) {
			TRY(join_ring(r, e, cpu, &ring_fd));
		}
		if (ring_fd >= 0) {
			r->polls[r->npolls++] = (struct pollfd){.fd = ring_fd, .events = POLLIN};
		}
	}
	capture_say(r, SONDE_RECORD_LINE, "mmap size %zuB", r->rings[0].map_size);
	if (r->aux.pmu != NULL) {
		capture_say(r, SONDE_RECORD_LINE, "AUX area mmap length %llu",
		        (unsigned long long)r->aux.size);
	}
	capture_say(r, SONDE_RECORD_LINE, "perf event ring buffer mmapped per cpu");
	for (e = 0; e < r->events.n; e++) {
		TRY(read_ids(r, &r->opened[e]));
	}
	return capture_aux_set_filters(r);
}

int capture_close(struct sonde_record *r)
{
	size_t i;

	capture_aux_close(r);
	for (i = 0; r->rings != NULL && i < r->ncpus; i++) {
		if (r->rings[i].page != NULL) {
			r->kernel->unmap(r->rings[i].page, r->rings[i].map_size);
		}
	}
	for (i = 0; r->opened != NULL && i < r->events.n; i++) {
		if (r->opened[i].fds != NULL) {
			close_event(r, i);
		}
		free(r->opened[i].fds);
		free(r->opened[i].ids);
	}
	free(r->opened);
	free(r->rings);
	free(r->polls);
	return 0;
}
