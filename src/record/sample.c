/* SPDX-License-Identifier: MIT */
/*
 * The body of a SAMPLE; each part is present if its bit is in sample_type, in this order:
 *
 *	fixed         u64 IDENTIFIER, u64 IP, u32 pid + u32 tid (TID), u64 TIME, u64 ADDR, u64 ID,
 *	              u64 STREAM_ID, u32 cpu + u32 0 (CPU), u64 PERIOD
 *	READ          one value: u64 value, [enabled], [running], [id], [lost]
 *	              GROUP: u64 nr, [enabled], [running], {value, [id], [lost]} x nr
 *	CALLCHAIN     u64 nr, u64 x nr
 *	RAW           u32 size, bytes (4 + size is a multiple of 8)
 *	BRANCH        u64 nr, [u64 hw_idx], {from, to, flags} x nr, [u64 counters x nr]
 *	REGS_USER     u64 abi, [u64 x regs]
 *	STACK_USER    u64 size, [bytes, u64 valid]
 *	WEIGHT(_STRUCT) u64, DATA_SRC u64, TRANSACTION u64, REGS_INTR as REGS_USER, PHYS_ADDR u64,
 *	CGROUP u64, DATA_PAGE_SIZE u64, CODE_PAGE_SIZE u64, AUX u64 size, bytes
 *
 * The trailer of all other records (sample_id_all), ends with the record:
 *	u32 pid, tid (TID), u64 TIME, u64 ID, u64 STREAM_ID, u32 cpu, 0 (CPU), u64 IDENTIFIER
 *
 * Source: perf_event_open(2), section on the ring buffer.
 */
#include "record/record.h"

#include "abi/abi.h"
#include "core/array.h"
#include "record/layout_tables.h"

#include <stdlib.h>

#define BRANCH_HW_INDEX (1u << 17)
#define BRANCH_COUNTERS (1u << 19)

static void plan_samples(struct record_plan *plan)
{
	const struct {
		uint64_t bit;
		uint8_t *at;
	} parts[] = {
	        {SONDE_SAMPLE_IDENTIFIER, &plan->sample_id},
	        {SONDE_SAMPLE_IP, &plan->ip},
	        {SONDE_SAMPLE_TID, &plan->tid},
	        {SONDE_SAMPLE_TIME, &plan->time},
	        {SONDE_SAMPLE_ADDR, &plan->addr},
	        {SONDE_SAMPLE_ID, &plan->id},
	        {SONDE_SAMPLE_STREAM_ID, &plan->stream_id},
	        {SONDE_SAMPLE_CPU, &plan->cpu},
	        {SONDE_SAMPLE_PERIOD, &plan->period},
	};

	plan->fixed_size = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		*parts[i].at = RECORD_NOT_THERE;
		if ((plan->sample_type & parts[i].bit) != 0) {
			*parts[i].at = plan->fixed_size;
			plan->fixed_size = (uint8_t)(plan->fixed_size + 8);
		}
	}
	if (plan->sample_id == RECORD_NOT_THERE) {
		plan->sample_id = plan->id;
	}
}

static void plan_trailer(struct record_plan *plan, bool sample_id_all)
{
	uint8_t identifier;
	const struct {
		uint64_t bit;
		uint8_t *at;
	} parts[] = {
	        {SONDE_SAMPLE_IDENTIFIER, &identifier},
	        {SONDE_SAMPLE_CPU, &plan->trailer_cpu},
	        {SONDE_SAMPLE_STREAM_ID, &plan->trailer_stream_id},
	        {SONDE_SAMPLE_ID, &plan->trailer_id},
	        {SONDE_SAMPLE_TIME, &plan->trailer_time},
	        {SONDE_SAMPLE_TID, &plan->trailer_tid},
	};

	plan->trailer_size = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		*parts[i].at = RECORD_NOT_THERE;
		if (sample_id_all && (plan->sample_type & parts[i].bit) != 0) {
			plan->trailer_size = (uint8_t)(plan->trailer_size + 8);
			*parts[i].at = plan->trailer_size;
		}
	}
	if (identifier != RECORD_NOT_THERE) {
		plan->trailer_id = identifier;
	}
}

