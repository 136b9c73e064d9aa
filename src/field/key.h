/* SPDX-License-Identifier: MIT */
/*
 * What samples can be grouped by: the keys of `report --sort`, each a value that a getter takes from a
 * sample. A row's key is a vector of 32-bit words that the chosen keys fill, one after the other.
 *
 *	--sort comm,cpu,sym:   words  [ comm | cpu ]   and the frame of the row: its symbol
 *
 * A new key is a getter and an entry of the table in key.c.
 */
#ifndef SONDE_FIELD_KEY_H
#define SONDE_FIELD_KEY_H

#include "core/arena.h"
#include "core/text.h"
#include "record/feature.h"
#include "session/session.h"

#define FIELD_KEYS_MAX      16u
#define FIELD_KEY_WORDS_MAX (2 * FIELD_KEYS_MAX)

/* The keys that other code asks for by number; all are numbered by their place in the table. */
enum field_key_id { FIELD_KEY_COMM, FIELD_KEY_DSO, FIELD_KEY_SYM, FIELD_KEY_NAMED };

/* Of a recording: made once, read by all workers. */
struct field_source {
	struct sonde_session *session;
	uint64_t time_quantum; /* ns; times of one quantum are one */
	bool comm_of_sample; /* ":TID" before a thread's first name; false: that name, as in perf report */
	struct arena arena;
	struct feature_topology topology; /* empty where the header has none */
};

/* Of an open session. SONDE_ENOMEM; field_source_fini in any case. */
int field_source_init(struct field_source *f, struct sonde_session *s);
void field_source_fini(struct field_source *f);

/* A row's value of a key, and what its text may need beside that. */
struct field_value {
	const uint32_t *words;
	uint64_t time; /* ns, of the first sample */
	uint32_t pid; /* of the first sample */
	uint64_t samples;
	struct timeline_cursor *cursor;
	int width; /* of the column */
};

enum field_key_style {
	FIELD_KEY_GROWS = 1, /* the column is as wide as its texts */
	FIELD_KEY_CUT = 2, /* a text that is longer than the column is cut */
	FIELD_KEY_RAGGED = 4 /* not padded where it is the last column */
};

struct field_key {
	const char *name, *other_name; /* words of --sort; other_name may be NULL */
	const char *title;
	unsigned words; /* 0: a key of the frame, not of the sample */
	unsigned style; /* bits of enum field_key_style */
	unsigned width; /* of the column at least */
	void (*get)(const struct field_source *f, const struct session_sample *s, uint32_t *words);
	/* Rows with less are first; NULL: by text. */
	uint64_t (*rank)(const uint32_t *words);
	void (*text)(const struct field_source *f, const struct field_value *v, struct text *out);
};

size_t field_keys(void);
const struct field_key *field_key(size_t id);

/* The chosen keys of a row. */
struct field_key_choice {
	uint8_t at[FIELD_KEYS_MAX]; /* first word of a key in the row's vector */
	bool chosen[FIELD_KEYS_MAX];
	uint8_t got[FIELD_KEYS_MAX]; /* the chosen keys that are of the sample */
	unsigned ngot;
	unsigned words;
};

void field_key_choose(struct field_key_choice *c, size_t id);
/* Fills words[0..c->words). */
void field_keys_get(const struct field_key_choice *c, const struct field_source *f,
        const struct session_sample *s, uint32_t *words);

#endif
