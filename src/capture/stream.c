/* SPDX-License-Identifier: MIT */
/*
 * Each thread has its rings, its file and, with -z, its own compressed stream. Nothing is shared
 * but the descriptor that says stop, the one that says that the main thread is to have a look, and
 * how much each has written.
 */
#define _GNU_SOURCE
#include "capture/stream.h"

#include "capture/capture.h"
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
	struct sonde_record *r;
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

/* ---- which thread reads what ---- */

/* A list such as "0,2-4" to a set; false when it is none. n: its length. */
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

static struct capture_stream *add_stream(struct sonde_record *r)
{
	struct capture_stream *s = realloc(r->streams, (r->nstreams + 1) * sizeof(*r->streams));

	if (s == NULL) {
		return NULL;
	}
	r->streams = s;
	s = &r->streams[r->nstreams];
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->rings = calloc(r->rings.n, sizeof(*s->rings));
	if (s->rings == NULL) {
		return NULL;
	}
	r->nstreams++;
	return s;
}

/* Gives a stream the rings of the cpus in the set; 0 when there are none. */
static size_t take_rings(struct sonde_record *r, struct capture_stream *s, const cpu_set_t *set)
{
	size_t i;

	for (i = 0; i < r->rings.n; i++) {
		if (r->plan.per_thread ||
		        CPU_ISSET((size_t)r->rings.cpus[i % (r->rings.n / 2)], set)) {
			s->rings[s->nrings++] = i;
		}
	}
	return s->nrings;
}

/* One stream for each different list of cpus that a topology file names. */
static int plan_by_file(struct sonde_record *r, const char *name)
{
	char path[MASK_ROOM], line[MASK_ROOM];
	struct capture_stream *s;
	cpu_set_t done, set;
	size_t i;

	CPU_ZERO(&done);
	for (i = 0; i < r->rings.ncpus; i++) {
		if (CPU_ISSET((size_t)r->rings.cpus[i], &done)) {
			continue;
		}
		CPU_ZERO(&set);
		(void)snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/%s",
		        (int)r->rings.cpus[i], name);
		if (name[0] == '\0' || !proc_read_line(r->root_fd, path, line, sizeof(line)) ||
		        !parse_mask(line, strlen(line), &set)) {
			CPU_SET((size_t)r->rings.cpus[i], &set);
		}
		CPU_OR(&done, &done, &set);
		s = add_stream(r);
		if (s == NULL) {
			return error_nomem(&r->error);
		}
		(void)take_rings(r, s, &set);
	}
	return 0;
}

/* Nodes may have numbers with gaps between them, and no cpu. */
static int plan_by_node(struct sonde_record *r)
{
	char path[MASK_ROOM], line[MASK_ROOM];
	struct capture_stream *s;
	pid_t *nodes = NULL;
	cpu_set_t set;
	size_t i, n = 0;
	int rc = 0;

	(void)proc_read_cpus(r->root_fd, "sys/devices/system/node/online", &nodes, &n);
	for (i = 0; i < n && rc == 0; i++) {
		(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist",
		        (int)nodes[i]);
		if (!proc_read_line(r->root_fd, path, line, sizeof(line)) ||
		        !parse_mask(line, strlen(line), &set)) {
			continue;
		}
		s = add_stream(r);
		if (s == NULL) {
			rc = error_nomem(&r->error);
		} else if (take_rings(r, s, &set) == 0) {
			free(s->rings);
			r->nstreams--;
		}
	}
	free(nodes);
	return rc < 0 || r->nstreams > 0 ? rc : plan_by_file(r, "package_cpus_list");
}

static int bad_spec(struct sonde_record *r, const char *why)
{
	return error_set(&r->error, SONDE_EARG, NO_OFFSET,
	        "--threads wants cpu, core, package, numa or CPUS/AFFINITY:CPUS/AFFINITY..., not "
	        "'%s': %s",
	        r->options.threads, why);
}