void record_plan_make(struct record_plan *plan, const struct sonde_attr *attr)
{
	*plan = (struct record_plan){
	        .sample_type = attr->sample_type,
	        .read_format = attr->read_format,
	        .branch_sample_type = attr->branch_sample_type,
	        .user_regs = (unsigned)__builtin_popcountll(attr->sample_regs_user),
	        .intr_regs = (unsigned)__builtin_popcountll(attr->sample_regs_intr),
	};
	plan_samples(plan);
	plan_trailer(plan, sonde_attr_has(attr, SONDE_FLAG_SAMPLE_ID_ALL) != 0);
}

/* State of decoding one sample. */
struct decoder {
	const struct record_plan *plan;
	struct cursor c;
	struct record_scratch *scratch;
	size_t used; /* words of scratch */
	struct sonde_sample *out;
	bool nomem;
};

/*
 * Returns n words of the body as an array in host order: a pointer into the body if possible, else
 * a copy. The scratch has room for the whole body, so earlier pointers stay valid.
 */
/* Copies the words at p to the scratch memory. */
static uint64_t *copy_words(struct decoder *d, const uint8_t *p, uint64_t n)
{
	uint64_t *copy;

	if (d->used == 0 && !array_reserve(&d->scratch->words, &d->scratch->cap, 8192, 8)) {
		d->nomem = true;
		return NULL;
	}
	copy = d->scratch->words +
	       d->used; /* a record is smaller than 64 KiB, so 8192 words hold all of it */
	for (size_t i = 0; i < n; i++) {
		copy[i] = load_u64(p + i * 8, d->c.swap);
	}
	d->used += (size_t)n;
	return copy;
}

static const uint64_t *take_words(struct decoder *d, uint64_t n)
{
	const uint8_t *p;

	if (n > cursor_left(&d->c) / 8) {
		d->c.bad = true;
		d->c.p = d->c.end;
		return NULL;
	}
	p = cursor_take(&d->c, (size_t)n * 8);
	if (!d->c.swap && ((uintptr_t)p & 7) == 0) {
		return (const uint64_t *)(const void *)p;
	}
	return copy_words(d, p, n);
}

/* Skips to the values; false: the count does not fit into the body. */
static bool counts_begin(struct record_counts *r)
{
	uint64_t f = r->format;
	unsigned per = 1u + ((f & SONDE_READ_ID) != 0) + ((f & SONDE_READ_LOST) != 0);

	r->left = 1;
	if ((f & SONDE_READ_GROUP) == 0) { /* without GROUP the times follow the value */
		per += (unsigned)((f & SONDE_READ_ENABLED) != 0) + ((f & SONDE_READ_RUNNING) != 0);
		return cursor_left(&r->c) / 8 >= per;
	}
	r->left = cursor_u64(&r->c);
	r->enabled = (f & SONDE_READ_ENABLED) != 0 ? cursor_u64(&r->c) : 0;
	r->running = (f & SONDE_READ_RUNNING) != 0 ? cursor_u64(&r->c) : 0;
	return !r->c.bad && r->left <= cursor_left(&r->c) / 8 / per;
}

bool record_counts_begin(
        const struct record_plan *plan, struct span body, bool swap, struct record_counts *out)
{
	*out = (struct record_counts){.c = cursor_make(body, swap), .format = plan->read_format};
	return (plan->sample_type & SONDE_SAMPLE_READ) != 0 &&
	       cursor_take(&out->c, plan->fixed_size) != NULL && counts_begin(out);
}

bool record_counts_read(uint64_t read_format, struct span bytes, struct record_counts *out)
{
	*out = (struct record_counts){.c = cursor_make(bytes, false), .format = read_format};
	return counts_begin(out);
}

bool record_counts_next(struct record_counts *counts, struct sonde_record_read_value *out)
{
	uint64_t f = counts->format;

	*out = (struct sonde_record_read_value){0};
	if (counts->left == 0) {
		return false;
	}
	counts->left--;
	out->value = cursor_u64(&counts->c);
	if ((f & SONDE_READ_GROUP) == 0) {
		counts->enabled = (f & SONDE_READ_ENABLED) != 0 ? cursor_u64(&counts->c) : 0;
		counts->running = (f & SONDE_READ_RUNNING) != 0 ? cursor_u64(&counts->c) : 0;
	}
	out->id = (f & SONDE_READ_ID) != 0 ? cursor_u64(&counts->c) : 0;
	out->lost = (f & SONDE_READ_LOST) != 0 ? cursor_u64(&counts->c) : 0;
	return !counts->c.bad;
}

