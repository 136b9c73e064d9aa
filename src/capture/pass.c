/* SPDX-License-Identifier: MIT */
/* Moves data from rings and AUX areas to the output. */
#include "abi/abi.h"
#include "capture/recorder.h"
#include "core/span.h"

#include <stdlib.h>

static bool has_enough(const struct sonde_recorder *r, const struct capture_ring *ring, bool all)
{
	uint64_t least = r->options.buffers.flush_bytes;

	least = least < ring->size / 4 ? least : ring->size / 4;
	return all || ring->head - ring->tail >= least;
}

static int put_round(struct sonde_recorder *r)
{
	uint8_t round[RECORD_HEADER_SIZE] = {0};
	struct iovec iov = {.iov_base = round, .iov_len = sizeof(round)};

	store_u32(round, RECORD_FINISHED_ROUND, false);
	store_u16(round + 6, RECORD_HEADER_SIZE, false);
	TRY(capture_lane_other(&r->output.lane, &iov, 1, &r->error));
	/* so that perf can read everything written if this process is killed */
	return capture_lane_mark(&r->output.lane, &r->error);
}

/* Records left in overwritten rings are older than any round. */
static bool keeps_old(const struct sonde_recorder *r)
{
	size_t e;

	for (e = 0; e < r->plan.events.n; e++) {
		if (sonde_attr_has(&r->plan.events.v[e].attr, SONDE_FLAG_WRITE_BACKWARD)) {
			return true;
		}
	}
	return false;
}

/*
 * All heads are read before any data. So records that a pass leaves in a ring were written after
 * the pass began, and FINISHED_ROUND holds: later rounds have no record older than the newest one
 * of the round before. Rings with too little data are no exception: with flush_bytes there are no
 * FINISHED_ROUNDs, nor with overwritten rings.
 */
int capture_pass(struct sonde_recorder *r, bool all)
{
	struct iovec iov[2];
	bool any = false;
	size_t i;
	int n;

	for (i = 0; r->streams.v == NULL && i < r->rings.n; i++) {
		if (r->rings.v[i].page != NULL && !r->rings.v[i].backward) {
			any |= capture_ring_look(&r->rings.v[i]);
		}
	}
	any |= capture_aux_look(&r->rings);
	if (!any) {
		return 0;
	}
	for (i = 0; i < r->rings.n; i++) {
		if (r->streams.v == NULL && r->rings.v[i].page != NULL && !r->rings.v[i].backward &&
		        has_enough(r, &r->rings.v[i], all)) {
			host_affinity_go(&r->affinity, r->kernel, i % (r->rings.n / 2));
			n = capture_ring_pieces(&r->rings.v[i], iov);
			TRY(n == 0 ? 0 : capture_lane_kernel(&r->output.lane, iov, n, &r->error));
			capture_ring_release(&r->rings.v[i]);
		}
		TRY(capture_aux_pass(&r->rings, i, &r->output.lane));
	}
	if (r->options.buffers.flush_bytes > 1 || keeps_old(r)) {
		return capture_lane_mark(&r->output.lane, &r->error);
	}
	return put_round(r);
}

int capture_dump_backward(struct sonde_recorder *r)
{
	struct iovec *list;
	size_t i, at, n;
	int rc;

	for (i = 0; i < r->rings.n; i++) {
		struct capture_ring *ring = &r->rings.v[i];

		if (ring->page == NULL || !ring->backward) {
			continue;
		}
		host_affinity_go(&r->affinity, r->kernel, i % (r->rings.n / 2));
		(void)r->kernel->pause(ring->fd, true);
		rc = capture_ring_backward(ring, &list, &n);
		for (at = 0; rc >= 0 && at < n; at += 512) {
			rc = capture_lane_kernel(&r->output.lane, list + at,
			        (int)(n - at < 512 ? n - at : 512), &r->error);
		}
		free(list);
		(void)r->kernel->pause(ring->fd, false);
		TRY(rc);
	}
	return 0;
}

int capture_snapshot(struct sonde_recorder *r)
{
	size_t i;
	int rc;

	if (r->plan.aux.mode != CAPTURE_AUX_SNAPSHOT) {
		return 0;
	}
	capture_say(&r->log, SONDE_RECORDER_LINE, "Recording AUX area tracing snapshot");
	(void)capture_switch(&r->rings, 0, false);
	rc = capture_pass(r, true);
	for (i = 0; rc >= 0 && i < r->rings.aux.nrings; i++) {
		rc = r->rings.aux.rings[i].data != NULL
		             ? capture_aux_take(&r->rings, i, &r->output.lane)
		             : 0;
	}
	if (r->rings.aux.running) {
		(void)capture_switch(&r->rings, 0, true);
	}
	return rc < 0 ? rc : capture_lane_mark(&r->output.lane, &r->error);
}
