/* SPDX-License-Identifier: MIT */
/*
 * Counts samples by the sort keys of a report, and builds the call graphs of the rows.
 *
 * Workers convert addresses to frames and count distinct chains of frames; their counts are merged
 * and folded into rows; call graphs are built on demand from the rows' chains.
 */
#ifndef SONDE_PROFILE_H
#define SONDE_PROFILE_H

#include "core/index.h"
#include "core/intern.h"
#include "field/branch.h"
#include "field/field.h"
#include "field/trace_keys.h"
#include "session/pick.h"

#include <regex.h>

#define PROFILE_NONE      UINT32_MAX
#define PROFILE_MODE_BITS 3 /* of a cpumode */
#define PROFILE_STEP_BITS 28 /* of the number of a frame in a chain */
#define PROFILE_MODES     (FIELD_MODE_LATENCY + 1) /* those of cpumodes, and the latency */

struct profile_options {
	struct field_key_choice keys; /* that distinguish rows */
	bool children; /* count a sample also for its callers */
	bool graph; /* keep chains for profile_graph_* */
	bool caller; /* graphs start at the outermost caller */
	double graph_limit; /* smallest shown branch, in percent of all periods of the event */
	/* graph_limit is in percent of the parent node, and hidden branches become a node without
	 * frames. */
	bool fractal;
	bool by_address; /* different addresses of one function are different branches of graphs */
	bool by_line; /* different source lines of one function are */
	bool inlined; /* functions inlined at the addresses of chains are frames too */
	bool source_path; /* source files are paths, not only names */
	uint32_t max_stack; /* maximum number of frames of a chain */
	const struct pick *pick; /* filters of samples; never NULL */
	const char *symbol_part; /* hide rows whose symbol's name does not contain this; NULL */
	bool relative; /* shown totals are sums of the rows that are not hidden */
	const regex_t *parent; /* for the key `parent`, and exclude_other */
	bool exclude_other; /* hide samples of chains that `parent` does not match */
	bool hide_unresolved; /* do not count samples without a symbol, nor callers without one */
	bool reference_chains; /* events with call-graph=no use the chains of the samples before */
	const regex_t *ignore_callees; /* chains begin at the last function it matches; NULL */
	uint64_t time_quantum; /* ns; 0: the default */
	bool ns; /* see struct field_source */
	/* Names of events: count samples only after one of switch_on, and until one of
	 * switch_off; NULL: from the beginning, to the end. */
	const char *switch_on, *switch_off;
	bool show_switches; /* count the samples that switch too */
	uint32_t socket; /* count only samples of this socket, + 1; 0: of all */
	bool modes; /* keep periods by cpumode in profile.modes */
	bool latency; /* and the latency; with `modes` */
	uint32_t one_event; /* number of the only event to count, + 1; 0: all events */
	/* For sonde_profile: keep chains, do not count samples that filters hide, and name a thread
	 * without a name by its tid. */
	bool named;
	/* Count each branch of a sample as a sample of its own, with period 1 and the branch's
	 * target as leaf. Without chains. */
	bool branches;
	/* With `branches`: a row for each block of code that was executed between two branches, with
	 * its cycles as period. The block begins at `addr_to` and ends at `addr_from`. Branches
	 * without a block are samples of a row with period 0. */
	bool blocks;
	bool history; /* branches of branch stacks are entries of chains; not with `inlined` */
	bool by_weight; /* sum the weights of samples, at least 1 each, instead of their periods */
	bool verbose; /* names of objects are paths; first_frame has the address of the first sample */
};

/* The owner of samples: the properties of a row that are not code. */
struct profile_who {
	uint32_t event;
	uint32_t key; /* number of the vector of key words; 0 if the keys have no words */
	uint32_t hidden; /* by the filters of threads; like mode, it does not distinguish rows */
	uint32_t
	        mode; /* cpumode if periods are kept by it, else 0; with latency, above PROFILE_MODE_BITS
	                  the parallelism */
};

