/* SPDX-License-Identifier: MIT */
/*
 * Private to timeline: long recordings, in epochs.
 *
 *	|-- epoch 0 --|-- epoch 1 --|-- epoch 2 --|   about as many side-band records each
 *	              base 1        base 2            what is alive there
 *
 * The track of an epoch is made when a look-up needs it: the base, and the side-band records of its
 * time, which are read again. Few tracks are in memory at a time, so memory depends on what is alive
 * at a time, not on the length of the recording. Any number of threads may use epochs.
 */
#ifndef SONDE_TIMELINE_EPOCHS_H
#define SONDE_TIMELINE_EPOCHS_H

#include "timeline/play.h"

/* A thread that a record names. */
struct met {
	uint32_t pid, tid;
};

struct timeline_notes {
	struct note *items;
	size_t n, cap;
};

int notes_add(struct timeline_notes *notes, const struct record *r, uint64_t time);
void notes_fini(struct timeline_notes *notes);

/* What the tracks of all epochs are made from; its parts must live as long as the epochs. */
struct epochs_input {
	struct objects *objects;
	struct diag_sink *diags; /* used by epochs_new only */
	bool swap;
	const struct timeline_notes *start; /* synthesised state */
	const struct met *met;
	size_t nmet;
	timeline_reread_fn reread;
	void *arg;
};

/* Processes, threads and mappings of an epoch that no earlier one has: [first, first + n). */
struct epochs_list {
	size_t first, n;
};

enum epochs_lists { EPOCHS_PROCESSES, EPOCHS_THREADS, EPOCHS_MAPPINGS, EPOCHS_LISTS };

struct epochs;

/*
 * Makes n epochs; ends[]: the last time of each, rising, UINT64_MAX at the end. Adds all objects and
 * texts. 0, SONDE_ENOMEM, SONDE_ELIMIT, or a failure of reading again.
 */
int epochs_new(
        const struct epochs_input *input, const uint64_t *ends, size_t n, struct epochs **out);
void epochs_free(struct epochs *e);

/* The epoch of a time. */
uint32_t epochs_at(const struct epochs *e, uint64_t time);
void epochs_times(const struct epochs *e, uint32_t i, uint64_t *from, uint64_t *until);

/* Makes the track of an epoch if needed; it stays until epochs_unpin. 0 or a failure. */
int epochs_pin(struct epochs *e, uint32_t i, const struct track **track);
void epochs_unpin(struct epochs *e, uint32_t i);

/* Number of items in a list of all epochs. */
size_t epochs_count(const struct epochs *e, enum epochs_lists list);
/* Finds item *i of a list; *i becomes its index in the track of the epoch that is returned. */
uint32_t epochs_item(const struct epochs *e, enum epochs_lists list, size_t *i);

#endif
