/* SPDX-License-Identifier: MIT */
/*
 * record --call-graph unwind: samples with registers and a copy of the stack become samples with a
 * call chain on their way from the rings to the file.
 *
 *	recorder's thread   bytes of the rings -> a round -> queue
 *	worker              round -> mappings of processes by time, call chains -> lane to the file
 *
 * The worker has a low priority. If it does not keep up, rounds pass as they were recorded: their
 * samples keep the copies of stacks and get the id of a second event, whose attr describes those.
 */
#ifndef SONDE_CAPTURE_CHAINS_H
#define SONDE_CAPTURE_CHAINS_H

#include "capture/sink/lane.h"
#include "record/record.h"

struct capture_chains_event {
	const struct sonde_attr *attr; /* as the kernel has it */
	const uint64_t *ids; /* borrowed */
	size_t nids;
};

struct capture_chains_options {
	const struct capture_chains_event *events; /* copied, but for the ids */
	size_t nevents;
	bool keep_regs; /* registers stay in samples */
	/* bytes in the queue: from `most` / 2 on rounds are not unwound, from `most` on the
	 * recorder waits; 0: the default */
	size_t most;
};

struct capture_chains_counts {
	uint64_t unwound; /* samples with a call chain made here */
	uint64_t copies; /* samples that kept their copy of the stack */
};

/* Whether stacks of this machine can be unwound. */
bool capture_chains_supported(void);

/* SONDE_ENOMEM. The worker starts with the first round. */
int capture_chains_new(const struct capture_chains_options *options, struct capture_chains **out,
        struct error *err);
void capture_chains_free(struct capture_chains *c); /* accepts NULL */

/* The lane to the file, which the caller opens and closes while no round is in the queue. */
struct capture_lane *capture_chains_lane(struct capture_chains *c);

enum capture_chains_kind { CAPTURE_CHAINS_KERNEL, CAPTURE_CHAINS_OTHER, CAPTURE_CHAINS_MARK };

/* As the functions of a lane. */
int capture_chains_put(struct capture_chains *c, enum capture_chains_kind kind,
        const struct iovec *iov, int n, struct error *err);
int capture_chains_mark(struct capture_chains *c, struct error *err); /* the end of a round */
int capture_chains_drain(struct capture_chains *c, struct error *err);
uint64_t capture_chains_written(struct capture_chains *c);

/* Ends the worker; what is in the queue is not written. */
void capture_chains_stop(struct capture_chains *c);

/* The queue must be empty. */
struct capture_chains_counts capture_chains_count(const struct capture_chains *c);

#endif