/*
 * A distinct address in code. The first frame of a symbol represents all frames of this symbol:
 * chains contain only frames whose `same` is their own number.
 */
struct profile_frame {
	uint64_t ip; /* as sampled; used if the symbol is unknown */
	uint64_t address; /* in the object */
	const struct symbol *symbol; /* NULL: unknown */
	uint32_t object; /* PROFILE_NONE: no mapping */
	uint32_t same; /* number of the frame that represents the symbol */
};

/*
 * What rows of one symbol may differ in, by the keys `addr`, `symoff` and `dso_size`; 0: not by this
 * one.
 */
struct profile_place {
	uint64_t address; /* in the object; 0 without a symbol */
	uint64_t ip; /* as sampled */
	uint64_t size; /* bytes of the mapping */
};

/* A distinct address in code or data, as value of a key. */
struct profile_location {
	uint64_t ip; /* at run time */
	uint64_t address; /* in the object */
	const struct symbol *symbol; /* NULL: unknown */
	uint32_t object; /* PROFILE_NONE: no mapping */
	/* Of FIELD_LOCATION_LINE, else 0. */
	uint32_t pid; /* memory of this process alone; UINT32_MAX: of a file or of the kernel */
	uint8_t mode; /* cpumode of the sample */
	bool shared; /* data of a file that processes share */
	uint32_t line; /* of FIELD_LOCATION_SOURCE: number of the text in profile.source_texts */
};

#define PROFILE_LINE UINT64_C(64) /* bytes of a line of the cache */

/* What branch stacks add to an entry of a chain: sums over its samples. Empty when zero. */
struct profile_hop {
	uint64_t branches; /* samples in which it is the target or the source of a branch */
	uint64_t predicted, aborted; /* of those in which it is the target */
	uint64_t sources; /* those in which it is the source */
	uint64_t cycles; /* before the branches that it is the source of */
	uint64_t loops,
	        loop_cycles; /* repetitions that were left out before it, and their cycles */
	uint64_t kinds; /* of branches to it: bits by kind, and PROFILE_HOP_* */
	uint64_t time; /* ns, of the newest of these samples */
	bool source; /* whether it is the source in that sample */
};

#define PROFILE_HOP_FORWARD  (UINT64_C(1) << 60) /* conditional branches */
#define PROFILE_HOP_BACKWARD (UINT64_C(1) << 61)
#define PROFILE_HOP_CROSS_4K (UINT64_C(1) << 62) /* to another page */
#define PROFILE_HOP_CROSS_2M (UINT64_C(1) << 63)

/* A branch of a branch stack, after repetitions were left out. */
struct profile_jump {
	struct branch_entry branch;
	uint64_t loops, loop_cycles;
};

#define PROFILE_JUMPS 127u /* most branches that are used of a stack, as in perf */

/*
 * A count of the samples with the same (who, leaf, frames); frames are innermost first. Once all are
 * counted, chains are in the order of their first samples: by time, then by first_tid.
 */
struct profile_chain {
	uint64_t samples, period;
	uint64_t time; /* ns, of the first sample */
	union {
		size_t first; /* index of the first frame in words */
		uint64_t address; /* without frames: of the first sample, if `by_object` */
	};
	uint32_t n; /* number of frames */
	uint32_t who, leaf;
	union {
		uint32_t hash; /* until all chains are counted */
		uint32_t row; /* then, with options.named: number of the leaf's row */
	};
	uint32_t first_pid, first_tid; /* thread of the first sample */
	uint32_t first_comm; /* interned: the last name of that thread */
	bool kernel; /* the leaf is in the kernel */
	bool hidden; /* by the filters */
	bool over; /* the sum of periods exceeded UINT64_MAX */
	bool unwound; /* user frames are those of frame_chain_is_unwound */
};

