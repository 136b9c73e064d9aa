/* SPDX-License-Identifier: MIT */
/*
 * Each thread has its rings, its file and, with -z, its own compressed stream. Threads share only
 * the descriptor for stopping, the descriptor that wakes the main thread, and the number of bytes
 * that each has written.
 */
#define _GNU_SOURCE
#include "capture/sink/stream.h"

#include "capture/sink/lane.h"
#include "host/wait.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MASK_ROOM 1024

struct capture_stream {
	struct capture_streams *all;
	size_t *rings;
	size_t nrings;
	cpu_set_t affinity;
	bool has_affinity;
	int fd;
	struct file_writer writer;
	struct capture_lane lane;
	pthread_t thread;
	bool running;
	int rc;
	struct error error;
	uint64_t wakeups;
	uint64_t written; /* bytes in the file, for other threads; atomic */
	bool told_over, told_full;
};

/* ---- assignment of rings to threads ---- */

/* Parses a list such as "0,2-4" of length n; false: invalid. */
static bool parse_mask(const char *s, size_t n, cpu_set_t *set)
{
	const char *end = s + n;
	long from, to;

	CPU_ZERO(set);
	while (s < end) {
		if (!proc_take_range(&s, &from, &to) || s > end || to >= CPU_SETSIZE) {
			return false;
		}
		for (; from <= to; from++) {
			CPU_SET((size_t)from, set);
		}
	}
	return n > 0;
}

static struct capture_stream *add_stream(struct capture_streams *all)
{
	struct capture_stream *s = realloc(all->v, (all->n + 1) * sizeof(*all->v));

	if (s == NULL) {
		return NULL;
	}
	all->v = s;
	s = &all->v[all->n];
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->rings = calloc(all->rings->n, sizeof(*s->rings));
	if (s->rings == NULL) {
		return NULL;
	}
	all->n++;
	return s;
}

/* Assigns the rings of the cpus in the set to a stream; 0: there are none. */
static size_t take_rings(
        struct capture_streams *all, struct capture_stream *s, const cpu_set_t *set)
{
	size_t i;

	for (i = 0; i < all->rings->n; i++) {
		if (all->rings->plan->per_thread ||
		        CPU_ISSET((size_t)all->rings->cpus[i % (all->rings->n / 2)], set)) {
			s->rings[s->nrings++] = i;
		}
	}
	return s->nrings;
}

/* A stream for each distinct list of cpus in a topology file. */
static int plan_by_file(struct capture_streams *all, const char *name)
{
	char path[MASK_ROOM], line[MASK_ROOM];
	struct capture_stream *s;
	cpu_set_t done, set;
	size_t i;

	CPU_ZERO(&done);
	for (i = 0; i < all->rings->ncpus; i++) {
		if (CPU_ISSET((size_t)all->rings->cpus[i], &done)) {
			continue;
		}
		CPU_ZERO(&set);
		(void)snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/%s",
		        (int)all->rings->cpus[i], name);
		if (name[0] == '\0' ||
		        !proc_read_line(all->rings->root, path, line, sizeof(line)) ||
		        !parse_mask(line, strlen(line), &set)) {
			CPU_SET((size_t)all->rings->cpus[i], &set);
		}
		CPU_OR(&done, &done, &set);
		s = add_stream(all);
		if (s == NULL) {
			return error_nomem(all->rings->err);
		}
		(void)take_rings(all, s, &set);
	}
	return 0;
}

/* Node numbers may have gaps, and nodes may have no cpu. */
static int plan_by_node(struct capture_streams *all)
{
	char path[MASK_ROOM], line[MASK_ROOM];
	struct capture_stream *s;
	pid_t *nodes = NULL;
	cpu_set_t set;
	size_t i, n = 0;
	int rc = 0;

	(void)proc_read_cpus(all->rings->root, "sys/devices/system/node/online", &nodes, &n);
	for (i = 0; i < n && rc == 0; i++) {
		(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist",
		        (int)nodes[i]);
		if (!proc_read_line(all->rings->root, path, line, sizeof(line)) ||
		        !parse_mask(line, strlen(line), &set)) {
			continue;
		}
		s = add_stream(all);
		if (s == NULL) {
			rc = error_nomem(all->rings->err);
		} else if (take_rings(all, s, &set) == 0) {
			free(s->rings);
			all->n--;
		}
	}
	free(nodes);
	return rc < 0 || all->n > 0 ? rc : plan_by_file(all, "package_cpus_list");
}

static int bad_spec(struct capture_streams *all, const char *why)
{
	return error_set(all->rings->err, SONDE_EARG, NO_OFFSET,
	        "--threads wants cpu, core, package, numa or CPUS/AFFINITY:CPUS/AFFINITY..., not "
	        "'%s': %s",
	        all->rings->plan->options->output.threads, why);
}