static void take_read(struct decoder *d)
{
	struct record_counts r = {.c = d->c, .format = d->plan->read_format};
	struct record_scratch *s = d->scratch;
	struct sonde_sample *o = d->out;

	if (!counts_begin(&r)) {
		d->c.bad = true;
		d->c.p = d->c.end;
		return;
	}
	if (!array_reserve(&s->reads, &s->reads_cap, (size_t)r.left, sizeof(*s->reads))) {
		d->nomem = true;
		return;
	}
	o->read_len = 0;
	for (uint64_t n = r.left; o->read_len < n; o->read_len++) {
		if (!record_counts_next(&r, &s->reads[o->read_len])) {
			break;
		}
	}
	o->read_values = s->reads;
	o->read_value = o->read_len != 0 ? s->reads[0].value : 0;
	o->read_enabled = r.enabled;
	o->read_running = r.running;
	d->c = r.c;
}

static void take_callchain(struct decoder *d)
{
	uint64_t nr = cursor_u64(&d->c);

	d->out->callchain = take_words(d, nr);
	d->out->callchain_len = d->out->callchain != NULL ? nr : 0;
}

static void take_raw(struct decoder *d)
{
	uint32_t size = cursor_u32(&d->c);
	struct span s = cursor_bytes(&d->c, size);

	d->out->raw = s.p;
	d->out->raw_len = (uint32_t)s.n;
}

/* Branches whose flags are counted from the highest bit, as on big-endian machines. */
static const uint64_t *take_mirrored(struct decoder *d, uint64_t nr)
{
	uint64_t *words = copy_words(d, cursor_take(&d->c, (size_t)nr * 24), nr * 3);

	for (uint64_t i = 0; i < nr && words != NULL; i++) {
		words[3 * i + 2] = layout_mirror(words[3 * i + 2], layout_branch_flags, true);
	}
	return words;
}

static void take_branches(struct decoder *d)
{
	uint64_t nr = cursor_u64(&d->c);

	if ((d->plan->branch_sample_type & BRANCH_HW_INDEX) != 0) {
		d->out->branch_hw_index = cursor_u64(&d->c);
	}
	if (nr > cursor_left(&d->c) / 24) {
		d->c.bad = true;
		d->c.p = d->c.end;
		return;
	}
	d->out->branches =
	        d->c.swap != HOST_BIG_ENDIAN ? take_mirrored(d, nr) : take_words(d, nr * 3);
	d->out->branch_len = d->out->branches != NULL ? nr : 0;
	if ((d->plan->branch_sample_type & BRANCH_COUNTERS) != 0) {
		d->out->branch_counters = take_words(d, nr);
	}
}

static void take_user_regs(struct decoder *d)
{
	d->out->user_regs_abi = cursor_u64(&d->c);
	d->out->user_regs = d->out->user_regs_abi != 0 ? take_words(d, d->plan->user_regs) : NULL;
}

static void take_user_stack(struct decoder *d)
{
	uint64_t size = cursor_u64(&d->c);
	struct span s;
	uint64_t valid;

	d->out->user_stack = NULL;
	d->out->user_stack_len = 0;
	if (size == 0) {
		return;
	}
	s = cursor_bytes(&d->c, size > SIZE_MAX ? SIZE_MAX : (size_t)size);
	valid = cursor_u64(&d->c);
	d->out->user_stack = s.p;
	d->out->user_stack_len = valid < s.n ? valid : s.n;
}

static void take_intr_regs(struct decoder *d)
{
	d->out->intr_regs_abi = cursor_u64(&d->c);
	d->out->intr_regs = d->out->intr_regs_abi != 0 ? take_words(d, d->plan->intr_regs) : NULL;
}

static void take_aux(struct decoder *d)
{
	uint64_t size = cursor_u64(&d->c);
	struct span s = cursor_bytes(&d->c, size > SIZE_MAX ? SIZE_MAX : (size_t)size);

	d->out->aux = s.p;
	d->out->aux_len = s.n;
}

