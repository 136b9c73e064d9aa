/* SPDX-License-Identifier: MIT */
#include "field/line.h"

#include "core/escape.h"
#include "field/branch.h"
#include "field/choice.h"
#include "field/data_src.h"

#include <ctype.h>
#include <time.h>

#define PREFETCH_MAX 32u /* addresses of a chain */

#define NS_PER_SEC  1000000000u
#define ID_WIDTH    7u /* as in perf 6.12; 5 in perf 6.1 */
#define MISC_WIDTH  6u
#define RAW_IN_LINE 8u /* bytes */

/* What is printed of a branch, before its target and after it. */
#define BRANCH_FIELDS (FIELD_BIT(FIELD_CALLINDENT) * 2 - 1 + FIELD_BIT(FIELD_IP))
#define CALL_INDENT   4u /* columns for each call around */
#define CALL_WIDTH    32u /* columns of callindent, at least */
#define OBJECT_WIDTH  51u /* columns of an object and "(", with wide_object */
#define CODE_FIELDS                                                                                \
	(FIELD_BIT(FIELD_IPC) | FIELD_BIT(FIELD_INSNLEN) | FIELD_BIT(FIELD_INSN) |                 \
	        FIELD_BIT(FIELD_DISASM) | FIELD_BIT(FIELD_BRSTACKINSN) |                           \
	        FIELD_BIT(FIELD_BRSTACKINSNLEN) | FIELD_BIT(FIELD_BRSTACKDISASM))

struct line_context {
	struct text *out;
	const struct line_plan *plan;
	const struct line_style *style;
	struct line_worker *worker;
	struct address_cache *addresses; /* the worker's */
	const struct session_sample *sample;
	const struct field *field; /* the field to print */
	const char *comm; /* name of the thread; NULL: that of the sample's view */
};

typedef void (*line_fn)(const struct line_context *c);

static uint64_t value_of(const struct line_context *c)
{
	return c->field->get(&c->style->source, c->sample);
}

static bool is_guest(const struct line_context *c)
{
	return session_guest(c->style->source.session, c->sample->s.id).machine_pid != 0;
}

static void line_machine_pid(const struct line_context *c)
{
	if (is_guest(c)) {
		text_printf(c->out, "VM:%5d ", (int)value_of(c));
	}
}

static void line_vcpu(const struct line_context *c)
{
	if (is_guest(c)) {
		text_printf(c->out, "VCPU:%03d ", (int)value_of(c));
	}
}

static void line_comm(const struct line_context *c)
{
	const char *comm = c->comm;
	size_t start = c->out->n;

	if (comm == NULL) {
		comm = timeline_text(
		        session_timeline(c->addresses->session), c->sample->view->comm);
	}

	if (c->style->narrow) {
		text_printf(c->out, "%8.8s", comm);
	} else {
		text_padded(c->out, comm, c->plan->chain ? 0 : 16);
	}
	escape_plain_from(c->out, start);
	text_char(c->out, ' ');
}

/* Ids are printed signed: the kernel uses -1 for none. */
static void put_id(struct text *out, uint32_t id, unsigned width)
{
	if ((int32_t)id < 0) {
		text_printf(out, "%*d", (int)width, (int)id);
	} else {
		text_u64(out, id, width, ' ');
	}
}

static void line_pid(const struct line_context *c)
{
	put_id(c->out, (uint32_t)value_of(c), ID_WIDTH);
	text_char(c->out, (c->plan->fields & FIELD_BIT(FIELD_TID)) != 0 ? '/' : ' ');
}

static void line_tid(const struct line_context *c)
{
	size_t start = c->out->n;
	bool behind_pid = (c->plan->fields & FIELD_BIT(FIELD_PID)) != 0;

	put_id(c->out, c->sample->s.tid, behind_pid ? 0 : ID_WIDTH);
	if (behind_pid && c->out->n - start < ID_WIDTH) {
		text_fill(c->out, ' ', ID_WIDTH - (c->out->n - start));
	}
	text_char(c->out, ' ');
}

static void line_cpu(const struct line_context *c)
{
	if (c->style->narrow) {
		text_printf(c->out, "%3d ", (int)c->sample->s.cpu);
		return;
	}
	text_char(c->out, '[');
	if ((int32_t)c->sample->s.cpu < 0) {
		text_printf(c->out, "%03d", (int)c->sample->s.cpu); /* no processor */
	} else {
		text_u64(c->out, c->sample->s.cpu, 3, '0');
	}
	text_bytes(c->out, "] ", 2);
}

