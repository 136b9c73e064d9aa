/* SPDX-License-Identifier: MIT */
/*
 * Private to profile: profiles by name (sonde/preview/profile.h). The counts of a struct profile of
 * one session are added with texts instead of objects, symbols and numbers of that session:
 *
 *	struct profile                        struct sonde_profile
 *	frames (ip, object, symbol)     ->    frames (name, path, kind)
 *	who (event, words of keys)      ->    groups (event, a frame for each key)
 *	rows                            ->    rows (group, texts of object and symbol)
 *	chains (who, leaf, row, words)  ->    the same with the numbers above
 */
#ifndef SONDE_PROFILE_PUBLIC_H
#define SONDE_PROFILE_PUBLIC_H

#include "profile/profile.h"

#include <sonde/preview/profile.h>

#define PROFILE_FRAME_ALL 0u /* the frame of roots */

struct profile_named_frame {
	struct sonde_profile_frame shown;
	uint32_t name, dso; /* texts */
	uint64_t detail; /* the address, or 0 if it does not matter; of a key's frame, the key */
	uint64_t value; /* frame of a key: the value */
};

struct profile_named_row {
	struct sonde_profile_row shown;
	uint32_t group;
	uint32_t dso, symbol; /* texts; PROFILE_NONE: not a key */
	bool known; /* symbol is the name of a function */
	uint32_t mark; /* of the last counted chain */
	uint64_t time; /* ns, of the first sample */
	uint32_t first_tid;
};

struct sonde_profile {
	struct sonde_profile_options options;
	struct error error;
	int failed; /* status of wrong options or a failed addition, for all later calls; 0 */
	uint8_t keys[FIELD_COUNT]; /* as chosen */
	uint8_t above[FIELD_COUNT]; /* keys of the sample, not of its frame */
	unsigned nkeys, nabove;
	struct field_key_choice choice;
	struct intern texts;
	struct profile_named_frame *frames;
	size_t nframes, frames_cap;
	struct sonde_profile_event *events;
	size_t nevents, events_cap;
	uint32_t *groups; /* vectors of 1 + nabove: the event, then frames */
	size_t ngroups, groups_cap;
	struct profile_chain *chains; /* `who` is the group, `leaf` a frame */
	size_t nchains, chains_cap;
	uint32_t nmarks; /* of rows, see profile_named_row.mark */
	uint32_t *words; /* frames */
	uint32_t *rows_of; /* row of each of words; NULL without children */
	size_t nwords, words_cap, rows_of_cap;
	struct profile_named_row *rows;
	size_t nrows, rows_cap;
	uint32_t *order; /* rows as shown */
	struct arena arena; /* texts and numbers of rows */
	struct index frame_ids, group_ids, row_ids;
};

static inline uint64_t profile_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static inline uint64_t profile_chain_period(const struct profile_chain *c)
{
	return c->over ? UINT64_MAX : c->period;
}

static inline uint32_t *profile_group(const struct sonde_profile *p, uint32_t group)
{
	return p->groups + (size_t)group * (1 + p->nabove);
}

/* Finds a frame by (name, dso, shown.kind, detail), or adds it; *id: its number. SONDE_ENOMEM. */
int profile_named_frame_add(
        struct sonde_profile *p, const struct profile_named_frame *key, uint32_t *id);
/* The same for a group, a vector of the event and frames. */
int profile_group_add(struct sonde_profile *p, const uint32_t *vector, uint32_t *id);
/* The same for row (group, dso, symbol, known). */
int profile_row_add(struct sonde_profile *p, const struct profile_named_row *key, uint32_t *id);
/* Counts the samples of a session and adds them. */
int profile_add(struct sonde_profile *p, struct sonde_session *s);
/* Compares rows by their texts, as strcmp does. */
int profile_texts_compare(const struct sonde_profile *p, const struct sonde_profile_row *x,
        const struct sonde_profile_row *y);
/* Numbers frames and rows in the order in which they are shown. SONDE_ENOMEM. */
int profile_names_sort(struct sonde_profile *p);

#endif
