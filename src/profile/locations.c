/* SPDX-License-Identifier: MIT */
/*
 * Keys that are locations: while samples are counted, the word of such a key is the number of an
 * address. Afterwards it becomes a rank: equal values get equal ranks, in the order of reports.
 */
#include "profile/profile.h"

#include "symbol/symbol.h"

#include <stdlib.h>

struct located { /* a location to be ranked */
	struct profile_location at;
	const char *dso; /* short name of the object; NULL: no mapping */
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

/*
 * Makes the result independent of the order in which workers found locations. Objects are
 * represented by a location with a symbol, if there is one.
 */
static int first_compare(const struct located *x, const struct located *y)
{
	int order = (x->at.symbol == NULL) - (y->at.symbol == NULL);

	if (order == 0) {
		order = address_compare(x->at.ip, y->at.ip);
	}

	if (order == 0) {
		order = address_compare(x->at.address, y->at.address);
	}
	return order != 0 ? order : (x->at.object > y->at.object) - (x->at.object < y->at.object);
}

static int (*const compares[])(const void *, const void *) = {
        [FIELD_LOCATION_SYMBOL] = symbol_compare,
        [FIELD_LOCATION_OBJECT] = object_compare,
        [FIELD_LOCATION_ADDRESS] = place_compare,
};

/* Fills in the locations that a key has in the vectors, and returns their number. */
static size_t located_find(const struct profile *p, unsigned key, struct located *all, bool *seen)
{
	const struct profile_counts *c = &p->counts;
	size_t words = p->options.keys.words, n = 0;

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
			                       : intern_text(&p->names, p->dso[at->object])};
		}
	}
	return n;
}

/* Ranks the values of a key. Of equal ones, the first by first_compare represents all. */
static int key_rank(
        struct profile *p, unsigned key, struct located *all, bool *seen, uint32_t *ranks)
{
	int (*compare)(const void *, const void *) = compares[field_at(key)->location];
	size_t n = located_find(p, key, all, seen), words = p->options.keys.words;
	struct located first = {0};
	uint32_t rank = 0;

	p->locations[key] = malloc((n + 1) * sizeof(*p->locations[key]));
	if (p->locations[key] == NULL) {
		return SONDE_ENOMEM;
	}
	qsort(all, n, sizeof(*all), compare);
	for (size_t i = 0; i < n; i++) {
		bool other = i == 0 || compare(&all[i - 1], &all[i]) != 0;

		rank += other && i != 0;
		if (other || first_compare(&all[i], &first) < 0) {
			first = all[i];
			p->locations[key][rank] = first.at;
		}
		ranks[all[i].id] = rank;
	}
	for (size_t i = 0; i < p->counts.nkeys; i++) {
		uint32_t *word = &p->counts.keys[i * words + p->options.keys.at[key]];

		*word = ranks[*word];
	}
	return 0;
}

/* Joins vectors of keys that are equal now. */
static int keys_join(struct profile *p)
{
	struct profile_counts *c = &p->counts, joined = {0};
	uint32_t *to = malloc((c->nkeys + 1) * sizeof(*to));
	int rc = to != NULL ? 0 : SONDE_ENOMEM;

	for (size_t i = 0; i < c->nkeys && rc >= 0; i++) {
		rc = profile_key_add(p, &joined, c->keys + i * p->options.keys.words, &to[i]);
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

int profile_locations_rank(struct profile *p)
{
	const struct field_key_choice *keys = &p->options.keys;
	size_t n = p->counts.nlocations + 1;
	struct located *all;
	uint32_t *ranks;
	bool *seen;
	int rc = 0;

	if (keys->nlocated == 0) {
		return 0;
	}
	all = malloc(n * sizeof(*all));
	ranks = malloc(n * sizeof(*ranks));
	seen = malloc(n * sizeof(*seen));
	if (all == NULL || ranks == NULL || seen == NULL) {
		rc = SONDE_ENOMEM;
	}
	for (unsigned i = 0; i < keys->nlocated && rc >= 0; i++) {
		rc = key_rank(p, keys->located[i], all, seen, ranks);
	}
	free(all);
	free(ranks);
	free(seen);
	return rc < 0 ? rc : keys_join(p);
}

void profile_locations_free(struct profile *p)
{
	for (unsigned i = 0; i < FIELD_COUNT; i++) {
		free(p->locations[i]);
		p->locations[i] = NULL;
	}
}
