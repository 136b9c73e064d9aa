/* SPDX-License-Identifier: MIT */
/*
 * Keys that are locations: while samples are counted, the word of such a key is the number of an
 * address. Afterwards it becomes a rank: equal values get equal ranks, in the order of reports.
 * Equal values can have different texts, so each vector of keys also keeps a location to show.
 */
#include "profile/profile.h"

#include "symbol/symbol.h"

#include <stdlib.h>

struct located { /* a location to be ranked */
	struct profile_location at;
	const char *dso; /* short name of the object; NULL: no mapping */
	const char *line; /* of FIELD_LOCATION_SOURCE */
	uint32_t id;
};

/* Addresses are signed: the kernel's come first. */
static int address_compare(uint64_t a, uint64_t b)
{
	return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

/* Symbols by their first and last address, then addresses without one. */
static int symbol_compare(const void *a, const void *b)
{
	const struct located *x = a, *y = b;
	int order = (x->at.symbol == NULL) - (y->at.symbol == NULL);

	if (order != 0 || x->at.symbol == NULL) {
		return order != 0 ? order : address_compare(x->at.ip, y->at.ip);
	}
	order = address_compare(x->at.symbol->start, y->at.symbol->start);
	if (order == 0) {
		order = address_compare(x->at.symbol->end, y->at.symbol->end);
	}
	return order != 0 ? order : strcmp(x->dso, y->dso);
}

/* Unknown objects, then the others from the last name to the first. */
static int object_compare(const void *a, const void *b)
{
	const struct located *x = a, *y = b;

	if (x->dso == NULL || y->dso == NULL) {
		return (y->dso == NULL) - (x->dso == NULL);
	}
	return strcmp(y->dso, x->dso);
}

/* By object, then by address. */
static int place_compare(const void *a, const void *b)
{
	const struct located *x = a, *y = b;
	int order = object_compare(a, b);

	return order != 0 ? order : address_compare(x->at.ip, y->at.ip);
}

static int ip_compare(const void *a, const void *b)
{
	const struct located *x = a, *y = b;

	return address_compare(x->at.ip, y->at.ip);
}

static int unsigned_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/*
 * By mode, mapped ones first; then memory of processes, by process, before that of files and of the
 * kernel, by object.
 */
static int line_compare(const void *a, const void *b)
{
	const struct located *x = a, *y = b;
	const uint64_t keys[][2] = {
	        {x->at.mode, y->at.mode}, {x->dso == NULL, y->dso == NULL}, {x->at.pid, y->at.pid}};
	int order = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && order == 0; i++) {
		order = unsigned_compare(keys[i][0], keys[i][1]);
	}
	if (order == 0 && x->at.pid == UINT32_MAX) {
		order = object_compare(a, b);
	}
	return order != 0 ? order : unsigned_compare(x->at.address, y->at.address);
}

/*
 * Whether rows show x rather than y, which is equal for the key: one with a symbol, if there is one.
 * Does not depend on the order in which workers found them.
 */
static bool is_shown(const struct profile_location *x, const struct profile_location *y)
{
	int order = (x->symbol == NULL) - (y->symbol == NULL);

	if (order == 0) {
		order = address_compare(x->ip, y->ip);
	}
	if (order == 0) {
		order = address_compare(x->address, y->address);
	}
	return order < 0 || (order == 0 && x->object < y->object);
}

static int line_text_compare(const void *a, const void *b)
{
	const struct located *x = a, *y = b;

	return strcmp(x->line, y->line);
}

static int (*const compares[])(const void *, const void *) = {
        [FIELD_LOCATION_SYMBOL] = symbol_compare,
        [FIELD_LOCATION_OBJECT] = object_compare,
        [FIELD_LOCATION_ADDRESS] = place_compare,
        [FIELD_LOCATION_IP] = ip_compare,
        [FIELD_LOCATION_LINE] = line_compare,
        [FIELD_LOCATION_SOURCE] = line_text_compare,
};

/* Fills in the locations that a key has in the vectors, and returns their number. */
static size_t located_find(const struct profile *p, unsigned key, struct located *all, bool *seen)
{
	const struct profile_counts *c = &p->counts;
	size_t words = p->options.keys.words, n = 0;
	bool lines = field_at(key)->location == FIELD_LOCATION_SOURCE;

	memset(seen, 0, c->nlocations * sizeof(*seen));
	for (size_t i = 0; i < c->nkeys; i++) {
		uint32_t id = c->keys[i * words + p->options.keys.at[key]];
		const struct profile_location *at = &c->locations[id];

		if (!seen[id]) {
			seen[id] = true;
			all[n++] = (struct located){.at = *at,
			        .id = id,
			        .dso = at->object == PROFILE_NONE
			                       ? NULL
			                       : intern_text(&p->names, p->dso[at->object]),
			        .line = lines ? intern_text(&p->source_texts, at->line) : NULL};
		}
	}
	return n;
}

