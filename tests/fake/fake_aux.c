/* SPDX-License-Identifier: MIT */
/*
 * The AUX area: what tracing hardware makes goes into a ring beside the data ring. As the kernel
 * does it: in full-trace mode nothing that user space has not taken is overwritten; what finds no
 * room is lost, the next AUX record says TRUNCATED, and the event stays off until IOC_ENABLE. In
 * overwrite mode the ring goes round. The head becomes visible with the AUX record.
 */
#include "fake/fake_internal.h"

#include <stdlib.h>

#define AT_AUX_HEAD 1056
#define AT_AUX_TAIL 1064

#define AUX_TRUNCATED 1u
#define AUX_OVERWRITE 2u

#define BLOCK 64u /* bytes of trace from PSB to PSB */

/* PSB, PSBEND, then TNT packets of six branches that count the blocks. */
uint8_t fake_pt_byte(int cpu, uint64_t at)
{
	uint64_t block = at / BLOCK;
	unsigned i = (unsigned)(at % BLOCK);
	uint64_t v;

	if (i < 16) {
		return i % 2 == 0 ? 0x02 : 0x82;
	}
	if (i < 18) {
		return i == 16 ? 0x02 : 0x23;
	}
	v = (block * 64 + (unsigned)cpu) * 0x9e3779b97f4a7c15u >> (i % 11 * 5);
	return (uint8_t)(0x80 | (v & 0x3f) << 1);
}

size_t fake_pieces(void)
{
	return fake_machine.npieces;
}

const struct fake_piece *fake_piece(size_t i)
{
	return &fake_machine.pieces[i];
}

static void note(int cpu, uint64_t made_at, uint64_t size, uint64_t aux_at, bool lost)
{
	if (size == 0) {
		return;
	}
	fake_machine.pieces =
	        fake_grow(fake_machine.pieces, fake_machine.npieces, sizeof(*fake_machine.pieces));
	fake_machine.pieces[fake_machine.npieces++] = (struct fake_piece){
	        .cpu = cpu, .made_at = made_at, .size = size, .aux_at = aux_at, .lost = lost};
}

int fake_aux_byte(int cpu, uint64_t aux_at)
{
	const struct fake_piece *p;
	size_t i;

	for (i = 0; i < fake_machine.npieces; i++) {
		p = &fake_machine.pieces[i];
		if (p->cpu == cpu && !p->lost && aux_at >= p->aux_at &&
		        aux_at - p->aux_at < p->size) {
			return fake_pt_byte(cpu, p->made_at + (aux_at - p->aux_at));
		}
	}
	return -1;
}

uint64_t fake_aux_end(int cpu)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < fake_machine.npieces; i++) {
		const struct fake_piece *p = &fake_machine.pieces[i];

		if (p->cpu == cpu && !p->lost && p->aux_at + p->size > end) {
			end = p->aux_at + p->size;
		}
	}
	return end;
}

/* The event that traces what runs on the cpu now; NULL: none does. */
static struct fake_event *tracing(int cpu)
{
	struct fake_event *e;
	size_t i;

	for (i = 0; i < fake_machine.nevents; i++) {
		e = &fake_machine.events[i];
		if (e->enabled && e->attr.type == fake_machine.options.aux_type &&
		        e->ring != NULL && e->ring->aux != NULL &&
		        fake_machine.cpus[cpu].pid != 0 &&
		        fake_sees(e, cpu, fake_machine.cpus[cpu].pid)) {
			return e;
		}
	}
	return NULL;
}

void fake_aux_started(struct fake_event *e)
{
	int cpu = e->cpu >= 0 ? e->cpu : fake_cpu_of(e->pid);
	const struct fake_cpu *c = &fake_machine.cpus[cpu];
	struct text t = {0};
	uint32_t ids[2] = {(uint32_t)c->pid, (uint32_t)c->tid};

	e->ring->aux_stopped = false;
	if (c->pid == 0 || !fake_sees(e, cpu, c->pid)) {
		return;
	}
	fake_record_begin(&t, RECORD_ITRACE_START, 0);
	text_bytes(&t, (const char *)ids, sizeof(ids));
	(void)fake_record_put(e, &t, cpu, c->pid, c->tid);
	text_fini(&t);
}

