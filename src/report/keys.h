/* SPDX-License-Identifier: MIT */
/*
 * The keys that rows are sorted by: columns of numbers in rising order, of which as many as fit are
 * packed into numbers of 64 bits. Texts and sums of groups are replaced by their ranks.
 */
#ifndef SONDE_REPORT_KEYS_H
#define SONDE_REPORT_KEYS_H

#include "core/pool.h"
#include "report/ranks.h"

/* What a column is made of. */
enum report_key {
	REPORT_BY_FIELD, /* a field of --sort or --fields */
	REPORT_BY_SUMS, /* the same, if it has sums of several members of a group */
	REPORT_BY_NAME, /* of the symbol */
	REPORT_BY_ADDRESS, /* by sign of the difference; only between rows without symbols */
	REPORT_BY_DSO, /* not between rows without symbols */
	REPORT_BY_KNOWN,
	REPORT_BY_START, /* of the symbol; by sign of the difference */
	REPORT_BY_DEPTH, /* of the graph; only between rows of one thread */
	REPORT_BY_TIME, /* of the first sample */
	REPORT_BY_FIRST_TID,
	REPORT_BY_STEP, /* position in the chain of the first sample */
};

struct report_column {
	enum report_key kind;
	unsigned field; /* enum field_id */
	uint64_t low, high; /* range of its keys other than 0 */
	unsigned bits; /* width of key - low + 1; 0: all keys are equal */
};

#define REPORT_PLAN_MAX (3 * FIELD_COUNT)
#define REPORT_NOWHERE  UINT32_MAX

/* Columns that are packed into one 64-bit number, the last one in the lowest bits. */
struct report_packed {
	unsigned first, end;
};

/* Columns, the most important first. */
struct report_plan {
	struct report_column columns[REPORT_PLAN_MAX];
	unsigned n;
	unsigned depth; /* index where REPORT_BY_DEPTH is, or would be inserted; REPORT_NOWHERE */
	struct report_packed packed[REPORT_PLAN_MAX];
	unsigned npacked;
};

struct report_keys {
	const struct report *r;
	struct report_table *table; /* of r */
	struct report_ranks ranks;
	bool known; /* some rows may have symbols */
	uint64_t low, high; /* range of addresses of rows without symbols, as REPORT_SIGNED */
	uint64_t *packed; /* packed columns, by row */
	uint64_t *pairs; /* room for two per sorted row */
};

/* Signed numbers as unsigned ones in the same order. */
#define REPORT_SIGNED(v) ((v) ^ (uint64_t)1 << 63)

void report_plan_add(struct report_plan *plan, enum report_key kind, unsigned field);
/* Adds the columns that distinguish rows. */
void report_plan_distinct(const struct report_keys *k, struct report_plan *plan);
/* Adds the columns by which rows are sorted; with_depth: also by the lengths of graphs. */
void report_plan_output(const struct report_keys *k, struct report_plan *plan, bool with_depth);
/*
 * Packs columns that are measured into 64-bit numbers; columns before and after `depth` are never in
 * the same one.
 */
void report_plan_pack(struct report_plan *plan);

/* Measures the columns of n plans over all rows, and packs them. */
void report_keys_measure(struct report_keys *k, struct report_plan *const *plans, size_t n);
/* Writes the keys of the rows [from, end) in a column to `keys`. */
void report_keys_get(const struct report_keys *k, const struct report_column *by, size_t from,
        size_t end, uint64_t *keys);
/* Fills in k->packed for all rows; SONDE_ENOMEM. */
int report_keys_pack(
        struct report_keys *k, const struct report_plan *plan, struct report_packed packed);
/* A stable sort: equal rows keep their order. SONDE_ENOMEM. */
int report_keys_sort(struct report_keys *k, const struct report_plan *plan);

#define REPORT_DEPTH_MAX INT32_MAX /* far above the number of words in a record */

/* The length of a row's graph as it is compared: callers are above callees. */
static inline uint64_t report_keys_depth(const struct report *r, const struct profile_row *row)
{
	return r->profile.options.caller ? REPORT_DEPTH_MAX - row->depth : row->depth;
}

#define REPORT_KEYS_AT_ONCE 512u /* rows whose keys are made at once */
#define REPORT_KEYS_BLOCK   ((size_t)64 * REPORT_KEYS_AT_ONCE) /* rows of one task */

static inline size_t report_block_end(size_t n, size_t block)
{
	return n - block * REPORT_KEYS_BLOCK < REPORT_KEYS_BLOCK ? n
	                                                         : (block + 1) * REPORT_KEYS_BLOCK;
}

/* Calls `work` on all workers for each block of n rows; worker and block are its arguments. */
int report_blocks_run(const struct report_keys *k, size_t n, pool_task_fn work, void *arg);

#endif
