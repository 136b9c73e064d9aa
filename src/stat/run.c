/* SPDX-License-Identifier: MIT */
/* The run: a workload that waits until all events are open, intervals, repeats, and printing. */
#define _GNU_SOURCE
#include "stat/stat.h"

#include "core/array.h"
#include "core/fd.h"
#include "core/options.h"
#include "host/wait.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS   1000000ull
#define NEVER       UINT64_MAX
#define NO_PIDFD_MS 50 /* interval for checking a workload if the kernel has no pidfds */
#define TARGETS_MS  200 /* interval for checking whether targets still run */
#define LONG_MS     3600000 /* nothing to check */

struct sonde_stat *stat_new_with(
        const struct sonde_stat_options *options, const struct host_kernel *kernel, int root)
{
	struct sonde_stat *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		(void)close(root);
		return NULL;
	}
	s->misused = options_copy(&s->options, sizeof(s->options), options, &s->error) < 0;
	s->kernel = kernel;
	s->root_fd = root;
	s->workload = HOST_NO_WORKLOAD;
	s->workload_status = -1;
	s->stop_fd = host_wake_open();
	s->set.by = s->options.by;
	s->set.scale = !s->options.no_scale;
	s->printer.format = s->options.format;
	s->printer.separator = s->options.separator != NULL ? s->options.separator : ",";
	s->printer.thousands = s->options.thousands;
	s->printer.metrics_only = s->options.metrics_only;
	s->printer.headers = s->options.interval_headers;
	s->by_cpu = s->options.pids == NULL && s->options.tids == NULL &&
	            (s->options.all_cpus || s->options.cpus != NULL || s->options.workload == NULL);
	if (s->by_cpu && s->options.by == SONDE_STAT_BY_THREAD && s->options.cpus == NULL) {
		s->by_cpu = false;
		s->all_threads = s->set.counted_only = true;
	}
	return s;
}

struct sonde_stat *sonde_stat_new(const struct sonde_stat_options *options)
{
	return stat_new_with(options, host_kernel_linux(), proc_root_open("/"));
}

void sonde_stat_free(struct sonde_stat *s)
{
	if (s == NULL) {
		return;
	}
	host_workload_fini(&s->workload);
	stat_close(s);
	stat_writer_free(s->writer);
	fd_close(&s->stop_fd);
	fd_close(&s->root_fd);
	stat_set_fini(&s->set);
	stat_printer_fini(&s->printer);
	event_list_fini(&s->events);
	text_fini(&s->text);
	while (s->neach > 0) {
		free(s->each[--s->neach]);
	}
	free(s->each);
	free(s->walls);
	free(s);
}

void sonde_stat_stop(struct sonde_stat *s)
{
	host_wake(s->stop_fd);
}

int sonde_stat_workload_status(const struct sonde_stat *s)
{
	return s->workload_status;
}

const struct sonde_error *sonde_stat_error(const struct sonde_stat *s)
{
	return error_show(&s->error);
}

/* ---- printing ---- */

/* If the output fails, printing ends, but not the workload; the failure is reported at the end. */
static int flush(struct sonde_stat *s, sonde_write_fn write, void *arg)
{
	int rc;

	if (s->text.failed) {
		return error_nomem(&s->error);
	}
	rc = s->text.n > 0 && s->write_rc == 0 ? write(arg, s->text.p, s->text.n) : 0;
	s->text.n = 0;
	s->write_rc = rc < 0 ? status_of_output(rc) : s->write_rc;
	return 0;
}

static void put_title(struct sonde_stat *s)
{
	const struct sonde_stat_options *o = &s->options;
	struct text t = {0};
	size_t i;

	if (o->pids != NULL || o->tids != NULL) {
		text_printf(&t, "%s id '%s'", o->pids != NULL ? "process" : "thread",
		        o->pids != NULL ? o->pids : o->tids);
	} else if (o->cpus != NULL && !o->all_cpus) {
		text_printf(&t, "'CPU(s) %s'", o->cpus);
	} else if (s->by_cpu || s->all_threads) {
		text_str(&t, "'system wide'");
	} else {
		for (i = 0; o->workload != NULL && o->workload[i] != NULL; i++) {
			text_printf(&t, "%s%s", i == 0 ? "'" : " ", o->workload[i]);
		}
		text_char(&t, '\'');
	}
	text_char(&t, '\0');
	s->text.failed |= t.failed;
	stat_print_title(&s->printer, t.failed ? "" : t.p, (unsigned)s->wall.n, &s->text);
	text_fini(&t);
}

