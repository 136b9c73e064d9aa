/* SPDX-License-Identifier: MIT */
#include "report/keys.h"

#include "core/sort.h"

/* Returns the key for ordering by object, even if dso is not a sort key. */
static uint64_t dso_key(const struct report_keys *k, const struct profile_row *row)
{
	const uint32_t *ranks = k->ranks.texts[REPORT_RANKED_OBJECT];
	const struct profile *p = &k->r->profile;
	uint32_t object = p->counts.frames[row->first_frame].object;

	if (p->options.keys.chosen[FIELD_DSO]) {
		return ranks[row->dso];
	}
	return ranks[object != PROFILE_NONE ? p->dso[object] : p->unknown];
}

/* Returns the kind of ranks that a column uses; REPORT_RANKED: none. */
static enum report_ranked column_ranks(const struct report_column *c)
{
	if (c->kind == REPORT_BY_NAME) {
		return REPORT_RANKED_SYMBOL;
	}
	if (c->kind == REPORT_BY_DSO || (c->kind == REPORT_BY_FIELD && c->field == FIELD_DSO)) {
		return REPORT_RANKED_OBJECT;
	}
	if (c->kind == REPORT_BY_FIELD &&
	        (c->field == FIELD_SRCLINE || c->field == FIELD_SRCFILE)) {
		return REPORT_RANKED_SOURCE;
	}
	if (c->kind == REPORT_BY_FIELD &&
	        (c->field == FIELD_TRACE || c->field == FIELD_TRACE_FIELDS)) {
		return REPORT_RANKED_TRACE;
	}
	return c->kind == REPORT_BY_FIELD && c->field == FIELD_COMM ? REPORT_RANKED_COMM
	                                                            : REPORT_RANKED;
}

/* A loop for each kind of column, because this is half of the time of sorting. */
void report_keys_get(const struct report_keys *k, const struct report_column *by, size_t from,
        size_t end, uint64_t *keys)
{
#define EACH_ROW(key)                                                                              \
	for (size_t i = 0; i < end - from; i++) {                                                  \
		const struct profile_row *row = &k->table->rows[from + i];                         \
                                                                                                   \
		keys[i] = (key);                                                                   \
	}                                                                                          \
	break
	const uint32_t *ranks = k->ranks.texts[column_ranks(by) % REPORT_RANKED];

	switch (by->kind) {
	case REPORT_BY_FIELD:
		switch (by->field) { /* sums from the largest down, other fields in rising order */
		case FIELD_OVERHEAD_CHILDREN: EACH_ROW(~row->children);
		case FIELD_OVERHEAD: EACH_ROW(~row->period);
		case FIELD_DSO: EACH_ROW(dso_key(k, row));
		case FIELD_COMM:
			EACH_ROW(ranks[*profile_row_words(&k->r->profile, row, FIELD_COMM)]);
		case FIELD_SRCLINE:
		case FIELD_SRCFILE:
		case FIELD_TRACE:
		case FIELD_TRACE_FIELDS:
			EACH_ROW(ranks[profile_row_number(&k->r->profile, row, by->field)]);
		default: EACH_ROW(report_columns_rank(k->r, row, by->field));
		}
		break;
	case REPORT_BY_SUMS: EACH_ROW(((void)row, k->ranks.sums[by->field][from + i]));
	case REPORT_BY_NAME:
		EACH_ROW(row->has_symbol ? ranks[from + i] : k->ranks.ntexts[REPORT_RANKED_SYMBOL]);
	case REPORT_BY_ADDRESS:
		EACH_ROW(!row->has_symbol ? REPORT_SIGNED(profile_row_address(row)) : 0);
	case REPORT_BY_DSO: EACH_ROW(dso_key(k, row));
	case REPORT_BY_KNOWN: EACH_ROW(!row->has_symbol);
	case REPORT_BY_START:
		EACH_ROW(row->has_symbol ? REPORT_SIGNED(row->code.symbol->start) : 0);
	case REPORT_BY_DEPTH: EACH_ROW(report_keys_depth(k->r, row));
	case REPORT_BY_TIME: EACH_ROW(profile_row_first(&k->r->profile, row)->time);
	case REPORT_BY_FIRST_TID: EACH_ROW(profile_row_first(&k->r->profile, row)->first_tid);
	case REPORT_BY_STEP: EACH_ROW(row->step);
	}
#undef EACH_ROW
}

