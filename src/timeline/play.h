/* SPDX-License-Identifier: MIT */
/*
 * Private to timeline: plays side-band records in the order of time, which adds names to threads and
 * roots of the address space to processes.
 *
 * Synthesised state has time 0: it sorts first and is valid from the beginning. FORK starts a
 * generation.
 */
#ifndef SONDE_TIMELINE_PLAY_H
#define SONDE_TIMELINE_PLAY_H

#include "timeline/objects.h"
#include "timeline/track.h"

#define NOTE_JIT UINT16_MAX /* type of a note whose body is a struct timeline_jit */

/* A side-band record that is not played yet. */
struct note {
	uint64_t time;
	uint64_t offset; /* in the file */
	const uint8_t *body;
	uint16_t type, misc, size; /* size: of the body */
};

struct player {
	struct track *track;
	struct objects *objects; /* and their texts, also the names of threads */
	struct diag_sink *diags;
	bool swap; /* byte order of the records */
	bool guests; /* keep mappings of guests' kernels */
};

/* Starts a track with the process of the kernel. SONDE_ENOMEM. */
int play_begin(struct player *play);

/* Plays notes by time; those with the same time in the order of the array. SONDE_ENOMEM. */
int play_notes(struct player *play, const struct note *notes, size_t n);

#endif