static int print_end(struct sonde_stat *s, sonde_write_fn write, void *arg)
{
	const struct sonde_stat_options *o = &s->options;
	bool mine = stat_owns_workload(s) && !o->forever, table = o->table && s->nwalls > 1;

	s->printer.intervals = false;
	s->printer.prefix = o->interval_ms != 0 && !o->no_csv_summary ? "summary" : NULL;
	s->printer.wall_ns = s->wall.mean;
	put_title(s);
	if (stat_print_rows(&s->printer, &s->set, &s->text) < 0) {
		return error_nomem(&s->error);
	}
	if (table) {
		stat_print_table(&s->printer, &s->wall, s->walls, s->nwalls, &s->text);
	} else {
		stat_print_times(&s->printer, &s->wall, mine ? s->usage : NULL, &s->text);
	}
	if (mine && s->wall.n < 2 && o->format == SONDE_STAT_TEXT) {
		text_char(&s->text, '\n');
	}
	return flush(s, write, arg);
}

/* If the recording fails it ends; counts are still printed. */
static void record_failed(struct sonde_stat *s, int rc)
{
	if (rc < 0) {
		s->record_rc = rc;
		stat_writer_free(s->writer);
		s->writer = NULL;
	}
}

static void record_round(struct sonde_stat *s, bool final, uint64_t time_ns)
{
	int rc;

	if (s->writer == NULL) {
		return;
	}
	rc = stat_writer_counts(s->writer, &s->error);
	rc = rc == 0 ? stat_writer_round(s->writer, final, time_ns, &s->error) : rc;
	record_failed(s, rc);
}

static int tell(struct sonde_stat *s, enum sonde_stat_moment moment)
{
	int rc = s->options.moment != NULL ? s->options.moment(s->options.moment_arg, moment) : 0;

	if (rc < 0 && error_status(&s->error) == 0) {
		return error_set(&s->error, rc, NO_OFFSET, "ended as asked for");
	}
	return rc < 0 ? rc : 0;
}

static int print_interval(struct sonde_stat *s, uint64_t *last, sonde_write_fn write, void *arg)
{
	size_t e, cells = s->set.ncpus * s->set.nthreads;
	uint64_t now;

	s->end_ns = host_now_ns(CLOCK_MONOTONIC);
	TRY(stat_read(s));
	now = s->end_ns - s->start_ns;
	s->printer.intervals = true;
	s->printer.stamp_ns = now;
	s->printer.wall_ns = (double)(now - *last);
	*last = now;
	record_round(s, false, now);
	TRY(tell(s, SONDE_STAT_INTERVAL));
	if (stat_print_rows(&s->printer, &s->set, &s->text) < 0) {
		return error_nomem(&s->error);
	}
	for (e = 0; e < s->set.nevents; e++) {
		memcpy(s->set.events[e].before, s->set.events[e].now,
		        cells * sizeof(struct stat_count));
	}
	return flush(s, write, arg);
}

/* ---- waiting ---- */

struct waiting {
	int child_fd; /* pidfd of the workload; -1: none */
	uint64_t end_ns, next_ns; /* of the run, of the interval; NEVER */
	uint64_t last_ns; /* end of the last interval, relative to the start */
	uint64_t intervals;
};

static bool targets_run(struct sonde_stat *s)
{
	char path[64];
	struct stat st;
	size_t i;

	for (i = 0; i < s->set.nthreads; i++) {
		(void)snprintf(path, sizeof(path), "proc/%d", (int)s->set.threads[i].tid);
		if (s->set.threads[i].tid <= 0 || proc_stat(s->root_fd, path, &st)) {
			return true;
		}
	}
	return false;
}

static bool child_ended(const struct sonde_stat *s)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)s->workload.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0;
}

/* Interval for checks of ends that no descriptor reports. */
static uint64_t ask_ns(const struct sonde_stat *s, const struct waiting *w)
{
	return NS_PER_MS * (s->workload.pid > 0 && w->child_fd < 0      ? NO_PIDFD_MS
	                           : s->workload.pid == 0 && !s->by_cpu ? TARGETS_MS
	                                                                : LONG_MS);
}

static bool ended_unseen(struct sonde_stat *s, const struct waiting *w)
{
	if (s->workload.pid > 0) {
		return w->child_fd < 0 && child_ended(s);
	}
	return !s->by_cpu && !targets_run(s);
}

