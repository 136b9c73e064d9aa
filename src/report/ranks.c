/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* qsort_r */
#include "report/ranks.h"

#include <stdlib.h>

struct named { /* a text to be ranked */
	const char *text;
	uint32_t id;
	bool last; /* after all others, whatever its text is */
};

static int name_compare(const void *a, const void *b)
{
	const struct named *x = a;
	const struct named *y = b;

	if (x->last != y->last) {
		return x->last - y->last;
	}
	return x->text == NULL ? 0 : strcmp(x->text, y->text);
}

/* Sorts names and sets their ranks; equal texts have equal ranks. Returns the number of ranks. */
static uint32_t names_rank(struct named *names, size_t n, uint32_t *ranks)
{
	uint32_t rank = 0;

	qsort(names, n, sizeof(*names), name_compare);
	for (size_t i = 0; i < n; i++) {
		rank += i != 0 && name_compare(&names[i - 1], &names[i]) != 0;
		ranks[names[i].id] = rank;
	}
	return rank + 1;
}

/* The texts of a kind that are numbered in the profile: neither names of threads nor of symbols. */
static const struct intern *texts_of(const struct report *r, enum report_ranked key)
{
	return key == REPORT_RANKED_OBJECT  ? &r->profile.names
	       : key == REPORT_RANKED_TRACE ? &r->profile.texts.texts
	                                    : &r->profile.source_texts;
}

/* The number of texts that have ranks, and a text by its number. */
static size_t texts_count(const struct report *r, enum report_ranked key)
{
	return key == REPORT_RANKED_COMM ? timeline_texts(session_timeline(r->session))
	                                 : texts_of(r, key)->count;
}

static const char *text_at(const struct report *r, enum report_ranked key, uint32_t id)
{
	return key == REPORT_RANKED_COMM ? timeline_text(session_timeline(r->session), id)
	                                 : intern_text(texts_of(r, key), id);
}

/* Fills in the names of all interned texts, by number. */
static void names_of_texts(const struct report *r, enum report_ranked key, struct named *names)
{
	size_t n = texts_count(r, key);

	for (uint32_t i = 0; i < n; i++) {
		names[i] = (struct named){.id = i,
		        .last = key == REPORT_RANKED_OBJECT && i == r->profile.unknown,
		        .text = text_at(r, key, i)};
	}
}

/* Fills in the names of rows' symbols, and sets their number; SONDE_ENOMEM. */
static int names_of_rows(const struct report *r, struct named *names, size_t *number)
{
	size_t n = 0;

	for (size_t i = 0; i < r->table->nrows; i++) {
		const struct profile_row *row = &r->table->rows[i];

		if (row->has_symbol) {
			names[n++] = (struct named){
			        .id = (uint32_t)i, .text = profile_row_name(&r->profile, row)};
			if (names[n - 1].text == NULL) {
				return SONDE_ENOMEM;
			}
		}
	}
	*number = n;
	return 0;
}

static int ranks_make(struct report_ranks *ranks, const struct report *r, enum report_ranked key)
{
	size_t all = key == REPORT_RANKED_SYMBOL ? r->table->nrows : texts_count(r, key);
	struct named *names = malloc((all + 1) * sizeof(*names));
	size_t n = all;
	int rc = 0;

	ranks->texts[key] = malloc((all + 1) * sizeof(*ranks->texts[key]));
	if (names == NULL || ranks->texts[key] == NULL) {
		free(names);
		return SONDE_ENOMEM;
	}
	if (key == REPORT_RANKED_SYMBOL) {
		rc = names_of_rows(r, names, &n);
	} else {
		names_of_texts(r, key, names);
	}
	if (rc >= 0) {
		ranks->ntexts[key] = names_rank(names, n, ranks->texts[key]);
	}
	free(names);
	return rc;
}

/* Compares rows by the sums of a field: the largest first. */
struct sums_order {
	const struct report *r;
	unsigned id;
};