/* Decodes the parts after the fixed ones that few events have. */
static void take_rest(struct decoder *d)
{
	uint64_t type = d->plan->sample_type;
	struct sonde_sample *o = d->out;
	const struct {
		uint64_t bits;
		uint64_t *at;
	} words[] = {
	        {SONDE_SAMPLE_PHYS_ADDR, &o->phys_addr},
	        {SONDE_SAMPLE_CGROUP, &o->cgroup},
	        {SONDE_SAMPLE_DATA_PAGE_SIZE, &o->data_page_size},
	        {SONDE_SAMPLE_CODE_PAGE_SIZE, &o->code_page_size},
	};

	if ((type & SONDE_SAMPLE_RAW) != 0) {
		take_raw(d);
	}
	if ((type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
		take_branches(d);
	}
	if ((type & SONDE_SAMPLE_REGS_USER) != 0) {
		take_user_regs(d);
	}
	if ((type & SONDE_SAMPLE_STACK_USER) != 0) {
		take_user_stack(d);
	}
	if ((type & (SONDE_SAMPLE_WEIGHT | SONDE_SAMPLE_WEIGHT_STRUCT)) != 0) {
		o->weight = cursor_u64(&d->c);
	}
	if ((type & SONDE_SAMPLE_DATA_SRC) != 0) {
		o->data_src = cursor_u64(&d->c);
	}
	if ((type & SONDE_SAMPLE_TRANSACTION) != 0) {
		o->transaction = cursor_u64(&d->c);
	}
	if ((type & SONDE_SAMPLE_REGS_INTR) != 0) {
		take_intr_regs(d);
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if ((type & words[i].bits) != 0) {
			*words[i].at = cursor_u64(&d->c);
		}
	}
	if ((type & SONDE_SAMPLE_AUX) != 0) {
		take_aux(d);
	}
}

#define REST_BITS                                                                                  \
	(~(uint64_t)(SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME | SONDE_SAMPLE_ADDR |  \
	             SONDE_SAMPLE_READ | SONDE_SAMPLE_CALLCHAIN | SONDE_SAMPLE_ID |                \
	             SONDE_SAMPLE_CPU | SONDE_SAMPLE_PERIOD | SONDE_SAMPLE_STREAM_ID |             \
	             SONDE_SAMPLE_IDENTIFIER))

static inline uint64_t fixed_u64(const uint8_t *p, uint8_t at, bool swap)
{
	return at != RECORD_NOT_THERE ? load_u64(p + at, swap) : 0;
}

static inline void take_fixed(
        const struct record_plan *plan, const uint8_t *p, bool swap, struct sonde_sample *out)
{
	out->ip = fixed_u64(p, plan->ip, swap);
	out->time = fixed_u64(p, plan->time, swap);
	out->addr = fixed_u64(p, plan->addr, swap);
	out->id = fixed_u64(p, plan->sample_id, swap);
	out->stream_id = fixed_u64(p, plan->stream_id, swap);
	if (plan->tid != RECORD_NOT_THERE) {
		out->pid = load_u32(p + plan->tid, swap);
		out->tid = load_u32(p + plan->tid + 4, swap);
	}
	out->cpu = plan->cpu != RECORD_NOT_THERE ? load_u32(p + plan->cpu, swap) : UINT32_MAX;
	out->period = plan->period != RECORD_NOT_THERE ? load_u64(p + plan->period, swap) : 1;
}

/*
 * Fast path: most samples have only the fixed part, a call chain and raw data, aligned and in host
 * byte order. False: another sample, or it does not fit.
 */
static inline bool take_usual(
        const struct record_plan *plan, struct span body, bool swap, struct sonde_sample *out)
{
	const uint8_t *p = body.p + plan->fixed_size;
	size_t left = body.n - plan->fixed_size;
	uint64_t rest = plan->sample_type & (REST_BITS | SONDE_SAMPLE_READ);
	uint64_t nr;
	uint32_t size;

	if (swap || body.n < plan->fixed_size || ((uintptr_t)p & 7) != 0 ||
	        (rest & ~(uint64_t)SONDE_SAMPLE_RAW) != 0) {
		return false;
	}
	if ((plan->sample_type & SONDE_SAMPLE_CALLCHAIN) != 0) {
		if (left < 8 || (nr = load_u64(p, false)) > left / 8 - 1) {
			return false;
		}
		out->callchain = (const uint64_t *)(const void *)(p + 8);
		out->callchain_len = nr;
		p += 8 + nr * 8;
		left -= 8 + (size_t)nr * 8;
	}
	if (rest != 0) {
		if (left < 4 || (size = load_u32(p, false)) > left - 4) {
			return false;
		}
		out->raw = p + 4;
		out->raw_len = size;
	}
	take_fixed(plan, body.p, false, out);
	return true;
}

/* Writes every present part completely, even an empty one; absent parts are not changed. */
static int decode_parts(const struct record_plan *plan, struct span body, bool swap,
        struct record_scratch *scratch, struct sonde_sample *out)
{
	struct decoder d = {
	        .plan = plan, .c = cursor_make(body, swap), .scratch = scratch, .out = out};
	const uint8_t *p = cursor_take(&d.c, plan->fixed_size);

	if (p == NULL) {
		return 0;
	}
	take_fixed(plan, p, swap, out);
	if ((plan->sample_type & SONDE_SAMPLE_READ) != 0) {
		take_read(&d);
	}
	if ((plan->sample_type & SONDE_SAMPLE_CALLCHAIN) != 0) {
		take_callchain(&d);
	}
	if ((plan->sample_type & REST_BITS) != 0) {
		take_rest(&d);
	}
	if (d.nomem) {
		return SONDE_ENOMEM;
	}
	return d.c.bad ? 0 : 1;
}

/*
 * In steps of 16 bytes: at this size compilers emit a block instruction whose start-up takes longer
 * than all of the decoding.
 */
static inline void clear(struct sonde_sample *out)
{
	typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));
	pair *p = (pair *)out;

	_Static_assert(sizeof(*out) % sizeof(pair) == 8, "and one word at the end");
	for (size_t i = 0; i < (sizeof(*out) - 8) / sizeof(pair); i++) {
		p[i] = (pair){0, 0};
		__asm__ volatile("" : : : "memory");
	}
	memset((uint8_t *)out + sizeof(*out) - 8, 0, 8);
}

