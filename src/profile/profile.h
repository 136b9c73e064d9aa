/* SPDX-License-Identifier: MIT */
/*
 * Counting samples by what a report sorts by, and the call graphs of the rows.
 *
 * Workers turn addresses into frames and count distinct chains of frames; what they counted is
 * merged and folded into rows; call graphs are built on demand from the rows' chains.
 */
#ifndef SONDE_PROFILE_H
#define SONDE_PROFILE_H

#include "core/index.h"
#include "core/intern.h"
#include "field/field.h"
#include "session/pick.h"

#define PROFILE_NONE  UINT32_MAX
#define PROFILE_MODES 8 /* cpumodes fit in three bits */

struct profile_options {
	struct field_key_choice keys; /* what makes rows different */
	bool children; /* count a sample also for its callers */
	bool graph; /* keep chains for profile_graph_* */
	bool caller; /* graphs start at the outermost caller */
	double graph_limit; /* percent of all periods of the event, */
	bool fractal; /* or of the node above, and what is hidden becomes a node without frames */
	bool by_address; /* graphs tell addresses of one function apart */
	uint32_t max_stack; /* frames of a chain that are used */
	const struct pick *pick; /* which samples are looked at; never NULL */
	const char *symbol_part; /* hide rows whose symbol does not have this in its name; NULL */
	bool relative; /* shown totals are those of the rows that are not hidden */
	uint64_t time_quantum; /* ns; 0: the usual */
	bool modes; /* keep periods by cpumode in profile.modes */
	uint32_t one_event; /* + 1: of the only event whose samples are looked at; 0: all */
	/* For sonde_profile: chains are kept, what filters hide is not counted, and a thread without a
	 * name goes by its number. */
	bool named;
};

/* What of a row is not its code. */
struct profile_who {
	uint32_t event;
	uint32_t key; /* number of the vector of words that the keys have filled; 0 without words */
	uint32_t hidden; /* by the filters of threads; rows are not told apart by this and mode */
	uint32_t mode; /* cpumode, when periods are kept by it */
};

/*
 * A distinct place in code. The first one with a symbol stands for all that have it: chains hold
 * only numbers of frames whose `same` is themselves.
 */
struct profile_frame {
	uint64_t ip; /* as sampled; of use when the symbol is unknown */
	uint64_t address; /* in the object */
	const struct symbol *symbol; /* NULL: unknown */
	uint32_t object; /* PROFILE_NONE: nothing is mapped there */
	uint32_t same;
};

/* What is counted: a distinct (who, leaf, chain of frames); the chain stands leaf first in words.
 */
struct profile_chain {
	uint64_t samples, period;
	uint64_t time; /* ns, of the first sample */
	size_t first; /* in words */
	uint32_t n;
	uint32_t who, leaf;
	uint32_t hash;
	uint32_t first_pid, first_tid; /* thread of the first sample */
	uint32_t row; /* of the leaf, in its part */
	bool kernel; /* the level of the leaf */
	bool hidden; /* by the filters */
	bool over; /* the sum of periods passed UINT64_MAX */
};

/* Chains and what they consist of. Zero-initialised is a valid empty one. */
struct profile_counts {
	uint32_t *keys; /* vectors of options.keys.words each */
	size_t nkeys, keys_cap;
	struct profile_who *who;
	size_t nwho, who_cap;
	struct profile_frame *frames;
	size_t nframes, frames_cap;
	struct profile_chain *chains;
	size_t nchains, chains_cap;
	uint32_t *words; /* frames of all chains */
	size_t nwords, words_cap;
	/* of keys, who, frames, frames with symbols, chains */
	struct index vectors, whos, places, symbols, known;
};

struct profile_row {
	/* what is compared and counted while rows are made: few lines of the processor's caches */
	uint64_t address; /* unknown symbols: printed */
	const struct symbol *symbol;
	uint64_t children; /* periods of samples with this row anywhere in the chain */
	uint64_t time; /* ns, of the first sample */
	uint32_t first_pid, first_tid; /* thread of the first sample */
	uint32_t depth; /* frames of its longest chain, from the row to where graphs end */
	uint32_t mark; /* of the chain that counted last */
	uint32_t dso, object;
	uint32_t key; /* of profile_who */
	uint32_t event;
	uint64_t samples, period; /* where the leaf is this row */
	uint32_t refs; /* chains that belong to the row's graph */
	uint32_t first_chain; /* of the first sample */
	uint32_t first_frame; /* of the first sample, also where rows are not by symbol */
	uint32_t step; /* in its chain, in the order of graphs: 1, 2...; 0: its leaf */
	size_t ref; /* first of refs */
	bool kernel;
	bool unknown; /* where its first sample was has no symbol */
	bool hidden; /* its first sample did not pass the filters: so does perf */
};

struct profile_ref {
	uint32_t chain;
	uint32_t pos; /* of the frame that is the row */
};

struct profile_worker;

/*
 * The rows that one worker makes: no row is in two parts, and which one it is in follows from what
 * it is. Its rows become profile.rows[first .. first + n).
 */
struct profile_part {
	struct profile_row *rows;
	size_t n, cap;
	size_t first;
	uint64_t *modes;
	size_t modes_cap;
};

