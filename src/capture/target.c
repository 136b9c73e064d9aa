/* SPDX-License-Identifier: MIT */
/* Who is recorded: cpus and threads. */
#define _GNU_SOURCE
#include "capture/capture.h"
#include "core/array.h"
#include "proc/proc.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int add_number(pid_t **list, size_t *n, pid_t v)
{
	pid_t *grown = realloc(*list, (*n + 1) * sizeof(**list));

	if (grown == NULL) {
		return SONDE_ENOMEM;
	}
	*list = grown;
	grown[(*n)++] = v;
	return 0;
}

/* Without sysfs they are the first ones, most likely. */
static int first_cpus(struct sonde_record *r)
{
	long i, n = sysconf(_SC_NPROCESSORS_ONLN);

	free(r->cpus);
	r->cpus = NULL;
	r->ncpus = 0;
	for (i = 0; i < n; i++) {
		if (add_number(&r->cpus, &r->ncpus, (pid_t)i) < 0) {
			return error_nomem(&r->error);
		}
	}
	return r->ncpus > 0 ? 0 : error_set(&r->error, SONDE_EIO, NO_OFFSET, "no cpu is on-line");
}

static bool has_number(const pid_t *list, size_t n, pid_t v)
{
	size_t i;

	for (i = 0; i < n && list[i] != v; i++) {
	}
	return i < n;
}

/* Of those that are named one by one: "0-999" may well mean all that there are. */
static void tell_missing(struct sonde_record *r, long from, long to)
{
	if (from == to && !has_number(r->cpus, r->ncpus, (pid_t)from)) {
		capture_say(r, SONDE_RECORD_WARNING, "-C: cpu %ld is not on-line: left out", from);
	}
}

/*
 * Keeps of the cpus that are on-line those of a list such as "0,2-3". Beside a trace all stay, for
 * its side-band: what runs on these cpus may have been mapped on others.
 */
static int pick_cpus(struct sonde_record *r, const char *list)
{
	const char *p = list;
	pid_t *picked = NULL;
	size_t i, n = 0;
	long from, to;

	do {
		if (!proc_take_range(&p, &from, &to)) {
			free(picked);
			return error_set(&r->error, SONDE_EARG, NO_OFFSET,
			        "-C wants a list of cpus such as 0,2-3, not '%s'", list);
		}
		tell_missing(r, from, to);
		for (i = 0; i < r->ncpus; i++) {
			if (r->cpus[i] >= from && r->cpus[i] <= to &&
			        !has_number(picked, n, r->cpus[i]) &&
			        add_number(&picked, &n, r->cpus[i]) < 0) {
				free(picked);
				return error_nomem(&r->error);
			}
		}
	} while (*p != '\0');
	if (n == 0) {
		return error_set(&r->error, SONDE_ENOENT, NO_OFFSET,
		        "-C %s: none of these cpus is on-line; those that are: %d to %d", list,
		        (int)r->cpus[0], (int)r->cpus[r->ncpus - 1]);
	}
	if (r->aux.pmu != NULL) {
		r->picked = picked;
		r->npicked = n;
		return 0;
	}
	free(r->cpus);
	r->cpus = picked;
	r->ncpus = n;
	return 0;
}

static int find_cpus(struct sonde_record *r)
{
	if (r->per_thread) {
		return add_number(&r->cpus, &r->ncpus, -1) < 0 ? error_nomem(&r->error) : 0;
	}
	if (proc_read_cpus(r->root_fd, "sys/devices/system/cpu/online", &r->cpus, &r->ncpus) != 0) {
		TRY(first_cpus(r));
	}
	return r->options.cpus != NULL ? pick_cpus(r, r->options.cpus) : 0;
}

static int not_there(struct sonde_record *r, const char *what, pid_t id)
{
	bool gone = errno == ENOENT || errno == ESRCH;

	return error_set(&r->error, SONDE_ENOENT, NO_OFFSET, "there is no %s %d%s%s", what, (int)id,
	        gone ? "" : ": ", gone ? "" : strerror(errno));
}

static int add_process(struct sonde_record *r, pid_t pid)
{
	char path[64];
	pid_t *list;
	size_t i, n;
	int rc = 0;

	if (has_number(r->pids, r->npids, pid)) {
		return 0;
	}
	(void)snprintf(path, sizeof(path), "proc/%d/task", (int)pid);
	if (proc_list_numbers(r->root_fd, path, &list, &n) < 0) {
		return not_there(r, "process", pid);
	}
	for (i = 0; rc == 0 && i < n; i++) {
		rc = add_number(&r->threads, &r->nthreads, list[i]);
	}
	free(list);
	rc = rc == 0 ? add_number(&r->pids, &r->npids, pid) : rc;
	return rc == 0 ? 0 : error_nomem(&r->error);
}

