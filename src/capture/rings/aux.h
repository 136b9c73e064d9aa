/* SPDX-License-Identifier: MIT */
/*
 * The AUX area: a second ring next to that of the records, into which tracing hardware (Intel PT)
 * writes bytes. This is about the ring; only readers interpret the bytes.
 *
 *	full trace   the kernel waits for the tail: data not taken in time is lost, and the event
 *	             stops until it is enabled again, so every pass enables it
 *	snapshot     the area is overwritten; on request the event is stopped, the area is read,
 *	             and the event continues. Side-band continues: it is from the dummy event
 *	sample       the kernel puts the newest bytes of the area into samples of other events
 */
#ifndef SONDE_CAPTURE_RINGS_AUX_H
#define SONDE_CAPTURE_RINGS_AUX_H

#include "core/status.h"
#include "core/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct capture_lane;
struct capture_rings;

struct capture_aux_ring {
	uint8_t *data; /* NULL: this ring has no AUX area */
	uint64_t size; /* bytes, a power of two */
	uint64_t tail; /* everything before was taken */
	uint64_t head; /* when last read */
	bool wrapped; /* overwritten: all of the area is trace */
	int fd; /* of the event */
	int cpu; /* -1: of a thread */
	pid_t tid; /* -1: all */
};

struct capture_aux {
	uint64_t size; /* bytes of each area */
	uint64_t snapshot_size; /* bytes */
	struct capture_aux_ring *rings; /* by ring */
	size_t nrings;
	bool running; /* events are on: enable one that stopped by itself */
	struct text index; /* {u64 file offset, u64 size of the record} of each AUXTRACE */
};

/*
 * Computes sizes of areas and rings from options and limits, once the number of rings is known.
 * SONDE_EARG.
 */
int capture_aux_plan_sizes(struct capture_rings *r, size_t nrings);

/* ---- areas ---- */

/* Maps the area of ring number `ring`, whose records come from fd. */
int capture_aux_map(struct capture_rings *r, size_t ring, int fd, int cpu, pid_t tid);

/* Reads all heads; true: a full trace has data to take. */
bool capture_aux_look(struct capture_rings *r);

/* Writes the data seen by capture_aux_look to the file, and enables events that stopped. */
int capture_aux_pass(struct capture_rings *r, size_t ring, struct capture_lane *lane);

/* Takes a snapshot of one area, whose event is stopped. */
int capture_aux_take(struct capture_rings *r, size_t ring, struct capture_lane *lane);

void capture_aux_unmap(struct capture_rings *r); /* all areas; they may be mapped again */
void capture_aux_close(struct capture_rings *r);

/* ---- records and features about traces ---- */

void capture_aux_put_time(const struct capture_rings *r, struct text *t); /* TIME_CONV */
void capture_aux_put_info(struct capture_rings *r, struct text *t); /* AUXTRACE_INFO */
/* Writes the feature AUXTRACE, for records that begin before `end` in the file. */
bool capture_aux_put_index(const struct capture_aux *aux, uint64_t end, struct text *t);

#endif
