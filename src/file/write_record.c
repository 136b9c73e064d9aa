/* SPDX-License-Identifier: MIT */
/*
 * Makes records of C structs: in host order, swapped at the end if needed. Their formats are drawn
 * in record/sample.c and record/sideband.c.
 */
#include "file/write.h"

#include "record/layout.h"

#define TEXT_MAX 4000u /* bytes of a name in a record */

static void put_host(struct text *t, const void *p, size_t n)
{
	text_bytes(t, p, n);
}

static void put_u32(struct text *t, uint32_t v)
{
	put_host(t, &v, sizeof(v));
}

static void put_u64(struct text *t, uint64_t v)
{
	put_host(t, &v, sizeof(v));
}

static void record_begin(struct text *t, uint32_t type, uint16_t misc)
{
	t->n = 0;
	put_u32(t, type);
	put_host(t, &misc, 2);
	put_host(t, "\0", 2); /* the size, set at the end */
}

/* A name and its NUL, padded to a multiple of 8. */
static void put_name(struct text *t, const char *name)
{
	size_t n = strnlen(name, TEXT_MAX);

	text_bytes(t, name, n);
	text_fill(t, '\0', 8 - (t->n & 7));
}

/* The trailer of side-band records, according to the first event. */
static void put_trailer(
        const struct sonde_writer *w, struct text *t, uint32_t pid, uint32_t tid, uint64_t time)
{
	const struct write_event *e = &w->events[0];
	uint64_t type = e->plan.sample_type, id = e->nids != 0 ? e->ids[0] : 0;

	if (e->plan.trailer_size == 0) {
		return;
	}
	if ((type & SONDE_SAMPLE_TID) != 0) {
		put_u32(t, pid);
		put_u32(t, tid);
	}
	if ((type & SONDE_SAMPLE_TIME) != 0) {
		put_u64(t, time);
	}
	for (unsigned i = 0; i < 4; i++) {
		static const uint64_t bits[] = {SONDE_SAMPLE_ID, SONDE_SAMPLE_STREAM_ID,
		        SONDE_SAMPLE_CPU, SONDE_SAMPLE_IDENTIFIER};

		if ((type & bits[i]) != 0) {
			put_u64(t, bits[i] == SONDE_SAMPLE_CPU ? 0 : id);
		}
	}
}

/* Sets the size and writes w->scratch in the file's byte order. */
static int record_end(struct sonde_writer *w, const struct record_plan *plan)
{
	struct text *t = &w->scratch;
	struct record r;
	size_t n = t->n;

	if (n > RECORD_SIZE_MAX) {
		return error_set(&w->error, SONDE_ELIMIT, NO_OFFSET,
		        "a record of %zu bytes does not fit: %u are the most", n, RECORD_SIZE_MAX);
	}
	text_fill(t, '\0', w->swap ? n : 0);
	if (t->failed) {
		return error_nomem(&w->error);
	}
	store_u16((uint8_t *)t->p + 6, (uint16_t)n, false);
	if (w->swap) {
		r = (struct record){.type = load_u32((uint8_t *)t->p, false),
		        .misc = load_u16((uint8_t *)t->p + 4, false),
		        .size = (uint16_t)n,
		        .body = {(uint8_t *)t->p + RECORD_HEADER_SIZE, n - RECORD_HEADER_SIZE}};
		(void)record_turn(&r, false, plan, 0, (uint8_t *)t->p + n);
	}
	return write_record_put(
	        w, 0, (struct span){(uint8_t *)t->p + (w->swap ? n : 0), n}, (struct span){0});
}

static int side_band_check(struct sonde_writer *w)
{
	return w->nevents != 0 ? 0 : write_misuse(w, "a recording has at least one event");
}

static int comm_put(
        struct sonde_writer *w, uint32_t pid, uint32_t tid, const char *name, uint64_t time)
{
	struct text *t = &w->scratch;

	TRY(side_band_check(w));
	record_begin(t, RECORD_COMM, 0);
	put_u32(t, pid);
	put_u32(t, tid);
	put_name(t, name);
	put_trailer(w, t, pid, tid, time);
	return record_end(w, &w->events[0].plan);
}

int sonde_writer_comm(
        struct sonde_writer *w, uint32_t pid, uint32_t tid, const char *name, uint64_t time)
{
	WRITER_TRY(w, comm_put(w, pid, tid, name, time));
	return 0;
}

static int mmap_put(struct sonde_writer *w, const struct sonde_writer_mapping *m)
{
	struct text *t = &w->scratch;

	TRY(side_band_check(w));
	record_begin(t, RECORD_MMAP2, MISC_USER);
	put_u32(t, m->pid);
	put_u32(t, m->tid);
	put_u64(t, m->addr);
	put_u64(t, m->len);
	put_u64(t, m->pgoff);
	text_fill(t, '\0', 24); /* device and inode */
	put_u32(t, m->prot);
	put_u32(t, m->flags);
	put_name(t, m->path);
	put_trailer(w, t, m->pid, m->tid, m->time);
	return record_end(w, &w->events[0].plan);
}