static const char *switch_letters(unsigned misc)
{
	if ((misc & MISC_SWITCH_OUT) == 0) {
		return "";
	}
	return (misc & MISC_SWITCH_OUT_PREEMPT) != 0 ? "Sp" : "S";
}

/* Letters for the flags of a record; a bit of misc has another meaning in each type of record. */
static const char *misc_letters(unsigned type, unsigned misc)
{
	switch (type) {
	case RECORD_MMAP:
	case RECORD_MMAP2: return (misc & MISC_MMAP_DATA) != 0 ? "M" : "";
	case RECORD_COMM: return (misc & MISC_COMM_EXEC) != 0 ? "E" : "";
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE: return switch_letters(misc);
	default: return "";
	}
}

static void line_misc(const struct line_context *c)
{
	static const char modes[] = {' ', 'K', 'U', 'H', 'G', 'g'};
	unsigned misc = (unsigned)value_of(c);
	unsigned mode = misc & MISC_CPUMODE_MASK;
	size_t end = c->out->n + MISC_WIDTH;

	if (mode != 0 && mode < sizeof(modes)) {
		text_char(c->out, modes[mode]);
	}
	text_str(c->out, misc_letters(c->sample->type, misc));
	text_fill(c->out, ' ', end > c->out->n ? end - c->out->n : 0);
}

/* An event of the type may have no times: perf prints -1, but 0 for samples of traces. */
static uint64_t time_of(const struct line_plan *plan, const struct session_sample *sample)
{
	return plan->timed || sample->extra != NULL ? sample->s.time : UINT64_MAX;
}

static void clock_add(struct line_clock *clock, uint64_t time)
{
	clock->start = clock->start != 0 ? clock->start : time;
	clock->last = time;
}

void line_pass(
        const struct line_plan *plan, struct line_clock *clock, const struct session_sample *sample)
{
	if ((plan->printed & FIELD_BIT(FIELD_TIME)) != 0) {
		clock_add(clock, time_of(plan, sample));
	}
}

static uint64_t time_to_print(const struct line_context *c)
{
	uint64_t time = time_of(c->plan, c->sample);
	struct line_clock *clock = &c->worker->clock;
	uint64_t last = clock->last;

	if (c->style->times == LINE_TIMES_RECORDED) {
		return time;
	}
	clock_add(clock, time);
	if (c->style->times == LINE_TIMES_SINCE_START) {
		return time - clock->start;
	}
	return last != 0 ? time - last : 0;
}

static void line_time(const struct line_context *c)
{
	uint64_t time = time_to_print(c);
	uint64_t ns = time % NS_PER_SEC;

	text_u64(c->out, time / NS_PER_SEC, 5, ' ');
	text_char(c->out, '.');
	if (c->style->ns) {
		text_u64(c->out, ns, 9, '0');
	} else {
		text_u64(c->out, ns / 1000, 6, '0');
	}
	text_bytes(c->out, ": ", 2);
}

static void line_tod(const struct line_context *c)
{
	uint64_t wall = value_of(c);
	time_t seconds = (time_t)(wall / NS_PER_SEC);
	char date[32];
	struct tm tm;

	if (localtime_r(&seconds, &tm) == NULL ||
	        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm) == 0) {
		text_str(c->out, "N/A ");
		return;
	}
	text_str(c->out, date);
	text_char(c->out, '.');
	text_u64(c->out, wall % NS_PER_SEC / 1000, 6, '0');
	text_char(c->out, ' ');
}

static void line_period(const struct line_context *c)
{
	text_u64(c->out, value_of(c), 10, ' ');
	text_char(c->out, ' ');
}

static void line_event(const struct line_context *c)
{
	text_bytes(c->out, c->plan->event, c->plan->event_size);
}

static void line_trace(const struct line_context *c)
{
	size_t start = c->out->n;

	if (c->plan->trace != NULL) {
		field_tracer_put(&c->worker->tracer, c->plan->trace, c->sample, c->out);
	}
	if (c->out->n != start) { /* some formats have newlines and tabs */
		escape_plain_lines(c->out->p + start, c->out->n - start);
	}
}

