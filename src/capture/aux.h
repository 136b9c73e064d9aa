/* SPDX-License-Identifier: MIT */
/*
 * The AUX area: a second ring beside that of the records, into which tracing hardware (Intel PT)
 * writes its own bytes. What stands here is about the ring; what the bytes mean is for readers.
 *
 *	full trace   the kernel waits for us: what is not taken in time is lost, the event goes off
 *	             and stays off until it is enabled again, which is why every pass does that
 *	snapshot     the ring goes round; on request the event is stopped, the ring is taken, and
 *	             the event goes on. Side-band goes on meanwhile: it is the dummy event's
 *	sample       the kernel puts the newest bytes of the ring into samples of other events
 */
#ifndef SONDE_CAPTURE_AUX_H
#define SONDE_CAPTURE_AUX_H

#include "core/status.h"
#include "core/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sonde_record;
struct capture_ring;
struct capture_aux_pmu;

enum capture_aux_mode {
	CAPTURE_AUX_NONE = 0,
	CAPTURE_AUX_FULL,
	CAPTURE_AUX_SNAPSHOT,
	CAPTURE_AUX_SAMPLE
};

enum capture_aux_switch { /* as AUXTRACE_INFO says it */
	CAPTURE_SWITCH_NONE = 0,
	CAPTURE_SWITCH_TRACEPOINT,
	CAPTURE_SWITCH_TASK,
	CAPTURE_SWITCH_CPU
};

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
	enum capture_aux_mode mode;
	const struct capture_aux_pmu *pmu;
	char pmu_name[32]; /* its folder in sysfs */
	enum capture_aux_switch switches;
	uint64_t size; /* bytes of each area */
	uint64_t snapshot_size; /* bytes */
	struct capture_aux_ring *rings; /* by ring */
	size_t nrings;
	bool running; /* events are on: one that went off by itself is started again */
	struct text index; /* {u64 file offset, u64 size of the record} of each AUXTRACE */
	struct text filter; /* as the kernel got it, with a NUL; empty: none */
};

/* ---- planning: events and attrs, before targets are known ---- */

/*
 * Finds the AUX event among the parsed ones, puts it first, adds the events that belong to it: the
 * dummy for side-band, sched_switch where the kernel has no records of switches. SONDE_EARG with
 * perf's words where the options do not go with the events.
 */
int capture_aux_plan(struct sonde_record *r);

/* Puts the attrs of all events right, after everything else has. */
void capture_aux_plan_attrs(struct sonde_record *r);

/* Sizes of areas and rings by options and limits, once rings can be counted. SONDE_EARG. */
int capture_aux_plan_sizes(struct sonde_record *r, size_t nrings);

/* ---- areas ---- */

/* Maps the area of ring number `ring`, whose records fd brings. */
int capture_aux_map(struct sonde_record *r, size_t ring, int fd, int cpu, pid_t tid);

/* True when a full trace has something to take. Looks at all heads. */
bool capture_aux_look(struct sonde_record *r);

/* Takes what was looked at into the file, area by area, and starts what went off. */
int capture_aux_pass(struct sonde_record *r, size_t ring);

/* Takes a snapshot of one area, whose event is off. */
int capture_aux_take(struct sonde_record *r, size_t ring);

void capture_aux_unmap(struct sonde_record *r); /* all areas; they may be mapped again */
void capture_aux_close(struct sonde_record *r);

/* ---- what the file says about it ---- */

void capture_aux_put_time(const struct sonde_record *r, struct text *t); /* TIME_CONV */
void capture_aux_put_info(struct sonde_record *r, struct text *t); /* AUXTRACE_INFO */
bool capture_aux_put_index(const struct sonde_record *r, struct text *t); /* feature AUXTRACE */

/* ---- address filters ---- */

/*
 * What the user wrote, as the kernel wants it: symbols become offsets, sizes are worked out.
 * SONDE_EARG says what was not understood, or which symbols a name could mean.
 */
int capture_aux_filter(int root, const char *text, struct text *out, struct error *err);

#endif
