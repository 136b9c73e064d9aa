/* SPDX-License-Identifier: MIT */
/*
 * Workers for numbered tasks. A pool lives for one call: threads start, take tasks in rising order,
 * and end. With one job, or one task, everything runs on the caller's thread.
 */
#ifndef SONDE_CORE_POOL_H
#define SONDE_CORE_POOL_H

#include <stddef.h>

#define POOL_JOBS_MAX 256

/* Does one task as worker 0..jobs-1; a negative status stops the pool. */
typedef int (*pool_task_fn)(void *arg, unsigned worker, size_t task);

/* Returns the number of processors that this process may run on, at least 1. */
unsigned pool_default_jobs(void);

/* Runs tasks 0..ntasks-1. Returns 0, or the negative status of the lowest-numbered failed task. */
int pool_run(unsigned jobs, size_t ntasks, pool_task_fn work, void *arg);

/*
 * As pool_run, and calls emit(arg, worker, task) for each task in order, one at a time, after its
 * work is done and all earlier tasks were emitted. It runs on the worker's own thread before that
 * worker takes another task. So `work` can leave its result in per-worker memory, and memory stays
 * bounded.
 */
int pool_run_ordered(unsigned jobs, size_t ntasks, pool_task_fn work, pool_task_fn emit, void *arg);

/*
 * For work of which each step needs the results of all workers: the workers of a team run at the same
 * time, and wait for each other between steps, without threads that end and start again.
 */
struct pool_team;

/* What each of the `size` workers does; size: at most the number of jobs. */
typedef int (*pool_team_fn)(void *arg, unsigned worker, unsigned size, struct pool_team *team);

/*
 * Runs work on jobs workers, or on fewer if threads cannot be started. `work` must not return before
 * its last pool_team_wait. Returns 0, or the negative status of the lowest-numbered worker that failed.
 */
int pool_team_run(unsigned jobs, pool_team_fn work, void *arg);

/* Waits until all workers of the team call it. */
void pool_team_wait(struct pool_team *team);

#endif