static int plan_by_masks(struct capture_streams *all)
{
	const char *p = all->rings->plan->options->output.threads;
	struct capture_stream *s;
	cpu_set_t set, affinity, seen;
	size_t n, cpus;

	CPU_ZERO(&seen);
	for (;; p += n + 1) {
		n = strcspn(p, ":");
		cpus = strcspn(p, "/:");
		if (!parse_mask(p, cpus, &set) || cpus + 1 >= n ||
		        !parse_mask(p + cpus + 1, n - cpus - 1, &affinity)) {
			return bad_spec(all, "a list of cpus is missing or is none");
		}
		s = add_stream(all);
		if (s == NULL) {
			return error_nomem(all->rings->err);
		}
		if (take_rings(all, s, &set) == 0) {
			return bad_spec(all, "none of these cpus is recorded");
		}
		s->affinity = affinity;
		s->has_affinity = true;
		CPU_AND(&affinity, &seen, &set);
		if (CPU_COUNT(&affinity) != 0) {
			return bad_spec(all, "a cpu stands in two lists");
		}
		CPU_OR(&seen, &seen, &set);
		if (p[n] == '\0') {
			return 0;
		}
	}
}

/* Rings of cpus that no list has would fill up and lose records. */
static int check_all_read(struct capture_streams *all)
{
	size_t i, k, n = 0;

	for (i = 0; i < all->n; i++) {
		for (k = 0; k < all->v[i].nrings; k++) {
			n += all->rings->v[all->v[i].rings[k]].page != NULL;
		}
	}
	for (i = 0, k = 0; i < all->rings->n; i++) {
		k += all->rings->v[i].page != NULL;
	}
	return n >= k ? 0
	              : bad_spec(all,
	                        "a cpu that is recorded stands in no list; leave it out with -C");
}

int capture_streams_plan(struct capture_streams *all, const struct capture_rings *rings)
{
	static const struct {
		const char *name, *file;
	} layouts[] = {{"", ""}, {"cpu", ""}, {"core", "thread_siblings_list"},
	        {"package", "package_cpus_list"}};
	const char *spec = rings->plan->options->output.threads;
	size_t i;

	all->rings = rings;
	if (spec == NULL) {
		return 0;
	}
	if (all->rings->plan->per_thread) {
		struct capture_stream *s = add_stream(all);
		cpu_set_t none;

		CPU_ZERO(&none);
		if (s == NULL) {
			return error_nomem(all->rings->err);
		}
		(void)take_rings(all, s, &none);
		return 0;
	}
	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (strcmp(spec, layouts[i].name) == 0) {
			return plan_by_file(all, layouts[i].file);
		}
	}
	TRY(strcmp(spec, "numa") == 0 ? plan_by_node(all) : plan_by_masks(all));
	return check_all_read(all);
}

/* ---- the threads ---- */

/* Reports once that all files together have reached their limit. */
static void check_size(struct capture_stream *s)
{
	struct capture_streams *all = s->all;
	uint64_t most = all->rings->plan->options->output.max_bytes;

	__atomic_store_n(&s->written, s->writer.data_size, __ATOMIC_RELAXED);
	if (most != 0 && !s->told_full && all->before + capture_streams_written(all) >= most) {
		host_wake(all->news_fd);
		s->told_full = true;
	}
}

static int stream_pass(struct capture_stream *s)
{
	const struct capture_rings *r = s->all->rings;
	struct iovec iov[2];
	size_t i;
	int n;

	for (i = 0; i < s->nrings; i++) {
		struct capture_ring *ring = &r->v[s->rings[i]];

		if (ring->page == NULL || ring->backward || !capture_ring_look(ring)) {
			continue;
		}
		n = capture_ring_pieces(ring, iov);
		TRY(capture_lane_kernel(&s->lane, iov, n, &s->error));
		capture_ring_release(ring);
	}
	TRY(capture_lane_mark(&s->lane, &s->error));
	check_size(s);
	return 0;
}

static int stream_loop(struct capture_stream *s, struct pollfd *fds)
{
	const struct capture_rings *r = s->all->rings;
	bool left;
	size_t i;

	for (;;) {
		if (r->kernel->poll(fds, s->nrings + 1, -1) < 0) {
			if (errno != EINTR) {
				return error_errno(&s->error, SONDE_EIO, errno, "poll failed");
			}
			continue;
		}
		s->wakeups++;
		TRY(stream_pass(s));
		if (fds[s->nrings].revents != 0) {
			return stream_pass(s);
		}
		for (i = 0, left = false; i < s->nrings; i++) {
			if (fds[i].fd >= 0 && (fds[i].revents & (POLLHUP | POLLERR)) != 0 &&
			        (fds[i].revents & POLLIN) == 0) {
				fds[i].fd = capture_next_poll(r, s->rings[i], fds[i].fd);
			}
			left |= fds[i].fd >= 0;
		}
		if (!left && !s->told_over) {
			(void)__atomic_add_fetch(&s->all->over, 1, __ATOMIC_RELAXED);
			s->told_over = true;
			host_wake(s->all->news_fd);
		}
	}
}

