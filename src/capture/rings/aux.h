/* SPDX-License-Identifier: MIT */
/*
 * The AUX area: a second ring beside that of the records, into which tracing hardware (Intel PT)
 * writes its own bytes. This is about the ring; what the bytes mean is for readers.
 *
 *	full trace   the kernel waits for us: what is not taken in time is lost, the event goes off
 *	             and stays off until it is enabled again, which is why every pass does that
 *	snapshot     the ring goes round; on request the event is stopped, the ring is taken, and
 *	             the event goes on. Side-band goes on meanwhile: it is the dummy event's
 *	sample       the kernel puts the newest bytes of the ring into samples of other events
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
	uint64_t tail; /* up to here it was taken */
	uint64_t head; /* as of the last look */
	bool wrapped; /* goes round: all of it is trace */
	int fd; /* of the event */
	int cpu; /* -1: a thread's */
	pid_t tid; /* -1: all */
};

struct capture_aux {
	uint64_t size; /* bytes of each area */
	uint64_t snapshot_size; /* bytes */
	struct capture_aux_ring *rings; /* by ring */
	size_t nrings;
	bool running; /* events are on: one that went off by itself is started again */
	struct text index; /* {u64 file offset, u64 size of the record} of each AUXTRACE */
};

/* Sizes of areas and rings by options and limits, once rings can be counted. SONDE_EARG. */
int capture_aux_plan_sizes(struct capture_rings *r, size_t nrings);

/* ---- areas ---- */

/* Maps the area of ring number `ring`, whose records fd brings. */
int capture_aux_map(struct capture_rings *r, size_t ring, int fd, int cpu, pid_t tid);

/* True when a full trace has something to take. Looks at all heads. */
bool capture_aux_look(struct capture_rings *r);

/* Takes what was looked at into the file, and starts what went off. */
int capture_aux_pass(struct capture_rings *r, size_t ring, struct capture_lane *lane);

/* Takes a snapshot of one area, whose event is off. */
int capture_aux_take(struct capture_rings *r, size_t ring, struct capture_lane *lane);

void capture_aux_unmap(struct capture_rings *r); /* all areas; they may be mapped again */
void capture_aux_close(struct capture_rings *r);

/* ---- what the file says about it ---- */

void capture_aux_put_time(const struct capture_rings *r, struct text *t); /* TIME_CONV */
void capture_aux_put_info(struct capture_rings *r, struct text *t); /* AUXTRACE_INFO */
/* The feature AUXTRACE, of what begins before `end` in the file. */
bool capture_aux_put_index(const struct capture_aux *aux, uint64_t end, struct text *t);

#endif
