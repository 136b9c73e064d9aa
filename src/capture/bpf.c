/* SPDX-License-Identifier: MIT */
/* Rings that wake up at once: a program that is unloaded again cannot be asked for any more. */
#include "capture/bpf.h"

#include "abi/abi.h"
#include "capture/capture.h"
#include "core/span.h"

#include <stdlib.h>
#include <unistd.h>

#define RING_PAGES 8

/* Of an ordinary user, or a kernel without BPF: no event is opened, and nothing is missing. */
static void open_rings(struct sonde_record *r, struct capture_bpf *b)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE,
	        .size = HOST_ATTR_SIZE,
	        .config = SONDE_SW_DUMMY,
	        .flags = 1ull << SONDE_FLAG_WATERMARK | 1ull << SONDE_FLAG_SAMPLE_ID_ALL |
	                 1ull << SONDE_FLAG_BPF_EVENT,
	        .wakeup_events = 1};
	size_t size = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	size_t i;
	void *map;
	int fd;

	b->rings = calloc(r->ncpus, sizeof(*b->rings));
	b->fds = calloc(r->ncpus, sizeof(*b->fds));
	for (i = 0; b->rings != NULL && b->fds != NULL && i < r->ncpus; i++) {
		if (r->cpus[i] < 0) {
			return;
		}
		if (i == 0) {
			capture_log_attr(&r->log, &attr);
		}
		fd = r->kernel->open(&attr, -1, (int)r->cpus[i], -1, 0);
		capture_log_open(&r->log, -1, (int)r->cpus[i], -1, 0, fd);
		map = fd >= 0 ? r->kernel->map(fd, size, false) : NULL;
		if (map == NULL || !capture_ring_init(&b->rings[b->nrings], map, size)) {
			if (fd >= 0) {
				(void)r->kernel->close(fd);
			}
			return;
		}
		b->fds[b->nrings++] = fd;
	}
}

int capture_bpf_open(struct sonde_record *r)
{
	if (r->options.no_bpf_events || r->kernel != host_kernel_linux()) {
		return 0;
	}
	r->bpf = calloc(1, sizeof(*r->bpf));
	if (r->bpf == NULL) {
		return error_nomem(&r->error);
	}
	open_rings(r, r->bpf);
	return 0;
}

/* A BPF_EVENT: u16 kind (1: loaded), u16 flags, u32 id, u8 tag[8]. */
static void take_record(struct host_bpf *b, const uint8_t *record, size_t n)
{
	if (n >= 16 && load_u32(record, false) == RECORD_BPF_EVENT &&
	        load_u16(record + 8, false) == 1) {
		host_bpf_take(b, load_u32(record + 12, false));
	}
}

void capture_bpf_look(struct sonde_record *r)
{
	struct capture_bpf *b = r->bpf;
	uint8_t head[16];
	uint64_t mask;
	size_t i, k, size;

	for (i = 0; b != NULL && i < b->nrings; i++) {
		struct capture_ring *ring = &b->rings[i];

		if (!capture_ring_look(ring)) {
			continue;
		}
		mask = ring->size - 1;
		while (ring->head - ring->tail >= sizeof(head)) {
			for (k = 0; k < sizeof(head); k++) {
				head[k] = ring->data[(ring->tail + k) & mask];
			}
			size = load_u16(head + 6, false);
			if (size < RECORD_HEADER_SIZE || size > ring->head - ring->tail) {
				break;
			}
			take_record(&b->known, head, size);
			ring->tail += size;
		}
		capture_ring_release(ring);
	}
}

void capture_bpf_close(struct sonde_record *r)
{
	struct capture_bpf *b = r->bpf;
	size_t i;

	if (b == NULL) {
		return;
	}
	for (i = 0; i < b->nrings; i++) {
		r->kernel->unmap(b->rings[i].page, b->rings[i].map_size);
		(void)r->kernel->close(b->fds[i]);
	}
	host_bpf_fini(&b->known);
	free(b->rings);
	free(b->fds);
	free(b);
	r->bpf = NULL;
}
