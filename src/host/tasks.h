/* SPDX-License-Identifier: MIT */
/* Tasks that are measured, from the texts of -p, -t and -u. */
#ifndef SONDE_HOST_TASKS_H
#define SONDE_HOST_TASKS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Zero-initialised has none. No list names anything twice. */
struct host_tasks {
	pid_t *pids; /* processes as a whole */
	size_t npids;
	pid_t *owners; /* processes of the threads that were asked for by number */
	size_t nowners;
	pid_t *threads; /* of all of them; -1 alone: of the whole system */
	size_t nthreads;
};

void host_tasks_fini(struct host_tasks *t);

/* Lists of processes, threads or cpus. SONDE_ENOMEM. */
bool host_has_id(const pid_t *list, size_t n, pid_t v);
int host_add_id(pid_t **list, size_t *n, pid_t v, struct error *err);

/* One thread, -1: all. SONDE_ENOMEM. */
int host_tasks_add(struct host_tasks *t, pid_t tid, struct error *err);

/* All threads of the processes in "12,34". SONDE_EARG, SONDE_ENOENT, SONDE_ENOMEM. */
int host_tasks_add_pids(struct host_tasks *t, int root, const char *list, struct error *err);

/* The threads in "12,34". known: a missing thread is an error, and owners are found. */
int host_tasks_add_tids(
        struct host_tasks *t, int root, const char *list, bool known, struct error *err);

/* The processes of a user, by name or number. SONDE_EARG, SONDE_ENOENT: the user runs none. */
int host_tasks_add_user(struct host_tasks *t, int root, const char *user, struct error *err);

/* All processes of the machine. What ends meanwhile is left out. */
int host_tasks_add_all(struct host_tasks *t, int root, struct error *err);

/* The first of pids and owners that is another user's, and whose; 0: none. */
pid_t host_tasks_foreign(const struct host_tasks *t, int root, unsigned *uid);

#endif
