/* SPDX-License-Identifier: MIT */
/* Where a thread came from: its calls that have not returned, and its last branches. */
#ifndef SONDE_AUX_TRAIL_H
#define SONDE_AUX_TRAIL_H

#include "core/index.h"
#include "core/status.h"

#define TRAIL_CALLS_MAX    4096u /* deeper calls are forgotten, the oldest first */
#define TRAIL_BRANCHES_MAX 1024u

struct trail_branch {
	uint64_t from, to;
};

/* Empty when zero-initialised. */
struct trail {
	uint64_t *calls; /* return addresses, the outermost first */
	size_t ncalls, calls_cap;
	bool ended; /* the last call ended tracing */
	struct trail_branch *branches; /* [size], a ring: the next one replaces branches[next] */
	size_t nbranches, next, size;
};

struct trail_of {
	uint32_t tid;
	struct trail trail;
};

/* The trails of threads. Empty when zero-initialised. */
struct trails {
	struct trail_of *items;
	size_t n, cap;
	struct index by_tid;
};

void trail_fini(struct trail *t);
void trails_fini(struct trails *t);
/*
 * Sets *number to that of a thread's item. A new one is empty, or a copy of the thread's in `from`
 * (NULL: none). SONDE_ENOMEM.
 */
int trails_find(struct trails *t, uint32_t tid, const struct trails *from, size_t *number);
/* Makes *to, which is empty, equal to *from. SONDE_ENOMEM. */
int trail_copy(struct trail *to, const struct trail *from);

int trail_call(struct trail *t, uint64_t back); /* SONDE_ENOMEM */
/* Forgets the call that returns to an address, and those after it; none if there is no such call. */
void trail_return(struct trail *t, uint64_t to);
/* Keeps the last `size` branches. SONDE_ENOMEM. */
int trail_branch(struct trail *t, size_t size, uint64_t from, uint64_t to);
/* The i-th last branch, i < nbranches. */
const struct trail_branch *trail_last(const struct trail *t, size_t i);

/*
 * Words of a call chain, the innermost address first: a mark wherever kernel or user code begins, and
 * at most `max` addresses.
 */
#define TRAIL_CHAIN_MAX   1024u
#define TRAIL_CHAIN_WORDS (2 * TRAIL_CHAIN_MAX) /* each address may have a mark */
struct trail_chain {
	uint64_t *words; /* [TRAIL_CHAIN_WORDS] */
	size_t n;
	unsigned max, addresses; /* max <= TRAIL_CHAIN_MAX */
	bool kernel; /* of the last address */
};
void trail_chain_add(struct trail_chain *c, uint64_t ip);
/* Adds the return addresses of a thread's calls. */
void trail_chain_calls(struct trail_chain *c, const struct trail *t);

#endif
