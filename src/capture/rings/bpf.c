/* SPDX-License-Identifier: MIT */
/* Rings that wake up at once: an unloaded program cannot be queried any more. */
#include "capture/rings/bpf.h"

#include "abi/abi.h"
#include "capture/rings/rings.h"
#include "core/span.h"

#define RING_PAGES 8

/* For an ordinary user, or a kernel without BPF, no event is opened. */
void capture_bpf_open(struct capture_bpf *b, const struct capture_rings *r)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE,
	        .size = HOST_ATTR_SIZE,
	        .config = SONDE_SW_DUMMY,
	        .flags = 1ull << SONDE_FLAG_WATERMARK | 1ull << SONDE_FLAG_SAMPLE_ID_ALL |
	                 1ull << SONDE_FLAG_BPF_EVENT,
	        .wakeup_events = 1};
	size_t i;

	for (i = 0; i < r->ncpus && r->cpus[i] >= 0; i++) {
		if (i == 0) {
			capture_log_attr(r->log, &attr);
		}
		if (!capture_watch_open(
		            &b->watch, r->kernel, r->log, &attr, (int)r->cpus[i], RING_PAGES)) {
			return;
		}
	}
}

/* A BPF_EVENT: u16 kind (1: loaded), u16 flags, u32 id, u8 tag[8]. */
static void take_record(void *arg, const uint8_t head[CAPTURE_WATCH_HEAD], size_t size)
{
	struct capture_bpf *b = arg;

	if (size >= CAPTURE_WATCH_HEAD && load_u32(head, false) == RECORD_BPF_EVENT &&
	        load_u16(head + 8, false) == 1) {
		host_bpf_take(&b->known, load_u32(head + 12, false));
	}
}

void capture_bpf_look(struct capture_bpf *b)
{
	capture_watch_look(&b->watch, take_record, b);
}

void capture_bpf_close(struct capture_bpf *b, const struct host_kernel *kernel)
{
	capture_watch_close(&b->watch, kernel);
	host_bpf_fini(&b->known);
}
