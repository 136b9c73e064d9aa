/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tasks.h"

#include "proc/proc.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void host_tasks_fini(struct host_tasks *t)
{
	free(t->pids);
	free(t->owners);
	free(t->threads);
	*t = (struct host_tasks){0};
}

bool host_has_id(const pid_t *list, size_t n, pid_t v)
{
	size_t i;

	for (i = 0; i < n && list[i] != v; i++) {
	}
	return i < n;
}

/* Capacity is a power of two. */
int host_add_id(pid_t **list, size_t *n, pid_t v, struct error *err)
{
	if ((*n & (*n - 1)) == 0) {
		pid_t *grown = realloc(*list, (*n != 0 ? 2 * *n : 1) * sizeof(*grown));

		if (grown == NULL) {
			return error_nomem(err);
		}
		*list = grown;
	}
	(*list)[(*n)++] = v;
	return 0;
}

/* Marks the cpus of a range; false: `all` has none of them. */
static bool mark_range(const struct host_cpus *all, long from, long to, bool *in)
{
	bool any = false;

	for (size_t i = 0; i < all->n; i++) {
		bool inside = all->v[i] >= from && all->v[i] <= to;

		in[i] |= inside;
		any |= inside;
	}
	return any;
}

int host_pick_cpus(const char *list, const struct host_cpus *all, struct host_cpus *picked,
        void (*missing)(void *arg, long cpu), void *arg)
{
	bool *in = calloc(all->n + 1, sizeof(*in));
	const char *p = list;
	long from, to;
	int rc = 0;

	*picked = (struct host_cpus){.v = calloc(all->n + 1, sizeof(*picked->v))};
	if (in == NULL || picked->v == NULL) {
		rc = SONDE_ENOMEM;
	}
	while (rc == 0 && (p == list || *p != '\0')) {
		if (!proc_take_range(&p, &from, &to)) {
			rc = SONDE_EARG;
		} else if (!mark_range(all, from, to, in) && from == to && missing != NULL) {
			missing(arg, from);
		}
	}
	for (size_t i = 0; rc == 0 && i < all->n; i++) {
		if (in[i]) {
			picked->v[picked->n++] = all->v[i];
		}
	}
	free(in);
	if (rc < 0) {
		free(picked->v);
		*picked = (struct host_cpus){0};
	}
	return rc;
}

int host_tasks_add(struct host_tasks *t, pid_t tid, struct error *err)
{
	return host_add_id(&t->threads, &t->nthreads, tid, err);
}

static int not_there(const char *what, pid_t id, struct error *err)
{
	if (errno == ENOENT || errno == ESRCH) {
		return error_set(err, SONDE_ENOENT, NO_OFFSET, "there is no %s %d", what, (int)id);
	}
	return error_errno(err, SONDE_ENOENT, errno, "there is no %s %d", what, (int)id);
}

static int add_process(struct host_tasks *t, int root, pid_t pid, struct error *err)
{
	char path[64];
	pid_t *list;
	size_t i, n;
	int rc = 0;

	if (host_has_id(t->pids, t->npids, pid)) {
		return 0;
	}
	(void)snprintf(path, sizeof(path), "proc/%d/task", (int)pid);
	if (proc_list_numbers(root, path, &list, &n) < 0) {
		return not_there("process", pid, err);
	}
	for (i = 0; rc == 0 && i < n; i++) {
		rc = host_tasks_add(t, list[i], err);
	}
	free(list);
	return rc == 0 ? host_add_id(&t->pids, &t->npids, pid, err) : rc;
}

static int add_owner(struct host_tasks *t, int root, pid_t tid, struct error *err)
{
	struct proc_status status;

	if (!proc_status_read(root, tid, tid, &status)) {
		return not_there("thread", tid, err);
	}
	if (host_has_id(t->owners, t->nowners, status.pid) ||
	        host_has_id(t->pids, t->npids, status.pid)) {
		return 0;
	}
	return host_add_id(&t->owners, &t->nowners, status.pid, err);
}

static int bad_list(const char *option, const char *list, struct error *err)
{
	return error_set(err, SONDE_EARG, NO_OFFSET, "%s numbers separated by commas, not '%s'",
	        option, list);
}

int host_tasks_add_pids(struct host_tasks *t, int root, const char *list, struct error *err)
{
	const char *p = list;
	pid_t id;

	do {
		if (!proc_take_id(&p, &id)) {
			return bad_list("-p wants process", list, err);
		}
		TRY(add_process(t, root, id, err));
	} while (*p != '\0');
	return 0;
}

int host_tasks_add_tids(
        struct host_tasks *t, int root, const char *list, bool known, struct error *err)
{
	const char *p = list;
	pid_t id;

	do {
		if (!proc_take_id(&p, &id)) {
			return bad_list("-t wants thread", list, err);
		}
		if (!host_has_id(t->threads, t->nthreads, id)) {
			TRY(known ? add_owner(t, root, id, err) : 0);
			TRY(host_tasks_add(t, id, err));
		}
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

static bool owned_by(int root, pid_t pid, uid_t *uid)
{
	struct stat st;
	char path[64];

	(void)snprintf(path, sizeof(path), "proc/%d", (int)pid);
	if (!proc_stat(root, path, &st)) {
		return false;
	}
	*uid = st.st_uid;
	return true;
}

/* uid: adds only processes of this user; NULL: all. */
static int add_some(struct host_tasks *t, int root, const uid_t *uid, struct error *err)
{
	pid_t *list;
	size_t i, n;
	uid_t owner;
	int rc = 0;

	if (proc_list_numbers(root, "proc", &list, &n) < 0) {
		return error_errno(err, SONDE_EIO, errno, "cannot list /proc");
	}
	for (i = 0; rc >= 0 && i < n; i++) {
		if (uid == NULL || (owned_by(root, list[i], &owner) && owner == *uid)) {
			rc = add_process(t, root, list[i], err);
			rc = rc == SONDE_ENOENT ? 0 : rc;
		}
	}
	free(list);
	return rc;
}

int host_tasks_add_user(struct host_tasks *t, int root, const char *user, struct error *err)
{
	uid_t uid;

	if (!find_user(user, &uid)) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "-u: there is no user '%s'; numbers are accepted too", user);
	}
	TRY(add_some(t, root, &uid, err));
	if (t->npids == 0) {
		return error_set(
		        err, SONDE_ENOENT, NO_OFFSET, "-u: user '%s' runs no process now", user);
	}
	return 0;
}

int host_tasks_add_all(struct host_tasks *t, int root, struct error *err)
{
	return add_some(t, root, NULL, err);
}

static pid_t foreign(int root, const pid_t *list, size_t n, unsigned *uid)
{
	uid_t owner;
	size_t i;

	for (i = 0; i < n; i++) {
		if (owned_by(root, list[i], &owner) && owner != geteuid()) {
			*uid = owner;
			return list[i];
		}
	}
	return 0;
}

pid_t host_tasks_foreign(const struct host_tasks *t, int root, unsigned *uid)
{
	pid_t pid = foreign(root, t->pids, t->npids, uid);

	return pid != 0 ? pid : foreign(root, t->owners, t->nowners, uid);
}
