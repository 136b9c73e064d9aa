/* SPDX-License-Identifier: MIT */
/*
 * Areas: mapped in addition to the rings of records, written as AUXTRACE records. Words of the
 * control page (perf_event_open(2)):
 *
 *	1056  u64 aux_head    the kernel's, read with acquire
 *	1064  u64 aux_tail    ours, written with release; nobody looks at it where the area goes round
 *	1072  u64 aux_offset  ours before the area is mapped: where in the file of the event it is
 *	1080  u64 aux_size    bytes, the same
 *
 * An AUXTRACE record, followed by its bytes:
 *
 *	0   u32 71, u16 0, u16 48
 *	8   u64 size (multiple of 8, zeros at the end make it one)
 *	16  u64 offset in the area's stream
 *	24  u64 reference: the clock when it was written
 *	32  u32 index of the ring, thread (-1: all), cpu (-1: all), 0
 *	48  bytes
 */
#include "abi/abi.h"
#include "capture/rings/rings.h"
#include "capture/sink/lane.h"
#include "core/span.h"
#include "record/feature_write.h"

#include <errno.h>
#include <stdlib.h>

#define AT_AUX_HEAD   1056
#define AT_AUX_TAIL   1064
#define AT_AUX_OFFSET 1072
#define AT_AUX_SIZE   1080

#define AUXTRACE_SIZE 48u
#define UNIT          8u /* sizes in the file are multiples of it */

static int map_failed(struct capture_rings *r, int why)
{
	if (why == EPERM) {
		return error_set(r->err, SONDE_EPERM, NO_OFFSET,
		        "not allowed to map an AUX area of %llu kB beside each ring of %zu kB: a "
		        "user may lock kernel.perf_event_mlock_kb less a page for each cpu, and "
		        "'ulimit -l' once; ask for less with -m, or raise one of them",
		        (unsigned long long)r->aux.size / 1024, r->v[0].map_size / 1024);
	}
	(void)error_errno(r->err, why == ENOMEM ? SONDE_ENOMEM : SONDE_EIO, why,
	        "cannot map an AUX area of %llu kB", (unsigned long long)r->aux.size / 1024);
	return error_append(r->err, "%s", why == ENOMEM ? "; ask for less with -m" : "");
}

int capture_aux_map(struct capture_rings *r, size_t ring, int fd, int cpu, pid_t tid)
{
	struct capture_ring *data = &r->v[ring];
	struct capture_aux_ring *area;
	uint64_t offset = data->map_size;

	if (r->plan->aux.pmu == NULL) {
		return 0;
	}
	area = &r->aux.rings[ring];
	*capture_ring_word(data, AT_AUX_OFFSET) = offset;
	*capture_ring_word(data, AT_AUX_SIZE) = r->aux.size;
	area->data = r->kernel->map_aux(
	        fd, (size_t)r->aux.size, offset, r->plan->aux.mode != CAPTURE_AUX_FULL);
	if (area->data == NULL) {
		return map_failed(r, errno);
	}
	area->size = r->aux.size;
	area->fd = fd;
	area->cpu = cpu;
	area->tid = tid;
	return 0;
}

static uint64_t look(const struct capture_rings *r, size_t ring)
{
	return __atomic_load_n(capture_ring_word(&r->v[ring], AT_AUX_HEAD), __ATOMIC_ACQUIRE);
}

/*
 * While the trace runs, bytes beyond a complete unit wait for the next time: zeros inside a packet
 * would damage it.
 */
static uint64_t ready(const struct capture_rings *r, const struct capture_aux_ring *area)
{
	uint64_t n = area->head - area->tail;

	return r->aux.running ? n - n % UNIT : n;
}

bool capture_aux_look(struct capture_rings *r)
{
	bool any = false;
	size_t i;

	if (r->plan->aux.mode != CAPTURE_AUX_FULL) {
		return false;
	}
	for (i = 0; i < r->aux.nrings; i++) {
		if (r->aux.rings[i].data != NULL) {
			r->aux.rings[i].head = look(r, i);
			any |= ready(r, &r->aux.rings[i]) > 0;
		}
	}
	return any;
}

/* Writes n bytes of the stream from `from` on; n is at most the area's size. */
static int put_area(
        struct capture_rings *r, size_t ring, uint64_t from, uint64_t n, struct capture_lane *lane)
{
	const struct capture_aux_ring *area = &r->aux.rings[ring];
	uint8_t head[AUXTRACE_SIZE] = {0};
	uint8_t zeros[UNIT] = {0};
	uint64_t padding = (UNIT - n % UNIT) % UNIT;
	uint64_t at = from & (area->size - 1);
	uint64_t first = n < area->size - at ? n : area->size - at;
	struct iovec iov[4] = {{.iov_base = head, .iov_len = sizeof(head)},
	        {.iov_base = area->data + at, .iov_len = first},
	        {.iov_base = area->data, .iov_len = n - first},
	        {.iov_base = zeros, .iov_len = padding}};