/* Distinct chains, with their owners and frames. Empty when zero-initialised. */
struct profile_counts {
	uint32_t *keys; /* vectors of options.keys.words each */
	size_t nkeys, keys_cap;
	struct profile_who *who;
	size_t nwho, who_cap;
	struct profile_frame *frames;
	size_t nframes, frames_cap;
	uint64_t *sizes; /* bytes of the mapping, by frame; NULL without the key `dso_size` */
	size_t sizes_cap;
	struct profile_chain *chains;
	size_t nchains, chains_cap;
	uint32_t *words; /* frames of all chains */
	size_t nwords, words_cap;
	struct profile_hop *hops; /* by index in words; NULL without options.history */
	size_t hops_cap;
	struct profile_location *locations; /* of keys that are locations */
	size_t nlocations, locations_cap;
	/* indexes of keys, who, frames, frames with symbols, chains, locations */
	struct index vectors, whos, places, symbols, known, located;
};

/*
 * A row has what is summed, and what distinguishes it as far as sorting reads it often. All else
 * comes from its first sample: see the functions below. The size is a line of the cache.
 */
struct profile_row {
	uint64_t children; /* periods of samples with this row anywhere in the chain */
	uint64_t samples, period; /* of samples whose leaf is this row */
	union {
		const struct symbol *symbol; /* if has_symbol */
		uint64_t address; /* else: printed instead; 0 if the symbol is no key */
	} code;
	uint32_t first_chain; /* chain of the first sample */
	/* Of first_frame in its chain, in graph order: 1, 2...; 0: the leaf. */
	uint32_t step : PROFILE_STEP_BITS;
	uint32_t has_symbol : 1;
	uint32_t kernel : 1;
	uint32_t unknown : 1; /* see profile_row_unknown */
	uint32_t hidden : 1; /* as in perf: the filters hide its first sample */
	uint32_t first_frame; /* frame of the first sample, even if the symbol is no key */
	uint32_t depth; /* frames of its longest chain, from the row to the end of the graph */
	uint32_t key; /* profile_who.key */
	uint32_t event;
	uint32_t dso; /* in profile.names; 0 if it is no key */
	union {
		uint32_t mark; /* while chains are counted: number of the last one, + 1 */
		uint32_t graph; /* then: index in profile.graphs; 0: it has none */
	};
};

/* Prefetches a row: an array of rows does not begin with a line of the cache. */
static inline __attribute__((always_inline)) void profile_row_prefetch(const struct profile_row *r)
{
	__builtin_prefetch(&r->children);
	__builtin_prefetch(&r->graph);
}

/* Always inline, because GCC removes calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void profile_frame_prefetch(
        const struct profile_frame *f)
{
	__builtin_prefetch(&f->ip);
	__builtin_prefetch(&f->same);
}

struct profile_ref {
	uint32_t chain;
	uint32_t pos; /* position of the row's frame in the chain */
};

/* The chains of a row: refs[first .. first + n). */
struct profile_graph {
	size_t first;
	uint32_t n;
};

/* Counts of branches whose kind was recorded. */
struct profile_branches {
	uint64_t kinds[BRANCH_KINDS];
	uint64_t forward, backward; /* conditional ones */
	uint64_t cross_4k, cross_2m; /* to another page; those to another 2 MiB only in cross_2m */
};

#define PROFILE_INLINED_TEXT " (inlined)"
#define PROFILE_INLINED      0xff /* struct symbol.type of an inlined function */

/* An inlined function as a symbol: its range is that of the function around it. */
struct profile_inlined {
	struct symbol symbol; /* first, so that a pointer to it is one to the whole */
	const char *name; /* with " (inlined)", as perf prints it */
};

/* Numbers of texts in profile.source_texts. */
struct profile_source {
	uint32_t line; /* "FILE:LINE"; PROFILE_NONE: unknown */
	uint32_t row, file; /* of rows with this frame, if they are distinguished by lines */
};

struct profile_worker;
struct profile_switches;

/*
 * The rows that one worker makes. A hash of a row's frame and owner selects its part, so no row is
 * in two parts. The rows become profile.rows[first .. first + n).
 */
struct profile_part {
	struct profile_row *rows;
	size_t n, cap;
	size_t first;
	uint64_t *modes;
	size_t modes_cap;
};