static void *stream_run(void *arg)
{
	struct capture_stream *s = arg;
	struct pollfd *fds = calloc(s->nrings + 1, sizeof(*fds));
	size_t i;

	if (fds == NULL) {
		s->rc = error_nomem(&s->error);
		return NULL;
	}
	if (s->has_affinity) {
		(void)sched_setaffinity(0, sizeof(s->affinity), &s->affinity);
	}
	for (i = 0; i < s->nrings; i++) {
		fds[i] = s->all->rings->polls[s->rings[i]];
	}
	fds[s->nrings] = (struct pollfd){.fd = s->all->stop_fd, .events = POLLIN};
	s->rc = stream_loop(s, fds);
	free(fds);
	if (s->rc < 0) {
		host_wake(s->all->failed_fd);
	}
	return NULL;
}

static int start_one(struct capture_streams *all, const char *folder, size_t i)
{
	const struct capture_rings *r = all->rings;
	struct capture_stream *s = &all->v[i];
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/data.%zu", folder, i);
	s->fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	if (s->fd < 0) {
		return error_errno(r->err, SONDE_EIO, errno, "cannot create '%s'", path);
	}
	s->writer = (struct file_writer){.fd = s->fd};
	TRY(capture_lane_open(&s->lane, &s->writer, r->plan->options->output.compress, 0, r->err));
	if (pthread_create(&s->thread, NULL, stream_run, s) != 0) {
		return error_set(r->err, SONDE_ELIMIT, NO_OFFSET,
		        "cannot start a thread for '%s'; see 'ulimit -u'", path);
	}
	s->running = true;
	return 0;
}

int capture_streams_start(
        struct capture_streams *all, const char *folder, uint64_t before, int failed_fd)
{
	size_t i;

	if (all->v == NULL) {
		return 0;
	}
	all->stop_fd = host_wake_open();
	all->news_fd = host_wake_open();
	if (all->stop_fd < 0 || all->news_fd < 0) {
		return error_set(all->rings->err, SONDE_ELIMIT, NO_OFFSET, "too many open files");
	}
	all->before = before;
	all->failed_fd = failed_fd;
	for (i = 0; i < all->n; i++) {
		all->v[i].all = all;
		TRY(start_one(all, folder, i));
	}
	return 0;
}

int capture_streams_stop(struct capture_streams *all, uint64_t *wakeups)
{
	size_t i;

	host_wake(all->stop_fd);
	for (i = 0; i < all->n; i++) {
		if (all->v[i].running) {
			(void)pthread_join(all->v[i].thread, NULL);
			all->v[i].running = false;
			*wakeups += all->v[i].wakeups;
		}
	}
	for (i = 0; i < all->n; i++) {
		if (all->v[i].rc < 0) {
			(void)error_take(all->rings->err, error_show(&all->v[i].error));
			return all->v[i].rc;
		}
	}
	return 0;
}

int capture_streams_finish(struct capture_streams *all, struct sonde_recorder_result *result)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		struct capture_stream *s = &all->v[i];

		if (s->lane.writer != NULL) {
			TRY(capture_lane_drain(&s->lane, all->rings->err));
			capture_lane_counts(&s->lane, &result->unpacked, &result->packed);
			result->bytes += s->writer.data_size;
		}
	}
	return 0;
}

void capture_streams_salvage(struct capture_streams *all, struct sonde_recorder_result *result)
{
	struct error ignored = {0};
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (all->v[i].lane.writer != NULL) {
			(void)file_writer_trim(&all->v[i].writer, false, &ignored);
			result->bytes += all->v[i].writer.data_size;
		}
	}
}

uint64_t capture_streams_written(const struct capture_streams *all)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < all->n; i++) {
		n += __atomic_load_n(&all->v[i].written, __ATOMIC_RELAXED);
	}
	return n;
}

void capture_streams_free(struct capture_streams *all)
{
	uint64_t ignored = 0;
	size_t i;

	(void)capture_streams_stop(all, &ignored);
	for (i = 0; i < all->n; i++) {
		capture_lane_close(&all->v[i].lane);
		if (all->v[i].fd >= 0) {
			(void)close(all->v[i].fd);
		}
		free(all->v[i].rings);
	}
	if (all->stop_fd >= 0) {
		(void)close(all->stop_fd);
	}
	if (all->news_fd >= 0) {
		(void)close(all->news_fd);
	}
	free(all->v);
	*all = CAPTURE_NO_STREAMS;
}