/* Events whose addresses perf resolves: page faults of all kinds. */
static bool names_addr(const struct sonde_attr *attr)
{
	return attr->type == SONDE_TYPE_SOFTWARE &&
	       (attr->config == SONDE_SW_PAGE_FAULTS || attr->config == SONDE_SW_PAGE_FAULTS_MIN ||
	               attr->config == SONDE_SW_PAGE_FAULTS_MAJ);
}

static bool is_bpf_output(const struct sonde_attr *attr)
{
	return attr->type == SONDE_TYPE_SOFTWARE && attr->config == SONDE_SW_BPF_OUTPUT;
}

static void line_addr(const struct line_context *c)
{
	const struct session_sample *s = c->sample;
	unsigned parts = c->plan->address_parts & ~(unsigned)ADDRESS_SOURCE;
	uint64_t addr = value_of(c);

	text_hex(c->out, addr, 16, ' ');
	if (parts != 0 && c->plan->names_addr) {
		uint32_t mode = frame_mode_of(&c->addresses->frames, s->view, s->cpumode, addr);

		address_text(c->addresses, c->out, s->view, mode, addr, parts);
	}
}

static void line_data_src(const struct line_context *c)
{
	uint64_t value = value_of(c);

	text_hex(c->out, value, 16, ' ');
	text_char(c->out, ' ');
	data_src_text(c->out, value);
}

static void line_number(const struct line_context *c)
{
	text_u64(c->out, value_of(c), 16, ' ');
}

static void line_address(const struct line_context *c)
{
	text_hex(c->out, value_of(c), 16, ' ');
}

int line_stops(const struct line_style *style, struct line_worker *worker,
        const struct session_sample *sample, uint32_t mode, uint64_t ip)
{
	struct frame_reader *frames = &worker->addresses.frames;
	const struct frame *f;
	const char *name;

	if (style->stop == NULL) {
		return 0;
	}
	f = frame_find(frames, sample->view, mode, ip);
	if (f == NULL) {
		return SONDE_ENOMEM;
	}
	if (f->symbol == NULL) {
		return 0;
	}
	name = frame_symbol_name(frames->resolver, f->object, f->symbol);
	return name != NULL ? pick_symbol(style->stop, name, 0, 0) : SONDE_ENOMEM;
}

/*
 * A line for each address of a chain. As in perf, functions inlined at the addresses of an unwound
 * stack are printed unless the user does not want them; without any entry, the sampled address is.
 */
static void put_chain(const struct line_context *c)
{
	const struct session_sample *s = c->sample;
	unsigned parts = c->plan->address_parts | ADDRESS_LINE;
	unsigned inlined = c->plan->inlined;
	unsigned caller = inlined != 0 ? ADDRESS_CALLER : 0;
	struct frame_reader *frames = &c->addresses->frames;
	uint64_t max = c->style->max_stack;
	bool stops = c->style->stop != NULL;
	uint32_t mode = FRAME_NO_MODE; /* of the address before */
	struct frame_chain chain;
	uint64_t ip;
	size_t start;
	int stop = 0;
	int rc = 0;

	text_char(c->out, '\n');
	start = c->out->n;
	if (frame_chain_open(frames, &s->s, s->view, s->cpumode, c->plan->attr, &chain) < 0) {
		c->out->failed = true;
		return;
	}
	while ((rc = frame_chain_next_of(&chain, max, &ip)) > 0) {
		unsigned more = inlined | (chain.mode == mode ? caller : 0);

		if (frame_chain_is_unwound(&chain)) {
			more = c->plan->stack_inlined;
		}
		address_text(c->addresses, c->out, s->view, chain.mode, ip, parts | more);
		if (stops && (stop = line_stops(c->style, c->worker, s, chain.mode, ip)) != 0) {
			break;
		}
		mode = chain.mode;
	}
	c->out->failed = c->out->failed || stop < 0;
	if (rc < 0) {
		c->out->n = start;
		return;
	}
	if (c->out->n == start && c->plan->stack && max > 0) {
		address_text(c->addresses, c->out, s->view, s->cpumode, s->s.ip,
		        parts | c->plan->stack_inlined);
	}
}

static void line_ip(const struct line_context *c)
{
	uint64_t ip;

	if (line_has_chain(c->plan, c->sample)) {
		put_chain(c);
		return;
	}
	ip = value_of(c);
	text_char(c->out, ' ');
	text_hex(c->out, ip, 16, ' ');
	if (c->plan->address_parts != 0) {
		address_text(c->addresses, c->out, c->sample->view, c->sample->cpumode, ip,
		        c->plan->address_parts);
	}
}

