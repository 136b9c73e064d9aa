/* SPDX-License-Identifier: MIT */
/*
 * PEBS records that the processor wrote to the trace (events with aux-output): their blocks become
 * samples of an event of the recording, with all parts that its attr asks for.
 *
 *	BBP type, BIP item value, BIP .., BBP type, BIP .., BEP, FUP ip
 *
 *	basic (4)      0 ip, 1 counters, a bit each, 2 TSC
 *	registers (1)  0 FLAGS, 1 IP, 2 AX CX DX BX SP BP SI DI R8 .. R15
 *	memory (5)     0 address, 2 latency, 3 transaction: low half cycles, high half flags
 *	branches (8, 9, 10)   from, to, info; the newest first; at most 10 in each
 *	xmm (16)       0 XMM0 low, 1 XMM0 high, ..
 *
 * Which event: AUX_OUTPUT_HW_ID records give counters their events; if only one event has its samples
 * in the trace, all are its. What perf 6.1 makes of such records was observed with made recordings.
 */
#include "aux/inside.h"

#include "record/layout_tables.h"

#include <stdlib.h>

#define BRANCH_HW_INDEX (1u << 17)
#define BRANCH_COUNTERS (1u << 19)
#define ABI_64          2u
#define REG_CS          10u /* segment registers, in the order of perf's numbers */
#define REG_R8          16u
#define REG_R15         23u
#define REG_XMM0        32u
#define BRANCHES_MAX    30u
#define TRANSACTION_TX  (UINT64_C(1) << 1)

/* A memory access of which nothing is known: op, level, snoop, lock, tlb, level number: not available. */
#define NO_DATA_SOURCE (UINT64_C(15) << 33 | 1u << 26 | 1u << 24 | 1u << 19 | 1u << 5 | 1u)

enum { BASIC_IP, BASIC_COUNTERS, BASIC_TSC };
enum { REGS_FLAGS, REGS_IP, REGS_AX, REGS_OTHERS = 10, REGS_ITEMS = 18 };
enum { MEMORY_ADDRESS, MEMORY_LATENCY = 2, MEMORY_TRANSACTION };

/* Returns AUX_PEBS_BLOCKS for types that no sample needs. */
static enum aux_pebs_block block_of(uint64_t type)
{
	switch (type) {
	case 1: return AUX_PEBS_REGS;
	case 4: return AUX_PEBS_BASIC;
	case 5: return AUX_PEBS_MEMORY;
	case 8: return AUX_PEBS_BRANCHES;
	case 9: return AUX_PEBS_BRANCHES_2;
	case 10: return AUX_PEBS_BRANCHES_3;
	case 16: return AUX_PEBS_XMM;
	default: return AUX_PEBS_BLOCKS;
	}
}

static bool has(const struct aux_pebs *r, enum aux_pebs_block block, unsigned item)
{
	return (r->has[block] >> item & 1) != 0;
}

/* An item; 0: the record does not have it. */
static uint64_t item(const struct aux_pebs *r, enum aux_pebs_block block, unsigned i)
{
	return has(r, block, i) ? r->items[block][i] : 0;
}

/* As in perf, the samples of an event with a frequency have none. */
static uint64_t period_of(const struct aux_event *e)
{
	return sonde_attr_has(&e->attr, SONDE_FLAG_FREQ) ? 0 : e->attr.sample_period;
}

/* What a record says, as its sample has it. */
struct pebs_sample {
	const struct aux_pebs *record;
	const struct aux_event *event;
	uint64_t ip, time, id;
	uint64_t chain[TRAIL_CHAIN_WORDS];
	size_t nchain;
	uint64_t branches[3 * BRANCHES_MAX];
	size_t nbranches;
	size_t nlast; /* branches of the thread, if the record has none */
};

/* Writes words; without bytes it only counts them. */
struct writer {
	uint8_t *p;
	uint32_t size;
	bool swap;
};

static void put(struct writer *w, uint64_t v)
{
	if (w->p != NULL) {
		store_u64(w->p + w->size, v, w->swap);
	}
	w->size += 8;
}

