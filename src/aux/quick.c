/* SPDX-License-Identifier: MIT */
/*
 * Quick decoding (q): samples of packets alone, without code and without branch bits.
 *
 *	TIP, FUP               an instruction at its address
 *	TIP.PGE, FUP after OVF a branch from 0, and the instruction
 *	FUP TIP, FUP TIP.PGD   an instruction and a branch between both
 *	PSB+                   with qq the only packets that are read
 */
#include "aux/inside.h"

#include "core/array.h"
#include "pt/packet.h"

#define POWER_MAX 2 /* events that wait for EXSTOP */

struct quick {
	struct aux_follower *f;
	struct pt_cursor cursor;
	struct sonde_pt_time time;
	uint64_t last_ip; /* for compressed addresses */
	uint64_t ip; /* the last address; 0: tracing is off */
	uint64_t psb; /* offset of the last PSB */
	uint64_t ratio; /* of the PSB+'s CBR */
	uint64_t block; /* type of the PEBS block */
	uint64_t event_ip; /* of the FUP in a PSB+, or one that waits for a TIP */
	bool in_psb, has_event_ip, overflowed, in_tx, aborts;
	struct sonde_pt_event waiting; /* an event that a FUP places */
	bool waits;
	struct sonde_pt_event power[POWER_MAX];
	unsigned npower;
	uint64_t known_ip; /* the last address before tracing was off */
};

static int put(struct quick *q, enum aux_kind kind, uint64_t ip, uint64_t addr, uint32_t flags)
{
	struct aux_sample s = {.kind = kind,
	        .ip = ip,
	        .addr = addr,
	        .tsc = q->time.tsc,
	        .period = 1,
	        .extra = {.flags = flags}};

	if (kind == AUX_BRANCHES) {
		return aux_branch_add(q->f, &s);
	}
	return aux_follow_passes(q->f, kind) ? aux_sample_add(q->f, &s) : 0;
}

static int put_insn(struct quick *q, uint64_t ip, uint64_t addr, uint32_t flags)
{
	q->ip = q->known_ip = ip;
	return put(q, AUX_INSTRUCTIONS, ip, addr, flags);
}

static int begin_at(struct quick *q, uint64_t ip)
{
	TRY(put(q, AUX_BRANCHES, 0, ip, AUX_FLAG_BRANCH | AUX_FLAG_BEGIN));
	return put_insn(q, ip, 0, 0);
}

/* A branch that no instruction made, between a FUP and a TIP. */
static int on_async(struct quick *q, uint64_t to, uint32_t flags)
{
	uint64_t from = q->event_ip;

	q->has_event_ip = false;
	flags |= AUX_FLAG_BRANCH | AUX_FLAG_ASYNC;
	flags |= to != 0 ? AUX_FLAG_CALL | AUX_FLAG_INTERRUPT : 0;
	if (q->aborts) {
		flags = AUX_FLAG_BRANCH | AUX_FLAG_ABORT | (flags & AUX_FLAG_END);
	}
	TRY(put_insn(q, from, to, flags));
	TRY(q->aborts ? put(q, AUX_TRANSACTIONS, from, to, flags) : 0);
	q->aborts = false;
	return put(q, AUX_BRANCHES, from, to, flags);
}

static int put_event(struct quick *q, const struct sonde_pt_event *e)
{
	struct sonde_pt_step step = {.kind = SONDE_PT_STEP_EVENT,
	        .ip = q->ip,
	        .tsc = q->time.tsc,
	        .exact_tsc = q->time.exact,
	        .event = *e};

	if (!e->has_ip) {
		step.event.ip = q->ip;
		step.event.has_ip = q->ip != 0;
	}
	return aux_follow_event(q->f, &step);
}

/* MWAIT and PWRE wait for EXSTOP. */
static int put_power(struct quick *q, uint64_t ip)
{
	for (unsigned i = 0; i < q->npower; i++) {
		q->power[i].ip = ip;
		q->power[i].has_ip = ip != 0;
		TRY(put_event(q, &q->power[i]));
	}
	q->npower = 0;
	return 0;
}

static int on_power(struct quick *q, struct sonde_pt_event e)
{
	if (q->npower == POWER_MAX) {
		TRY(put_power(q, q->ip));
	}
	q->power[q->npower++] = e;
	return 0;
}