static void put_regs(
        const struct line_context *c, uint64_t abi, const uint64_t *regs, uint64_t mask)
{
	size_t i = 0;

	if (abi == 0) { /* no registers: a kernel thread has no user registers */
		return;
	}
	text_str(c->out, " ABI:");
	text_u64(c->out, abi, 0, ' ');
	text_char(c->out, ' ');
	for (unsigned bit = 0; bit < 64 && regs != NULL; bit++) {
		if ((mask >> bit & 1) == 0) {
			continue;
		}
		if (bit < c->style->nregs && c->style->regs[bit] != NULL) {
			text_padded(c->out, c->style->regs[bit], 5);
		} else {
			text_printf(c->out, "%4s%u", "r", bit);
		}
		text_bytes(c->out, ":0x", 3);
		text_hex(c->out, regs[i++], 0, ' ');
		text_char(c->out, ' ');
	}
}

static void line_iregs(const struct line_context *c)
{
	put_regs(c, c->sample->s.intr_regs_abi, c->sample->s.intr_regs,
	        c->plan->attr->sample_regs_intr);
}

static void line_uregs(const struct line_context *c)
{
	put_regs(c, c->sample->s.user_regs_abi, c->sample->s.user_regs,
	        c->plan->attr->sample_regs_user);
}

static void put_branches(const struct line_context *c, enum brstack_form form)
{
	unsigned parts = c->plan->address_parts & (ADDRESS_DSO | ADDRESS_PATH);

	brstack_text(c->out, c->addresses, c->sample, form, parts);
}

static void line_brstack(const struct line_context *c)
{
	put_branches(c, BRSTACK_ADDRESSES);
}

static void line_brstacksym(const struct line_context *c)
{
	put_branches(c, BRSTACK_SYMBOLS);
}

static void line_brstackoff(const struct line_context *c)
{
	put_branches(c, BRSTACK_OFFSETS);
}

static void line_flags(const struct line_context *c)
{
	line_flags_text(c->out, c->sample->extra != NULL ? c->sample->extra->flags : 0);
}

/* Removes the blank that address_text begins with. */
static void drop_blank(struct text *out, size_t start)
{
	if (out->n > start) {
		memmove(out->p + start, out->p + start + 1, out->n - start - 1);
		out->n--;
	}
}

/* The object, if no address is printed that it could follow. */
static void put_branch_object(const struct line_context *c)
{
	const uint64_t addresses = FIELD_BIT(FIELD_IP) | FIELD_BIT(FIELD_ADDR);
	const struct session_sample *s = c->sample;
	size_t start = c->out->n;

	if ((c->plan->fields & addresses) != 0 || (c->plan->fields & FIELD_BIT(FIELD_DSO)) == 0) {
		return;
	}
	address_text(c->addresses, c->out, s->view, s->cpumode, s->s.ip, ADDRESS_DSO);
	drop_blank(c->out, start);
	if (c->style->wide_object && c->out->n > start && c->out->p[c->out->n - 1] == ')') {
		c->out->n--;
		text_fill(c->out, ' ',
		        OBJECT_WIDTH > c->out->n - start ? OBJECT_WIDTH - (c->out->n - start) : 0);
		text_char(c->out, ')');
	}
	text_char(c->out, '\t');
}

/* The name of a function, or as in perf its address, without one for the address 0. */
static void put_callee(const struct line_context *c, uint64_t at)
{
	const struct session_sample *s = c->sample;
	uint32_t mode = frame_mode_of(&c->addresses->frames, s->view, s->cpumode, at);
	const struct frame *frame = frame_find(&c->addresses->frames, s->view, mode, at);
	size_t start = c->out->n;

	if (frame == NULL) {
		c->out->failed = true;
	} else if (frame->symbol != NULL) {
		address_text(c->addresses, c->out, s->view, mode, at, ADDRESS_SYM);
		drop_blank(c->out, start);
	} else if (at != 0) {
		text_hex16(c->out, at);
	}
}