static void put_pair(struct writer *w, uint32_t a, uint32_t b)
{
	if (w->p != NULL) {
		store_u32(w->p + w->size, a, w->swap);
		store_u32(w->p + w->size + 4, b, w->swap);
	}
	w->size += 8;
}

/* The low half of the latency, or the cycles of the transaction. */
static uint64_t weight_of(const struct aux_pebs *r)
{
	uint64_t latency = item(r, AUX_PEBS_MEMORY, MEMORY_LATENCY);
	uint64_t weight = latency >> 32 != 0 ? latency >> 32 & 0xffff : latency;

	return weight != 0 ? weight : item(r, AUX_PEBS_MEMORY, MEMORY_TRANSACTION) & UINT32_MAX;
}

/* Where the latency has two halves, the high one is the weight; the low one is the instruction's. */
static uint64_t weight_struct_of(const struct aux_pebs *r)
{
	uint64_t latency = item(r, AUX_PEBS_MEMORY, MEMORY_LATENCY);

	return weight_of(r) | (latency >> 32 != 0 ? latency & 0xffff : 0) << 32;
}

/* The flags of a transaction, and the argument of XABORT, which EAX has. */
static uint64_t transaction_of(const struct aux_pebs *r)
{
	uint64_t flags = item(r, AUX_PEBS_MEMORY, MEMORY_TRANSACTION) >> 32 & 0xff;
	uint64_t ax = item(r, AUX_PEBS_REGS, REGS_AX);

	return (flags & TRANSACTION_TX) != 0 && (ax & 1) != 0 ? flags | (ax >> 24 & 0xff) << 32
	                                                      : flags;
}

/*
 * A register by perf's number. As in perf, segment registers of the mask, which no record has, take
 * the places of those after them.
 */
static uint64_t reg_of(const struct aux_pebs *r, unsigned reg, uint64_t mask)
{
	static const uint8_t first[REG_CS] = {2, 5, 3, 4, 8, 9, 7, 6, REGS_IP, REGS_FLAGS};
	uint64_t segments = mask >> REG_CS & 0x3f;
	unsigned at;

	if (reg >= REG_XMM0) {
		return item(r, AUX_PEBS_XMM, reg - REG_XMM0);
	}
	if (reg < REG_CS) {
		return item(r, AUX_PEBS_REGS, first[reg]);
	}
	if (reg < REG_R8) {
		segments &= (UINT64_C(1) << (reg - REG_CS)) - 1;
	}
	at = REGS_OTHERS + (unsigned)__builtin_popcountll(segments);
	at += reg >= REG_R8 && reg <= REG_R15 ? reg - REG_R8 : 0;
	return at < REGS_ITEMS ? item(r, AUX_PEBS_REGS, at) : 0;
}

static void put_regs(struct writer *w, const struct pebs_sample *s)
{
	uint64_t mask = s->event->attr.sample_regs_intr;
	const struct aux_pebs *r = s->record;

	if (r->has[AUX_PEBS_REGS] == 0 && (r->has[AUX_PEBS_XMM] == 0 || mask >> REG_XMM0 == 0)) {
		put(w, 0);
		return;
	}
	put(w, ABI_64);
	for (uint64_t left = mask; left != 0; left &= left - 1) {
		put(w, reg_of(r, (unsigned)__builtin_ctzll(left), mask));
	}
}

static void put_fixed(struct writer *w, const struct aux_follower *f, const struct pebs_sample *s)
{
	const struct aux_range *range = &f->queue->ranges[f->range];
	uint64_t type = s->event->attr.sample_type;
	const struct {
		uint64_t bit, value;
	} words[] = {{SONDE_SAMPLE_IDENTIFIER, s->id}, {SONDE_SAMPLE_IP, s->ip},
	        {SONDE_SAMPLE_TID, 0}, {SONDE_SAMPLE_TIME, s->time},
	        {SONDE_SAMPLE_ADDR, item(s->record, AUX_PEBS_MEMORY, MEMORY_ADDRESS)},
	        {SONDE_SAMPLE_ID, s->id}, {SONDE_SAMPLE_STREAM_ID, s->id}, {SONDE_SAMPLE_CPU, 0},
	        {SONDE_SAMPLE_PERIOD, period_of(s->event)}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if ((type & words[i].bit) == 0) {
			continue;
		}
		if (words[i].bit == SONDE_SAMPLE_TID) {
			put_pair(w, range->pid, range->tid);
		} else if (words[i].bit == SONDE_SAMPLE_CPU) {
			put_pair(w, (uint32_t)f->queue->cpu, 0);
		} else {
			put(w, words[i].value);
		}
	}
}