/* Waits for an end, a command or a time; 1: it ended, 0: not yet; negative: failure. */
static int wait_for(struct sonde_stat *s, const struct waiting *w, uint64_t ns)
{
	const bool commands = s->options.has_control && !s->control.closed;
	const struct timespec t = {
	        .tv_sec = (time_t)(ns / 1000000000ull), .tv_nsec = (long)(ns % 1000000000ull)};
	struct pollfd fds[3] = {{.fd = s->stop_fd, .events = POLLIN},
	        {.fd = w->child_fd, .events = POLLIN},
	        {.fd = commands ? s->options.control_fd : -1, .events = POLLIN}};
	int rc = ppoll(fds, 3, &t, NULL);

	if (rc < 0) {
		return errno == EINTR ? 0 : error_errno(&s->error, SONDE_EIO, errno, "poll failed");
	}
	if (rc == 0) {
		return ended_unseen(s, w);
	}
	if (fds[0].revents != 0 || fds[1].revents != 0) {
		return 1;
	}
	return stat_control_read(s);
}

/* 1: the run has ended; 0: the interval has ended; negative: failure. */
static int wait_once(struct sonde_stat *s, struct waiting *w)
{
	for (;;) {
		uint64_t now = host_now_ns(CLOCK_MONOTONIC);
		uint64_t until = w->end_ns < w->next_ns ? w->end_ns : w->next_ns;
		uint64_t left = until > now ? until - now : 0;
		int rc;

		if (left == 0) {
			return w->end_ns <= now ? 1 : 0;
		}
		rc = wait_for(s, w, left < ask_ns(s, w) ? left : ask_ns(s, w));
		if (rc != 0) {
			return rc;
		}
	}
}

/* If the run ended for another reason, ends the workload. */
static void end_workload(struct sonde_stat *s)
{
	if (s->workload.pid > 0 && !child_ended(s)) {
		(void)kill(s->workload.pid, SIGTERM);
	}
}

/* Reaps the workload, and takes the times that it used. */
static void reap(struct sonde_stat *s)
{
	struct rusage usage = {0};

	if (s->workload.pid > 0 &&
	        wait4(s->workload.pid, &s->workload_status, 0, &usage) == s->workload.pid) {
		s->usage[0] = (uint64_t)usage.ru_utime.tv_sec * 1000000000ull +
		              (uint64_t)usage.ru_utime.tv_usec * 1000ull;
		s->usage[1] = (uint64_t)usage.ru_stime.tv_sec * 1000000000ull +
		              (uint64_t)usage.ru_stime.tv_usec * 1000ull;
	}
	s->workload.pid = 0;
}

static int add_time(struct sonde_stat *s, double ns)
{
	if (!array_reserve(&s->walls, &s->walls_cap, s->nwalls + 1, sizeof(*s->walls))) {
		return error_nomem(&s->error);
	}
	s->walls[s->nwalls++] = ns;
	stat_mean_add(&s->wall, ns);
	return 0;
}

static int wait_end(struct sonde_stat *s, sonde_write_fn write, void *arg)
{
	const struct sonde_stat_options *o = &s->options;
	const uint64_t step = o->interval_ms * NS_PER_MS;
	struct waiting w = {.child_fd = -1, .end_ns = NEVER, .next_ns = NEVER};
	int rc;

	if (s->workload.pid > 0) {
		w.child_fd = (int)syscall(SYS_pidfd_open, s->workload.pid, 0u);
	}
	w.end_ns = o->timeout_ms != 0 ? s->start_ns + o->timeout_ms * NS_PER_MS : NEVER;
	w.next_ns = step != 0 ? s->start_ns + step : NEVER;
	while ((rc = wait_once(s, &w)) == 0) {
		rc = print_interval(s, &w.last_ns, write, arg);
		if (rc < 0) {
			break;
		}
		while (w.next_ns <= host_now_ns(CLOCK_MONOTONIC)) {
			w.next_ns += step; /* skip intervals that were missed */
		}
		if (++w.intervals == o->interval_count) {
			w.next_ns = NEVER; /* as in perf, the workload continues without being
			                      counted */
			if (s->workload.pid == 0) {
				break;
			}
		}
	}
	end_workload(s);
	reap(s);
	if (s->workload_status != -1 && WIFSIGNALED(s->workload_status) && o->workload != NULL) {
		stat_say(s, SONDE_STAT_NOTE, "%s: %s", o->workload[0],
		        strsignal(WTERMSIG(s->workload_status)));
	}
	fd_close(&w.child_fd);
	TRY(rc);
	s->end_ns = host_now_ns(CLOCK_MONOTONIC);
	TRY(add_time(s, (double)(s->end_ns - s->start_ns)));
	if (o->interval_ms != 0 && (o->interval_count == 0 || w.intervals < o->interval_count)) {
		TRY(print_interval(s, &w.last_ns, write, arg)); /* the rest of the last interval */
	}
	return 0;
}