/* Hashes of what rows have from an owner and from a frame, while rows and refs are made. */
struct profile_hashes {
	uint32_t *who;
	uint32_t *callers, *leaves; /* by frame: as a leaf, it may belong to another row */
};

struct profile {
	struct sonde_session *session;
	struct profile_options options;
	struct field_source source;
	struct field_traces traces; /* used if a key has FIELD_OF_TEXTS; see profile_traces_init */
	struct field_trace_keys trace_keys; /* of the key FIELD_TRACE_FIELDS */
	struct field_texts texts; /* of such keys, of all workers */
	struct intern names; /* short names of objects */
	uint32_t *dso; /* id in names, by object */
	uint32_t unknown; /* id of "[unknown]" */
	/* Each object is one frame, at address 0 and without a symbol: nothing needs more. */
	bool by_object;
	struct intern source_texts;
	struct profile_source *sources; /* by frame; NULL: no option or key needs them */
	size_t sources_cap;
	struct profile_place *places; /* distinct ones; NULL: no key needs them */
	uint32_t *place_of; /* index in places, by frame */
	struct arena inlined; /* struct profile_inlined and their names */
	uint32_t *alike; /* by frame: which one it is in graphs; NULL: itself */
	uint32_t *graph_words; /* counts.words, with `alike` an array with those frames */
	struct field_namespaces namespaces; /* for the key `cgroup_id`; empty without */
	struct field_steps steps; /* for the key `parallelism` and for latency; empty without */
	uint64_t *
	        latencies; /* sums of the rows not hidden, by event; NULL without options.latency */
	uint64_t *totals; /* periods by event */
	uint64_t *samples; /* by event */
	struct profile_branches branches; /* with options.branches */
	uint64_t *shown_totals, *shown_samples; /* if relative: sums of the rows not hidden */
	/* For the key `parent`; else NULL. */
	const char **parents; /* names, by rank; the last one is "[other]" */
	uint32_t nparents;
	uint32_t *parent_of; /* rank, by chain */
	struct profile_switches *switches; /* NULL without options.switch_on and switch_off */
	struct profile_worker *workers; /* during collection */
	unsigned nworkers;
	struct profile_counts counts; /* of all workers */
	struct profile_hashes hashes;
	struct profile_split *split; /* assigns rows to parts; NULL with one part */
	struct profile_part *parts;
	unsigned nparts;
	/* Numbers of the locations that vectors of keys show, options.keys.nlocated each; NULL: none. */
	uint32_t *shown;
	uint32_t *rows_of; /* rows of counts.words; NULL without options.named and callers */
	struct profile_row *rows;
	size_t nrows;
	uint64_t *modes; /* periods by cpumode, PROFILE_MODES per row; NULL without options.modes */
	struct profile_graph *graphs; /* from index 1 on */
	size_t ngraphs;
	struct profile_ref *refs;
	size_t nrefs; /* maximum number of refs of a row */
};

void profile_init(struct profile *p, struct sonde_session *s, const struct profile_options *o);
void profile_fini(struct profile *p);

/*
 * Reads the tracepoints of the recording into p->traces, so that fields can be chosen as
 * p->trace_keys before profile_run; if none are, the key FIELD_TRACE_FIELDS has all. SONDE_ENOMEM.
 */
int profile_traces_init(struct profile *p, bool raw);

/* Counts the samples and makes the rows; then p->rows can be sorted and printed. */
int profile_run(struct profile *p);

/* Whether these options need the source lines of frames; and whether each address is a frame. */
bool profile_has_sources(const struct profile_options *o);
bool profile_by_place(const struct profile_options *o);
/* Whether keys need the places of frames. */
bool profile_has_places(const struct profile_options *o);
/* Returns "FILE:LINE" of a frame; NULL: unknown, or the options do not need it. */
const char *profile_frame_line(const struct profile *p, const struct profile_frame *f);
/* Returns the text of a row for FIELD_SRCLINE or FIELD_SRCFILE, which must be a key. */
const char *profile_row_source(
        const struct profile *p, const struct profile_row *row, unsigned key);