/* The counts are not in the trace: a group of none, or one that is 0. */
static void put_counts(struct writer *w, const struct pebs_sample *s)
{
	uint64_t f = s->event->attr.read_format;

	put(w, 0);
	if ((f & SONDE_READ_ENABLED) != 0) {
		put(w, 0);
	}
	if ((f & SONDE_READ_RUNNING) != 0) {
		put(w, 0);
	}
	if ((f & SONDE_READ_GROUP) != 0) {
		return;
	}
	if ((f & SONDE_READ_ID) != 0) {
		put(w, s->id);
	}
	if ((f & SONDE_READ_LOST) != 0) {
		put(w, 0);
	}
}

static void put_branches(
        struct writer *w, const struct aux_follower *f, const struct pebs_sample *s)
{
	uint64_t kinds = s->event->attr.branch_sample_type;

	put(w, s->nbranches + s->nlast);
	if ((kinds & BRANCH_HW_INDEX) != 0) {
		put(w, UINT64_MAX);
	}
	for (size_t i = 0; i < 3 * s->nbranches; i++) {
		put(w, s->branches[i]);
	}
	for (size_t i = 0; i < s->nlast; i++) {
		const struct trail_branch *b = trail_last(aux_trail(f), i);

		put(w, b->from);
		put(w, b->to);
		put(w, 0);
	}
	for (size_t i = 0; i < s->nbranches + s->nlast && (kinds & BRANCH_COUNTERS) != 0; i++) {
		put(w, 0);
	}
}

