/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/capture.h"
#include "core/span.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void capture_say(struct sonde_record *r, enum sonde_record_message kind, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (r->options.message == NULL) {
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->options.message(r->options.message_arg, kind, text);
}

uint64_t capture_now_ns(int clock)
{
	struct timespec ts = {0};

	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

struct sonde_record *sonde_record_new(const struct sonde_record_options *options)
{
	struct sonde_record *r = calloc(1, sizeof(*r));

	if (r == NULL) {
		return NULL;
	}
	memcpy(&r->options, options,
	        options->size < sizeof(r->options) ? options->size : sizeof(r->options));
	r->kernel = capture_kernel_linux();
	r->result = (struct sonde_record_result){.size = sizeof(r->result), .workload_status = -1};
	r->root_fd = proc_root_open("/");
	r->go_fd = r->exec_fd = r->out_fd = -1;
	r->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->snapshot_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->out_name = strdup(r->options.output != NULL ? r->options.output : "perf.data");
	if (r->out_name == NULL || r->stop_fd < 0 || r->snapshot_fd < 0 || r->root_fd < 0) {
		sonde_record_free(r);
		return NULL;
	}
	return r;
}

static void close_fd(int *fd)
{
	if (*fd >= 0) {
		(void)close(*fd);
	}
	*fd = -1;
}

void sonde_record_free(struct sonde_record *r)
{
	if (r == NULL) {
		return;
	}
	close_fd(&r->go_fd); /* a workload that waits ends at this */
	if (r->child > 0) {
		(void)waitpid(r->child, NULL, 0);
	}
	(void)capture_close(r);
	close_fd(&r->exec_fd);
	close_fd(&r->out_fd);
	close_fd(&r->stop_fd);
	close_fd(&r->snapshot_fd);
	close_fd(&r->root_fd);
	capture_cgroups_close(r);
	event_list_fini(&r->events);
	free(r->planned);
	free(r->cpus);
	free(r->pids);
	free(r->owners);
	free(r->threads);
	free(r->out_name);
	free(r);
}

static void raise_event(int fd)
{
	uint64_t one = 1;
	int kept = errno;

	if (write(fd, &one, sizeof(one)) < 0) {
		/* the counter is full: it was raised already */
	}
	errno = kept;
}

void sonde_record_stop(struct sonde_record *r)
{
	raise_event(r->stop_fd);
}

void sonde_record_snapshot(struct sonde_record *r)
{
	raise_event(r->snapshot_fd);
}

const struct sonde_error *sonde_record_error(struct sonde_record *r)
{
	r->public_error = (struct sonde_error){
	        .status = r->error.status, .offset = r->error.offset, .text = r->error.text};
	return &r->public_error;
}

const struct sonde_record_result *sonde_record_get_result(struct sonde_record *r)
{
	return &r->result;
}

static int open_output(struct sonde_record *r)
{
	char name[4096];
	struct stat st;

	if (stat(r->out_name, &st) == 0 &&
	        (r->options.kcore ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode) && st.st_size > 0)) {
		(void)snprintf(name, sizeof(name), "%s.old", r->out_name);
		if (rename(r->out_name, name) != 0) {
			return error_set(&r->error, SONDE_EIO, NO_OFFSET,
			        "cannot rename '%s' to '%s': %s", r->out_name, name,
			        strerror(errno));
		}
	}
	if (r->options.kcore && mkdir(r->out_name, 0700) != 0) {
		return error_set(&r->error, SONDE_EIO, NO_OFFSET, "cannot make the folder '%s': %s",
		        r->out_name, strerror(errno));
	}
	(void)snprintf(name, sizeof(name), "%s%s", r->out_name, r->options.kcore ? "/data" : "");
	r->out_fd = open(name, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	if (r->out_fd < 0) {
		return error_set(&r->error, SONDE_EIO, NO_OFFSET, "cannot create '%s': %s", name,
		        strerror(errno));
	}
	return capture_kcore_copy(r, r->out_name);
}

static int start_file(struct sonde_record *r)
{
	struct file_writer_event *list = calloc(r->events.n, sizeof(*list));
	size_t i;
	int rc;

	if (list == NULL) {
		return error_nomem(&r->error);
	}
	for (i = 0; i < r->events.n; i++) {
		list[i] = (struct file_writer_event){.attr = &r->events.v[i].attr,
		        .ids = r->opened[i].ids,
		        .nids = r->opened[i].nids};
	}
	rc = file_writer_start(&r->writer, r->out_fd, list, r->events.n, &r->error);
	free(list);
	return rc;
}

/* Ends of processes show up in poll where the kernel has pidfds (5.3), else by asking now and then.
 */
static int watch_process(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0u);
}