/* The function that a call enters or a return leaves, indented by the calls around it. */
static void line_callindent(const struct line_context *c)
{
	const struct session_sample *s = c->sample;
	uint32_t flags = s->extra != NULL ? s->extra->flags : 0;
	bool enters = (flags & (AUX_FLAG_CALL | AUX_FLAG_BEGIN)) != 0;
	uint64_t at = enters ? s->s.addr : s->s.ip;
	size_t start, n;

	if (!c->plan->branch || s->extra == NULL) { /* as in perf, only of decoded traces */
		return;
	}
	put_branch_object(c);
	start = c->out->n;
	if (enters || (flags & (AUX_FLAG_RETURN | AUX_FLAG_END)) != 0) {
		text_fill(c->out, ' ', (size_t)CALL_INDENT * s->extra->depth);
		put_callee(c, at);
	}
	n = c->out->n - start;
	text_fill(c->out, ' ', n < CALL_WIDTH ? CALL_WIDTH - n : 1);
}

static void line_synth(const struct line_context *c)
{
	const struct sonde_sample *s = &c->sample->s;

	synth_text(c->out, c->plan->attr->config, (struct span){s->raw, s->raw_len},
	        session_swap(c->style->source.session));
}

/* Whether the bytes are printable characters and then at least one NUL, but nothing else. */
static bool is_string(const uint8_t *raw, size_t n)
{
	size_t i = 0;

	while (i < n && isprint(raw[i])) {
		i++;
	}
	if (i == n) {
		return false;
	}
	while (i < n && raw[i] == 0) {
		i++;
	}
	return i == n;
}

/* Bytes in hexadecimal and as characters, eight in a line; then the text, if they are one. */
static void line_bpf_output(const struct line_context *c)
{
	const uint8_t *raw = c->sample->s.raw;
	size_t n = c->sample->s.raw_len;

	text_char(c->out, '\n');
	for (size_t i = 0; i < n; i += RAW_IN_LINE) {
		size_t here = n - i < RAW_IN_LINE ? n - i : RAW_IN_LINE;

		text_printf(c->out, "%17s %04zx:", i == 0 ? "BPF output:" : "", i);
		for (size_t k = 0; k < here; k++) {
			text_char(c->out, ' ');
			text_hex(c->out, raw[i + k], 2, '0');
		}
		text_fill(c->out, ' ', 3 * (RAW_IN_LINE - here) + 2);
		for (size_t k = 0; k < here; k++) {
			text_char(c->out, (char)(isprint(raw[i + k]) ? raw[i + k] : '.'));
		}
		text_fill(c->out, ' ', RAW_IN_LINE - here);
		text_char(c->out, '\n');
	}
	if (is_string(raw, n)) {
		text_printf(c->out, "%17s \"%s\"\n", "BPF string:", (const char *)raw);
	}
}

/* The bytes of the sampled instruction; empty: unknown. */
static const struct span *insn_of(const struct line_context *c, struct frame_insn_bytes *out)
{
	const struct session_sample *s = c->sample;
	const struct frame *f =
	        frame_find(&c->worker->addresses.frames, s->view, s->cpumode, s->s.ip);

	out->code = (struct span){NULL, 0};
	if (f == NULL || frame_insn_at(c->style->code, f, session_sample_then(s), out) < 0) {
		c->out->failed = true;
	}
	return &out->code;
}

/* Truncated, not rounded, as in perf. */
static void line_ipc(const struct line_context *c)
{
	const struct aux_extra *e = c->sample->extra;

	if (e != NULL && e->cycles != 0) {
		text_printf(c->out, " \t IPC: %llu.%02llu (%llu/%llu) ",
		        (unsigned long long)(e->insns / e->cycles),
		        (unsigned long long)(e->insns % e->cycles * 100 / e->cycles),
		        (unsigned long long)e->insns, (unsigned long long)e->cycles);
	}
}

static void line_insnlen(const struct line_context *c)
{
	const struct aux_extra *e = c->sample->extra;
	struct frame_insn_bytes bytes;
	size_t n = e != NULL && e->insn_size != 0 ? e->insn_size : insn_of(c, &bytes)->n;

	text_str(c->out, " ilen: ");
	text_u64(c->out, n, 0, ' ');
}

static void line_insn(const struct line_context *c)
{
	struct frame_insn_bytes bytes;
	const struct span *insn = insn_of(c, &bytes);

	text_str(c->out, insn->n != 0 ? " insn:" : "");
	for (size_t i = 0; i < insn->n; i++) {
		text_char(c->out, ' ');
		text_hex(c->out, insn->p[i], 2, '0');
	}
}

