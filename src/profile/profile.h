/* SPDX-License-Identifier: MIT */
/*
 * Counting samples by what a report sorts by, and the call graphs of the rows.
 *
 * Workers count distinct (who, address space, address, chain) keys; then each distinct chain is
 * resolved once and folded into rows; call graphs are built on demand from the rows' chains.
 */
#ifndef SONDE_PROFILE_H
#define SONDE_PROFILE_H

#include "core/arena.h"
#include "core/intern.h"
#include "session/session.h"

enum profile_key {
	PROFILE_COMM,
	PROFILE_DSO,
	PROFILE_SYM,
	PROFILE_PID, /* the thread; printed as Pid:Command */
	PROFILE_CPU,
	PROFILE_KEYS
};

#define PROFILE_NONE UINT32_MAX

struct profile_options {
	bool key[PROFILE_KEYS]; /* what makes rows different */
	bool children; /* count a sample also for its callers */
	bool graph; /* keep chains for profile_graph_* */
	bool caller; /* graphs start at the outermost caller */
	double graph_limit; /* percent of all periods of the event */
	uint32_t max_stack; /* frames of a chain that are used */
	uint32_t cpu; /* only samples of this processor; UINT32_MAX: all */
};

/* A distinct place in code. */
struct profile_frame {
	const struct symbol *symbol; /* NULL: unknown */
	uint64_t ip; /* as sampled; of use when the symbol is unknown */
	uint64_t address; /* in the object */
	uint32_t object; /* PROFILE_NONE: nothing is mapped there */
	uint32_t dso; /* short name, in profile.names */
	bool kernel; /* the object is the kernel's */
};

/* A distinct chain: offset and length in profile.chain, leaf first. */
struct profile_chain {
	size_t first;
	uint64_t samples, period;
	uint32_t n;
	uint32_t row; /* of the leaf */
};

struct profile_row {
	uint64_t samples, period; /* where the leaf is this row */
	uint64_t children; /* periods of samples with this row anywhere in the chain */
	uint64_t time; /* ns, of the first sample */
	uint64_t address; /* unknown symbols: printed */
	const struct symbol *symbol;
	uint32_t object, dso;
	uint32_t comm, pid, tid, cpu;
	uint32_t first_pid, first_tid; /* thread of the first sample */
	uint32_t event;
	uint32_t mark; /* of the chain that counted last */
	uint32_t refs; /* chains that belong to the row's graph */
	size_t ref; /* first of them */
	bool kernel;
};

struct profile_ref {
	uint32_t chain;
	uint32_t pos; /* of the frame that is the row */
};

struct profile_table;

struct profile {
	struct sonde_session *session;
	struct profile_options options;
	struct intern names; /* short names of objects */
	uint32_t *dso; /* object -> id in names */
	uint32_t unknown; /* id of "[unknown]" */
	uint64_t *totals; /* periods by event */
	uint64_t *samples; /* by event */
	struct profile_table *tables; /* one a worker */
	unsigned ntables;
	struct profile_frame *frames;
	size_t nframes, frames_cap;
	struct profile_chain *chains;
	size_t nchains, chains_cap;
	uint32_t *chain; /* frames of all chains */
	uint32_t *chain_rows; /* as long, with children: rows of the frames */
	size_t nchain, chain_cap, chain_rows_cap;
	struct profile_row *rows;
	size_t nrows, rows_cap;
	struct profile_ref *refs;
	struct profile_ref *spare; /* as many */
	size_t nrefs;
	uint64_t *sums; /* by frame, for graphs */
	uint32_t *buckets; /* by frame; 0: none */
	uint32_t *order; /* frames met */
};

void profile_init(struct profile *p, struct sonde_session *s, const struct profile_options *o);
void profile_fini(struct profile *p);

/* Counts everything and makes the rows; afterwards p->rows can be sorted and printed. */
int profile_run(struct profile *p);

/* The short name of an object ("[unknown]" for PROFILE_NONE) and of a symbol, NULL when unknown. */
const char *profile_symbol(const struct profile *p, uint32_t object, const struct symbol *sym);

/* A node of a row's graph: frames from `depth` on that all its chains share. */
struct profile_node {
	struct profile_ref *refs;
	size_t nrefs;
	uint64_t sum; /* periods */
	uint32_t depth, n;
};

struct profile_nodes {
	struct profile_node *p;
	size_t n, cap;
};

/*
 * The visible children of node (most first) behind what `out` holds; they share node's refs, which
 * are put in another order. The root of a row: profile_graph_root.
 */
struct profile_node profile_graph_root(struct profile *p, const struct profile_row *row);
int profile_graph_expand(struct profile *p, uint32_t event, const struct profile_node *node,
        struct profile_nodes *out);
const struct profile_frame *profile_graph_frame(
        const struct profile *p, const struct profile_node *node, uint32_t depth);

/* For collect.c and rows.c */
struct profile_count {
	const uint64_t *chain; /* in the file or in the table's arena; NULL when n is 0 */
	uint64_t ip, samples, period, time;
	uint32_t n;
	uint32_t comm, pid, tid, cpu, event;
	uint32_t first_pid, first_tid;
	uint32_t root, kernel_root, later_root;
	uint32_t cpumode;
	uint32_t hash;
};

struct profile_table {
	struct session_worker worker;
	struct arena arena;
	struct profile_count *counts;
	size_t n, cap;
	uint32_t *slots; /* index + 1; 0: free */
	size_t nslots;
};

int profile_collect(struct profile *p);
int profile_fold(struct profile *p);
int profile_graph_prepare(struct profile *p);

#endif