static int enable_all(struct sonde_record *r)
{
	size_t e, i;

	r->aux.running = true;
	for (e = 0; e < r->events.n; e++) {
		if (sonde_attr_has(&r->events.v[e].attr, SONDE_FLAG_ENABLE_ON_EXEC)) {
			continue;
		}
		for (i = 0; i < r->ncpus * r->nthreads; i++) {
			if (r->opened[e].fds[i] >= 0 &&
			        r->kernel->enable(r->opened[e].fds[i], true) < 0) {
				return error_set(&r->error, SONDE_EIO, NO_OFFSET,
				        "cannot enable '%s': %s", r->events.v[e].name,
				        strerror(errno));
			}
		}
	}
	return 0;
}

int sonde_record_start(struct sonde_record *r)
{
	capture_choose(r);
	TRY(capture_plan(r));
	if (r->options.workload != NULL) {
		TRY(capture_fork(r));
	}
	TRY(capture_find_targets(r));
	TRY(capture_open(r));
	TRY(open_output(r));
	TRY(start_file(r));
	r->clock_wall_ns = capture_now_ns(CLOCK_REALTIME);
	r->clock_ns = r->options.use_clockid ? capture_now_ns(r->options.clockid) : 0;
	TRY(capture_synth(r));
	TRY(enable_all(r));
	if (r->child > 0) {
		TRY(capture_go(r));
	}
	return 0;
}

/*
 * All heads are looked at before anything is read. So what a pass leaves in a ring was written
 * after the pass began, and a FINISHED_ROUND holds: later rounds have nothing older than what was
 * seen one round before.
 */
int capture_pass(struct sonde_record *r)
{
	uint8_t round[RECORD_HEADER_SIZE] = {0};
	struct iovec iov[2];
	bool any = false;
	size_t i;
	int n;

	for (i = 0; i < r->nrings; i++) {
		if (r->rings[i].page != NULL) {
			any |= capture_ring_look(&r->rings[i]);
		}
	}
	any |= capture_aux_look(r);
	if (!any) {
		return 0;
	}
	for (i = 0; i < r->nrings; i++) {
		n = r->rings[i].page != NULL ? capture_ring_pieces(&r->rings[i], iov) : 0;
		if (n > 0) {
			TRY(file_writer_append(&r->writer, iov, n, &r->error));
			capture_ring_release(&r->rings[i]);
		}
		TRY(capture_aux_pass(r, i));
	}
	store_u32(round, RECORD_FINISHED_ROUND, false);
	store_u16(round + 6, RECORD_HEADER_SIZE, false);
	iov[0] = (struct iovec){.iov_base = round, .iov_len = sizeof(round)};
	TRY(file_writer_append(&r->writer, iov, 1, &r->error));
	/* should this process be killed, perf too reads all that is written */
	TRY(file_writer_mark(&r->writer, &r->error));
	return 1;
}

/* What the loop listens to before the rings. */
enum { WATCH_STOP, WATCH_WORKLOAD, WATCH_SNAPSHOT, WATCHES };

/* A ring whose tasks all ended only ever says POLLHUP: stop listening to it. True when none is
 * left.
 */
static bool all_hung_up(struct sonde_record *r, struct pollfd *fds)
{
	bool left = false;
	size_t i;

	for (i = 0; i < r->nrings; i++) {
		if (fds[i].fd >= 0 && (fds[i].revents & (POLLHUP | POLLERR)) != 0 &&
		        (fds[i].revents & POLLIN) == 0) {
			fds[i].fd = capture_next_poll(r, i, fds[i].fd);
		}
		left |= fds[i].fd >= 0;
	}
	return !left;
}

