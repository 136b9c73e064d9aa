/* SPDX-License-Identifier: MIT */
/*
 * A path from rings to a file: direct, or through a worker thread that compresses (-z) or only
 * writes (--aio), so that rings are free as soon as their bytes are copied; with a stage before it,
 * records pass through that first (chains.h).
 *
 * A lane is used by one thread. The file has the bytes in the order of the calls.
 */
#ifndef SONDE_CAPTURE_LANE_H
#define SONDE_CAPTURE_LANE_H

#include "file/packer.h"
#include "file/writer.h"

struct lane_worker;
struct capture_chains;

/* A closed lane when zero-initialised. */
struct capture_lane {
	struct file_writer *writer; /* used by the worker, if there is one: drain before using it */
	struct packer *packer; /* NULL: not compressed */
	struct lane_worker *worker; /* NULL: the caller's thread writes */
	struct capture_chains *chains; /* makes call chains, and has the lane to the file; NULL: no
	                                  such stage */
};

/* Size of a block that waits for a worker, and the most blocks. */
#define LANE_BLOCK      ((size_t)4 << 20)
#define LANE_BLOCKS_MAX 4u

/* level: of zstd, 0: no compression. blocks: 0: no worker. SONDE_ENOMEM, SONDE_EUNSUPPORTED. */
int capture_lane_open(struct capture_lane *lane, struct file_writer *writer, int level,
        unsigned blocks, struct error *err);
void capture_lane_close(struct capture_lane *lane);

/*
 * Appends records: the kernel's, which may be compressed, or others. Changes iov. A failure of the
 * worker is returned by a later call. SONDE_EIO.
 */
int capture_lane_kernel(struct capture_lane *lane, struct iovec *iov, int n, struct error *err);
int capture_lane_other(struct capture_lane *lane, struct iovec *iov, int n, struct error *err);

/* Updates the data size in the header, once everything is written. */
int capture_lane_mark(struct capture_lane *lane, struct error *err);

/* Waits until everything is written. */
int capture_lane_drain(struct capture_lane *lane, struct error *err);

/* Bytes in the file so far; with a worker the number may be slightly too small. */
uint64_t capture_lane_written(const struct capture_lane *lane);

/* Adds the bytes before and after compression; the lane must be drained. */
void capture_lane_counts(const struct capture_lane *lane, uint64_t *in, uint64_t *out);

#endif