/* The parts after the fixed ones, up to the copy of the stack. */
static void put_parts(struct writer *w, const struct aux_follower *f, const struct pebs_sample *s)
{
	uint64_t type = s->event->attr.sample_type;

	if ((type & SONDE_SAMPLE_READ) != 0) {
		put_counts(w, s);
	}
	if ((type & SONDE_SAMPLE_CALLCHAIN) != 0) {
		put(w, s->nchain);
		for (size_t i = 0; i < s->nchain; i++) {
			put(w, s->chain[i]);
		}
	}
	if ((type & SONDE_SAMPLE_RAW) != 0) {
		put_pair(w, 4, 0); /* four bytes, so that the next part is aligned */
	}
	if ((type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
		put_branches(w, f, s);
	}
}

/* The parts that have one word, but for registers. */
static void put_words(struct writer *w, const struct pebs_sample *s)
{
	const struct aux_pebs *r = s->record;
	const struct {
		uint64_t bit, value;
	} words[] = {{SONDE_SAMPLE_REGS_USER, 0}, {SONDE_SAMPLE_STACK_USER, 0},
	        {SONDE_SAMPLE_WEIGHT, weight_of(r)},
	        {SONDE_SAMPLE_WEIGHT_STRUCT, weight_struct_of(r)},
	        {SONDE_SAMPLE_DATA_SRC, NO_DATA_SOURCE},
	        {SONDE_SAMPLE_TRANSACTION, transaction_of(r)}, {SONDE_SAMPLE_REGS_INTR, 0},
	        {SONDE_SAMPLE_PHYS_ADDR, 0}, {SONDE_SAMPLE_CGROUP, 0},
	        {SONDE_SAMPLE_DATA_PAGE_SIZE, 0}, {SONDE_SAMPLE_CODE_PAGE_SIZE, 0},
	        {SONDE_SAMPLE_AUX, 0}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if ((s->event->attr.sample_type & words[i].bit) == 0) {
			continue;
		}
		if (words[i].bit == SONDE_SAMPLE_REGS_INTR) {
			put_regs(w, s);
		} else {
			put(w, words[i].value);
		}
	}
}

/* Writes the body of a sample, or counts its bytes. */
static void put_body(struct writer *w, const struct aux_follower *f, const struct pebs_sample *s)
{
	put_fixed(w, f, s);
	put_parts(w, f, s);
	put_words(w, s);
}

/* Bits of perf's flags of a branch, from those of the processor. */
static uint64_t branch_flags(const struct aux_follower *f, uint64_t info)
{
	uint64_t mispredicted = info >> 63;
	uint64_t flags = mispredicted | (mispredicted ^ 1) << 1 | (info >> 62 & 1) << 2 |
	                 (info >> 61 & 1) << 3 | (info & 0xffff) << 4;

	return f->a->setup.swap != HOST_BIG_ENDIAN
	               ? layout_mirror(flags, layout_branch_flags, false)
	               : flags;
}

static void add_branches(const struct aux_follower *f, struct pebs_sample *s)
{
	const struct aux_pebs *r = s->record;

	for (unsigned b = AUX_PEBS_BRANCHES; b <= AUX_PEBS_BRANCHES_3; b++) {
		for (unsigned i = 0; i + 2 < 30; i += 3) {
			uint64_t *to = s->branches + 3 * s->nbranches;

			if ((r->has[b] >> i & 7) != 7) {
				continue;
			}
			to[0] = r->items[b][i];
			to[1] = r->items[b][i + 1];
			to[2] = branch_flags(f, r->items[b][i + 2]);
			s->nbranches++;
		}
	}
}

/* Sets the calls and branches that led to a sample, as far as its event and the letters ask for them. */
static void add_way(const struct aux_follower *f, struct pebs_sample *s)
{
	const struct itrace *w = &f->a->setup.itrace;
	uint64_t type = s->event->attr.sample_type;

	if ((type & SONDE_SAMPLE_CALLCHAIN) != 0 && w->chain != 0) {
		s->nchain = aux_chain_words(f, s->ip, s->chain);
	}
	if ((type & SONDE_SAMPLE_BRANCH_STACK) == 0) {
		return;
	}
	add_branches(f, s);
	if (s->nbranches == 0 && w->last != 0) {
		size_t n = aux_trail(f)->nbranches;

		s->nlast = n < w->last ? n : w->last;
	}
}

/* The time of the record, which may be earlier than its place in the trace; ns. */
static uint64_t time_of(const struct aux_follower *f, const struct aux_pebs *r, uint64_t tsc)
{
	if (has(r, AUX_PEBS_BASIC, BASIC_TSC)) {
		return aux_ns(&f->a->clock, item(r, AUX_PEBS_BASIC, BASIC_TSC));
	}
	return f->a->timeless ? 0 : aux_ns(&f->a->clock, tsc);
}

static uint64_t ip_of(const struct aux_pebs *r, const struct sonde_pt_step *s)
{
	if (has(r, AUX_PEBS_BASIC, BASIC_IP)) {
		return item(r, AUX_PEBS_BASIC, BASIC_IP);
	}
	if (has(r, AUX_PEBS_REGS, REGS_IP)) {
		return item(r, AUX_PEBS_REGS, REGS_IP);
	}
	return s->event.has_ip ? s->event.ip : s->ip;
}

/* Makes a sample of a->events[number]. */
static int add_sample(struct aux_follower *f, const struct sonde_pt_step *step, uint32_t number)
{
	const struct aux *a = f->a;
	struct pebs_sample s = {.record = &f->pebs, .event = &a->events[number]};
	struct aux_extra extra = {0};
	struct writer w = {.swap = a->setup.swap};
	uint64_t order;
	uint32_t size;
	uint8_t *p;

	if (f->tally.skip != 0) {
		f->tally.skip--;
		return 0;
	}
	order = aux_sample_count(f, number, step->tsc, period_of(s.event));
	if (aux_room_is_full(f)) {
		return 0;
	}
	s.ip = ip_of(&f->pebs, step);
	s.time = time_of(f, &f->pebs, step->tsc);
	s.id = s.event->id;
	if (s.event->plan.addr != RECORD_NOT_THERE) {
		extra.addr = item(&f->pebs, AUX_PEBS_MEMORY, MEMORY_ADDRESS);
	}
	add_way(f, &s);
	put_body(&w, f, &s);
	size = RECORD_HEADER_SIZE + w.size;
	p = aux_record_make(f->room, order, number, size);
	if (p == NULL) {
		return SONDE_ENOMEM;
	}
	f->made++;
	aux_header_put(p, RECORD_SAMPLE, aux_misc(s.ip, 0, f->tally.guest), size, a->setup.swap);
	w.p = p + RECORD_HEADER_SIZE;
	w.size = 0;
	put_body(&w, f, &s);
	memcpy(p + size, &extra, sizeof(extra));
	return 0;
}

/* Returns the place in a->events of an event of the recording; AUX_NO_EVENT: it has no records. */
static uint32_t output_of(const struct aux *a, uint32_t event)
{
	for (size_t i = a->outputs; i < a->nevents; i++) {
		if (a->events[i].recorded == event) {
			return (uint32_t)i;
		}
	}
	return AUX_NO_EVENT;
}

/*
 * A record may belong to several events: a sample of each. As in perf, one that names no event is the
 * first event's, and so is a record after the first of its counters that is unknown.
 */
static int add_samples(struct aux_follower *f, const struct sonde_pt_step *step)
{
	const struct aux *a = f->a;
	uint64_t counters = item(&f->pebs, AUX_PEBS_BASIC, BASIC_COUNTERS);

	if (a->outputs == a->nevents) {
		return 0;
	}
	if (a->nevents - a->outputs == 1) {
		return add_sample(f, step, (uint32_t)a->outputs);
	}
	for (uint64_t left = counters; left != 0; left &= left - 1) {
		uint32_t event = a->output_of[__builtin_ctzll(left)];
		uint32_t number = event != 0 ? output_of(a, event - 1) : AUX_NO_EVENT;

		if (number == AUX_NO_EVENT) {
			counters = 0;
			break;
		}
		TRY(add_sample(f, step, number));
	}
	if (counters != 0) {
		return 0;
	}
	f->unnamed++;
	return add_sample(f, step, (uint32_t)a->outputs);
}

int aux_pebs_event(struct aux_follower *f, const struct sonde_pt_step *s)
{
	const struct sonde_pt_event *e = &s->event;
	struct aux_pebs *r = &f->pebs;
	enum aux_pebs_block block;

	if (!r->open) {
		memset(r->has, 0, sizeof(r->has));
	}
	r->open = e->kind != SONDE_PT_EVENT_PEBS_END;
	if (e->kind == SONDE_PT_EVENT_PEBS_ITEM) {
		block = block_of(e->extra);
		if (block != AUX_PEBS_BLOCKS && e->count < 32) {
			r->has[block] |= 1u << e->count;
			r->items[block][e->count] = e->value;
		}
	}
	return r->open ? 0 : add_samples(f, s);
}

int aux_pebs_keep(const struct aux_follower *f, struct aux_segment *s)
{
	if (!f->pebs.open) {
		return 0;
	}
	s->pebs = malloc(sizeof(*s->pebs));
	if (s->pebs == NULL) {
		return SONDE_ENOMEM;
	}
	*s->pebs = f->pebs;
	return 0;
}

bool aux_add_output(struct aux *a, uint64_t number, uint32_t event)
{
	if (number >= AUX_OUTPUTS) {
		return false;
	}
	a->output_of[number] = event + 1;
	return true;
}

void aux_pebs_report(const struct aux *a)
{
	if (a->unnamed != 0) {
		diag_report(a->setup.diags, SONDE_DIAG_UNKNOWN, NO_OFFSET,
		        "%llu PEBS records in the traces name no event of the recording: they are "
		        "counted as samples of the first event with aux-output",
		        (unsigned long long)a->unnamed);
	}
}