/* Shows what was made since the last AUX record. */
void fake_aux_record(struct fake_ring *ring, int cpu)
{
	struct fake_event *e = &fake_machine.events[ring->fd - FAKE_FIRST_FD];
	const struct fake_options *o = &fake_machine.options;
	const struct fake_cpu *c = &fake_machine.cpus[cpu >= 0 ? cpu : 0];
	uint64_t v[3] = {ring->aux_record, ring->aux_head - ring->aux_record, ring->aux_flags};
	struct text t = {0};

	if (v[1] == 0 && v[2] == 0) {
		return;
	}
	if (ring->aux_overwrite) {
		v[2] |= AUX_OVERWRITE;
	}
	ring->aux_record = ring->aux_head;
	ring->aux_flags = 0;
	ring->aux_shown = ring->aux_overwrite && o->aux_head_wraps ? ring->aux_head % ring->aux_size
	                                                           : ring->aux_head;
	__atomic_store_n(fake_word(ring, AT_AUX_HEAD), ring->aux_shown, __ATOMIC_RELEASE);
	fake_machine.now += 10;
	fake_record_begin(&t, RECORD_AUX, 0);
	text_bytes(&t, (const char *)v, sizeof(v));
	(void)fake_record_put(e, &t, cpu >= 0 ? cpu : 0, c->pid, c->tid);
	text_fini(&t);
}

static void store(struct fake_ring *ring, int cpu, uint64_t n)
{
	struct fake_cpu *c = &fake_machine.cpus[cpu];
	uint64_t i;

	for (i = 0; i < n; i++) {
		ring->aux[(ring->aux_head + i) & (ring->aux_size - 1)] =
		        fake_pt_byte(cpu, c->made + i);
	}
	note(cpu, c->made, n, ring->aux_head, false);
	ring->aux_head += n;
	c->made += n;
}

void fake_trace(int cpu, uint64_t n)
{
	struct fake_event *e = tracing(cpu);
	struct fake_ring *ring = e != NULL ? e->ring : NULL;
	uint64_t room, fits, watermark;

	if (e == NULL || ring->aux_stopped) {
		return; /* the hardware is off */
	}
	room = ring->aux_size -
	       (ring->aux_head - __atomic_load_n(fake_word(ring, AT_AUX_TAIL), __ATOMIC_ACQUIRE));
	fits = ring->aux_overwrite || n <= room ? n : room;
	store(ring, cpu, fits);
	if (fits < n) {
		note(cpu, fake_machine.cpus[cpu].made, n - fits, ring->aux_head, true);
		fake_machine.cpus[cpu].made += n - fits;
		ring->aux_flags |= AUX_TRUNCATED;
		ring->aux_stopped = true;
		e->enabled = false;
		fake_aux_record(ring, cpu);
		fake_ring_wake(ring);
		return;
	}
	watermark = e->attr.aux_watermark != 0 ? e->attr.aux_watermark : ring->aux_size / 2;
	if (!ring->aux_overwrite && ring->aux_head - ring->aux_woken >= watermark) {
		ring->aux_woken = ring->aux_head;
		fake_aux_record(ring, cpu);
		fake_ring_wake(ring);
	}
}

void fake_aux_flags(int cpu, uint64_t flags)
{
	struct fake_event *e = tracing(cpu);

	if (e != NULL) {
		e->ring->aux_flags |= flags;
	}
}

void fake_aux_flush(int cpu)
{
	struct fake_event *e = tracing(cpu);

	if (e != NULL) {
		fake_aux_record(e->ring, cpu);
	}
}

void fake_aux_bytes(struct fake_ring *ring, uint64_t end, uint64_t size, struct text *out)
{
	uint64_t i;

	size = size < end ? size : end;
	size = size < ring->aux_size ? size : ring->aux_size;
	for (i = end - size; i < end; i++) {
		text_char(out, (char)ring->aux[i & (ring->aux_size - 1)]);
	}
}