static void line_disasm(const struct line_context *c)
{
	struct frame_insn_bytes bytes;
	const struct span *insn = insn_of(c, &bytes);

	if (insn->n != 0) {
		text_str(c->out, "\t\t");
		(void)frame_insn_text(&bytes.kind, c->sample->s.ip, *insn, c->out);
	}
}

static void line_brstackinsn(const struct line_context *c)
{
	const struct brcode_style style = {
	        .code = c->style->code,
	        .lengths = (c->plan->fields & FIELD_BIT(FIELD_BRSTACKINSNLEN)) != 0,
	        .texts = (c->plan->fields & FIELD_BIT(FIELD_BRSTACKDISASM)) != 0,
	        .parts = c->plan->address_parts & (ADDRESS_SOURCE | ADDRESS_SOURCE_PATH),
	        .max_blocks = c->style->max_blocks,
	        .source_code = c->plan->source_code ? c->worker->source_code : NULL,
	};

	brcode_text(c->out, c->addresses, c->sample, &style);
}

/* As in newer releases of perf: the path. */
static void line_cgroup(const struct line_context *c)
{
	const char *path = c->field->text_of(&c->style->source, value_of(c));

	text_char(c->out, ' ');
	text_plain(c->out, path != NULL ? path : "unknown");
}

static void line_size(const struct line_context *c)
{
	const struct field_value size = {.number = value_of(c)};

	text_char(c->out, ' ');
	field_text(c->field, &c->style->source, &size, c->out);
}

#define FIELD(id, line, ...) [FIELD_##id] = line,
static const line_fn printers[FIELD_COUNT] = {
#include "field/fields.inc"
};

static void put_fields(struct line_context *c, uint64_t fields)
{
	for (; fields != 0; fields &= fields - 1) {
		unsigned id = (unsigned)__builtin_ctzll(fields);

		c->field = field_at(id);
		printers[id](c);
	}
}

void line_fields(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct line_worker *worker, const struct session_sample *sample, uint64_t fields)
{
	struct line_context c = {out, plan, style, worker, &worker->addresses, sample, NULL, NULL};

	put_fields(&c, fields);
}

/* Prints the target of a branch and its instruction, in perf's layout. */
static void put_target(struct line_context *c)
{
	const struct session_sample *s = c->sample;
	unsigned parts = c->plan->address_parts;

	if (c->plan->target) {
		text_str(c->out, " => ");
		text_hex(c->out, s->s.addr, 16, ' ');
	}
	if (c->plan->target && parts != 0) {
		uint32_t mode =
		        frame_mode_of(&c->addresses->frames, s->view, s->cpumode, s->s.addr);

		address_text(c->addresses, c->out, s->view, mode, s->s.addr, parts);
	}
	if (c->plan->source_parts != 0) {
		address_text(
		        c->addresses, c->out, s->view, s->cpumode, s->s.ip, c->plan->source_parts);
	}
	put_fields(c, c->plan->code);
}

static void put_source_code(const struct line_context *c)
{
	const struct session_sample *s = c->sample;
	const struct frame *at = frame_find(&c->addresses->frames, s->view, s->cpumode, s->s.ip);

	if (at == NULL) {
		c->out->failed = true;
		return;
	}
	srccode_text(c->worker->source_code, c->addresses->frames.resolver, at, s->s.tid, c->out);
}

void line_text(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct line_worker *worker, const struct session_sample *sample)
{
	struct line_context c = {out, plan, style, worker, &worker->addresses, sample, NULL, NULL};
	/* as in perf: after the instruction, except in lines of branches */
	uint64_t late = plan->branch ? 0 : plan->printed & FIELD_BIT(FIELD_IPC);

	if (plan->chain) {
		uint64_t n = sample->s.callchain_len;

		address_prefetch(c.addresses, sample->view, sample->s.callchain,
		        n < PREFETCH_MAX ? n : PREFETCH_MAX);
	}
	put_fields(&c, plan->printed & ~late);
	if (plan->branch) {
		put_target(&c);
	}
	put_fields(&c, late);
	text_char(out, '\n');
	if (plan->source_code) {
		put_source_code(&c);
	}
}

void line_head(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct line_worker *worker, const struct session_sample *sample, const char *comm)
{
	struct line_context c = {out, plan, style, worker, &worker->addresses, sample, NULL, comm};

	put_fields(&c, plan->printed & (FIELD_BIT(FIELD_TOD) * 2 - 1));
}