static void column_measure(
        const struct report_keys *k, struct report_column *column, size_t from, size_t end)
{
	uint64_t low = column->low, high = column->high;
	uint64_t keys[REPORT_KEYS_AT_ONCE];
	bool zeros = false;
	enum report_ranked ranks = column_ranks(column);

	if (ranks != REPORT_RANKED) {
		column->low = column->bits = 1;
		column->high = k->ranks.ntexts[ranks];
		return;
	}
	report_keys_get(k, column, from, end, keys);
	for (size_t i = 0; i < end - from; i++) {
		low = keys[i] - 1 < low - 1 ? keys[i] : low; /* 0 is never the lowest: it wraps */
		high = keys[i] > high ? keys[i] : high;
		zeros |= keys[i] == 0;
	}
	column->bits |= zeros;
	column->low = low;
	column->high = high;
}

/* Sets `low`: key - low is the packed value of a key; 0 is reserved if there are keys of 0. */
static void column_size(struct report_column *c)
{
	uint64_t last = c->high - c->low + c->bits;

	c->low -= c->bits;
	c->bits = c->high != 0 && last != 0 ? 64 - (unsigned)__builtin_clzll(last) : 0;
}

static void addresses_measure(struct report_keys *k, size_t from, size_t end)
{
	for (size_t i = from; i < end; i++) {
		const struct profile_row *row = &k->table->rows[i];
		uint64_t key = REPORT_SIGNED(profile_row_address(row));

		if (!row->has_symbol) {
			k->low = key < k->low ? key : k->low;
			k->high = key > k->high ? key : k->high;
		}
	}
}

void report_plan_pack(struct report_plan *plan)
{
	unsigned end = plan->n;

	while (end > 0) {
		unsigned stop = end > plan->depth ? plan->depth : 0;
		unsigned bits = plan->columns[end - 1].bits;
		unsigned first = end - 1;

		while (first > stop && bits + plan->columns[first - 1].bits <= 64) {
			bits += plan->columns[--first].bits;
		}
		if (bits != 0) {
			plan->packed[plan->npacked++] = (struct report_packed){first, end};
		}
		end = first;
	}
}

/* All columns of a few rows, then of the next rows: for the processor's caches. */
void report_keys_measure(struct report_keys *k, struct report_plan *const *plans, size_t n)
{
	size_t rows = k->table->nrows;

	for (size_t from = 0; from < rows; from += REPORT_KEYS_AT_ONCE) {
		size_t end = rows - from < REPORT_KEYS_AT_ONCE ? rows : from + REPORT_KEYS_AT_ONCE;

		addresses_measure(k, from, end);
		for (size_t j = 0; j < n; j++) {
			for (unsigned i = 0; i < plans[j]->n; i++) {
				column_measure(k, &plans[j]->columns[i], from, end);
			}
		}
	}
	for (size_t j = 0; j < n; j++) {
		for (unsigned i = 0; i < plans[j]->n; i++) {
			column_size(&plans[j]->columns[i]);
		}
		report_plan_pack(plans[j]);
	}
}

static void column_add(
        const struct report_keys *k, const struct report_column *c, size_t from, size_t end)
{
	uint64_t keys[REPORT_KEYS_AT_ONCE];
	unsigned shift = c->bits & 63; /* 64 bits are all of a packed number */

	if (c->bits == 0) {
		return;
	}
	report_keys_get(k, c, from, end, keys);
	for (size_t i = 0; i < end - from; i++) {
		k->packed[from + i] = (c->bits < 64 ? k->packed[from + i] << shift : 0) |
		                      (keys[i] != 0 ? keys[i] - c->low : 0);
	}
}

