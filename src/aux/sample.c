/* SPDX-License-Identifier: MIT */
/*
 * Writes samples as records; src/record/sample.c has a drawing. After each sample comes a struct
 * aux_extra, at a multiple of 8.
 */
#include "aux/inside.h"

#include "core/array.h"

#define ERROR_SIZE  128u /* of an AUXTRACE_ERROR record */
#define ERROR_TEXT  64u
#define ERROR_AT    48u /* of the text */
#define ERROR_TRACE 1u /* its type */

/* The next position in the order of n records: times of a queue never fall. */
static uint64_t order_times(struct aux_follower *f, uint64_t tsc, uint64_t n)
{
	uint64_t time = f->a->timeless ? 0 : aux_ns(&f->a->clock, tsc);

	f->tally.time = time > f->tally.time ? time : f->tally.time;
	f->records += n;
	return f->tally.time;
}

static uint64_t order_time(struct aux_follower *f, uint64_t tsc)
{
	return order_times(f, tsc, 1);
}

static void count(struct aux_follower *f, uint32_t event, uint64_t samples, uint64_t period)
{
	if (f->counts != NULL) {
		f->counts[event].samples += samples;
		f->counts[event].period += period;
	}
}

uint64_t aux_sample_count(struct aux_follower *f, uint32_t event, uint64_t tsc, uint64_t period)
{
	count(f, event, 1, period);
	return order_time(f, tsc);
}

uint8_t *aux_record_make(struct aux_room *room, uint64_t time, uint32_t event, uint32_t size)
{
	size_t whole = size + sizeof(struct aux_extra);
	uint8_t *p;

	if (!array_reserve(&room->bytes, &room->bytes_cap, room->nbytes + whole, 1) ||
	        !array_reserve(
	                &room->made, &room->made_cap, room->nmade + 1, sizeof(*room->made))) {
		return NULL;
	}
	room->made[room->nmade++] =
	        (struct aux_made){.time = time, .at = room->nbytes, .event = event, .size = size};
	p = room->bytes + room->nbytes;
	room->nbytes += whole;
	return p;
}

const struct trail *aux_trail(const struct aux_follower *f)
{
	return &f->trails.items[f->thread].trail;
}

static const struct aux_range *range_of(const struct aux_follower *f)
{
	return &f->queue->ranges[f->range];
}

static uint8_t *put_u64(uint8_t *p, uint64_t v, bool swap)
{
	store_u64(p, v, swap);
	return p + 8;
}

static uint8_t *put_u32s(uint8_t *p, uint32_t a, uint32_t b, bool swap)
{
	store_u32(p, a, swap);
	store_u32(p + 4, b, swap);
	return p + 8;
}

static uint8_t *put_fixed(uint8_t *p, const struct aux_follower *f, const struct aux_sample *s,
        const struct aux_event *e, uint64_t time)
{
	const struct aux_range *r = range_of(f);
	uint64_t type = e->attr.sample_type;
	bool swap = f->a->setup.swap;

	p = put_u64(p, (uint64_t)(e - f->a->events), swap); /* IDENTIFIER */
	p = put_u64(p, s->ip, swap);
	p = put_u32s(p, r->pid, r->tid, swap);
	if ((type & SONDE_SAMPLE_TIME) != 0) {
		p = put_u64(p, time, swap);
	}
	if ((type & SONDE_SAMPLE_ADDR) != 0) {
		p = put_u64(p, s->addr, swap);
	}
	if ((type & SONDE_SAMPLE_CPU) != 0) {
		p = put_u32s(p, (uint32_t)f->queue->cpu, 0, swap);
	}
	if ((type & SONDE_SAMPLE_PERIOD) != 0) {
		p = put_u64(p, s->period, swap);
	}
	return p;
}

void aux_header_put(uint8_t *p, uint32_t type, uint32_t misc, uint32_t size, bool swap)
{
	store_u32(p, type, swap);
	store_u16(p + 4, (uint16_t)misc, swap);
	store_u16(p + 6, (uint16_t)size, swap);
}

