/* SPDX-License-Identifier: MIT */
/* Differences: pairs the rows of two profiles by their texts. */
#define _GNU_SOURCE /* qsort_r */
#include "profile/public.h"

#include "core/hash.h"

#include <stdlib.h>

struct pair {
	struct sonde_profile_pair shown;
	size_t event; /* number in `after`; the events found only in `before` come after these */
};

struct sonde_profile_diff {
	const struct sonde_profile *before, *after;
	struct pair *pairs;
	size_t npairs;
	size_t *events; /* pair.event for each event of `before` */
	struct index rows; /* of `after`, which come first in pairs */
};

/* Events with equal names are paired in their order. */
static size_t event_after(const struct sonde_profile_diff *d, size_t event)
{
	const char *name = d->before->events[event].name;
	size_t skip = 0;

	for (size_t i = 0; i < event; i++) {
		skip += strcmp(d->before->events[i].name, name) == 0;
	}
	for (size_t i = 0; i < d->after->nevents; i++) {
		if (strcmp(d->after->events[i].name, name) == 0 && skip-- == 0) {
			return i;
		}
	}
	return d->after->nevents + event;
}

static uint32_t row_hash(
        const struct sonde_profile *p, const struct sonde_profile_row *row, size_t event)
{
	uint64_t h = hash_step(event, row->symbol != NULL);

	for (unsigned i = 0; i < p->nkeys; i++) {
		h = hash_step(h, hash_bytes(row->texts[i], strlen(row->texts[i])));
	}
	return (uint32_t)(hash_u64(h) >> 32);
}

static double share_of(const struct sonde_profile *p, const struct sonde_profile_row *row)
{
	uint64_t total = p->events[row->event].period;

	return total == 0 ? 0 : 100.0 * (double)row->period / (double)total;
}

static void after_add(struct sonde_profile_diff *d, const struct sonde_profile_row *row)
{
	uint32_t hash = row_hash(d->after, row, row->event);
	size_t at = hash;

	while (index_next(&d->rows, hash, &at) != INDEX_NONE) {
		at++;
	}
	index_put(&d->rows, hash, at, (uint32_t)d->npairs);
	d->pairs[d->npairs++] = (struct pair){.event = row->event,
	        .shown = {.after = row, .share_after = share_of(d->after, row)}};
}

static void before_add(struct sonde_profile_diff *d, const struct sonde_profile_row *row)
{
	size_t event = d->events[row->event];
	uint32_t hash = row_hash(d->before, row, event), id = INDEX_NONE;
	size_t at = hash;
	struct pair *pair;

	while (d->rows.nslots != 0 && (id = index_next(&d->rows, hash, &at)) != INDEX_NONE &&
	        (d->pairs[id].event != event ||
	                profile_texts_compare(d->after, d->pairs[id].shown.after, row) != 0)) {
		at++;
	}
	pair = &d->pairs[id != INDEX_NONE ? id : d->npairs++];
	pair->event = event;
	pair->shown.before = row;
	pair->shown.share_before = share_of(d->before, row);
}

static double change(const struct pair *pair)
{
	double more = pair->shown.share_after - pair->shown.share_before;

	return more < 0 ? -more : more;
}

static const struct sonde_profile_row *either(const struct pair *pair)
{
	return pair->shown.after != NULL ? pair->shown.after : pair->shown.before;
}

static int compare_pairs(const void *a, const void *b, void *arg)
{
	const struct pair *x = a, *y = b;

	if (x->event != y->event) {
		return x->event < y->event ? -1 : 1;
	}
	if (change(x) != change(y)) {
		return change(x) > change(y) ? -1 : 1;
	}
	return profile_texts_compare(arg, either(x), either(y));
}

static bool same_keys(const struct sonde_profile *a, const struct sonde_profile *b)
{
	return a->nkeys == b->nkeys && memcmp(a->keys, b->keys, a->nkeys * sizeof(*a->keys)) == 0;
}

static int diff_make(struct sonde_profile_diff *d, const struct sonde_profile *before,
        struct sonde_profile *after)
{
	d->before = before;
	d->after = after;
	TRY(after->failed);
	if (!same_keys(before, after)) {
		return error_set(&after->error, SONDE_EARG, NO_OFFSET,
		        "profiles that are sorted by different keys cannot be compared");
	}
	d->pairs = calloc(before->nrows + after->nrows + 1, sizeof(*d->pairs));
	d->events = calloc(before->nevents + 1, sizeof(*d->events));
	if (d->pairs == NULL || d->events == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < before->nevents; i++) {
		d->events[i] = event_after(d, i);
	}
	for (size_t i = 0; i < sonde_profile_rows(after); i++) {
		TRY(index_room(&d->rows));
		after_add(d, sonde_profile_row(after, i));
	}
	for (size_t i = 0; i < sonde_profile_rows(before); i++) {
		before_add(d, sonde_profile_row(before, i));
	}
	qsort_r(d->pairs, d->npairs, sizeof(*d->pairs), compare_pairs, after);
	return 0;
}

struct sonde_profile_diff *sonde_profile_diff_new(
        const struct sonde_profile *before, struct sonde_profile *after)
{
	struct sonde_profile_diff *d = calloc(1, sizeof(*d));
	int rc = d != NULL ? diff_make(d, before, after) : SONDE_ENOMEM;

	if (rc < 0) {
		(void)error_ensure(&after->error, rc);
		sonde_profile_diff_free(d);
		return NULL;
	}
	return d;
}

void sonde_profile_diff_free(struct sonde_profile_diff *d)
{
	if (d != NULL) {
		index_fini(&d->rows);
		free(d->pairs);
		free(d->events);
		free(d);
	}
}

size_t sonde_profile_diff_pairs(const struct sonde_profile_diff *d)
{
	return d->npairs;
}

const struct sonde_profile_pair *sonde_profile_diff_pair(
        const struct sonde_profile_diff *d, size_t pair)
{
	return pair < d->npairs ? &d->pairs[pair].shown : NULL;
}