/* A FUP places the event before it, or begins an asynchronous branch. */
static int on_fup(struct quick *q, uint64_t ip)
{
	struct sonde_pt_event e = q->waiting;

	if (q->in_psb) {
		q->event_ip = ip;
		q->has_event_ip = true;
		return 0;
	}
	if (q->overflowed) {
		q->overflowed = false;
		return begin_at(q, ip);
	}
	if (!q->waits || e.kind == SONDE_PT_EVENT_TSX_ABORT) {
		q->aborts = q->waits;
		q->waits = false;
		q->event_ip = ip;
		q->has_event_ip = true;
		return 0;
	}
	q->waits = false;
	e.ip = ip;
	e.has_ip = true;
	if (e.kind == SONDE_PT_EVENT_TSX_BEGIN || e.kind == SONDE_PT_EVENT_TSX_COMMIT) {
		uint32_t flags = q->in_tx ? AUX_FLAG_IN_TX : 0;

		TRY(put_insn(q, ip, 0, flags));
		return put(q, AUX_TRANSACTIONS, ip, 0, flags);
	}
	if (e.kind == SONDE_PT_EVENT_EXSTOP) {
		TRY(put_power(q, ip));
		TRY(put_event(q, &e));
		return put_insn(q, ip, 0, 0);
	}
	TRY(put_insn(q, ip, 0, 0));
	return put_event(q, &e);
}

static int on_address(struct quick *q, const struct sonde_pt_packet *p)
{
	bool known = sonde_pt_packet_ip(p, &q->last_ip);
	uint64_t ip = known ? q->last_ip : 0;

	switch (p->kind) {
	case SONDE_PT_FUP: return known ? on_fup(q, ip) : 0;
	case SONDE_PT_TIP_PGE: q->overflowed = q->has_event_ip = false; return begin_at(q, ip);
	case SONDE_PT_TIP_PGD:
		if (q->has_event_ip) {
			TRY(on_async(q, ip, AUX_FLAG_END));
		}
		q->ip = 0;
		return 0;
	default:
		if (q->has_event_ip) {
			TRY(on_async(q, ip, 0));
		}
		return known ? put_insn(q, ip, 0, 0) : 0;
	}
}

static int on_psbend(struct quick *q)
{
	struct sonde_pt_event e = {.kind = SONDE_PT_EVENT_PSB,
	        .has_ip = q->has_event_ip,
	        .ip = q->event_ip,
	        .value = q->psb,
	        .extra = q->ratio};
	bool traced = q->has_event_ip;

	q->in_psb = q->has_event_ip = false;
	q->ip = traced ? e.ip : 0;
	TRY(q->f->a->setup.itrace.power ? put_event(q, &e) : 0);
	return traced ? put_insn(q, e.ip, 0, 0) : 0;
}

static int on_overflow(struct quick *q)
{
	struct sonde_pt_event e = {.kind = SONDE_PT_EVENT_OVERFLOW, .extra = q->known_ip};

	e.data[0] = q->time.tsc;
	q->overflowed = true;
	q->in_psb = q->has_event_ip = q->waits = false;
	q->last_ip = 0;
	q->ip = 0;
	return put_event(q, &e);
}

/* Begins an event: one with the flag waits for its FUP. */
static int on_placed(struct quick *q, const struct sonde_pt_packet *p, struct sonde_pt_event e)
{
	if ((p->flags & SONDE_PT_F_IP) == 0) {
		TRY(e.kind == SONDE_PT_EVENT_EXSTOP ? put_power(q, q->ip) : 0);
		return put_event(q, &e);
	}
	q->waiting = e;
	q->waits = true;
	return 0;
}

static int on_tsx(struct quick *q, const struct sonde_pt_packet *p)
{
	bool in = (p->value & SONDE_PT_TSX_IN) != 0;

	if (!q->in_psb && q->ip != 0) {
		q->waiting = (struct sonde_pt_event){.kind = (p->value & SONDE_PT_TSX_ABORT) != 0
		                                                     ? SONDE_PT_EVENT_TSX_ABORT
		                                             : in ? SONDE_PT_EVENT_TSX_BEGIN
		                                                  : SONDE_PT_EVENT_TSX_COMMIT};
		q->waits = true;
	}
	q->in_tx = in;
	return 0;
}

static int on_event(struct quick *q, const struct sonde_pt_packet *p)
{
	struct sonde_pt_event e = {.value = p->value, .extra = p->extra, .count = p->count};

	switch (p->kind) {
	case SONDE_PT_CBR:
		q->ratio = p->value;
		e.kind = SONDE_PT_EVENT_CBR;
		return q->in_psb ? 0 : put_event(q, &e);
	case SONDE_PT_PTW:
		e.kind = SONDE_PT_EVENT_PTWRITE;
		e.count = (p->flags & SONDE_PT_F_IP) != 0;
		return on_placed(q, p, e);
	case SONDE_PT_EXSTOP: e.kind = SONDE_PT_EVENT_EXSTOP; return on_placed(q, p, e);
	case SONDE_PT_MWAIT: e.kind = SONDE_PT_EVENT_MWAIT; return on_power(q, e);
	case SONDE_PT_PWRE:
		e.kind = SONDE_PT_EVENT_PWRE;
		e.count = (p->flags & SONDE_PT_F_HW) != 0;
		return on_power(q, e);
	case SONDE_PT_PWRX: e.kind = SONDE_PT_EVENT_PWRX; return put_event(q, &e);
	case SONDE_PT_MODE_TSX: return on_tsx(q, p);
	case SONDE_PT_BBP:
		q->block = p->count;
		e.kind = SONDE_PT_EVENT_PEBS_BLOCK;
		return put_event(q, &e);
	case SONDE_PT_BIP:
		e.kind = SONDE_PT_EVENT_PEBS_ITEM;
		e.extra = q->block;
		return put_event(q, &e);
	case SONDE_PT_BEP: e.kind = SONDE_PT_EVENT_PEBS_END; return on_placed(q, p, e);
	default: return 0;
	}
}