static uint32_t misc_of(const struct aux_follower *f, const struct aux_sample *s)
{
	return aux_misc(s->ip, s->addr, f->tally.guest);
}

/* The raw data with its size is a multiple of 8 bytes. */
static size_t raw_room(const struct aux_sample *s)
{
	return s->raw != NULL ? (4 + s->raw_size + 7) & ~(size_t)7 : 0;
}

size_t aux_chain_words(const struct aux_follower *f, uint64_t ip, uint64_t *out)
{
	struct trail_chain c = {.max = f->a->setup.itrace.chain};

	c.words = out;
	trail_chain_add(&c, ip);
	trail_chain_calls(&c, aux_trail(f));
	return c.n;
}

static uint8_t *put_chain(uint8_t *p, const struct aux_follower *f, const uint64_t *words, size_t n)
{
	bool swap = f->a->setup.swap;

	p = put_u64(p, n, swap);
	for (size_t i = 0; i < n; i++) {
		p = put_u64(p, words[i], swap);
	}
	return p;
}

/* The branches in the stack of a sample; that of a branch has only this one. */
static size_t branches_of(const struct aux_follower *f, const struct aux_sample *s)
{
	size_t max = f->a->setup.itrace.last, n = aux_trail(f)->nbranches;

	return s->kind == AUX_BRANCHES ? 1 : n < max ? n : max;
}

/* u64 nr, hw_idx, then from, to, flags of each, the last one first */
static void put_branches(uint8_t *p, const struct aux_follower *f, const struct aux_sample *s)
{
	bool swap = f->a->setup.swap;
	size_t n = branches_of(f, s);

	p = put_u64(p, n, swap);
	p = put_u64(p, UINT64_MAX, swap);
	for (size_t i = 0; i < n; i++) {
		const struct trail_branch *b = trail_last(aux_trail(f), i);

		p = put_u64(p, b->from, swap);
		p = put_u64(p, b->to, swap);
		p = put_u64(p, 0, swap);
	}
}