static unsigned address_parts(uint64_t fields, const struct line_style *style)
{
	unsigned parts = 0;

	for (unsigned i = 0; i < FIELD_SCRIPT_COUNT; i++) {
		parts |= (fields & FIELD_BIT(i)) != 0 ? field_at(i)->part : 0;
	}
	if (style->kernel_path && (parts & (ADDRESS_DSO | ADDRESS_DSOFF)) != 0) {
		parts |= ADDRESS_PATH;
	}
	if (style->source_path && (parts & ADDRESS_SOURCE) != 0) {
		parts |= ADDRESS_SOURCE_PATH;
	}
	return parts;
}

/* As in perf, only one of the forms of branch stacks is printed, and their code only once. */
static uint64_t one_brstack(uint64_t fields)
{
	static const enum field_id forms[][3] = {
	        {FIELD_BRSTACK, FIELD_BRSTACKSYM, FIELD_BRSTACKOFF},
	        {FIELD_BRSTACKDISASM, FIELD_BRSTACKINSNLEN, FIELD_BRSTACKINSN}};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		bool any = false;

		for (size_t k = 0; k < 3; k++) {
			fields &= any ? ~FIELD_BIT(forms[i][k]) : UINT64_MAX;
			any = any || (fields & FIELD_BIT(forms[i][k])) != 0;
		}
	}
	return fields;
}

static void plan_branches(struct line_plan *plan)
{
	const unsigned source = ADDRESS_SOURCE | ADDRESS_SOURCE_PATH;

	plan->branch = true;
	plan->code = plan->printed & CODE_FIELDS;
	plan->printed &= BRANCH_FIELDS;
	plan->target = (plan->fields & FIELD_BIT(FIELD_ADDR)) != 0;
	if (plan->target && !plan->chain) {
		plan->source_parts = plan->address_parts & source;
		plan->address_parts &= ~source;
	}
	plan->run = plan->code == 0 && plan->source_parts == 0 && !plan->source_code &&
	            !plan->chain && (plan->fields & FIELD_BIT(FIELD_METRIC)) == 0 &&
	            (plan->printed &
	                    ~(LINE_RUN_FIELDS | FIELD_BIT(FIELD_FLAGS) | FIELD_BIT(FIELD_IP))) == 0;
}

int line_plan_make(struct line_plan *plan, const struct line_style *style, uint64_t fields,
        const struct sonde_attr *attr, const char *event, struct arena *arena)
{
	struct text name = {0};
	uint64_t printed = 0;

	if (!is_bpf_output(attr)) {
		fields &= ~FIELD_BIT(FIELD_BPF_OUTPUT);
	}
	if (field_type_of(attr) != FIELD_TYPE_SYNTH) {
		fields &= ~FIELD_BIT(FIELD_SYNTH);
	}
	for (unsigned i = 0; i < FIELD_SCRIPT_COUNT; i++) {
		printed |= printers[i] != NULL ? fields & FIELD_BIT(i) : 0;
	}
	*plan = (struct line_plan){
	        .fields = one_brstack(fields),
	        .printed = one_brstack(printed),
	        .chain = (attr->sample_type & SONDE_SAMPLE_CALLCHAIN) != 0 && !style->hide_chain &&
	                 (fields & FIELD_BIT(FIELD_IP)) != 0,
	        .address_parts = address_parts(fields, style),
	        .stack = (attr->sample_type & SONDE_SAMPLE_STACK_USER) != 0,
	        .inlined = style->inlined ? ADDRESS_INLINED : 0,
	        .stack_inlined = style->not_inlined ? 0 : ADDRESS_INLINED,
	        .source_code = (fields & FIELD_BIT(FIELD_SRCCODE)) != 0,
	        .names_addr = names_addr(attr),
	        .timed = (attr->sample_type & SONDE_SAMPLE_TIME) != 0,
	        .attr = attr,
	};
	if (field_each_branch(attr)) {
		plan_branches(plan);
	}
	text_padded(&name, event, (int)style->event_width);
	escape_plain_from(&name, 0);
	text_bytes(&name, ": ", 2);
	plan->event = name.failed ? NULL : arena_text(arena, name.p, name.n);
	plan->event_size = name.n;
	text_fini(&name);
	return plan->event != NULL ? 0 : SONDE_ENOMEM;
}