int report_blocks_run(const struct report_keys *k, size_t n, pool_task_fn work, void *arg)
{
	unsigned jobs = k->r->nworkers != 0 ? k->r->nworkers : 1;

	return pool_run(jobs, (n + REPORT_KEYS_BLOCK - 1) / REPORT_KEYS_BLOCK, work, arg);
}

struct packing {
	struct report_keys *keys;
	const struct report_plan *plan;
	struct report_packed packed;
};

static int rows_pack(void *arg, unsigned worker, size_t block)
{
	const struct packing *x = arg;
	struct report_keys *k = x->keys;
	size_t last = report_block_end(k->table->nrows, block);

	(void)worker;
	for (size_t from = block * REPORT_KEYS_BLOCK; from < last; from += REPORT_KEYS_AT_ONCE) {
		size_t end = last - from < REPORT_KEYS_AT_ONCE ? last : from + REPORT_KEYS_AT_ONCE;

		memset(k->packed + from, 0, (end - from) * sizeof(*k->packed));
		for (unsigned i = x->packed.first; i < x->packed.end; i++) {
			column_add(k, &x->plan->columns[i], from, end);
		}
	}
	return 0;
}

int report_keys_pack(
        struct report_keys *k, const struct report_plan *plan, struct report_packed packed)
{
	struct packing x = {.keys = k, .plan = plan, .packed = packed};

	return report_blocks_run(k, k->table->nrows, rows_pack, &x);
}

int report_keys_sort(struct report_keys *k, const struct report_plan *plan)
{
	for (unsigned i = 0; i < plan->npacked; i++) {
		TRY(report_keys_pack(k, plan, plan->packed[i]));
		TRY(sort_order_jobs(
		        k->packed, k->table->order, k->pairs, k->table->norder, k->r->nworkers));
	}
	return 0;
}

void report_plan_add(struct report_plan *plan, enum report_key kind, unsigned field)
{
	plan->columns[plan->n++] =
	        (struct report_column){.kind = kind, .field = field, .low = UINT64_MAX};
}

void report_plan_distinct(const struct report_keys *k, struct report_plan *plan)
{
	const struct report *r = k->r;

	for (unsigned j = 0; j < r->sorts.n; j++) {
		if (r->sorts.id[j] == FIELD_SYM) {
			report_plan_add(plan, REPORT_BY_ADDRESS, 0);
			if (k->known && !r->profile.options.keys.chosen[FIELD_DSO]) {
				report_plan_add(plan, REPORT_BY_DSO, 0);
			}
			report_plan_add(plan, REPORT_BY_KNOWN, 0);
			report_plan_add(plan, REPORT_BY_START, 0);
		} else if (field_is_key(r->sorts.id[j])) {
			report_plan_add(plan, REPORT_BY_FIELD, r->sorts.id[j]);
		}
	}
	plan->depth = REPORT_NOWHERE;
}

void report_plan_output(const struct report_keys *k, struct report_plan *plan, bool with_depth)
{
	const struct report *r = k->r;

	plan->depth = REPORT_NOWHERE;
	for (unsigned j = 0; j < r->sorts.n; j++) {
		bool absent =
		        r->sorts.id[j] == FIELD_OVERHEAD_CHILDREN && !r->profile.options.children;

		if (absent || report_columns_left_out(r, r->sorts.id[j])) { /* so does perf */
			continue;
		}
		if (r->sorts.id[j] == FIELD_SYM) {
			if (k->known) {
				report_plan_add(plan, REPORT_BY_NAME, 0);
			}
			continue;
		}
		report_plan_add(plan,
		        k->ranks.sums[r->sorts.id[j]] != NULL ? REPORT_BY_SUMS : REPORT_BY_FIELD,
		        r->sorts.id[j]);
		if (r->sorts.id[j] == FIELD_OVERHEAD_CHILDREN && r->profile.options.graph &&
		        plan->depth == REPORT_NOWHERE) {
			plan->depth = plan->n;
			if (with_depth) {
				report_plan_add(plan, REPORT_BY_DEPTH, 0);
			}
		}
	}
}