	store_u32(head, RECORD_AUXTRACE, false);
	store_u16(head + 6, AUXTRACE_SIZE, false);
	store_u64(head + 8, n + padding, false);
	store_u64(head + 16, from, false);
	store_u64(head + 24, r->kernel->ticks(), false);
	store_u32(head + 32, (uint32_t)ring, false);
	store_u32(head + 36, (uint32_t)area->tid, false);
	store_u32(head + 40, (uint32_t)area->cpu, false);
	/* the index has the record's offset: everything before it must be written */
	TRY(capture_lane_drain(lane, r->err));
	feature_put_u64(&r->aux.index, lane->writer->data_at + lane->writer->data_size);
	feature_put_u64(&r->aux.index, AUXTRACE_SIZE);
	if (r->aux.index.failed) {
		return error_nomem(r->err);
	}
	return capture_lane_other(lane, iov, 4, r->err);
}

/*
 * An event that found its area full is off, and nothing reports that reliably: it is enabled
 * whenever there is room. This has no effect on an event that is on.
 */
static void start_again(struct capture_rings *r, size_t ring)
{
	size_t i = r->plan->per_thread ? ring : ring * r->tasks.nthreads;
	size_t end = r->plan->per_thread ? ring + 1 : i + r->tasks.nthreads;

	for (; i < end; i++) {
		if (r->opened[0].fds[i] >= 0) {
			(void)r->kernel->enable(r->opened[0].fds[i], true, false);
		}
	}
}

int capture_aux_pass(struct capture_rings *r, size_t ring, struct capture_lane *lane)
{
	struct capture_aux_ring *area;
	uint64_t n;

	if (r->plan->aux.mode != CAPTURE_AUX_FULL || r->aux.rings[ring].data == NULL) {
		return 0;
	}
	area = &r->aux.rings[ring];
	n = ready(r, area);
	if (n > area->size) {
		return error_set(r->err, SONDE_EIO, NO_OFFSET,
		        "the kernel's AUX area went past what was read: %llu bytes of %llu",
		        (unsigned long long)n, (unsigned long long)area->size);
	}
	if (n == 0) {
		return 0;
	}
	TRY(put_area(r, ring, area->tail, n, lane));
	area->tail += n;
	__atomic_store_n(capture_ring_word(&r->v[ring], AT_AUX_TAIL), area->tail, __ATOMIC_RELEASE);
	if (r->aux.running) {
		start_again(r, ring);
	}
	return 0;
}

static bool any_set(const uint8_t *p, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		if (p[i] != 0) {
			return true;
		}
	}
	return false;
}

/*
 * An overwritten area. Kernels differ in whether the head keeps counting or restarts at 0 with each
 * round: a head above the size keeps counting; one below it does not show whether the area was
 * filled, but the zeros that it had at the beginning do. Bytes of the previous snapshot are left
 * out if the head shows how many they are.
 */
int capture_aux_take(struct capture_rings *r, size_t ring, struct capture_lane *lane)
{
	struct capture_aux_ring *area = &r->aux.rings[ring];
	uint64_t head = look(r, ring);
	uint64_t n = r->aux.snapshot_size;

	area->wrapped = area->wrapped || head >= area->size || head < area->tail ||
	                any_set(area->data + head, area->size - head);
	if (!area->wrapped && n > head) {
		n = head;
	}
	if ((!area->wrapped || head > area->size) && n > head - area->tail) {
		n = head - area->tail;
	}
	area->tail = head;
	if (n == 0) {
		return 0;
	}
	return put_area(r, ring, head >= n ? head - n : head + area->size - n, n, lane);
}

void capture_aux_unmap(struct capture_rings *r)
{
	size_t i;

	for (i = 0; i < r->aux.nrings; i++) {
		if (r->aux.rings[i].data != NULL) {
			r->kernel->unmap(r->aux.rings[i].data, (size_t)r->aux.rings[i].size);
		}
		r->aux.rings[i] = (struct capture_aux_ring){0};
	}
}

void capture_aux_close(struct capture_rings *r)
{
	free(r->aux.rings);
	text_fini(&r->aux.index);
	r->aux = (struct capture_aux){0};
}