struct profile {
	struct sonde_session *session;
	struct profile_options options;
	struct field_source source;
	struct intern names; /* short names of objects */
	uint32_t *dso; /* object -> id in names */
	uint32_t unknown; /* id of "[unknown]" */
	uint64_t *totals; /* periods by event */
	uint64_t *samples; /* by event */
	uint64_t *shown_totals, *shown_samples; /* the same of what is not hidden, when relative */
	struct profile_worker *workers; /* while counting */
	unsigned nworkers;
	struct profile_counts counts; /* of all workers */
	struct profile_split *split; /* while there are parts: which row is in which one */
	struct profile_part *parts;
	unsigned nparts;
	uint32_t *rows_of; /* with graphs of callers: rows of counts.words, in their parts */
	struct profile_row *rows;
	size_t nrows;
	uint64_t *modes; /* PROFILE_MODES for each row: periods by cpumode; NULL: not asked for */
	struct profile_ref *refs;
	size_t nrefs; /* of the row with most */
};

void profile_init(struct profile *p, struct sonde_session *s, const struct profile_options *o);
void profile_fini(struct profile *p);

/* Counts everything and makes the rows; afterwards p->rows can be sorted and printed. */
int profile_run(struct profile *p);

/* The short name of an object ("[unknown]" for PROFILE_NONE) and of a symbol, NULL when unknown. */
const char *profile_symbol(const struct profile *p, uint32_t object, const struct symbol *sym);

/* The words of a key that is not the frame's. */
static inline const uint32_t *profile_row_words(
        const struct profile *p, const struct profile_row *row, size_t key)
{
	const struct field_key_choice *c = &p->options.keys;

	return p->counts.keys + (size_t)row->key * c->words + c->at[key];
}

/* A node of a row's graph: frames from `depth` on that all its chains share. */
struct profile_node {
	struct profile_ref *refs;
	size_t nrefs;
	uint64_t sum; /* periods */
	uint64_t hidden_samples; /* of a node without frames; not those that end above it */
	uint64_t below; /* periods of all that is below, once it was expanded */
	bool whole; /* fractal: shares below are of sum, not of `below` */
	uint32_t depth, n;
};

/* Nodes that one worker opens. Zero-initialised is a valid empty one. */
struct profile_nodes {
	struct profile_node *p;
	size_t n, cap;
	struct profile_ref *spare; /* as many as the row with most has */
	uint64_t *sums; /* by frame */
	uint32_t *buckets; /* by frame; 0: none */
	uint32_t *order; /* frames met */
};

void profile_nodes_fini(struct profile_nodes *nodes);

/*
 * The visible children of node (most first) behind what `out` holds; they share node's refs, which
 * are put in another order. The root of a row: profile_graph_root.
 */
struct profile_node profile_graph_root(const struct profile *p, const struct profile_row *row);
int profile_graph_expand(const struct profile *p, uint32_t event, struct profile_node *node,
        struct profile_nodes *out);
/* The frame of a ref at a depth of its row's graph; PROFILE_NONE behind the end. */
uint32_t profile_graph_step(const struct profile *p, struct profile_ref ref, uint32_t depth);
uint64_t profile_graph_samples(const struct profile *p, const struct profile_node *node);
/* Of branches with the same weight: by object, and in one from the highest address to the lowest. */
bool profile_frame_before(
        const struct profile *p, const struct profile_frame *x, const struct profile_frame *y);
const struct profile_frame *profile_graph_frame(
        const struct profile *p, const struct profile_node *node, uint32_t depth);

/* Inside of the folder. */

void profile_counts_fini(struct profile_counts *c);
void profile_counts_drop_indexes(struct profile_counts *c);
/* The number of a vector of words. */
int profile_key_add(
        const struct profile *p, struct profile_counts *c, const uint32_t *words, uint32_t *id);
int profile_who_add(struct profile_counts *c, const struct profile_who *key, uint32_t *id);
/* The frame of key (ip, address, object); its symbol is looked up when the place is new. */
int profile_frame_add(
        struct profile *p, struct profile_counts *c, struct profile_frame key, uint32_t *id);
uint32_t profile_frame_hash(const struct profile_frame *f);
/* Adds to the chain that is the same (who, leaf, kernel, words[0..n)), or keeps a new one;
 * key->hash is that of profile_chain_hash. */
int profile_chain_add(
        struct profile_counts *c, struct profile_chain *key, const uint32_t *words, uint32_t *id);
uint32_t profile_chain_hash(const struct profile_chain *c, const uint32_t *words);
/*
 * Adds to the first worker's what the others counted. Of equal chains all but one are left without
 * samples.
 */
int profile_counts_join(struct profile *p, struct profile_counts **workers, unsigned n);
/* Adds one more sample, or a count of samples, to a chain. */
void profile_chain_count(struct profile_chain *to, const struct profile_chain *from);

/* The object's code is the kernel's; object is not PROFILE_NONE. */
bool profile_is_kernel(const struct profile *p, uint32_t object);

/* A frame of a chain, or its leaf: what one row counts. */
struct profile_visit {
	uint32_t chain, frame;
	uint32_t step; /* in the order of graphs: 1, 2...; 0: the leaf */
};

/* The place in counts.words of a step that is not the leaf. */
size_t profile_chain_word(const struct profile *p, const struct profile_chain *c, uint32_t step);
/*
 * The next visits of a part's rows, in the order of chains and of steps; 0 at the end. `at` is
 * where the search goes on, first {0}.
 */
size_t profile_visits(const struct profile *p, unsigned part, struct profile_visit *at,
        struct profile_visit *out, size_t room);
void profile_parts_free(struct profile *p);

int profile_collect(struct profile *p);
void profile_workers_free(struct profile *p);
int profile_fold(struct profile *p);
int profile_graph_prepare(struct profile *p);

#endif
