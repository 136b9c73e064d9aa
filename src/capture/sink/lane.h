/* SPDX-License-Identifier: MIT */
/*
 * One way from rings to a file: straight, or over a worker thread that compresses (-z) or only
 * writes (--aio), so that rings are free again as soon as their bytes are copied.
 *
 * A lane is used by one thread. What it is given stands in the file in that order.
 */
#ifndef SONDE_CAPTURE_LANE_H
#define SONDE_CAPTURE_LANE_H

#include "file/packer.h"
#include "file/writer.h"

struct lane_worker;

/* Zero-initialised is a lane that is not open. */
struct capture_lane {
	struct file_writer *writer; /* the worker's while there is one: drain before touching it */
	struct packer *packer; /* NULL: not compressed */
	struct lane_worker *worker; /* NULL: all happens on the caller's thread */
};

/* Bytes that may wait for a worker are this many in a block, and of so many blocks at most. */
#define LANE_BLOCK      ((size_t)4 << 20)
#define LANE_BLOCKS_MAX 4u

/* level: of zstd, 0: not compressed. blocks: 0: no worker. SONDE_ENOMEM, SONDE_EUNSUPPORTED. */
int capture_lane_open(struct capture_lane *lane, struct file_writer *writer, int level,
        unsigned blocks, struct error *err);
void capture_lane_close(struct capture_lane *lane);

/*
 * Takes records: the kernel's, which may be compressed, or others. iov is used up. A failure of the
 * worker is returned by a later call. SONDE_EIO.
 */
int capture_lane_kernel(struct capture_lane *lane, struct iovec *iov, int n, struct error *err);
int capture_lane_other(struct capture_lane *lane, struct iovec *iov, int n, struct error *err);

/* Lets the header say how much there is, once all of it is written. */
int capture_lane_mark(struct capture_lane *lane, struct error *err);

/* Waits until all is written. */
int capture_lane_drain(struct capture_lane *lane, struct error *err);

/* Bytes in the file so far; a worker may be a little behind. */
uint64_t capture_lane_written(const struct capture_lane *lane);

/* Adds the bytes that went into compression and came out; the lane is drained. */
void capture_lane_counts(const struct capture_lane *lane, uint64_t *in, uint64_t *out);

#endif
