/* SPDX-License-Identifier: MIT */
/* The tasks to measure, from -p, -t and -u. */
#ifndef SONDE_HOST_TASKS_H
#define SONDE_HOST_TASKS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Empty when zero-initialised. No list has duplicates. */
struct host_tasks {
	pid_t *pids; /* whole processes */
	size_t npids;
	pid_t *owners; /* processes of threads that were given by number */
	size_t nowners;
	pid_t *threads; /* all of them; a single -1: the whole system */
	size_t nthreads;
};

void host_tasks_fini(struct host_tasks *t);

/* Lists of processes, threads or cpus. SONDE_ENOMEM. */
bool host_has_id(const pid_t *list, size_t n, pid_t v);
int host_add_id(pid_t **list, size_t *n, pid_t v, struct error *err);

struct host_cpus {
	pid_t *v;
	size_t n;
};

/*
 * The cpus of `all`, in its order, that are in a list such as "0,2-3". missing is called for each cpu
 * that the list names alone and `all` does not have; NULL: not called. SONDE_EARG: it is no list,
 * SONDE_ENOMEM; neither sets words. The caller frees picked->v.
 */
int host_pick_cpus(const char *list, const struct host_cpus *all, struct host_cpus *picked,
        void (*missing)(void *arg, long cpu), void *arg);

/* Adds one thread; -1: all. SONDE_ENOMEM. */
int host_tasks_add(struct host_tasks *t, pid_t tid, struct error *err);

/* Adds all threads of the processes in "12,34". SONDE_EARG, SONDE_ENOENT, SONDE_ENOMEM. */
int host_tasks_add_pids(struct host_tasks *t, int root, const char *list, struct error *err);

/* Adds the threads in "12,34". known: a missing thread is an error, and owners are looked up. */
int host_tasks_add_tids(
        struct host_tasks *t, int root, const char *list, bool known, struct error *err);

/* Adds the processes of a user, by name or number. SONDE_EARG, SONDE_ENOENT: the user has none. */
int host_tasks_add_user(struct host_tasks *t, int root, const char *user, struct error *err);

/* Adds all processes of the machine. Processes that end meanwhile are omitted. */
int host_tasks_add_all(struct host_tasks *t, int root, struct error *err);

/* Returns the first of pids and owners that belongs to another user, and *uid; 0: none. */
pid_t host_tasks_foreign(const struct host_tasks *t, int root, unsigned *uid);

#endif
