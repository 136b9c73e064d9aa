/* SPDX-License-Identifier: MIT */
/* Frames, groups and rows of a profile by name: each is stored once; frames and rows are sorted. */
#define _GNU_SOURCE /* qsort_r */
#include "profile/public.h"

#include "core/array.h"
#include "core/hash.h"

#include <stdlib.h>

static uint32_t hash_of(uint64_t a, uint64_t b)
{
	return (uint32_t)(hash_u64(hash_step(a, b)) >> 32);
}

int profile_named_frame_add(
        struct sonde_profile *p, const struct profile_named_frame *key, uint32_t *id)
{
	uint32_t hash = hash_of((uint64_t)key->name << 32 | key->dso,
	        key->detail ^ (uint64_t)key->shown.kind << 56);
	size_t at = hash;

	TRY(index_room(&p->frame_ids));
	for (*id = index_next(&p->frame_ids, hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&p->frame_ids, hash, &at)) {
		const struct profile_named_frame *old = &p->frames[*id];

		if (old->name == key->name && old->dso == key->dso &&
		        old->shown.kind == key->shown.kind && old->detail == key->detail) {
			return 0;
		}
	}
	if (p->nframes >= PROFILE_NONE ||
	        !array_reserve(&p->frames, &p->frames_cap, p->nframes + 1, sizeof(*key))) {
		return SONDE_ENOMEM;
	}
	*id = (uint32_t)p->nframes;
	p->frames[p->nframes] = *key;
	p->frames[p->nframes].shown.name = intern_text(&p->texts, key->name);
	p->frames[p->nframes++].shown.dso = intern_text(&p->texts, key->dso);
	index_put(&p->frame_ids, hash, at, *id);
	return 0;
}

int profile_group_add(struct sonde_profile *p, const uint32_t *vector, uint32_t *id)
{
	size_t n = 1 + p->nabove;
	uint32_t hash = (uint32_t)hash_bytes(vector, n * sizeof(*vector));
	size_t at = hash;

	TRY(index_room(&p->group_ids));
	for (*id = index_next(&p->group_ids, hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&p->group_ids, hash, &at)) {
		if (memcmp(profile_group(p, *id), vector, n * sizeof(*vector)) == 0) {
			return 0;
		}
	}
	if (p->ngroups >= PROFILE_NONE ||
	        !array_reserve(&p->groups, &p->groups_cap, (p->ngroups + 1) * n, sizeof(*vector))) {
		return SONDE_ENOMEM;
	}
	*id = (uint32_t)p->ngroups++;
	memcpy(profile_group(p, *id), vector, n * sizeof(*vector));
	index_put(&p->group_ids, hash, at, *id);
	return 0;
}

static const char *text_of(const struct sonde_profile *p, uint32_t id)
{
	return id != PROFILE_NONE ? intern_text(&p->texts, id) : NULL;
}

/* Fills in the public members of a new row, without its sums. */
static int row_show(struct sonde_profile *p, struct profile_named_row *row)
{
	const char **texts = arena_alloc(&p->arena, p->nkeys * sizeof(*texts));
	uint64_t *numbers = arena_zalloc(&p->arena, p->nkeys * sizeof(*numbers));
	const uint32_t *group = profile_group(p, row->group);
	unsigned above = 0;

	if (texts == NULL || numbers == NULL) {
		return SONDE_ENOMEM;
	}
	for (unsigned i = 0; i < p->nkeys; i++) {
		if (p->keys[i] == FIELD_DSO || p->keys[i] == FIELD_SYM) {
			texts[i] = text_of(p, p->keys[i] == FIELD_DSO ? row->dso : row->symbol);
		} else {
			const struct profile_named_frame *frame = &p->frames[group[1 + above++]];

			texts[i] = frame->shown.name;
			numbers[i] = frame->value;
		}
	}
	row->shown.event = group[0];
	row->shown.texts = texts;
	row->shown.numbers = numbers;
	row->shown.symbol = row->known ? text_of(p, row->symbol) : NULL;
	row->time = UINT64_MAX;
	row->first_tid = UINT32_MAX;
	return 0;
}