int sonde_writer_mmap(struct sonde_writer *w, const struct sonde_writer_mapping *m)
{
	WRITER_TRY(w, mmap_put(w, m));
	return 0;
}

#define SAMPLE_FIXED                                                                               \
	(SONDE_SAMPLE_IDENTIFIER | SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME |        \
	        SONDE_SAMPLE_ADDR | SONDE_SAMPLE_ID | SONDE_SAMPLE_STREAM_ID | SONDE_SAMPLE_CPU |  \
	        SONDE_SAMPLE_PERIOD)
#define SAMPLE_LATER                                                                               \
	(SONDE_SAMPLE_WEIGHT | SONDE_SAMPLE_WEIGHT_STRUCT | SONDE_SAMPLE_DATA_SRC |                \
	        SONDE_SAMPLE_TRANSACTION)
#define SAMPLE_LAST                                                                                \
	(SONDE_SAMPLE_PHYS_ADDR | SONDE_SAMPLE_CGROUP | SONDE_SAMPLE_DATA_PAGE_SIZE |              \
	        SONDE_SAMPLE_CODE_PAGE_SIZE)
#define BRANCH_HW_INDEX ((uint64_t)1 << 17) /* branch_sample_type: index before branches */
#define BRANCH_COUNTERS ((uint64_t)1 << 19) /* counters after branches */

/* Fields of one u64, in the order of the record; TID and CPU are two u32 each. */
static void put_words(struct text *t, const struct sonde_sample *s, uint64_t id, uint64_t type)
{
	const struct {
		uint64_t bit, value;
	} words[] = {
	        {SONDE_SAMPLE_IDENTIFIER, id},
	        {SONDE_SAMPLE_IP, s->ip},
	        {SONDE_SAMPLE_TID, 0},
	        {SONDE_SAMPLE_TIME, s->time},
	        {SONDE_SAMPLE_ADDR, s->addr},
	        {SONDE_SAMPLE_ID, id},
	        {SONDE_SAMPLE_STREAM_ID, s->stream_id},
	        {SONDE_SAMPLE_CPU, 0},
	        {SONDE_SAMPLE_PERIOD, s->period},
	        {SONDE_SAMPLE_WEIGHT, s->weight},
	        {SONDE_SAMPLE_WEIGHT_STRUCT, s->weight},
	        {SONDE_SAMPLE_DATA_SRC, s->data_src},
	        {SONDE_SAMPLE_TRANSACTION, s->transaction},
	        {SONDE_SAMPLE_PHYS_ADDR, s->phys_addr},
	        {SONDE_SAMPLE_CGROUP, s->cgroup},
	        {SONDE_SAMPLE_DATA_PAGE_SIZE, s->data_page_size},
	        {SONDE_SAMPLE_CODE_PAGE_SIZE, s->code_page_size},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if ((type & words[i].bit) == 0) {
			continue;
		}
		if (words[i].bit == SONDE_SAMPLE_TID || words[i].bit == SONDE_SAMPLE_CPU) {
			bool tid = words[i].bit == SONDE_SAMPLE_TID;

			put_u32(t, tid ? s->pid : s->cpu);
			put_u32(t, tid ? s->tid : 0);
		} else {
			put_u64(t, words[i].value);
		}
	}
}

static void put_branches(
        struct text *t, const struct record_plan *plan, const struct sonde_sample *s)
{
	put_u64(t, s->branch_len);
	if ((plan->branch_sample_type & BRANCH_HW_INDEX) != 0) {
		put_u64(t, s->branch_hw_index);
	}
	put_host(t, s->branches, s->branch_len * 24);
	if ((plan->branch_sample_type & BRANCH_COUNTERS) != 0) {
		put_host(t, s->branch_counters, s->branch_len * 8);
	}
}

/* The counts: the times come before the values of a group, but after a single value. */
static void put_counts(struct text *t, uint64_t format, const struct sonde_sample *s)
{
	bool group = (format & SONDE_READ_GROUP) != 0;

	if (group) {
		put_u64(t, s->read_len);
	} else {
		put_u64(t, s->read_values[0].value);
	}
	if ((format & SONDE_READ_ENABLED) != 0) {
		put_u64(t, s->read_enabled);
	}
	if ((format & SONDE_READ_RUNNING) != 0) {
		put_u64(t, s->read_running);
	}
	for (uint64_t i = 0; i < s->read_len; i++) {
		if (group) {
			put_u64(t, s->read_values[i].value);
		}
		if ((format & SONDE_READ_ID) != 0) {
			put_u64(t, s->read_values[i].id);
		}
		if ((format & SONDE_READ_LOST) != 0) {
			put_u64(t, s->read_values[i].lost);
		}
	}
}

/* abi 0: no registers */
static void put_regs(struct text *t, uint64_t abi, const uint64_t *regs, unsigned n)
{
	put_u64(t, regs != NULL ? abi : 0);
	if (abi != 0 && regs != NULL) {
		put_host(t, regs, (size_t)n * 8);
	}
}