static int add_thread(struct sonde_record *r, pid_t tid)
{
	struct proc_status status;

	if (has_number(r->threads, r->nthreads, tid)) {
		return 0;
	}
	if (!proc_status_read(r->root_fd, tid, tid, &status)) {
		return not_there(r, "thread", tid);
	}
	if (add_number(&r->threads, &r->nthreads, tid) < 0 ||
	        (!has_number(r->owners, r->nowners, status.pid) &&
	                !has_number(r->pids, r->npids, status.pid) &&
	                add_number(&r->owners, &r->nowners, status.pid) < 0)) {
		return error_nomem(&r->error);
	}
	return 0;
}

static int parse_numbers(struct sonde_record *r, const char *list, const char *what,
        int (*add)(struct sonde_record *r, pid_t v))
{
	const char *p = list;
	pid_t id;

	do {
		if (!proc_take_id(&p, &id)) {
			return error_set(&r->error, SONDE_EARG, NO_OFFSET,
			        "%s numbers separated by commas, not '%s'", what, list);
		}
		TRY(add(r, id));
	} while (*p != '\0');
	return 0;
}

static bool find_user(const char *name, uid_t *uid)
{
	struct passwd entry, *found = NULL;
	char buf[4096];
	char *end;
	unsigned long v = strtoul(name, &end, 10);

	if (end > name && *end == '\0' && v <= UINT32_MAX) {
		*uid = (uid_t)v;
		return true;
	}
	if (getpwnam_r(name, &entry, buf, sizeof(buf), &found) != 0 || found == NULL) {
		return false;
	}
	*uid = found->pw_uid;
	return true;
}

/* All processes of a user; what ends meanwhile is left out. */
static int add_user(struct sonde_record *r)
{
	struct stat st;
	char path[64];
	pid_t *list;
	size_t i, n;
	uid_t uid;
	int rc = 0;

	if (!find_user(r->options.user, &uid)) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "-u: there is no user '%s'; a number is taken as it is", r->options.user);
	}
	if (proc_list_numbers(r->root_fd, "proc", &list, &n) < 0) {
		return error_set(
		        &r->error, SONDE_EIO, NO_OFFSET, "cannot list /proc: %s", strerror(errno));
	}
	for (i = 0; rc >= 0 && i < n; i++) {
		(void)snprintf(path, sizeof(path), "proc/%d", (int)list[i]);
		if (proc_stat(r->root_fd, path, &st) && st.st_uid == uid) {
			rc = add_process(r, list[i]);
			rc = rc == SONDE_ENOENT ? 0 : rc;
		}
	}
	free(list);
	if (rc >= 0 && r->npids == 0) {
		return error_set(&r->error, SONDE_ENOENT, NO_OFFSET,
		        "-u: user '%s' runs no process now", r->options.user);
	}
	return rc;
}

/*
 * The three modes: rings for threads, without inheritance (tids, or per_thread with others than all
 * processes), or for cpus, of all processes or of those that were asked for; a workload alone has
 * rings for cpus as well.
 */
void capture_choose(struct sonde_record *r)
{
	const struct sonde_record_options *o = &r->options;

	r->targets = o->pids != NULL || o->tids != NULL || o->user != NULL       ? CAPTURE_TASKS
	             : o->all_cpus || o->cpus != NULL || o->ncgroup_filters != 0 ? CAPTURE_ALL
	                                                                         : CAPTURE_WORKLOAD;
	r->per_thread = r->targets != CAPTURE_ALL && o->cpus == NULL && !o->all_cpus &&
	                (o->per_thread || (o->tids != NULL && !o->inherit));
	if (o->tids != NULL && !o->inherit) {
		r->options.no_inherit = true;
	}
	if (o->per_thread && !r->per_thread) {
		capture_say(r, SONDE_RECORD_WARNING,
		        "rings are those of the cpus: --per-thread means nothing with -a or -C");
	}
	if (o->user != NULL && (o->pids != NULL || o->tids != NULL)) {
		capture_say(r, SONDE_RECORD_WARNING,
		        "-p or -t was given: recording that alone, not -u");
	}
}

bool capture_wants_time(const struct sonde_record *r)
{
	return r->options.timestamps == SONDE_RECORD_AUTO
	               ? !r->per_thread || !r->options.per_thread
	               : r->options.timestamps == SONDE_RECORD_YES;
}

size_t capture_ring_of(const struct sonde_record *r, size_t at)
{
	return r->per_thread ? at : at / r->nthreads;
}

int capture_find_targets(struct sonde_record *r)
{
	const struct sonde_record_options *o = &r->options;

	TRY(find_cpus(r));
	if (o->pids != NULL) {
		TRY(parse_numbers(r, o->pids, "-p wants process", add_process));
	}
	if (o->tids != NULL) {
		TRY(parse_numbers(r, o->tids, "-t wants thread", add_thread));
	}
	if (r->nthreads == 0 && o->user != NULL) {
		TRY(add_user(r));
	}
	if (r->nthreads == 0 && add_number(&r->threads, &r->nthreads,
	                                r->targets == CAPTURE_ALL ? -1 : r->workload.pid) < 0) {
		return error_nomem(&r->error);
	}
	return 0;
}