/* ---- runs ---- */

static int fork_workload(struct sonde_stat *s)
{
	const char *record = s->options.record;
	const struct host_workload_options options = {.argv = s->options.workload,
	        .no_stdout = record != NULL && strcmp(record, "-") == 0,
	        .files = s->soft_limit};

	return host_workload_fork(&s->workload, &options, &s->error);
}

static int delay(struct sonde_stat *s)
{
	struct pollfd fd = {.fd = s->stop_fd, .events = POLLIN};

	if (s->options.delay_ms == 0) {
		return 0;
	}
	stat_say(s, SONDE_STAT_NOTE, "Events disabled");
	if (s->options.delay_ms < 0) {
		return 1; /* they are not enabled again */
	}
	(void)poll(&fd, 1, (int)s->options.delay_ms);
	return 0;
}

static int start(struct sonde_stat *s)
{
	const struct sonde_stat_options *o = &s->options;
	bool on_exec = stat_owns_workload(s) && o->delay_ms == 0;
	int stays_off;

	if (o->delay_ms == 0 && !on_exec) {
		TRY(stat_enable(s, true));
	}
	s->start_ns = host_now_ns(CLOCK_MONOTONIC);
	if (s->workload.pid > 0) {
		TRY(host_workload_go(&s->workload, o->workload[0], &s->error));
	}
	stays_off = delay(s);
	if (o->delay_ms != 0 && !stays_off) {
		TRY(stat_switch(s, true));
		s->start_ns = host_now_ns(CLOCK_MONOTONIC);
	}
	return 0;
}

/* Returns the sum of an event over all cells in this run, for the mean and its error. */
static struct stat_count run_sum(const struct stat_set *set, const struct stat_event *event)
{
	size_t i, cells = set->ncpus * set->nthreads;
	struct stat_count sum = {0};

	for (i = 0; i < cells; i++) {
		sum.value += event->now[i].value - event->before[i].value;
		sum.enabled += event->now[i].enabled - event->before[i].enabled;
		sum.running += event->now[i].running - event->before[i].running;
	}
	return sum;
}

static double run_value(const struct stat_set *set, const struct stat_event *event)
{
	struct stat_count sum = run_sum(set, event);

	return set->scale && sum.running != 0
	               ? (double)sonde_counter_scale(sum.value, sum.enabled, sum.running)
	               : (double)sum.value;
}

static void add_run(struct sonde_stat *s)
{
	size_t e, k, cells = s->set.ncpus * s->set.nthreads;

	for (e = 0; e < s->set.nevents; e++) {
		struct stat_event *event = &s->set.events[e];
		double value = run_value(&s->set, event);

		for (k = e + 1; event->merged && k < s->set.nevents; k++) {
			value += s->set.events[k].row == e ? run_value(&s->set, &s->set.events[k])
			                                   : 0;
		}
		stat_mean_add(&event->runs, value);
	}
	for (e = 0; e < s->set.nevents; e++) {
		struct stat_event *event = &s->set.events[e];
		struct stat_count sum = run_sum(&s->set, event);

		if (s->options.repeat > 1) {
			memcpy(event->before, event->now, cells * sizeof(struct stat_count));
		}
		stat_say(s, SONDE_STAT_VERBOSE, "%s: %llu %llu %llu", event->name,
		        (unsigned long long)sum.value, (unsigned long long)sum.enabled,
		        (unsigned long long)sum.running);
	}
	s->set.nruns++;
}

