/* SPDX-License-Identifier: MIT */
/*
 * A line for a record,
 *
 *	0 1000000136024 0x360 [0x40]: PERF_RECORD_AUX offset: 0 size: 0x79c7 flags: 0x1 [T]
 *
 * with the cpu and the time of the record (0 where the record has none; no column where the events
 * have none), its offset and size; below AUXTRACE_INFO a line for each word, below AUXTRACE and
 * samples with trace data the packets (pt_text.c). Numbers are those of printf's %#x: 0 has no 0x.
 */
#include "inspect/aux_text.h"

#include "core/escape.h"

#include <stdlib.h>

#define PIECE     (64u << 10) /* bytes of text for one call of the output function */
#define INTEL_PT  1 /* AUXTRACE_INFO type */
#define INFO_HEAD 8 /* bytes of AUXTRACE_INFO before its words */

static void put_alt(struct text *out, const char *name, uint64_t v)
{
	text_str(out, name);
	text_str(out, v != 0 ? "0x" : "");
	text_hex(out, v, 0, '0');
}

static void put_s32(struct text *out, const char *name, uint32_t v)
{
	text_printf(out, "%s%d", name, (int32_t)v);
}

static void put_u64(struct text *out, const char *name, uint64_t v)
{
	text_str(out, name);
	text_u64(out, v, 0, ' ');
}

/* ---- the columns before the name ---- */

static void put_head(const struct aux_text *a, const struct record *r,
        const struct file_place *place, const struct file_event *event)
{
	const struct file *f = a->file;
	struct text *out = a->out;
	const struct file_event *first = f->nevents != 0 ? &f->events[0] : NULL;
	struct record_trailer t = {0};

	if (event != NULL) {
		(void)record_trailer_decode(&event->plan, r->body, f->swap, &t);
		first = event;
	}
	if (first != NULL && first->plan.sample_type & SONDE_SAMPLE_CPU) {
		text_u64(out, t.cpu, 0, ' ');
		text_char(out, ' ');
	}
	if (first != NULL && first->plan.sample_type & SONDE_SAMPLE_TIME) {
		text_u64(out, t.time, 0, ' ');
		text_char(out, ' ');
	}
	put_alt(out, "", place->offset);
	put_alt(out, " [", r->body.n + RECORD_HEADER_SIZE);
	text_str(out, "]: PERF_RECORD_");
}

/* ---- records; each gets the body of one ---- */

static const struct info_word {
	const char *name;
	bool hex;
} info_words[] = {
        {"PMU Type", false},
        {"Time Shift", false},
        {"Time Muliplier", false},
        {"Time Zero", false},
        {"Cap Time Zero", false},
        {"TSC bit", true},
        {"NoRETComp bit", true},
        {"Have sched_switch", false},
        {"Snapshot mode", false},
        {"Per-cpu maps", false},
        {"MTC bit", true},
        {"MTC freq bits", true},
        {"TSC:CTC numerator", false},
        {"TSC:CTC denominator", false},
        {"CYC bit", true},
        {"Max non-turbo ratio", false},
        {"Filter string len.", false},
};

#define INFO_OLD   10 /* words of the oldest form */
#define INFO_CLOCK 16 /* words with those of MTC and CYC */
#define INFO_WORDS (sizeof(info_words) / sizeof(info_words[0]))

static void put_word(struct text *out, const struct info_word *w, uint64_t v)
{
	text_str(out, "  ");
	text_padded(out, w->name, -20);
	if (w->hex) {
		put_alt(out, "", v);
	} else {
		text_u64(out, v, 0, ' ');
	}
	text_char(out, '\n');
}

/* The words of Intel PT: 10, 16 or all, and after the filter another one. */
static void put_info(struct text *out, struct cursor *c)
{
	static const struct info_word events = {"Cap Event Trace", false};
	uint32_t type = cursor_u32(c);
	uint64_t filter = 0;
	size_t words;
	struct span text;

	put_u64(out, "AUXTRACE_INFO type: ", type);
	text_char(out, '\n');
	(void)cursor_u32(c);
	words = cursor_left(c) / 8;
	if (type != INTEL_PT || words < INFO_OLD) {
		return;
	}
	words = words < INFO_CLOCK ? INFO_OLD : words < INFO_WORDS ? INFO_CLOCK : INFO_WORDS;
	for (size_t i = 0; i < words; i++) {
		filter = cursor_u64(c);
		put_word(out, &info_words[i], filter);
	}
	if (words < INFO_WORDS || filter > cursor_left(c)) {
		return;
	}
	text = cursor_text(c, (size_t)filter);
	text_str(out, "  Filter string       ");
	text_plain_bytes(out, text.p, text.n);
	text_char(out, '\n');
	if (cursor_left(c) >= (filter != 0 ? 16 : 8)) { /* as perf 6.1 counts */
		put_word(out, &events, cursor_u64(c));
	}
}

static void put_auxtrace(struct text *out, struct cursor *c)
{
	put_alt(out, "AUXTRACE size: ", cursor_u64(c));
	put_alt(out, "  offset: ", cursor_u64(c));
	put_alt(out, "  ref: ", cursor_u64(c));
	put_u64(out, "  idx: ", cursor_u32(c));
	put_s32(out, "  tid: ", cursor_u32(c));
	put_s32(out, "  cpu: ", cursor_u32(c));
	text_char(out, '\n');
}

static void put_time(struct text *out, uint64_t ns)
{
	if (ns == 0) {
		text_str(out, " time 0");
		return;
	}
	put_u64(out, " time ", ns / 1000000000);
	text_char(out, '.');
	text_u64(out, ns % 1000000000, 9, '0');
}