int record_sample_decode(const struct record_plan *plan, struct span body, bool swap,
        struct record_scratch *scratch, struct sonde_sample *out)
{
	clear(out);
	out->present = plan->sample_type;
	out->cpu = UINT32_MAX;
	out->period = 1;
	out->branch_hw_index = UINT64_MAX;
	return take_usual(plan, body, swap, out) ? 1 : decode_parts(plan, body, swap, scratch, out);
}

int record_sample_decode_over(const struct record_plan *plan, struct span body, bool swap,
        struct record_scratch *scratch, struct sonde_sample *out)
{
	int rc;

	if (take_usual(plan, body, swap, out)) {
		return 1;
	}
	rc = decode_parts(plan, body, swap, scratch, out);
	return rc == 0 ? record_sample_decode(plan, body, swap, scratch, out) : rc;
}

void record_scratch_fini(struct record_scratch *scratch)
{
	free(scratch->words);
	free(scratch->reads);
	*scratch = (struct record_scratch){0};
}

static inline uint64_t end_u64(struct span body, uint8_t back, bool swap)
{
	return back != RECORD_NOT_THERE ? load_u64(body.p + body.n - back, swap) : 0;
}

bool record_trailer_decode(
        const struct record_plan *plan, struct span body, bool swap, struct record_trailer *out)
{
	*out = (struct record_trailer){.cpu = UINT32_MAX};
	if (body.n < plan->trailer_size) {
		return false;
	}
	out->time = end_u64(body, plan->trailer_time, swap);
	out->id = end_u64(body, plan->trailer_id, swap);
	out->stream_id = end_u64(body, plan->trailer_stream_id, swap);
	if (plan->trailer_tid != RECORD_NOT_THERE) {
		out->pid = load_u32(body.p + body.n - plan->trailer_tid, swap);
		out->tid = load_u32(body.p + body.n - plan->trailer_tid + 4, swap);
	}
	if (plan->trailer_cpu != RECORD_NOT_THERE) {
		out->cpu = load_u32(body.p + body.n - plan->trailer_cpu, swap);
	}
	return true;
}