static int plan_by_masks(struct sonde_record *r)
{
	const char *p = r->options.threads;
	struct capture_stream *s;
	cpu_set_t set, affinity, seen;
	size_t n, cpus;

	CPU_ZERO(&seen);
	for (;; p += n + 1) {
		n = strcspn(p, ":");
		cpus = strcspn(p, "/:");
		if (!parse_mask(p, cpus, &set) || cpus + 1 >= n ||
		        !parse_mask(p + cpus + 1, n - cpus - 1, &affinity)) {
			return bad_spec(r, "a list of cpus is missing or is none");
		}
		s = add_stream(r);
		if (s == NULL) {
			return error_nomem(&r->error);
		}
		if (take_rings(r, s, &set) == 0) {
			return bad_spec(r, "none of these cpus is recorded");
		}
		s->affinity = affinity;
		s->has_affinity = true;
		CPU_AND(&affinity, &seen, &set);
		if (CPU_COUNT(&affinity) != 0) {
			return bad_spec(r, "a cpu stands in two lists");
		}
		CPU_OR(&seen, &seen, &set);
		if (p[n] == '\0') {
			return 0;
		}
	}
}

/* Rings of cpus that no list names: they would fill and lose. */
static int check_all_read(struct sonde_record *r)
{
	size_t i, k, n = 0;

	for (i = 0; i < r->nstreams; i++) {
		for (k = 0; k < r->streams[i].nrings; k++) {
			n += r->rings.v[r->streams[i].rings[k]].page != NULL;
		}
	}
	for (i = 0, k = 0; i < r->rings.n; i++) {
		k += r->rings.v[i].page != NULL;
	}
	return n >= k ? 0
	              : bad_spec(r,
	                        "a cpu that is recorded stands in no list; leave it out with -C");
}

int capture_streams_plan(struct sonde_record *r)
{
	static const struct {
		const char *name, *file;
	} layouts[] = {{"", ""}, {"cpu", ""}, {"core", "thread_siblings_list"},
	        {"package", "package_cpus_list"}};
	const char *spec = r->options.threads;
	size_t i;

	if (spec == NULL) {
		return 0;
	}
	if (r->plan.per_thread) {
		struct capture_stream *s = add_stream(r);
		cpu_set_t all;

		CPU_ZERO(&all);
		if (s == NULL) {
			return error_nomem(&r->error);
		}
		(void)take_rings(r, s, &all);
		return 0;
	}
	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (strcmp(spec, layouts[i].name) == 0) {
			return plan_by_file(r, layouts[i].file);
		}
	}
	TRY(strcmp(spec, "numa") == 0 ? plan_by_node(r) : plan_by_masks(r));
	return check_all_read(r);
}

/* ---- the threads ---- */

/* Says once that files have grown to what they may have together. */
static void check_size(struct capture_stream *s)
{
	struct sonde_record *r = s->r;
	uint64_t most = r->options.max_bytes;

	__atomic_store_n(&s->written, s->writer.data_size, __ATOMIC_RELAXED);
	if (most != 0 && !s->told_full && r->streams_before + capture_streams_written(r) >= most) {
		capture_wake(r->streams_news_fd);
		s->told_full = true;
	}
}

