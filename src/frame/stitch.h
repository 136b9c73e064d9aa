/* SPDX-License-Identifier: MIT */
/*
 * Completes LBR call stacks. A processor keeps only its newest calls, in slots that it uses in turn;
 * a sample has the slot of its newest one. As observed with perf 6.1: if the call in the slot of the
 * oldest one is the same in the sample before of the thread, the calls older than it still stand.
 *
 *	4 slots, the sample before   c3 c2 c1 c0   in slots 3 2 1 0
 *	this sample                  c5 c4 c3 c2   in slots 1 0 3 2     c2 is the same: append c1 c0
 *
 * Samples must be added in order of time, so one reader must read all of them.
 */
#ifndef SONDE_FRAME_STITCH_H
#define SONDE_FRAME_STITCH_H

#include <sonde/sample.h>

#define STITCH_THREADS 4096u /* whose calls are remembered, direct-mapped by tid */
#define STITCH_CALLS   512u /* of a thread */

struct frame_stitch;

/* slots: of the processor's branch stack. NULL: out of memory. */
struct frame_stitch *frame_stitch_new(uint32_t slots);
void frame_stitch_free(struct frame_stitch *s); /* accepts NULL */

/*
 * Adds a sample. Sets *calls to its calls and the older ones, newest first, as words of
 * sonde_sample.branches, valid until the next call; returns their number, or SONDE_ENOMEM.
 */
int64_t frame_stitch_add(
        struct frame_stitch *s, const struct sonde_sample *sample, const uint64_t **calls);

#endif