int profile_row_add(struct sonde_profile *p, const struct profile_named_row *key, uint32_t *id)
{
	uint32_t hash = hash_of(
	        (uint64_t)key->group << 1 | key->known, (uint64_t)key->dso << 32 | key->symbol);
	size_t at = hash;

	TRY(index_room(&p->row_ids));
	for (*id = index_next(&p->row_ids, hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&p->row_ids, hash, &at)) {
		const struct profile_named_row *old = &p->rows[*id];

		if (old->group == key->group && old->dso == key->dso &&
		        old->symbol == key->symbol && old->known == key->known) {
			return 0;
		}
	}
	if (p->nrows >= PROFILE_NONE ||
	        !array_reserve(&p->rows, &p->rows_cap, p->nrows + 1, sizeof(*key))) {
		return SONDE_ENOMEM;
	}
	*id = (uint32_t)p->nrows;
	p->rows[p->nrows] = *key;
	TRY(row_show(p, &p->rows[p->nrows]));
	p->nrows++;
	index_put(&p->row_ids, hash, at, *id);
	return 0;
}

static int compare_frames(const void *a, const void *b, void *arg)
{
	const struct sonde_profile *p = arg;
	const struct profile_named_frame *x = &p->frames[*(const uint32_t *)a];
	const struct profile_named_frame *y = &p->frames[*(const uint32_t *)b];
	int c = strcmp(x->shown.name, y->shown.name);

	c = c != 0 ? c : strcmp(x->shown.dso, y->shown.dso);
	c = c != 0 ? c : (int)x->shown.kind - (int)y->shown.kind;
	return c != 0 ? c : x->detail < y->detail ? -1 : x->detail > y->detail;
}

int profile_texts_compare(const struct sonde_profile *p, const struct sonde_profile_row *x,
        const struct sonde_profile_row *y)
{
	int c = 0;

	for (unsigned i = 0; i < p->nkeys && c == 0; i++) {
		c = strcmp(x->texts[i], y->texts[i]);
	}
	return c != 0 ? c : (x->symbol == NULL) - (y->symbol == NULL);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct sonde_profile *p = arg;
	const struct sonde_profile_row *x = &p->rows[*(const uint32_t *)a].shown;
	const struct sonde_profile_row *y = &p->rows[*(const uint32_t *)b].shown;

	if (x->event != y->event) {
		return x->event < y->event ? -1 : 1;
	}
	if (x->children != y->children) {
		return x->children > y->children ? -1 : 1;
	}
	return profile_texts_compare(p, x, y);
}

/* Returns the numbers 0 .. n - 1, sorted; NULL: out of memory. */
static uint32_t *numbers_sort(
        struct sonde_profile *p, size_t n, int (*compare)(const void *a, const void *b, void *arg))
{
	uint32_t *order = malloc((n + 1) * sizeof(*order));

	for (size_t i = 0; i < n && order != NULL; i++) {
		order[i] = (uint32_t)i;
	}
	if (order != NULL) {
		qsort_r(order, n, sizeof(*order), compare, p);
	}
	return order;
}

int profile_names_sort(struct sonde_profile *p)
{
	uint32_t *frames = numbers_sort(p, p->nframes, compare_frames);

	if (frames == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < p->nframes; i++) {
		p->frames[frames[i]].shown.number = (uint32_t)i;
	}
	free(frames);
	free(p->order);
	p->order = numbers_sort(p, p->nrows, compare_rows);
	for (size_t i = 0; i < p->nrows && p->order != NULL; i++) {
		p->rows[p->order[i]].shown.number = i;
	}
	return p->order != NULL ? 0 : SONDE_ENOMEM;
}