/* Format 0 has no time; format 2 has a guest, after the message. */
static void put_error(struct text *out, struct cursor *c)
{
	uint32_t type = cursor_u32(c), code = cursor_u32(c), cpu = cursor_u32(c);
	uint32_t pid = cursor_u32(c), tid = cursor_u32(c), fmt = cursor_u32(c);
	uint64_t ip = cursor_u64(c), time = fmt != 0 ? cursor_u64(c) : 0;
	struct span message = cursor_text(c, 64);
	uint32_t guest = fmt >= 2 && cursor_left(c) >= 8 ? cursor_u32(c) : 0;

	text_str(
	        out, type == 1 ? "AUXTRACE_ERROR instruction trace" : "AUXTRACE_ERROR unknown AUX");
	put_u64(out, " error type ", type);
	put_time(out, time);
	if (guest != 0) {
		put_u64(out, " machine_pid ", guest);
		put_u64(out, " vcpu ", cursor_u32(c));
	}
	put_s32(out, " cpu ", cpu);
	put_s32(out, " pid ", pid);
	put_s32(out, " tid ", tid);
	put_alt(out, " ip ", ip);
	put_u64(out, " code ", code);
	text_str(out, ": ");
	text_plain_bytes(out, message.p, message.n);
	text_char(out, '\n');
}

static void put_aux(struct text *out, struct cursor *c)
{
	static const char letters[] = "TOP";
	uint64_t flags;

	put_alt(out, "AUX offset: ", cursor_u64(c));
	put_alt(out, " size: ", cursor_u64(c));
	flags = cursor_u64(c);
	put_alt(out, " flags: ", flags);
	text_str(out, " [");
	for (unsigned i = 0; letters[i] != '\0'; i++) {
		if (flags >> i & 1) {
			text_char(out, letters[i]);
		}
	}
	text_str(out, "]\n");
}

static void put_start(struct text *out, struct cursor *c)
{
	put_s32(out, "ITRACE_START pid: ", cursor_u32(c));
	put_s32(out, " tid: ", cursor_u32(c));
	text_char(out, '\n');
}

static void put_hw_id(struct text *out, struct cursor *c)
{
	put_alt(out, "AUX_OUTPUT_HW_ID hw_id: ", cursor_u64(c));
	text_char(out, '\n');
}

static const struct aux_kind {
	uint32_t type;
	void (*put)(struct text *out, struct cursor *c);
} kinds[] = {
        {RECORD_AUX, put_aux},
        {RECORD_ITRACE_START, put_start},
        {RECORD_AUX_OUTPUT_HW_ID, put_hw_id},
        {RECORD_AUXTRACE_INFO, put_info},
        {RECORD_AUXTRACE, put_auxtrace},
        {RECORD_AUXTRACE_ERROR, put_error},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct aux_kind *kind_of(const struct record *r)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].type == r->type) {
			return &kinds[i];
		}
	}
	return NULL;
}

bool aux_text_line(struct text *out, const struct record *r, bool swap)
{
	struct cursor c = cursor_make(r->body, swap);
	const struct aux_kind *kind = kind_of(r);

	if (kind != NULL) {
		kind->put(out, &c);
	}
	return kind != NULL;
}

/* ---- packets ---- */

/* Packets are printed from the first AUXTRACE_INFO of Intel PT on. */
static int announce(struct aux_text *a, const struct record *r)
{
	struct cursor c = cursor_make(r->body, a->file->swap);

	if (!a->want_packets || r->type != RECORD_AUXTRACE_INFO || a->packets != NULL ||
	        cursor_u32(&c) != INTEL_PT || r->body.n < INFO_HEAD + 8 * INFO_OLD) {
		return 0;
	}
	a->packets = malloc(sizeof(*a->packets));
	if (a->packets == NULL) {
		return SONDE_ENOMEM;
	}
	pt_text_init(a->packets);
	return 0;
}

static int put_packets(struct aux_text *a, struct span trace)
{
	put_u64(a->out, ". ... Intel Processor Trace data: size ", trace.n);
	text_str(a->out, " bytes\n");
	pt_text_begin(a->packets, trace);
	while (pt_text_lines(a->packets, a->out, PIECE)) {
		TRY(text_flush(a->out, PIECE, a->write, a->arg));
	}
	text_char(a->out, '\n');
	return 0;
}

static int put_sample(struct aux_text *a, const struct record *r, const struct file_event *event)
{
	struct sonde_sample s;
	int rc;

	if (a->packets == NULL || event == NULL ||
	        (event->plan.sample_type & SONDE_SAMPLE_AUX) == 0) {
		return 0;
	}
	rc = record_sample_decode(&event->plan, r->body, a->file->swap, &a->scratch, &s);
	if (rc <= 0 || s.aux_len == 0) {
		return rc < 0 ? rc : 0;
	}
	return put_packets(a, (struct span){s.aux, (size_t)s.aux_len});
}

int aux_text_record(struct aux_text *a, const struct record *r, const struct file_place *place,
        const struct file_event *event)
{
	struct cursor c = cursor_make(r->body, a->file->swap);
	const struct aux_kind *kind = kind_of(r);

	if (r->type == RECORD_SAMPLE) {
		return put_sample(a, r, event);
	}
	if (kind == NULL) {
		return 0;
	}
	put_head(a, r, place, event);
	kind->put(a->out, &c);
	TRY(announce(a, r));
	if (r->type == RECORD_AUXTRACE && a->packets != NULL) {
		text_str(a->out, ".\n");
		return put_packets(a, file_outside(a->file, r));
	}
	text_char(a->out, '\n');
	return 0;
}

void aux_text_fini(struct aux_text *a)
{
	free(a->packets);
	record_scratch_fini(&a->scratch);
}