/*
 * Size, bytes padded to a multiple of 8, number of valid bytes; an empty stack has the size only.
 */
static void put_stack(struct text *t, const struct sonde_sample *s)
{
	size_t n = (size_t)s->user_stack_len;
	size_t pad = (8 - n % 8) % 8;

	put_u64(t, n + pad);
	if (n != 0) {
		put_host(t, s->user_stack, n);
		text_fill(t, '\0', pad);
		put_u64(t, n);
	}
}

/* Padded to a multiple of 8 bytes, as the kernel does. */
static void put_aux(struct text *t, const struct sonde_sample *s)
{
	size_t pad = (8 - s->aux_len % 8) % 8;

	put_u64(t, s->aux_len + pad);
	put_host(t, s->aux, (size_t)s->aux_len);
	text_fill(t, '\0', pad);
}

/* Parts of variable length. */
static void put_arrays(struct text *t, const struct record_plan *plan, const struct sonde_sample *s)
{
	uint64_t type = plan->sample_type;

	if ((type & SONDE_SAMPLE_READ) != 0) {
		put_counts(t, plan->read_format, s);
	}
	if ((type & SONDE_SAMPLE_CALLCHAIN) != 0) {
		put_u64(t, s->callchain_len);
		put_host(t, s->callchain, s->callchain_len * 8);
	}
	if ((type & SONDE_SAMPLE_RAW) != 0) {
		uint32_t pad = (8 - (s->raw_len + 4) % 8) % 8;

		put_u32(t, s->raw_len + pad);
		put_host(t, s->raw, s->raw_len);
		text_fill(t, '\0', pad);
	}
	if ((type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
		put_branches(t, plan, s);
	}
	if ((type & SONDE_SAMPLE_REGS_USER) != 0) {
		put_regs(t, s->user_regs_abi, s->user_regs, plan->user_regs);
	}
	if ((type & SONDE_SAMPLE_STACK_USER) != 0) {
		put_stack(t, s);
	}
}

/* Checks what a record cannot hold, before anything is written. */
static int sample_check(
        struct sonde_writer *w, const struct record_plan *plan, const struct sonde_sample *s)
{
	bool counts = (plan->sample_type & SONDE_SAMPLE_READ) != 0;
	bool group = (plan->read_format & SONDE_READ_GROUP) != 0;

	if (counts && !group && (s->read_len != 1 || s->read_values == NULL)) {
		return write_misuse(
		        w, "a sample of this event has one count: read_len and read_values");
	}
	if (s->branch_len != 0 && s->branch_counters == NULL &&
	        (plan->branch_sample_type & BRANCH_COUNTERS) != 0) {
		return write_misuse(w, "branches of this event have counters: branch_counters");
	}
	if (s->callchain_len > RECORD_SIZE_MAX / 8 || s->branch_len > RECORD_SIZE_MAX / 24 ||
	        s->user_stack_len > RECORD_SIZE_MAX || s->raw_len > RECORD_SIZE_MAX ||
	        s->aux_len > RECORD_SIZE_MAX || (counts && s->read_len > RECORD_SIZE_MAX / 8)) {
		return error_set(&w->error, SONDE_ELIMIT, NO_OFFSET,
		        "call chain (%llu), branches (%llu), stack (%llu bytes), raw data (%u "
		        "bytes), counts (%llu) or trace data (%llu bytes) do not fit into a record "
		        "of at most %u bytes",
		        (unsigned long long)s->callchain_len, (unsigned long long)s->branch_len,
		        (unsigned long long)s->user_stack_len, s->raw_len,
		        (unsigned long long)s->read_len, (unsigned long long)s->aux_len,
		        RECORD_SIZE_MAX);
	}
	return 0;
}

static int sample_put(struct sonde_writer *w, int event, const struct sonde_sample *s)
{
	struct text *t = &w->scratch;
	const struct write_event *e;
	uint64_t type, id;

	if (event < 0 || (size_t)event >= w->nevents) {
		return write_misuse(w, "the sample's event was not added");
	}
	e = &w->events[event];
	type = e->plan.sample_type;
	id = s->id != 0 || e->nids == 0 ? s->id : e->ids[0];
	TRY(sample_check(w, &e->plan, s));
	record_begin(t, RECORD_SAMPLE, s->ip >> 63 != 0 ? MISC_KERNEL : MISC_USER);
	put_words(t, s, id, type & SAMPLE_FIXED);
	put_arrays(t, &e->plan, s);
	put_words(t, s, id, type & SAMPLE_LATER);
	if ((type & SONDE_SAMPLE_REGS_INTR) != 0) {
		put_regs(t, s->intr_regs_abi, s->intr_regs, e->plan.intr_regs);
	}
	put_words(t, s, id, type & SAMPLE_LAST);
	if ((type & SONDE_SAMPLE_AUX) != 0) {
		put_aux(t, s);
	}
	return record_end(w, &e->plan);
}

int sonde_writer_sample(struct sonde_writer *w, int event, const struct sonde_sample *s)
{
	WRITER_TRY(w, sample_put(w, event, s));
	return 0;
}