static int answer_snapshot(struct sonde_record *r, const struct pollfd *asked)
{
	uint64_t times;

	if ((asked->revents & POLLIN) == 0 || read(asked->fd, &times, sizeof(times)) < 0) {
		return 0;
	}
	return capture_aux_snapshot(r);
}

static int loop(struct sonde_record *r, struct pollfd *fds)
{
	bool blind = fds[WATCH_WORKLOAD].fd < 0 && r->child > 0;
	bool gone;
	int rc;

	for (;;) {
		rc = r->kernel->poll(fds, WATCHES + r->nrings, blind ? 50 : -1);
		if (rc < 0 && errno != EINTR) {
			return error_set(&r->error, SONDE_EIO, NO_OFFSET, "poll failed: %s",
			        strerror(errno));
		}
		if (rc < 0) {
			continue;
		}
		r->result.wakeups++;
		TRY(answer_snapshot(r, &fds[WATCH_SNAPSHOT]));
		TRY(capture_pass(r));
		if (fds[WATCH_STOP].revents != 0 || fds[WATCH_WORKLOAD].revents != 0) {
			return 0;
		}
		if (blind && waitpid(r->child, &r->result.workload_status, WNOHANG) > 0) {
			r->child = 0;
			return 0;
		}
		gone = all_hung_up(r, fds + WATCHES);
		if (gone && r->child == 0) {
			return 0;
		}
	}
}

static int run_loop(struct sonde_record *r)
{
	struct pollfd *fds = calloc(WATCHES + r->nrings, sizeof(*fds));
	int rc;

	if (fds == NULL) {
		return error_nomem(&r->error);
	}
	fds[WATCH_STOP] = (struct pollfd){.fd = r->stop_fd, .events = POLLIN};
	fds[WATCH_WORKLOAD] = (struct pollfd){
	        .fd = r->child > 0 ? watch_process(r->child) : -1, .events = POLLIN};
	fds[WATCH_SNAPSHOT] = (struct pollfd){.fd = r->snapshot_fd, .events = POLLIN};
	memcpy(fds + WATCHES, r->polls, r->nrings * sizeof(*fds));
	rc = loop(r, fds);
	close_fd(&fds[WATCH_WORKLOAD].fd);
	free(fds);
	return rc;
}

static void disable_all(struct sonde_record *r)
{
	size_t e, i;

	r->aux.running = false;
	for (e = 0; e < r->events.n; e++) {
		for (i = 0; i < r->ncpus * r->nthreads; i++) {
			if (r->opened[e].fds[i] >= 0) {
				(void)r->kernel->enable(r->opened[e].fds[i], false);
			}
		}
	}
}

int capture_finish(struct sonde_record *r)
{
	struct file_writer_feature features[CAPTURE_FEATURES_MAX];
	struct capture_scan scan = {0};
	size_t i, n;
	int rc;

	TRY(capture_lost(r));
	TRY(file_writer_mark(&r->writer, &r->error));
	TRY(capture_scan_file(r, &scan));
	n = capture_features(r, &scan, features);
	rc = file_writer_finish(&r->writer, features, n, &r->error);
	for (i = 0; i < n; i++) {
		text_fini(&features[i].bytes);
	}
	text_fini(&scan.build_ids);
	r->result.samples = scan.samples;
	r->result.lost = scan.lost;
	r->result.bytes = r->writer.data_size;
	return rc;
}

int sonde_record_run(struct sonde_record *r)
{
	int rc = run_loop(r);

	if (r->child > 0) {
		if (rc < 0 || waitpid(r->child, &r->result.workload_status, WNOHANG) == 0) {
			(void)kill(r->child,
			        SIGTERM); /* stopped by the user: perf ends its workload too */
			(void)waitpid(r->child, &r->result.workload_status, 0);
		}
		r->child = 0;
	}
	TRY(rc);
	disable_all(r);
	if (r->options.snapshot_on_exit) {
		TRY(capture_aux_snapshot(r));
	}
	TRY(capture_pass(r));
	return capture_finish(r);
}