/*
 * Returns the name of a symbol of an object, an inlined one with " (inlined)"; NULL: sym is NULL, or
 * out of memory.
 */
const char *profile_symbol(const struct profile *p, uint32_t object, const struct symbol *sym);

/* Returns the chain with the first sample of a row: its time, thread and name of the thread. */
static inline const struct profile_chain *profile_row_first(
        const struct profile *p, const struct profile_row *row)
{
	return &p->counts.chains[row->first_chain];
}

/* Returns the number of chains in a row's graph; 0: it has no graph. */
static inline uint32_t profile_row_refs(const struct profile *p, const struct profile_row *row)
{
	return p->graphs != NULL ? p->graphs[row->graph].n : 0;
}

/* Returns the symbol of a row; NULL: it is unknown, or no key. */
static inline const struct symbol *profile_row_symbol(const struct profile_row *row)
{
	return row->has_symbol ? row->code.symbol : NULL;
}

/* Returns the address that is printed for a row without a symbol. */
static inline uint64_t profile_row_address(const struct profile_row *row)
{
	return row->has_symbol ? 0 : row->code.address;
}

/* Returns the object with the symbol of a row; PROFILE_NONE: it has no symbol. */
static inline uint32_t profile_row_object(const struct profile *p, const struct profile_row *row)
{
	return row->has_symbol ? p->counts.frames[row->first_frame].object : PROFILE_NONE;
}

/* Returns the name of a row's symbol; NULL: it has none, or out of memory. */
static inline const char *profile_row_name(const struct profile *p, const struct profile_row *row)
{
	return profile_symbol(p, profile_row_object(p, row), profile_row_symbol(row));
}

/*
 * Whether rows have the same symbol, or both have none. As in perf, copies of one file, in
 * containers for example, share one row per function.
 */
bool profile_symbol_same(
        const struct profile *p, const struct profile_row *a, const struct profile_row *b);

/* Whether the code of a row's first sample has no symbol: 1, 0, SONDE_ENOMEM. */
int profile_row_unknown(const struct profile *p, const struct profile_row *row);

/* Returns a row's words of a key that does not depend on the frame. */
static inline const uint32_t *profile_row_words(
        const struct profile *p, const struct profile_row *row, size_t key)
{
	const struct field_key_choice *c = &p->options.keys;

	return p->counts.keys + (size_t)row->key * c->words + c->at[key];
}

/* A row's value of a key other than `sym` and `dso`: a number, or the id of a text. */
uint64_t profile_row_number(const struct profile *p, const struct profile_row *row, unsigned id);
/* Returns a row's value of a key that is a location. */
static inline const struct profile_location *profile_row_location(
        const struct profile *p, const struct profile_row *row, size_t key)
{
	const struct field_key_choice *c = &p->options.keys;
	unsigned i = 0;

	while (c->located[i] != key) {
		i++;
	}
	return &p->counts.locations[p->shown[(size_t)row->key * c->nlocated + i]];
}

/* A node of a row's graph: the n frames from `depth` on that all its chains share. */
struct profile_node {
	struct profile_ref *refs;
	size_t nrefs;
	uint64_t sum; /* periods */
	uint64_t hidden_samples; /* of a node without frames, without samples that end above it */
	uint64_t below; /* periods of all children, set by profile_graph_expand */
	bool whole; /* fractal: shares of children are of sum, not of `below` */
	uint32_t depth, n;
};

/* The nodes that one worker opened. Empty when zero-initialised. */
struct profile_nodes {
	struct profile_node *p;
	size_t n, cap;
	struct profile_ref *spare; /* room for the refs of any row */
	uint32_t *steps; /* the next frames of the opened node's refs */
	uint64_t *sums; /* periods by frame */
	uint32_t *buckets; /* number of refs, then of the child + 1, by frame; 0: none */
	uint32_t *order; /* frames in the order of their first ref */
};

void profile_nodes_fini(struct profile_nodes *nodes);

