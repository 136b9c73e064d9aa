/* SPDX-License-Identifier: MIT */
/* Reads the branches of a session in order of time, each with the number of its thread. */
#ifndef SONDE_PTVIEW_WALK_H
#define SONDE_PTVIEW_WALK_H

#include "core/index.h"
#include "session/session.h"

/* A branch of a thread. */
struct ptview_branch {
	uint64_t time, from, to; /* from 0: tracing starts; to 0: it stops, see AUX_FLAG_END */
	uint32_t flags; /* AUX_FLAG_* */
	uint32_t size; /* of the instruction at `from`, bytes */
	const struct timeline_view *view;
};

struct ptview_id {
	uint32_t pid, tid;
};

/*
 * Threads have numbers from 0, in the order in which they are first met. Functions return 0, or a
 * negative status, which ends the walk.
 */
struct ptview_walk {
	struct sonde_session *session;
	void *arg;
	int (*branch)(void *arg, size_t thread, const struct ptview_branch *b);
	/* A part of the trace is missing or has errors. */
	int (*lost)(void *arg, size_t thread);
	/* The thread executes another program, or ends. Not called if side-band has other times. */
	int (*ended)(void *arg, size_t thread, uint64_t time, bool exec);
	bool forks; /* threads are met when they are forked, not at their first branch */
	/* set by the walk */
	struct ptview_id *ids; /* of threads */
	size_t nthreads, cap;
	struct index index;
	uint64_t branches, errors;
};

int ptview_walk(struct ptview_walk *w); /* may be called again: the threads keep their numbers */
void ptview_walk_fini(struct ptview_walk *w);

/* 0, or SONDE_EARG with a text: the session makes no samples of branches of all kinds. */
int ptview_check(struct sonde_session *s);

#endif