static int stream_pass(struct capture_stream *s)
{
	struct sonde_record *r = s->r;
	struct iovec iov[2];
	size_t i;
	int n;

	for (i = 0; i < s->nrings; i++) {
		struct capture_ring *ring = &r->rings.v[s->rings[i]];

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
	struct sonde_record *r = s->r;
	bool left;
	size_t i;

	for (;;) {
		if (r->kernel->poll(fds, s->nrings + 1, -1) < 0) {
			if (errno != EINTR) {
				return error_set(&s->error, SONDE_EIO, NO_OFFSET, "poll failed: %s",
				        strerror(errno));
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
				fds[i].fd = capture_next_poll(&r->rings, s->rings[i], fds[i].fd);
			}
			left |= fds[i].fd >= 0;
		}
		if (!left && !s->told_over) {
			(void)__atomic_add_fetch(&r->streams_over, 1, __ATOMIC_RELAXED);
			s->told_over = true;
			capture_wake(r->streams_news_fd);
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
		fds[i] = s->r->rings.polls[s->rings[i]];
	}
	fds[s->nrings] = (struct pollfd){.fd = s->r->streams_stop_fd, .events = POLLIN};
	s->rc = stream_loop(s, fds);
	free(fds);
	if (s->rc < 0) {
		capture_wake(s->r->stop.fd);
	}
	return NULL;
}

static int start_one(struct sonde_record *r, size_t i)
{
	struct capture_stream *s = &r->streams[i];
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/data.%zu", r->out_name, i);
	s->fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	if (s->fd < 0) {
		return error_set(&r->error, SONDE_EIO, NO_OFFSET, "cannot create '%s': %s", path,
		        strerror(errno));
	}
	s->writer = (struct file_writer){.fd = s->fd};
	TRY(capture_lane_open(&s->lane, &s->writer, r->options.compress, 0, &r->error));
	if (pthread_create(&s->thread, NULL, stream_run, s) != 0) {
		return error_set(&r->error, SONDE_ELIMIT, NO_OFFSET,
		        "cannot start a thread for '%s'; see 'ulimit -u'", path);
	}
	s->running = true;
	return 0;
}

int capture_streams_start(struct sonde_record *r)
{
	size_t i;

	if (r->streams == NULL) {
		return 0;
	}
	r->streams_stop_fd = capture_wake_open();
	r->streams_news_fd = capture_wake_open();
	if (r->streams_stop_fd < 0 || r->streams_news_fd < 0) {
		return error_set(&r->error, SONDE_ELIMIT, NO_OFFSET, "too many open files");
	}
	r->streams_before = capture_lane_written(&r->output.lane);
	for (i = 0; i < r->nstreams; i++) {
		r->streams[i].r = r;
		TRY(start_one(r, i));
	}
	return 0;
}

int capture_streams_stop(struct sonde_record *r)
{
	size_t i;
	int rc = 0;

	if (r->streams == NULL) {
		return 0;
	}
	capture_wake(r->streams_stop_fd);
	for (i = 0; i < r->nstreams; i++) {
		if (!r->streams[i].running) {
			continue;
		}
		(void)pthread_join(r->streams[i].thread, NULL);
		r->streams[i].running = false;
		r->result.wakeups += r->streams[i].wakeups;
	}
	for (i = 0; rc == 0 && i < r->nstreams; i++) {
		if (r->streams[i].rc < 0) {
			r->error = r->streams[i].error;
			rc = r->streams[i].rc;
		}
	}
	return rc;
}

int capture_streams_finish(struct sonde_record *r)
{
	size_t i;

	for (i = 0; i < r->nstreams; i++) {
		if (r->streams[i].lane.writer != NULL) {
			TRY(capture_lane_drain(&r->streams[i].lane, &r->error));
			capture_lane_counts(
			        &r->streams[i].lane, &r->result.unpacked, &r->result.packed);
			r->result.bytes += r->streams[i].writer.data_size;
		}
	}
	return 0;
}

void capture_streams_salvage(struct sonde_record *r)
{
	struct error ignored = {0};
	size_t i;

	for (i = 0; i < r->nstreams; i++) {
		if (r->streams[i].lane.writer != NULL) {
			(void)file_writer_trim(&r->streams[i].writer, false, &ignored);
			r->result.bytes += r->streams[i].writer.data_size;
		}
	}
}

/* While threads run this is a glance. */
uint64_t capture_streams_written(const struct sonde_record *r)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < r->nstreams; i++) {
		n += __atomic_load_n(&r->streams[i].written, __ATOMIC_RELAXED);
	}
	return n;
}

void capture_streams_free(struct sonde_record *r)
{
	size_t i;

	(void)capture_streams_stop(r);
	for (i = 0; i < r->nstreams; i++) {
		capture_lane_close(&r->streams[i].lane);
		if (r->streams[i].fd >= 0) {
			(void)close(r->streams[i].fd);
		}
		free(r->streams[i].rings);
	}
	if (r->streams_stop_fd >= 0) {
		(void)close(r->streams_stop_fd);
	}
	if (r->streams_news_fd >= 0) {
		(void)close(r->streams_news_fd);
	}
	free(r->streams);
	r->streams = NULL;
	r->nstreams = 0;
}