/* Writes the parts after the fixed ones: call chain, raw data, branch stack. */
static void put_rest(uint8_t *p, const struct aux_follower *f, const struct aux_sample *s,
        const struct aux_event *e, const uint64_t *chain, size_t nchain)
{
	if ((e->attr.sample_type & SONDE_SAMPLE_CALLCHAIN) != 0) {
		p = put_chain(p, f, chain, nchain);
	}
	if (s->raw != NULL) {
		memset(p, 0, raw_room(s));
		store_u32(p, (uint32_t)(raw_room(s) - 4), f->a->setup.swap);
		memcpy(p + 4, s->raw, s->raw_size);
		p += raw_room(s);
	}
	if ((e->attr.sample_type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
		put_branches(p, f, s);
	}
}

/* Whether samples of branches have a fixed size, so that many can share a record. */
static bool may_share(const struct aux *a)
{
	const struct aux_event *e = &a->events[a->event_of[AUX_BRANCHES]];

	return (e->attr.sample_type & (SONDE_SAMPLE_BRANCH_STACK | SONDE_SAMPLE_CALLCHAIN)) == 0 &&
	       !a->setup.itrace.depth && !a->event_trace;
}

/* Whether the last record is a run that a branch at a time, of event `number`, can be added to. */
static bool continues_run(const struct aux_follower *f, uint32_t number, uint64_t tsc)
{
	const struct aux_room *room = f->room;
	const struct aux_made *last = room->nmade != 0 ? &room->made[room->nmade - 1] : NULL;

	return last != NULL && last->nbranches != 0 && last->event == number &&
	       room->run_tsc == tsc && room->run_range == range_of(f) &&
	       room->run_guest == f->tally.guest && last->time == f->tally.time;
}

static int put_sample(struct aux_follower *f, const struct aux_sample *s, uint64_t time)
{
	uint32_t number = f->a->event_of[s->kind];
	const struct aux_event *e = &f->a->events[number];
	uint32_t size = RECORD_HEADER_SIZE + e->plan.fixed_size + (uint32_t)raw_room(s);
	uint64_t chain[TRAIL_CHAIN_WORDS];
	struct aux_extra extra = s->extra;
	size_t nchain = 0;
	uint8_t *p;

	if ((e->attr.sample_type & SONDE_SAMPLE_CALLCHAIN) != 0) {
		nchain = aux_chain_words(f, s->ip, chain);
		size += 8 + 8 * (uint32_t)nchain;
	}
	if ((e->attr.sample_type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
		size += 16 + 24 * (uint32_t)branches_of(f, s);
	}
	p = aux_record_make(f->room, time, number, size);
	if (p == NULL) {
		return SONDE_ENOMEM;
	}
	aux_header_put(p, RECORD_SAMPLE, misc_of(f, s), size, f->a->setup.swap);
	extra.addr = s->addr;
	if (f->a->setup.itrace.depth && s->kind != AUX_BRANCHES) {
		extra.depth = (uint32_t)aux_trail(f)->ncalls;
	}
	if (s->kind != AUX_PSB && s->kind != AUX_CBR && f->tally.has_interrupts &&
	        !f->tally.interrupts) {
		extra.flags |= AUX_FLAG_DISABLED;
	}
	memcpy(p + size, &extra, sizeof(extra));
	p = put_fixed(p + RECORD_HEADER_SIZE, f, s, e, time);
	put_rest(p, f, s, e, chain, nchain);
	return 0;
}

/* Begins a run whose first branch, the room's last one, is a sample. */
static int begin_run(struct aux_follower *f, const struct aux_sample *s, uint64_t time)
{
	struct aux_room *room = f->room;

	TRY(put_sample(f, s, time));
	room->made[room->nmade - 1].first = room->nbranches;
	room->made[room->nmade - 1].nbranches = 0;
	room->run_tsc = s->tsc;
	room->run_range = range_of(f);
	room->run_guest = f->tally.guest;
	return 0;
}

static bool reserve_branches(struct aux_room *room, size_t n)
{
	return array_reserve(
	        &room->branches, &room->branches_cap, room->nbranches + n, sizeof(*room->branches));
}

static struct aux_sample sample_of(const struct aux_branch *b, uint64_t tsc)
{
	return (struct aux_sample){.kind = AUX_BRANCHES,
	        .ip = b->ip,
	        .addr = b->addr,
	        .tsc = tsc,
	        .period = 1,
	        .extra = {.flags = b->flags, .insn_size = b->insn_size}};
}

/* Makes samples of n branches, which are the room's next ones. */
static int put_run(struct aux_follower *f, size_t n, uint64_t tsc)
{
	struct aux_room *room = f->room;
	uint64_t time = f->tally.time;

	if (!continues_run(f, f->a->event_of[AUX_BRANCHES], tsc)) {
		const struct aux_sample s = sample_of(&room->branches[room->nbranches], tsc);

		TRY(begin_run(f, &s, time));
	}
	room->made[room->nmade - 1].nbranches += n;
	room->nbranches += n;
	return 0;
}

void aux_branches_count(struct aux_follower *f, uint64_t n, uint64_t tsc)
{
	uint32_t number = f->a->event_of[AUX_BRANCHES];
	uint64_t skipped = n < f->tally.skip ? n : f->tally.skip;

	f->tally.skip -= skipped;
	n -= skipped;
	if (n != 0) {
		(void)order_times(f, tsc, n);
		count(f, number, n, n);
	}
}

/* Copies those that are chosen, as far as none is skipped; returns their number. */
static size_t copy_chosen(struct aux_follower *f, const struct pt_branch *b, size_t n,
        uint32_t more, struct aux_branch *to)
{
	const struct itrace *w = &f->a->setup.itrace;
	bool all = !w->calls && !w->returns && f->tally.skip == 0;
	struct aux_branch *start = to;

	for (size_t i = 0; i < n; i++) {
		uint32_t flags = f->a->flags_of[b[i].class] | more;

		*to = (struct aux_branch){b[i].from, b[i].to, flags, b[i].size};
		if (all) {
			to++;
		} else if (aux_is_chosen(w, flags)) {
			to += f->tally.skip == 0;
			f->tally.skip -= f->tally.skip != 0;
		}
	}
	return (size_t)(to - start);
}

int aux_branches_add(struct aux_follower *f, const struct sonde_pt_step *s,
        const struct pt_branch *branches, size_t n)
{
	uint32_t more = s->speculative ? AUX_FLAG_IN_TX : 0;
	struct aux_branch few[64];
	uint32_t number = f->a->event_of[AUX_BRANCHES];

	while (n != 0) {
		size_t some = n < sizeof(few) / sizeof(few[0]) ? n : sizeof(few) / sizeof(few[0]);
		struct aux_branch *to = few;
		size_t chosen;

		bool full = aux_room_is_full(f);

		if (!full) {
			some = n;
			if (!reserve_branches(f->room, n)) {
				return SONDE_ENOMEM;
			}
			to = f->room->branches + f->room->nbranches;
		}
		chosen = copy_chosen(f, branches, some, more, to);
		branches += some;
		n -= some;
		if (chosen != 0) {
			(void)order_times(f, s->tsc, chosen);
			count(f, number, chosen, chosen);
			f->made += full ? 0 : chosen;
			TRY(full ? 0 : put_run(f, chosen, s->tsc));
		}
	}
	return 0;
}

int aux_sample_add(struct aux_follower *f, const struct aux_sample *s)
{
	uint32_t number = f->a->event_of[s->kind];
	uint64_t time = aux_sample_count(f, number, s->tsc, s->period);
	struct aux_room *room = f->room;

	if (aux_room_is_full(f)) {
		return 0;
	}
	f->made++;
	if (s->kind != AUX_BRANCHES || s->extra.cycles != 0 || !may_share(f->a)) {
		return put_sample(f, s, time);
	}
	if (!reserve_branches(room, 1)) {
		return SONDE_ENOMEM;
	}
	room->branches[room->nbranches] =
	        (struct aux_branch){s->ip, s->addr, s->extra.flags, s->extra.insn_size};
	return put_run(f, 1, s->tsc);
}

/*
 * AUXTRACE_ERROR: u32 type, code, cpu, pid, tid, fmt; u64 ip, time; 64 bytes of text; u32
 * machine_pid, vcpu
 */
int aux_error_write(
        const struct aux *a, struct aux_room *room, const struct aux_error_of *e, uint64_t order)
{
	bool swap = a->setup.swap;
	size_t n = strlen(e->text);
	uint8_t *p = aux_record_make(room, order, AUX_ERROR_EVENT, ERROR_SIZE);

	if (p == NULL) {
		return SONDE_ENOMEM;
	}
	memset(p, 0, ERROR_SIZE);
	aux_header_put(p, RECORD_AUXTRACE_ERROR, 0, ERROR_SIZE, swap);
	(void)put_u32s(p + 8, ERROR_TRACE, e->code, swap);
	(void)put_u32s(p + 16, e->cpu, e->pid, swap);
	(void)put_u32s(p + 24, e->tid, 1, swap);
	(void)put_u64(p + 32, e->ip, swap);
	(void)put_u64(p + 40, e->time, swap);
	memcpy(p + ERROR_AT, e->text, n < ERROR_TEXT ? n : ERROR_TEXT - 1);
	return 0;
}

int aux_error_add(
        struct aux_follower *f, uint32_t code, const char *text, uint64_t ip, uint64_t tsc)
{
	const struct aux_range *r = range_of(f);
	const struct aux_error_of e = {.code = code,
	        .text = text,
	        .cpu = (uint32_t)f->queue->cpu,
	        .pid = r->pid,
	        .tid = r->tid,
	        .ip = ip,
	        .time = f->a->timeless ? 0 : aux_ns(&f->a->clock, tsc)};
	uint64_t order = order_time(f, tsc);

	f->errors++;
	if (aux_room_is_full(f)) {
		return 0;
	}
	f->made++;
	return aux_error_write(f->a, f->room, &e, order);
}