/*
 * Appends the visible children of node to `out`, the heaviest first. The children share node's
 * refs, which are reordered. profile_graph_root returns the root of a row.
 */
struct profile_node profile_graph_root(const struct profile *p, const struct profile_row *row);
int profile_graph_expand(const struct profile *p, uint32_t event, struct profile_node *node,
        struct profile_nodes *out);
/* Returns the frame of a ref at a depth of its row's graph; PROFILE_NONE after the end. */
uint32_t profile_graph_step(const struct profile *p, struct profile_ref ref, uint32_t depth);
uint64_t profile_graph_samples(const struct profile *p, const struct profile_node *node);
/* Orders branches with the same weight: by object, then from the highest address to the lowest. */
bool profile_frame_before(
        const struct profile *p, const struct profile_frame *x, const struct profile_frame *y);
const struct profile_frame *profile_graph_frame(
        const struct profile *p, const struct profile_node *node, uint32_t depth);
/* What branches add to a node's frame at a depth of its row's graph; with options.history. */
struct profile_hop profile_graph_hop(
        const struct profile *p, const struct profile_node *node, uint32_t depth);
/* The frame to print for refs that are one branch: as in perf, that of the first sample. */
const struct profile_frame *profile_graph_shown(
        const struct profile *p, const struct profile_ref *refs, size_t n, uint32_t depth);

/* Private to profile. */

void profile_counts_fini(struct profile_counts *c);
/* Gives back the memory that was reserved for more frames, chains and words. */
void profile_counts_fit(struct profile_counts *c);
void profile_counts_drop_indexes(struct profile_counts *c);
/* These three find an item by its contents, or add it, and set *id to its number. SONDE_ENOMEM. */
int profile_key_add(
        const struct profile *p, struct profile_counts *c, const uint32_t *words, uint32_t *id);
int profile_who_add(struct profile_counts *c, const struct profile_who *key, uint32_t *id);
/*
 * Uses ip, address and object of the key, and looks up the symbol of a new frame. size: bytes of its
 * mapping, which distinguishes frames if there is the key `dso_size`.
 */
int profile_frame_add(struct profile *p, struct profile_counts *c, struct profile_frame key,
        uint64_t size, uint32_t *id);
/* Looks up the symbol of a new location. */
int profile_location_add(
        struct profile *p, struct profile_counts *c, struct profile_location key, uint32_t *id);
/*
 * Replaces the words of keys that are locations by ranks in the order of reports, joins vectors that
 * are equal then, and fills in p->shown.
 */
int profile_locations_rank(struct profile *p);
uint32_t profile_frame_hash(const struct profile_frame *f);
/*
 * Adds the counts of *key to the chain with the same who, leaf, kernel and words[0..n), or stores a
 * new chain; key->hash is the result of profile_chain_hash. hops: one for each word, or NULL.
 */
int profile_chain_add(struct profile_counts *c, struct profile_chain *key, const uint32_t *words,
        const struct profile_hop *hops, uint32_t *id);
uint32_t profile_chain_hash(const struct profile_chain *c, const uint32_t *words);
/*
 * Adds the counts of the other workers to those of the first one. Of equal chains, all but one are
 * left with 0 samples.
 */
int profile_counts_join(struct profile *p, struct profile_counts **workers, unsigned n);
/* Adds the samples of a chain to an equal chain. */
void profile_chain_count(struct profile_chain *to, const struct profile_chain *from);

/*
 * Sorts chains by (time, first_tid), without changing the order of equal ones, and removes those
 * without samples. SONDE_ENOMEM.
 */
int profile_chains_sort(struct profile_counts *c, unsigned jobs);

/* Whether an object is kernel code; object is not PROFILE_NONE. */
bool profile_is_kernel(const struct profile *p, uint32_t object);

/* One frame of a chain, or its leaf, to be counted in a row. */
struct profile_visit {
	uint32_t chain, frame;
	uint32_t step; /* in graph order: 1, 2...; 0: the leaf */
};

