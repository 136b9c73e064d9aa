/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched_getaffinity */
#include "core/pool.h"

#include "core/status.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

struct pool {
	pool_task_fn work;
	pool_task_fn emit; /* NULL: results need no order */
	void *arg;
	size_t ntasks;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t turn;
	size_t next; /* next task to start */
	size_t emitted; /* number of emitted tasks */
	size_t failed; /* number of the first task that failed; ntasks: none */
	int rc;
};

struct pool_worker {
	struct pool *pool;
	unsigned index;
	pthread_t thread;
};

unsigned pool_default_jobs(void)
{
	cpu_set_t set;
	int n = 1;

	if (sched_getaffinity(0, sizeof(set), &set) == 0) {
		n = CPU_COUNT(&set);
	}
	if (n < 1) {
		n = 1;
	}
	return n > POOL_JOBS_MAX ? POOL_JOBS_MAX : (unsigned)n;
}

static bool pool_take(struct pool *p, size_t *task)
{
	bool got;

	pthread_mutex_lock(&p->lock);
	got = p->next < p->ntasks && p->next < p->failed;
	if (got) {
		*task = p->next++;
	}
	pthread_mutex_unlock(&p->lock);
	return got;
}

static void pool_fail(struct pool *p, size_t task, int rc)
{
	pthread_mutex_lock(&p->lock);
	if (task < p->failed) {
		p->failed = task;
		p->rc = rc;
	}
	pthread_cond_broadcast(&p->turn);
	pthread_mutex_unlock(&p->lock);
}

/* Waits until all earlier tasks are emitted; false when one of them failed. */
static bool pool_wait_turn(struct pool *p, size_t task)
{
	bool good;

	pthread_mutex_lock(&p->lock);
	while (p->emitted != task && p->failed > task) {
		pthread_cond_wait(&p->turn, &p->lock);
	}
	good = p->emitted == task && p->failed > task;
	pthread_mutex_unlock(&p->lock);
	return good;
}

static void *pool_worker_main(void *arg)
{
	struct pool_worker *w = arg;
	struct pool *p = w->pool;
	size_t task;
	int rc;

	while (pool_take(p, &task)) {
		rc = p->work(p->arg, w->index, task);
		if (rc >= 0 && p->emit != NULL) {
			if (!pool_wait_turn(p, task)) {
				break;
			}
			rc = p->emit(p->arg, w->index, task);
			if (rc >= 0) {
				pthread_mutex_lock(&p->lock);
				p->emitted++;
				pthread_cond_broadcast(&p->turn);
				pthread_mutex_unlock(&p->lock);
			}
		}
		if (rc < 0) {
			pool_fail(p, task, rc);
		}
	}
	return NULL;
}

int pool_run_ordered(unsigned jobs, size_t ntasks, pool_task_fn work, pool_task_fn emit, void *arg)
{
	struct pool p = {
	        .work = work, .emit = emit, .arg = arg, .ntasks = ntasks, .failed = ntasks};
	struct pool_worker workers[POOL_JOBS_MAX];
	unsigned started = 1;

	if (jobs > POOL_JOBS_MAX) {
		jobs = POOL_JOBS_MAX;
	}
	if (jobs > ntasks) {
		jobs = (unsigned)ntasks;
	}
	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.turn, NULL);
	workers[0] = (struct pool_worker){.pool = &p, .index = 0};
	for (; started < jobs; started++) {
		workers[started] = (struct pool_worker){.pool = &p, .index = started};
		if (pthread_create(&workers[started].thread, NULL, pool_worker_main,
		            &workers[started]) != 0) {
			break; /* continue with fewer threads */
		}
	}
	pool_worker_main(&workers[0]);
	for (unsigned i = 1; i < started; i++) {
		pthread_join(workers[i].thread, NULL);
	}
	pthread_cond_destroy(&p.turn);
	pthread_mutex_destroy(&p.lock);
	return p.failed < ntasks ? p.rc : 0;
}

int pool_run(unsigned jobs, size_t ntasks, pool_task_fn work, void *arg)
{
	return pool_run_ordered(jobs, ntasks, work, NULL, arg);
}

struct pool_team {
	pool_team_fn work;
	void *arg;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t turn;
	unsigned size; /* 0: threads are still being started */
	unsigned waiting;
	unsigned round; /* number of waits that ended */
};

struct pool_member {
	struct pool_team *team;
	unsigned index;
	int rc;
	pthread_t thread;
};

static void *team_member_main(void *arg)
{
	struct pool_member *m = arg;
	struct pool_team *t = m->team;
	unsigned size;

	pthread_mutex_lock(&t->lock);
	while (t->size == 0) {
		pthread_cond_wait(&t->turn, &t->lock);
	}
	size = t->size;
	pthread_mutex_unlock(&t->lock);
	m->rc = t->work(t->arg, m->index, size, t);
	return NULL;
}

void pool_team_wait(struct pool_team *t)
{
	unsigned round;

	pthread_mutex_lock(&t->lock);
	round = t->round;
	if (++t->waiting == t->size) {
		t->waiting = 0;
		t->round++;
		pthread_cond_broadcast(&t->turn);
	}
	while (t->round == round) {
		pthread_cond_wait(&t->turn, &t->lock);
	}
	pthread_mutex_unlock(&t->lock);
}

int pool_team_run(unsigned jobs, pool_team_fn work, void *arg)
{
	struct pool_team t = {.work = work, .arg = arg};
	struct pool_member members[POOL_JOBS_MAX];
	unsigned started = 1;
	int rc;

	if (jobs > POOL_JOBS_MAX) {
		jobs = POOL_JOBS_MAX;
	}
	pthread_mutex_init(&t.lock, NULL);
	pthread_cond_init(&t.turn, NULL);
	members[0] = (struct pool_member){.team = &t, .index = 0};
	for (; started < jobs; started++) {
		members[started] = (struct pool_member){.team = &t, .index = started};
		if (pthread_create(&members[started].thread, NULL, team_member_main,
		            &members[started]) != 0) {
			break; /* continue with fewer threads */
		}
	}
	pthread_mutex_lock(&t.lock);
	t.size = started;
	pthread_cond_broadcast(&t.turn);
	pthread_mutex_unlock(&t.lock);
	team_member_main(&members[0]);
	rc = members[0].rc;
	for (unsigned i = 1; i < started; i++) {
		pthread_join(members[i].thread, NULL);
		rc = rc < 0 ? rc : members[i].rc;
	}
	pthread_cond_destroy(&t.turn);
	pthread_mutex_destroy(&t.lock);
	return rc;
}
