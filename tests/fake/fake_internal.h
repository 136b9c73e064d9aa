/* SPDX-License-Identifier: MIT */
/* What the files of the fake kernel share. */
#ifndef SONDE_TESTS_FAKE_INTERNAL_H
#define SONDE_TESTS_FAKE_INTERNAL_H

#include "abi/abi.h"
#include "core/span.h"
#include "core/text.h"
#include "fake/fake.h"

#define FAKE_CPUS 64

struct fake_task {
	pid_t pid, parent;
};

struct fake_cpu {
	pid_t pid, tid; /* what runs; 0: idle */
	bool offline;
	uint64_t made; /* bytes that its AUX hardware made */
};

struct fake_machine {
	struct fake_options options;
	struct fake_event *events;
	size_t nevents;
	struct fake_ring *rings[4 * FAKE_CPUS];
	size_t nrings;
	struct fake_cpu cpus[FAKE_CPUS];
	struct fake_task *tasks;
	size_t ntasks;
	struct fake_piece *pieces;
	size_t npieces;
	uint64_t now; /* ns */
	uint64_t locked; /* bytes */
	unsigned open_fds;
	bool (*step)(void *arg);
	void *step_arg;
};

extern struct fake_machine fake_machine;

void *fake_grow(void *list, size_t n, size_t item); /* room for one more; ends the program */

/* True when the event counts what this task does on this cpu. */
bool fake_sees(const struct fake_event *event, int cpu, pid_t pid);
int fake_cpu_of(pid_t pid); /* where it runs; 0 when nowhere */

/* A record with its trailer of `event` into the event's ring. */
void fake_record_begin(struct text *t, uint32_t type, uint16_t misc);
bool fake_record_put(struct fake_event *event, struct text *t, int cpu, pid_t pid, pid_t tid);
bool fake_ring_put(struct fake_ring *ring, const struct text *t, uint64_t id);
void fake_ring_wake(struct fake_ring *ring);

void fake_aux_started(struct fake_event *event); /* was enabled */
void fake_aux_record(struct fake_ring *ring, int cpu);
void fake_aux_bytes(struct fake_ring *ring, uint64_t end, uint64_t size, struct text *out);
uint64_t *fake_word(const struct fake_ring *ring, size_t at);

#endif