static int sums_compare(const void *a, const void *b, void *arg)
{
	const struct sums_order *o = arg;
	const struct report_table *t = o->r->table;
	const struct profile_row *x = &t->rows[*(const uint32_t *)a],
	                         *y = &t->rows[*(const uint32_t *)b];
	/* as in perf, --group-sort-idx does not apply to Children */
	int64_t first = o->id != FIELD_OVERHEAD_CHILDREN ? o->r->options.group_sort : 0;
	bool known = first >= 0 && first < t->members;

	/* as in perf: that member, then the others without the leader */
	for (unsigned i = 0; i < (known ? t->members : 1); i++) {
		unsigned member = i != 0 ? i : known ? (unsigned)first : 0;
		uint64_t m = report_columns_sum(o->r, x, o->id, member);
		uint64_t n = report_columns_sum(o->r, y, o->id, member);

		if (m != n) {
			return m > n ? -1 : 1;
		}
	}
	return 0;
}

/* Ranks the rows of a group by the sums of a field. */
static void sums_rank(const struct report *r, unsigned id, uint32_t *spare, uint32_t *ranks)
{
	struct sums_order by = {.r = r, .id = id};
	const struct report_table *table = r->table;
	uint32_t *order = spare, rank = 0;

	memcpy(order, table->order, table->norder * sizeof(*order));
	qsort_r(order, table->norder, sizeof(*order), sums_compare, &by);
	for (size_t i = 0; i < table->norder; i++) {
		rank += i != 0 && sums_compare(&order[i - 1], &order[i], &by) != 0;
		ranks[order[i]] = rank;
	}
}

/* Ranks the rows of a group by each sum that they are sorted by. */
static int sums_rank_all(struct report_ranks *ranks, const struct report *r, uint32_t *spare)
{
	const struct report_list *sorts = &r->sorts;
	size_t rows = r->table->nrows + 1;

	if (r->table->members == 1) {
		return 0;
	}
	ranks->memory = calloc(rows, sorts->n * sizeof(*ranks->memory));
	if (ranks->memory == NULL) {
		return SONDE_ENOMEM;
	}
	for (unsigned k = 0; k < sorts->n; k++) {
		if (!field_is_key(sorts->id[k])) {
			uint32_t *sums = ranks->memory + k * rows;

			ranks->sums[sorts->id[k]] = sums;
			sums_rank(r, sorts->id[k], spare, sums);
		}
	}
	return 0;
}

/* Texts of tracepoints may be many, and are the same for all events: their ranks are kept. */
static int trace_ranks_make(struct report_ranks *ranks, struct report *r)
{
	if (r->trace_ranks == NULL) {
		TRY(ranks_make(ranks, r, REPORT_RANKED_TRACE));
		r->trace_ranks = ranks->texts[REPORT_RANKED_TRACE];
		r->ntrace_ranks = ranks->ntexts[REPORT_RANKED_TRACE];
	}
	ranks->texts[REPORT_RANKED_TRACE] = r->trace_ranks;
	ranks->ntexts[REPORT_RANKED_TRACE] = r->ntrace_ranks;
	return 0;
}

int report_ranks_init(struct report_ranks *ranks, struct report *r, bool symbols, uint32_t *spare)
{
	*ranks = (struct report_ranks){0};
	for (unsigned k = 0; k < REPORT_RANKED; k++) {
		if (k != REPORT_RANKED_TRACE && (k != REPORT_RANKED_SYMBOL || symbols)) {
			TRY(ranks_make(ranks, r, (enum report_ranked)k));
		}
	}
	TRY(trace_ranks_make(ranks, r));
	return sums_rank_all(ranks, r, spare);
}

void report_ranks_fini(struct report_ranks *ranks, const struct report *r)
{
	for (unsigned k = 0; k < REPORT_RANKED; k++) {
		if (ranks->texts[k] != r->trace_ranks) {
			free(ranks->texts[k]);
		}
	}
	free(ranks->memory);
}