static int run_once(struct sonde_stat *s, sonde_write_fn write, void *arg)
{
	uint64_t files;

	TRY(tell(s, SONDE_STAT_RUN_BEGINS));
	if (s->options.workload != NULL) {
		TRY(fork_workload(s));
	}
	if (s->options.raise_file_limit) {
		files = host_raise_file_limit();
		s->soft_limit = files != 0 ? files : s->soft_limit;
	}
	TRY(stat_targets(s));
	if (s->set.events != NULL && s->set.events[0].now == NULL && stat_set_alloc(&s->set) < 0) {
		return error_nomem(&s->error);
	}
	TRY(stat_open(s));
	if (s->options.record != NULL) {
		TRY(stat_writer_open(&s->writer, s->options.record, &s->set, s->opened, &s->error));
		TRY(stat_writer_begin(s->writer, s->options.interval_ms, &s->error));
	}
	TRY(start(s));
	TRY(wait_end(s, write, arg));
	(void)stat_enable(s, false);
	if (s->options.interval_ms == 0) { /* else the summary is that of the printed intervals */
		TRY(stat_read(s));
	}
	if (s->options.interval_ms == 0) {
		record_round(s, true, (uint64_t)s->wall.mean);
	}
	if (s->writer != NULL) {
		record_failed(s, stat_writer_close(s->writer, s->root_fd, &s->events,
		                         s->options.command_line, &s->error));
	}
	add_run(s);
	stat_close(s);
	return tell(s, SONDE_STAT_RUN_ENDED);
}

/* Clears the counts for the next run. */
static void forget_run(struct sonde_stat *s)
{
	size_t e, cells = s->set.ncpus * s->set.nthreads;

	for (e = 0; e < s->set.nevents; e++) {
		memset(s->set.events[e].now, 0, cells * sizeof(struct stat_count));
		memset(s->set.events[e].before, 0, cells * sizeof(struct stat_count));
		s->set.events[e].runs = (struct stat_mean){0};
	}
	s->set.nruns = 0;
	s->nwalls = 0;
	s->wall = (struct stat_mean){0};
}

static int check(struct sonde_stat *s)
{
	const struct sonde_stat_options *o = &s->options;

	if (s->stop_fd < 0 || s->root_fd < 0) {
		return error_set(&s->error, SONDE_EIO, NO_OFFSET,
		        "no file descriptors are left: raise the limit with 'ulimit -n'");
	}
	if (!s->by_cpu && (o->cgroups != NULL || o->each_cgroup != NULL)) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "%s counts on cpus: it wants -a or -C",
		        o->cgroups != NULL ? "-G" : "--for-each-cgroup");
	}
	if (!s->by_cpu && o->by != SONDE_STAT_BY_ALL && o->by != SONDE_STAT_BY_THREAD) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "counts of cpus are there system-wide only: add -a or -C");
	}
	if (o->by == SONDE_STAT_BY_THREAD && (s->by_cpu || stat_owns_workload(s))) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "--per-thread wants the threads: -p PID, -t TID, or -a for all");
	}
	if ((o->repeat > 1 || o->forever) &&
	        (o->workload == NULL || o->interval_ms != 0 || o->record != NULL)) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "-r repeats a command, and goes together neither with -I nor with record");
	}
	return 0;
}

static int runs(struct sonde_stat *s, sonde_write_fn write, void *arg)
{
	const struct sonde_stat_options *o = &s->options;
	struct pollfd stop = {.fd = s->stop_fd, .events = POLLIN};
	unsigned left = o->repeat > 1 ? o->repeat : 1;

	while (o->forever || left-- > 0) {
		TRY(run_once(s, write, arg));
		if (poll(&stop, 1, 0) > 0) {
			break; /* print the completed runs */
		}
		if (o->forever) {
			TRY(print_end(s, write, arg));
			forget_run(s);
		}
	}
	if (!o->forever && (o->interval_ms == 0 || o->summary)) {
		TRY(print_end(s, write, arg));
	}
	if (o->metrics_only && s->printer.nmetrics == 0) {
		stat_say(s, SONDE_STAT_WARNING,
		        "no metrics: they are of cycles, instructions, branches and caches, and "
		        "none "
		        "of these was counted");
	}
	if (s->write_rc < 0) {
		return error_plain(&s->error, SONDE_EOUTPUT);
	}
	return s->record_rc;
}

int sonde_stat_run(struct sonde_stat *s, sonde_write_fn write, void *arg)
{
	size_t i;

	if (s->misused) {
		return error_status(&s->error);
	}
	TRY(check(s));
	TRY(stat_plan(s));
	s->printer.unit_width = 4;
	for (i = 0; i < s->set.nevents; i++) {
		size_t n = strlen(s->set.events[i].unit);

		s->printer.unit_width =
		        n > s->printer.unit_width ? (unsigned)n : s->printer.unit_width;
	}
	return runs(s, write, arg);
}