static int on_packet(struct quick *q, const struct sonde_pt_packet *p)
{
	(void)sonde_pt_time_packet(&q->time, p);
	TRY(aux_follow_range(q->f, q->time.tsc));
	switch (p->kind) {
	case SONDE_PT_TIP:
	case SONDE_PT_TIP_PGE:
	case SONDE_PT_TIP_PGD:
	case SONDE_PT_FUP: return on_address(q, p);
	case SONDE_PT_PSB:
		q->psb = p->offset;
		q->in_psb = true;
		q->has_event_ip = false;
		q->last_ip = 0;
		return 0;
	case SONDE_PT_PSBEND: return q->in_psb ? on_psbend(q) : 0;
	case SONDE_PT_OVF: return on_overflow(q);
	default: return on_event(q, p);
	}
}

/* Reads on at the next PSB; false: there is none. */
static bool find_psb(struct quick *q)
{
	q->ip = 0;
	q->has_event_ip = q->waits = q->overflowed = false;
	return pt_cursor_sync(&q->cursor) > 0;
}

/* Whether a packet begins a segment. */
static bool is_end(const struct sonde_pt_packet *p, uint64_t end)
{
	return p->kind == SONDE_PT_PSB && p->offset >= end;
}

/* Follows to the first PSB from `end` on; 1 there, 0 at the end of the trace, negative: failure. */
static int follow(struct quick *q, uint64_t end)
{
	bool psbs_only = q->f->a->setup.itrace.quick > 1;
	struct sonde_pt_packet p;
	int rc;

	while ((rc = pt_cursor_next(&q->cursor, &p)) != 0) {
		if (rc < 0) {
			TRY(aux_follow_error(q->f, q->cursor.error, q->ip, q->time.tsc));
			q->cursor.p++;
			if (!find_psb(q)) {
				return 0;
			}
			continue;
		}
		if (is_end(&p, end)) {
			q->cursor.p -= p.size;
			return 1;
		}
		TRY(on_packet(q, &p));
		if (psbs_only && !q->in_psb && !find_psb(q)) {
			return 0;
		}
	}
	return 0;
}

static struct quick quick_at(struct aux_follower *f, const struct pt_place *place)
{
	struct quick q = {.f = f,
	        .cursor = pt_cursor_make(f->queue->bytes.p, f->queue->bytes.n),
	        .time = place->time,
	        .ip = place->enabled ? place->ip : 0,
	        .known_ip = place->ip,
	        .in_tx = place->speculative};

	q.cursor.p += place->at;
	return q;
}

static int follow_from(
        struct aux_follower *f, const struct pt_place *from, uint64_t end, struct pt_place *next)
{
	struct quick q = quick_at(f, from);
	int rc = aux_follow_thread(f);

	if (rc < 0) {
		return rc;
	}
	if (from->at != 0 || pt_cursor_sync(&q.cursor) > 0) {
		rc = follow(&q, end);
	}
	*next = (struct pt_place){.at = (uint64_t)(q.cursor.p - q.cursor.begin),
	        .time = q.time,
	        .ip = q.known_ip,
	        .enabled = q.ip != 0,
	        .speculative = q.in_tx};
	return rc;
}

int aux_quick_read(struct aux_follower *f, const struct aux_segment *s)
{
	struct pt_place next;
	int rc = follow_from(f, &s->start, s->end, &next);

	return rc < 0 ? rc : 0;
}

int aux_quick_scan(struct aux *a, struct aux_follower *f, size_t queue)
{
	struct pt_place place = {.at = 0};
	int rc;

	sonde_pt_time_init(&place.time, &a->flow.clock);
	do {
		struct aux_segment *s;

		if (!array_reserve(&a->segments, &a->segments_cap, a->nsegments + 1,
		            sizeof(*a->segments))) {
			return SONDE_ENOMEM;
		}
		s = &a->segments[a->nsegments++];
		*s = (struct aux_segment){.queue = queue,
		        .start = place,
		        .tally = f->tally,
		        .range = f->range,
		        .end = place.at + SEGMENT_BYTES};
		f->keeps = &s->trails;
		f->records = 0;
		TRY(aux_pebs_keep(f, s));
		rc = follow_from(f, &place, s->end, &place);
		s->records = f->records;
		s->last = f->tally.time;
	} while (rc > 0);
	return rc;
}
