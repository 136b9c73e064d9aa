/* SPDX-License-Identifier: MIT */
/*
 * The order of a report's rows: by what is sorted by, numbers most first, keys by their texts.
 *
 * Each thing that counts is made a column of numbers that rise as wanted, and the rows are sorted
 * by the columns from the least important to the most important one. Texts become numbers by rank.
 * Among symbols the known come first, by name, then the unknown, by address; objects that are
 * not known are the last ones. So does perf.
 */
#include "output/report.h"

#include "core/sort.h"

#include <stdlib.h>

enum column { BY_SAMPLES, BY_OBJECT, BY_START, BY_KNOWN, BY_TID, BY_CPU };

struct named { /* a thing with a text, to be ranked */
	const char *text;
	uint32_t id;
	bool last; /* behind all others, whatever its text */
};

struct sorter {
	struct report *r;
	uint64_t *keys; /* by row */
	uint32_t *spare; /* as many as rows are sorted */
	struct named *names; /* room for all rows and all texts */
	uint32_t *ranks; /* by number of a text */
};

static uint64_t column_value(const struct profile_row *row, enum column by)
{
	switch (by) {
	case BY_SAMPLES: return ~row->samples;
	case BY_OBJECT: return row->object;
	case BY_START: return row->symbol != NULL ? row->symbol->start : 0;
	case BY_KNOWN: return row->symbol == NULL;
	case BY_TID: return row->tid ^ 0x80000000u; /* as a signed number */
	case BY_CPU: return row->cpu ^ 0x80000000u;
	}
	return 0;
}

static void sort_by(struct sorter *s, enum column by)
{
	struct report *r = s->r;

	for (size_t i = 0; i < r->profile.nrows; i++) { /* of other events too: memory in order */
		s->keys[i] = column_value(&r->profile.rows[i], by);
	}
	sort_order(s->keys, r->order, s->spare, r->norder);
}

static int name_compare(const void *a, const void *b)
{
	const struct named *x = a;
	const struct named *y = b;

	return x->last != y->last ? x->last - y->last : strcmp(x->text, y->text);
}

/* Sorts by interned texts; `all` of them are ranked. */
static void sort_by_text(struct sorter *s, enum profile_key key, size_t all)
{
	struct report *r = s->r;
	const struct timeline *line = session_timeline(r->session);

	for (size_t i = 0; i < all; i++) {
		uint32_t id = (uint32_t)i;

		s->names[i] = (struct named){.id = id,
		        .last = key == PROFILE_DSO && id == r->profile.unknown,
		        .text = key == PROFILE_COMM ? timeline_text(line, id)
		                                    : intern_text(&r->profile.names, id)};
	}
	qsort(s->names, all, sizeof(*s->names), name_compare);
	for (size_t i = 0; i < all; i++) {
		s->ranks[s->names[i].id] = (uint32_t)i;
	}
	for (size_t i = 0; i < r->profile.nrows; i++) {
		const struct profile_row *row = &r->profile.rows[i];

		s->keys[i] = s->ranks[key == PROFILE_COMM ? row->comm : row->dso];
	}
	sort_order(s->keys, r->order, s->spare, r->norder);
}

static void sort_by_symbol(struct sorter *s)
{
	struct report *r = s->r;
	size_t n = 0, rank = 0;

	for (size_t i = 0; i < r->profile.nrows; i++) {
		const struct profile_row *row = &r->profile.rows[i];

		s->keys[i] = row->address;
		if (row->symbol != NULL) {
			s->names[n++] = (struct named){.id = (uint32_t)i,
			        .text = profile_symbol(&r->profile, row->object, row->symbol)};
		}
	}
	qsort(s->names, n, sizeof(*s->names), name_compare);
	for (size_t i = 0; i < n; i++) { /* equal texts have equal ranks: what comes next decides */
		rank += i != 0 && name_compare(&s->names[i - 1], &s->names[i]) != 0;
		s->keys[s->names[i].id] = rank;
	}
	sort_order(s->keys, r->order, s->spare, r->norder);
	sort_by(s, BY_KNOWN);
}

static void sort_by_key(struct sorter *s, enum profile_key key)
{
	switch (key) {
	case PROFILE_COMM:
		sort_by_text(s, key, timeline_texts(session_timeline(s->r->session)));
		break;
	case PROFILE_DSO: sort_by_text(s, key, s->r->profile.names.count); break;
	case PROFILE_SYM: sort_by_symbol(s); break;
	case PROFILE_PID: sort_by(s, BY_TID); break;
	case PROFILE_CPU: sort_by(s, BY_CPU); break;
	case PROFILE_KEYS: break;
	}
}

/* Numbers: most first; keys: from a to z. */
static void sort_by_word(struct sorter *s, unsigned id)
{
	struct report *r = s->r;

	if (id >= REPORT_KEY) {
		sort_by_key(s, (enum profile_key)(id - REPORT_KEY));
		return;
	}
	for (size_t i = 0; i < r->norder; i++) {
		const struct profile_row *row = &r->profile.rows[r->order[i]];

		s->keys[r->order[i]] = ~report_columns_value(r, row, id);
	}
	sort_order(s->keys, r->order, s->spare, r->norder);
}

int report_order(struct report *r)
{
	size_t texts = timeline_texts(session_timeline(r->session)) + r->profile.names.count;
	struct sorter s = {.r = r};
	int rc = SONDE_ENOMEM;

	s.keys = malloc((r->profile.nrows + 1) * sizeof(*s.keys));
	s.spare = malloc((r->norder + 1) * sizeof(*s.spare));
	s.names = malloc((r->profile.nrows + texts + 1) * sizeof(*s.names));
	s.ranks = malloc((texts + 1) * sizeof(*s.ranks));
	if (s.keys != NULL && s.spare != NULL && s.names != NULL && s.ranks != NULL) {
		sort_by(&s, BY_START); /* nothing of what is printed, but always the same */
		sort_by(&s, BY_SAMPLES);
		sort_by(&s, BY_OBJECT);
		for (unsigned k = r->sorts.n; k-- > 0;) {
			sort_by_word(&s, r->sorts.id[k]);
		}
		rc = 0;
	}
	free(s.keys);
	free(s.spare);
	free(s.names);
	free(s.ranks);
	return rc;
}