/* Returns the index in counts.words of a step that is not the leaf. */
static inline size_t profile_chain_word(
        const struct profile *p, const struct profile_chain *c, uint32_t step)
{
	return c->first + (p->options.caller ? c->n - step : step - 1);
}

/*
 * Stores the next visits of a part's rows, at most `room`, ordered by chain and step. Returns their
 * number; 0: end. *at is the state of the search, {0} at first.
 */
size_t profile_visits(const struct profile *p, unsigned part, struct profile_visit *at,
        struct profile_visit *out, size_t room);
void profile_parts_free(struct profile *p);
/* Returns a row with the properties of a visit's row, for profile_row_same. */
struct profile_row profile_row_key(const struct profile *p, const struct profile_visit *v);
bool profile_row_same(
        const struct profile *p, const struct profile_row *a, const struct profile_row *b);
/* The hash of a visit's row: equal for equal rows. */
static inline uint32_t profile_visit_hash(const struct profile *p, const struct profile_visit *v)
{
	const struct profile_hashes *h = &p->hashes;
	uint32_t place = (v->step == 0 ? h->leaves : h->callers)[v->frame];
	uint32_t parent = p->parent_of != NULL ? p->parent_of[v->chain] : 0;

	return place ^ h->who[p->counts.chains[v->chain].who] ^ parent;
}
/*
 * Returns the owner of a frame's row, + 1; bit 0 of the owner: a leaf with a row of its own. Visits of
 * one frame with the same owner are of the same row, unless there is the key `parent`.
 */
uint32_t profile_row_owner(const struct profile *p, const struct profile_visit *v);
/* Whether a chain is counted in rows. */
static inline bool profile_chain_counts(const struct profile *p, const struct profile_chain *c)
{
	return c->samples != 0 && !(c->hidden && p->options.named);
}

/*
 * Stores the branches of a sample, in the order of graphs, in jumps[PROFILE_JUMPS]; returns their
 * number.
 */
size_t profile_jumps(const struct session_sample *s, const struct profile_options *o,
        struct profile_jump *jumps);
/* The hop of a branch's source or target in one sample. */
struct profile_hop profile_hop_of(const struct profile_jump *jump, bool source, uint64_t time);
void profile_hop_add(struct profile_hop *to, const struct profile_hop *more);
int profile_parents_make(struct profile *p);
/* Fills in p->namespaces. */
int profile_namespaces_make(struct profile *p);
void profile_namespaces_free(struct profile *p);
/* Fills in p->steps; SONDE_EARG with a text if no context switches were recorded. */
int profile_parallelism_make(struct profile *p);
void profile_branch_count(struct profile_branches *to, const struct branch_entry *b);
void profile_branches_add(struct profile_branches *to, const struct profile_branches *more);

/* Finds the samples of the events that switch counting on and off. */
int profile_switches_make(struct profile *p);
void profile_switches_free(struct profile_switches *s); /* NULL is fine */
/* Whether a sample is counted. */
bool profile_switches_take(const struct profile_switches *s, const struct session_sample *sample);

int profile_collect(struct profile *p);
int profile_sources_read(struct profile *p);
/* Makes graph_words, and `alike` if graphs need it. Call after profile_inline. */
int profile_graph_words_make(struct profile *p);
/* Numbers the places of all frames, if a key needs them; after profile_sources_read. */
int profile_places_make(struct profile *p);
/* Sets the texts of source lines of the locations of a key, from the first one on. */
int profile_location_line(struct profile *p, struct profile_location *at);
/* Sets the texts of a frame from place->frames[at], if they are needed. */
int profile_source_add(
        struct profile *p, uint32_t id, const struct lines_place *place, unsigned at);
/* Adds the functions inlined at the addresses of all chains. */
int profile_inline(struct profile *p);
void profile_sources_free(struct profile *p);
void profile_workers_free(struct profile *p);
int profile_fold(struct profile *p);
int profile_graph_prepare(struct profile *p);
/* Fills in p->graphs, of these rows, and p->refs. */
int profile_refs_find(struct profile *p, const uint32_t *rows);

#endif