/* Replaces the words of a key by the ranks of their locations. */
static void key_rank(
        struct profile *p, unsigned key, struct located *all, bool *seen, uint32_t *ranks)
{
	int (*compare)(const void *, const void *) = compares[field_at(key)->location];
	size_t n = located_find(p, key, all, seen), words = p->options.keys.words;
	uint32_t rank = 0;

	qsort(all, n, sizeof(*all), compare);
	for (size_t i = 0; i < n; i++) {
		rank += i != 0 && compare(&all[i - 1], &all[i]) != 0;
		ranks[all[i].id] = rank;
	}
	for (size_t i = 0; i < p->counts.nkeys; i++) {
		uint32_t *word = &p->counts.keys[i * words + p->options.keys.at[key]];

		*word = ranks[*word];
	}
}

/* Sets the numbers of the locations that the vectors have before they are ranked. */
static int shown_make(struct profile *p)
{
	const struct field_key_choice *c = &p->options.keys;

	p->shown = malloc((p->counts.nkeys + 1) * c->nlocated * sizeof(*p->shown));
	for (size_t i = 0; i < p->counts.nkeys && p->shown != NULL; i++) {
		for (unsigned k = 0; k < c->nlocated; k++) {
			p->shown[i * c->nlocated + k] =
			        p->counts.keys[i * c->words + c->at[c->located[k]]];
		}
	}
	return p->shown != NULL ? 0 : SONDE_ENOMEM;
}

/* Decides what the joined vector `to` shows; first: it is the first of those that are joined. */
static void shown_join(struct profile *p, uint32_t to, size_t from, bool first)
{
	const struct profile_location *all = p->counts.locations;
	unsigned n = p->options.keys.nlocated;
	uint32_t *shown = p->shown + (size_t)to * n;
	const uint32_t *other = p->shown + from * n;

	for (unsigned k = 0; k < n; k++) {
		if (first || is_shown(&all[other[k]], &all[shown[k]])) {
			shown[k] = other[k];
		}
	}
}

/* Joins vectors of keys that are equal now. */
static int keys_join(struct profile *p)
{
	struct profile_counts *c = &p->counts, joined = {0};
	uint32_t *to = malloc((c->nkeys + 1) * sizeof(*to));
	int rc = to != NULL ? 0 : SONDE_ENOMEM;

	for (size_t i = 0; i < c->nkeys && rc >= 0; i++) {
		size_t before = joined.nkeys;

		rc = profile_key_add(p, &joined, c->keys + i * p->options.keys.words, &to[i]);
		if (rc >= 0) {
			shown_join(p, to[i], i, joined.nkeys != before);
		}
	}
	for (size_t i = 0; i < c->nwho && rc >= 0; i++) {
		c->who[i].key = to[c->who[i].key];
	}
	free(to);
	if (rc < 0) {
		profile_counts_fini(&joined);
		return rc;
	}
	free(c->keys);
	c->keys = joined.keys;
	c->nkeys = joined.nkeys;
	c->keys_cap = joined.keys_cap;
	index_fini(&joined.vectors);
	return 0;
}

/* Reads the source lines of the locations that keys show. */
static int lines_read(struct profile *p)
{
	const struct field_key_choice *keys = &p->options.keys;
	struct profile_counts *c = &p->counts;
	bool *seen = calloc(c->nlocations + 1, sizeof(*seen));
	int rc = seen != NULL ? 0 : SONDE_ENOMEM;

	for (unsigned i = 0; i < keys->nlocated && rc >= 0; i++) {
		if (field_at(keys->located[i])->location != FIELD_LOCATION_SOURCE) {
			continue;
		}
		for (size_t k = 0; k < c->nkeys && rc >= 0; k++) {
			uint32_t id = c->keys[k * keys->words + keys->at[keys->located[i]]];

			rc = seen[id] ? 0 : profile_location_line(p, &c->locations[id]);
			seen[id] = true;
		}
	}
	free(seen);
	return rc;
}

int profile_locations_rank(struct profile *p)
{
	const struct field_key_choice *keys = &p->options.keys;
	size_t n = p->counts.nlocations + 1;
	struct located *all;
	uint32_t *ranks;
	bool *seen;
	int rc;

	if (keys->nlocated == 0) {
		return 0;
	}
	TRY(lines_read(p));
	all = malloc(n * sizeof(*all));
	ranks = malloc(n * sizeof(*ranks));
	seen = malloc(n * sizeof(*seen));
	rc = all != NULL && ranks != NULL && seen != NULL ? shown_make(p) : SONDE_ENOMEM;
	for (unsigned i = 0; i < keys->nlocated && rc >= 0; i++) {
		key_rank(p, keys->located[i], all, seen, ranks);
	}
	free(all);
	free(ranks);
	free(seen);
	return rc < 0 ? rc : keys_join(p);
}
