/* SPDX-License-Identifier: MIT */
/*
 * Where two recordings differ. Branches of a thread are compared as pairs of places: an object, and
 * an offset in it, so that it does not matter where objects were loaded.
 *
 *	first pass     hashes of the first N, 2N, 3N .. branches of each thread; functions are counted
 *	more passes    the same between the last equal hash and the first that differs, with a smaller N
 *	last pass      the branches around the first that differs
 *
 * A thread needs DIFF_MARKS hashes, however long its trace is. Each pass reads both recordings up
 * to where it knows enough; three are enough for 16 million branches of a thread.
 */
#ifndef SONDE_PTVIEW_DIFF_H
#define SONDE_PTVIEW_DIFF_H

#include "aux/trail.h"
#include "ptview/cover.h"

#define DIFF_MARKS  4096u
#define DIFF_BEFORE 3u /* branches that are shown before the first that differs */
#define DIFF_AFTER  3u /* and from it on */
#define DIFF_STACK  16u /* callers that are shown */
#define DIFF_CACHE  4096u

/* A place as it is shown. */
struct diff_place {
	uint64_t ip; /* 0: not traced */
	uint64_t address; /* in the object; ip if there is none */
	uint64_t offset; /* in the function */
	uint32_t function;
};

struct diff_step {
	uint64_t time;
	struct diff_place from, to;
};

struct diff_thread {
	const char *comm; /* at the last branch */
	uint64_t n, hash; /* branches in this pass, and a hash of them */
	uint64_t *marks; /* [DIFF_MARKS]: hashes after base + step, base + 2 * step .. branches */
	size_t nmarks;
	uint64_t base, step;
	uint64_t limit; /* branches that this pass needs */
	bool lost; /* an error: what follows it is not compared */
	bool stopped; /* tracing is off, since the branch `last` */
	struct ptview_branch last;
	/* last pass */
	bool showing;
	uint64_t at; /* the first branch that differs */
	struct diff_step steps[DIFF_BEFORE + DIFF_AFTER];
	unsigned before, after;
	struct trail trail;
	uint32_t
	        stack[DIFF_STACK]; /* functions that called the code before `at`, innermost first */
	unsigned nstack;
};

struct diff_side {
	struct cover cover; /* its walk reads the branches */
	struct diff_thread *threads;
	size_t nthreads, threads_cap;
	uint64_t *keys; /* by object: the same for objects that are the same in both recordings */
	const char *objects; /* as in struct cover */
	bool kernel, first, last; /* kernel: compare its code too; which pass it is */
	size_t waiting; /* threads that need more branches in this pass */
	struct { /* hashes of places, direct-mapped by address */
		uint64_t ip, hash;
		uint32_t root;
		bool wanted;
	} cache[DIFF_CACHE];
};

struct diff_pair {
	size_t thread[2];
	uint64_t low,
	        high; /* the first `low` branches are the same; those after `high` do not matter */
	bool same, found;
	uint64_t total[2]; /* branches that could be compared */
	bool lost[2]; /* there were more, after an error */
};

struct diff {
	struct diff_side side[2];
	struct diff_pair *pairs;
	size_t npairs;
	size_t alone[2]; /* threads with branches that have no counterpart */
};

/* side.c: 0 or a negative status */
int diff_side_init(struct diff_side *d, struct sonde_session *s);
void diff_side_fini(struct diff_side *d);
int diff_side_pass(struct diff_side *d);

/* diff.c */
int diff_make(struct diff *d);

#endif
