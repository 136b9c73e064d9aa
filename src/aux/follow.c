/* SPDX-License-Identifier: MIT */
/*
 * Makes samples of the steps of a flow.
 *
 *	step                       samples
 *	an instruction             instructions, if its period ends here; branches, if it is one
 *	tracing starts or stops    branches from or to address 0
 *	an error, an overflow      AUXTRACE_ERROR
 */
#include "aux/inside.h"

#define NOWHERE UINT64_MAX

static const char *const error_texts[] = {
        [AUX_ERROR_PACKET] = "Bad packet",
        [AUX_ERROR_CODE] = "Failed to get instruction",
        [AUX_ERROR_MISMATCH] = "Trace doesn't match instruction",
        [AUX_ERROR_OVERFLOW] = "Overflow packet",
        [AUX_ERROR_LOST] = "Lost trace data",
        [AUX_ERROR_LOOP] = "Never-ending loop",
};

enum aux_error aux_error_code(int error)
{
	switch (error) {
	case SONDE_PT_ERROR_OPCODE:
	case SONDE_PT_ERROR_PACKET:
	case SONDE_PT_ERROR_TRUNCATED: return AUX_ERROR_PACKET;
	case SONDE_PT_ERROR_NO_MEMORY:
	case SONDE_PT_ERROR_INSN: return AUX_ERROR_CODE;
	case SONDE_PT_ERROR_LOOP: return AUX_ERROR_LOOP;
	default: return AUX_ERROR_MISMATCH;
	}
}

const char *aux_error_text(enum aux_error code)
{
	return error_texts[code];
}

static int add_error(struct aux_follower *f, enum aux_error code, uint64_t ip, uint64_t tsc)
{
	const struct itrace *w = &f->a->setup.itrace;

	if (f->tally.guest && !f->a->setup.guests) { /* nothing there can be decoded */
		if (f->tally.lost_guest) {
			return 0;
		}
		f->tally.lost_guest = true;
	}
	if (!w->errors || (code == AUX_ERROR_OVERFLOW && w->no_overflow_errors)) {
		return 0;
	}
	return aux_error_add(f, code, error_texts[code], ip, tsc);
}

int aux_follow_error(struct aux_follower *f, int error, uint64_t ip, uint64_t tsc)
{
	return add_error(f, aux_error_code(error), ip, tsc);
}

bool aux_follow_passes(struct aux_follower *f, enum aux_kind kind)
{
	if (f->a->event_of[kind] == AUX_NO_EVENT) {
		return false;
	}
	if (f->tally.skip != 0) {
		f->tally.skip--;
		return false;
	}
	return true;
}

/* The flags of a taken branch. */
static uint16_t class_flags(enum pt_class class, enum pt_special special)
{
	switch (class) {
	case PT_CLASS_OTHER: return 0;
	case PT_CLASS_CALL:
	case PT_CLASS_CALL_IND: return AUX_FLAG_BRANCH | AUX_FLAG_CALL;
	case PT_CLASS_RET: return AUX_FLAG_BRANCH | AUX_FLAG_RETURN;
	case PT_CLASS_COND: return AUX_FLAG_BRANCH | AUX_FLAG_COND;
	case PT_CLASS_FAR_CALL:
		return AUX_FLAG_BRANCH | AUX_FLAG_CALL |
		       (special == PT_SPECIAL_INT ? AUX_FLAG_INTERRUPT : AUX_FLAG_SYSCALL);
	case PT_CLASS_FAR_RET:
		return AUX_FLAG_BRANCH | AUX_FLAG_RETURN |
		       (special == PT_SPECIAL_IRET ? AUX_FLAG_INTERRUPT : AUX_FLAG_SYSCALL);
	case PT_CLASS_JUMP:
	case PT_CLASS_JUMP_IND:
	case PT_CLASS_FAR_JUMP:
	case PT_CLASSES:
	default: return AUX_FLAG_BRANCH;
	}
}

void aux_flags_make(struct aux *a)
{
	for (unsigned i = 0; i < sizeof(a->flags_of) / sizeof(a->flags_of[0]); i++) {
		a->flags_of[i] = class_flags(PT_BRANCH_CLASS(i), PT_BRANCH_SPECIAL(i));
	}
}

/*
 * The instruction at a change of the interrupt flag still has it as before; returns its flag. Later
 * ones have the new one.
 */
static uint32_t toggle(struct aux_follower *f, uint64_t ip)
{
	if (!f->tally.toggles) {
		return 0;
	}
	if (f->tally.toggles_at == ip) {
		f->tally.toggles_at = NOWHERE;
		return AUX_FLAG_TOGGLE;
	}
	f->tally.toggles = false;
	f->tally.interrupts = !f->tally.interrupts;
	return 0;
}

int aux_follow_thread(struct aux_follower *f)
{
	uint32_t tid = f->queue->ranges[f->range].tid;
	size_t number;

	if (!itrace_has_trails(&f->a->setup.itrace)) {
		return 0;
	}
	TRY(trails_find(&f->trails, tid, f->kept, &f->thread));
	return f->keeps != NULL ? trails_find(f->keeps, tid, &f->trails, &number) : 0;
}

/*
 * Updates the calls. A call that ends tracing is over when tracing begins again; then other calls may
 * have returned, too.
 */
static int follow_call(struct trail *t, const struct aux_sample *s)
{
	uint32_t flags = s->extra.flags;
	uint64_t back = s->ip + s->extra.insn_size;

	if ((flags & AUX_FLAG_BEGIN) != 0) {
		t->ncalls -= t->ended ? 1 : 0;
		t->ended = false;
	}
	if ((flags & AUX_FLAG_CALL) != 0 && s->addr != 0 && s->addr != back) {
		t->ended = (flags & AUX_FLAG_END) != 0;
		return trail_call(t, back);
	}
	if ((flags & (AUX_FLAG_RETURN | AUX_FLAG_BEGIN)) != 0) {
		trail_return(t, s->addr);
	}
	return 0;
}

static int follow_branch(struct aux_follower *f, const struct aux_sample *s)
{
	const struct itrace *w = &f->a->setup.itrace;
	struct trail *t = &f->trails.items[f->thread].trail;
	unsigned last = w->last > w->other_last ? w->last : w->other_last;

	if (w->chain != 0 || w->other_chain != 0 || w->depth) {
		TRY(follow_call(t, s));
	}
	return last != 0 ? trail_branch(t, last, s->ip, s->addr) : 0;
}

int aux_branch_add(struct aux_follower *f, const struct aux_sample *s)
{
	const struct itrace *w = &f->a->setup.itrace;
	struct aux_sample counted;

	if (itrace_has_trails(w)) {
		TRY(follow_branch(f, s));
	}
	if (w->depth) {
		counted = *s;
		counted.extra.depth = (uint32_t)f->trails.items[f->thread].trail.ncalls;
		counted.extra.depth += (s->extra.flags & AUX_FLAG_RETURN) != 0;
		s = &counted;
	}
	if (f->a->event_of[AUX_BRANCHES] == AUX_NO_EVENT ||
	        !aux_is_chosen(&f->a->setup.itrace, s->extra.flags) ||
	        !aux_follow_passes(f, AUX_BRANCHES)) {
		return 0;
	}
	return aux_sample_add(f, s);
}

/*
 * Sets the instructions and cycles since the last sample of this kind, where cycles are known. With the
 * letter A, and for instructions without CYC packets, that is wherever they are more than before.
 */
static void set_ipc(
        struct aux_follower *f, const struct sonde_pt_step *s, struct aux_sample *sample)
{
	unsigned kind = sample->kind == AUX_INSTRUCTIONS;
	uint64_t *insns = &f->tally.ipc_insns[kind];
	uint64_t *cycles = &f->tally.ipc_cycles[kind];
	bool approximate = f->a->setup.itrace.approximate || (kind == 1 && !f->a->cycles);

	sample->extra.insns = sample->extra.cycles = 0;
	if ((approximate || s->cycle_insns == s->insns) && s->cycles != *cycles &&
	        s->insns != *insns) {
		sample->extra.insns = s->insns - *insns;
		sample->extra.cycles = s->cycles - *cycles;
		*insns = s->insns;
		*cycles = s->cycles;
	}
}

/* Adds a sample of the cycles since the last one, if any are known to have passed. */
static int add_cycles(
        struct aux_follower *f, const struct sonde_pt_step *s, const struct aux_sample *insn)
{
	struct aux_sample sample = *insn;
	uint64_t cycles = s->cycles - f->tally.cycles;

	if (f->a->event_of[AUX_CYCLES] == AUX_NO_EVENT || cycles == 0 ||
	        !aux_follow_passes(f, AUX_CYCLES)) {
		return 0;
	}
	sample.kind = AUX_CYCLES;
	sample.period = cycles;
	sample.extra.insns = s->insns - f->tally.cycle_insns;
	sample.extra.cycles = cycles;
	f->tally.cycles = s->cycles;
	f->tally.cycle_insns = s->insns;
	return aux_sample_add(f, &sample);
}

/* Adds the samples of an instruction that a period chooses, or of each one. */
static int add_chosen(
        struct aux_follower *f, const struct sonde_pt_step *s, struct aux_sample *sample)
{
	sample->kind = AUX_INSTRUCTIONS;
	sample->period = s->insns - f->tally.sampled;
	if (aux_follow_passes(f, AUX_INSTRUCTIONS)) {
		f->tally.sampled = s->insns;
		set_ipc(f, s, sample);
		TRY(aux_sample_add(f, sample));
	}
	return add_cycles(f, s, sample);
}

/* more: flags of an end of tracing, or of the entry of a guest */
static int add_insn(
        struct aux_follower *f, const struct sonde_pt_step *s, uint32_t flags, uint32_t more)
{
	const struct itrace *w = &f->a->setup.itrace;
	bool each = (w->instructions || w->cycles) && f->a->flow.every == 0 &&
	            f->a->flow.every_ticks == 0;
	struct aux_sample sample = {.ip = s->ip,
	        .addr = s->taken ? s->to : 0,
	        .tsc = s->tsc,
	        .extra = {.insn_size = s->size, .flags = flags}};

	if ((more & AUX_FLAG_VM_ENTRY) != 0) {
		sample.addr = 0;
		sample.extra.flags = AUX_FLAG_BRANCH | AUX_FLAG_CALL;
	}
	sample.extra.flags |= more | toggle(f, s->ip);
	if (each || s->sampled) {
		TRY(add_chosen(f, s, &sample));
	}
	if (s->taken) {
		sample.kind = AUX_BRANCHES;
		sample.period = 1;
		if (aux_is_chosen(w, sample.extra.flags)) {
			set_ipc(f, s, &sample);
		}
		return aux_branch_add(f, &sample);
	}
	return 0;
}

static int on_switch_of_tracing(struct aux_follower *f, const struct sonde_pt_step *step);

/* Adds the branch that waits; more: as for add_insn. */
static int flush(struct aux_follower *f, uint32_t more)
{
	if (!f->waits) {
		return 0;
	}
	f->waits = false;
	if (f->waiting.kind == SONDE_PT_STEP_EVENT) {
		return on_switch_of_tracing(f, &f->waiting);
	}
	return add_insn(f, &f->waiting, f->waiting_flags, more);
}

/* Whether samples of the code that runs can be made: not without code of guests. */
static bool is_known(const struct aux_follower *f)
{
	return !f->tally.guest || f->a->setup.guests;
}

/*
 * A guest begins to run, or stops. As in perf, the branch there becomes one from the last instruction
 * to address 0, and one of the other side from 0.
 */
static int on_crossing(struct aux_follower *f, bool guest)
{
	const struct sonde_pt_step *w = &f->waiting;
	bool leaves = w->kind == SONDE_PT_STEP_EVENT;
	struct aux_sample s = {.kind = AUX_BRANCHES,
	        .ip = w->event.ip,
	        .tsc = w->tsc,
	        .period = 1,
	        .extra = {
	                .flags = AUX_FLAG_BRANCH | AUX_FLAG_CALL |
	                         (leaves ? AUX_FLAG_ASYNC | AUX_FLAG_VM_EXIT : AUX_FLAG_VM_ENTRY)}};

	if (!f->waits || leaves == guest) {
		return flush(f, 0);
	}
	f->waits = false;
	if (!leaves) {
		TRY(add_insn(f, w, f->waiting_flags, AUX_FLAG_VM_ENTRY));
	} else if (is_known(f)) {
		TRY(aux_branch_add(f, &s));
	}
	f->tally.guest = guest;
	f->tally.lost_guest = false;
	s.ip = 0;
	s.addr = leaves ? w->event.value : w->to;
	return is_known(f) ? aux_branch_add(f, &s) : 0;
}

static uint32_t tx_flag(const struct sonde_pt_step *s)
{
	return s->speculative ? AUX_FLAG_IN_TX : 0;
}

static int on_insn(struct aux_follower *f, const struct sonde_pt_step *s)
{
	uint32_t flags = f->a->flags_of[f->flow->given.class] | tx_flag(s);

	if (!s->taken && f->a->event_of[AUX_PTWRITE] == AUX_NO_EVENT) {
		return add_insn(f, s, flags, 0);
	}
	f->waiting = *s;
	f->waiting_flags = flags;
	f->waits = true;
	return 0;
}

/* Many branches at once; the last one waits. */
static int on_branches(struct aux_follower *f, const struct sonde_pt_step *s)
{
	const struct pt_branch *b = f->flow->batch.given;
	size_t n = f->flow->batch.ngiven - 1;

	f->waiting = *s;
	f->waiting.kind = SONDE_PT_STEP_INSN;
	f->waiting.ip = b[n].from;
	f->waiting.to = b[n].to;
	f->waiting.size = b[n].size;
	f->waiting.taken = true;
	f->waiting_flags = f->a->flags_of[b[n].class] | tx_flag(s);
	f->waits = true;
	return n != 0 ? aux_branches_add(f, s, b, n) : 0;
}

static int add_cause(struct aux_follower *f, struct aux_sample s);

/* Adds an event of Event Trace at an instruction, after the one that waits. */
static int add_cause_alone(struct aux_follower *f)
{
	const struct aux_sample s = {.ip = f->cause.event.ip, .tsc = f->cause.tsc, .period = 1};

	TRY(flush(f, 0));
	return f->has_cause ? add_cause(f, s) : 0;
}

static bool is_mode(const struct sonde_pt_step *s)
{
	return s->event.kind == SONDE_PT_EVENT_IFLAG || s->event.kind == SONDE_PT_EVENT_EXEC_MODE;
}

/* Adds the instruction that waits, except that the sample of its PTWRITE comes first. */
static int before_step(struct aux_follower *f, const struct sonde_pt_step *s)
{
	bool event = s->kind == SONDE_PT_STEP_EVENT;
	bool ends;

	if (event && s->event.kind == SONDE_PT_EVENT_PTWRITE && s->event.has_ip &&
	        s->event.ip == f->waiting.ip) {
		return 0;
	}
	if (event && s->event.kind == SONDE_PT_EVENT_VMCS) {
		return 0; /* PIP may follow */
	}
	if (event && s->event.kind == SONDE_PT_EVENT_PAGING &&
	        (s->event.extra != 0) != f->tally.guest) {
		return on_crossing(f, s->event.extra != 0);
	}
	if (f->a->event_trace && event && f->waits && is_mode(s) &&
	        f->waiting.kind == SONDE_PT_STEP_EVENT) {
		return 0;
	}
	if (f->has_cause && s->kind == SONDE_PT_STEP_INSN) {
		TRY(add_cause_alone(f));
	}
	ends = event && s->event.kind == SONDE_PT_EVENT_DISABLED && s->event.value == 0;
	return flush(f, ends ? AUX_FLAG_END : 0);
}

/* Adds the event of Event Trace that led to a branch, or happened at an instruction. */
static int add_cause(struct aux_follower *f, struct aux_sample s)
{
	const struct sonde_pt_event *e = &f->cause.event;
	uint8_t raw[4 + 16 * 3];
	size_t n = 0;

	for (unsigned i = 0; i < 3; i++) {
		if ((e->extra >> i & 1) != 0) {
			store_u64(raw + 4 + 16 * n, i, f->a->setup.swap);
			store_u64(raw + 12 + 16 * n, e->data[i], f->a->setup.swap);
			n++;
		}
	}
	store_u32(raw,
	        (e->count & 31u) | 1u << 7 | (uint32_t)(e->value & 0xff) << 8 | (uint32_t)n << 16,
	        f->a->setup.swap);
	f->has_cause = false;
	s.kind = AUX_EVT;
	s.raw = raw;
	s.raw_size = 4 + 16 * n;
	return aux_follow_passes(f, AUX_EVT) ? aux_sample_add(f, &s) : 0;
}

/* u32: bit 0 the flag, bit 1 a branch changed it; u64 where that branch went */
static int add_iflag(struct aux_follower *f, struct aux_sample s, bool branch)
{
	uint8_t raw[12];

	store_u32(raw, (f->tally.interrupts ? 0u : 1u) | (uint32_t)branch << 1, f->a->setup.swap);
	store_u64(raw + 4, branch ? s.addr : 0, f->a->setup.swap);
	s.kind = AUX_IFLAG;
	s.extra.flags |= AUX_FLAG_TOGGLE;
	s.raw = raw;
	s.raw_size = sizeof(raw);
	return aux_follow_passes(f, AUX_IFLAG) ? aux_sample_add(f, &s) : 0;
}

/* The interrupt flag changed: by the branch that waits, or at an instruction. */
static int on_iflag(struct aux_follower *f, const struct sonde_pt_step *s)
{
	const struct aux_sample sample = {.ip = s->event.ip, .tsc = s->tsc, .period = 1};
	bool changed = f->tally.interrupts != (s->event.value != 0);

	f->tally.has_interrupts = true;
	if (f->waits) {
		f->tally.toggled = changed;
		return flush(f, 0);
	}
	if (changed) {
		TRY(add_iflag(f, sample, false));
		f->tally.toggles = true;
		f->tally.toggles_at = s->event.ip;
	}
	return 0;
}

/* Adds what belongs to a branch that packets made, and the branch. */
static int add_caused(struct aux_follower *f, struct aux_sample *s)
{
	(void)toggle(f, NOWHERE - 1);
	if (f->has_cause) {
		TRY(add_cause(f, *s));
	}
	if (!f->tally.toggled) {
		return aux_branch_add(f, s);
	}
	TRY(add_iflag(f, *s, true));
	f->tally.toggled = false;
	s->extra.flags |= AUX_FLAG_TOGGLE;
	TRY(aux_branch_add(f, s));
	f->tally.interrupts = !f->tally.interrupts;
	return 0;
}

static int on_switch_of_tracing(struct aux_follower *f, const struct sonde_pt_step *step)
{
	const struct sonde_pt_event *e = &step->event;
	struct aux_sample s = {.kind = AUX_BRANCHES, .tsc = step->tsc, .period = 1};

	if (!is_known(f)) {
		return 0;
	}
	if (e->kind == SONDE_PT_EVENT_ENABLED) {
		s.addr = e->ip;
		s.extra.flags = AUX_FLAG_BRANCH | AUX_FLAG_BEGIN;
	} else if (e->kind == SONDE_PT_EVENT_ASYNC) {
		s.ip = e->ip;
		s.addr = e->value;
		s.extra.flags =
		        AUX_FLAG_BRANCH | AUX_FLAG_CALL | AUX_FLAG_ASYNC | AUX_FLAG_INTERRUPT;
		if (f->tally.aborts) {
			TRY(aux_abort_add(f, &s));
		}
	} else if (e->has_ip && e->value != 0) {
		s.ip = e->ip;
		s.addr = e->extra;
		s.extra.flags = AUX_FLAG_BRANCH | AUX_FLAG_END | AUX_FLAG_ASYNC |
		                (e->extra != 0 ? AUX_FLAG_INTERRUPT | AUX_FLAG_CALL : 0);
	} else {
		return 0;
	}
	if (aux_is_chosen(&f->a->setup.itrace, s.extra.flags)) {
		set_ipc(f, step, &s);
	}
	return add_caused(f, &s);
}

static int add_transaction(struct aux_follower *f, struct aux_sample s, uint32_t flags)
{
	s.kind = AUX_TRANSACTIONS;
	s.extra.flags = flags;
	return aux_follow_passes(f, AUX_TRANSACTIONS) ? aux_sample_add(f, &s) : 0;
}

int aux_abort_add(struct aux_follower *f, struct aux_sample *branch)
{
	f->tally.aborts = false;
	branch->extra.flags =
	        AUX_FLAG_BRANCH | AUX_FLAG_ABORT | (branch->extra.flags & AUX_FLAG_END);
	return add_transaction(f, *branch, branch->extra.flags);
}

/* Transactions begin and end at an instruction; an abort is a branch, which follows. */
static int on_tsx(struct aux_follower *f, const struct sonde_pt_step *s)
{
	const struct aux_sample sample = {.ip = s->event.ip, .tsc = s->tsc, .period = 1};

	f->tally.aborts = s->event.kind == SONDE_PT_EVENT_TSX_ABORT;
	if (f->tally.aborts || !s->event.has_ip) {
		return 0;
	}
	return add_transaction(
	        f, sample, s->event.kind == SONDE_PT_EVENT_TSX_BEGIN ? AUX_FLAG_IN_TX : 0);
}

/* The ratio of the core's clock, if it has changed. u32: 8 bits ratio, bits 16-23 the usual one; u32 kHz */
static int on_cbr(struct aux_follower *f, uint64_t ratio, uint64_t ip, uint64_t tsc)
{
	uint64_t usual = f->a->info.max_nonturbo_ratio;
	uint8_t raw[12] = {0};
	struct aux_sample s = {.kind = AUX_CBR,
	        .ip = ip,
	        .tsc = tsc,
	        .period = 1,
	        .raw = raw,
	        .raw_size = sizeof(raw)};

	if (ratio == 0 || ratio == f->tally.cbr || f->a->event_of[AUX_CBR] == AUX_NO_EVENT) {
		return 0;
	}
	f->tally.cbr = ratio;
	store_u32(raw, (uint32_t)((ratio & 0xff) | (usual & 0xff) << 16), f->a->setup.swap);
	store_u32(
	        raw + 4, (uint32_t)(usual != 0 ? ratio * f->a->khz / usual : 0), f->a->setup.swap);
	return aux_follow_passes(f, AUX_CBR) ? aux_sample_add(f, &s) : 0;
}

/* Adds a sample whose raw data are u32 and u64. */
static int add_raw(struct aux_follower *f, const struct sonde_pt_step *s, enum aux_kind kind,
        uint32_t word, uint64_t value)
{
	uint8_t raw[12];
	struct aux_sample sample = {.kind = kind,
	        .ip = s->event.has_ip ? s->event.ip : 0,
	        .tsc = s->tsc,
	        .period = 1,
	        .raw = raw,
	        .raw_size = sizeof(raw)};

	store_u32(raw, word, f->a->setup.swap);
	store_u64(raw + 4, value, f->a->setup.swap);
	return aux_follow_passes(f, kind) ? aux_sample_add(f, &sample) : 0;
}

/* A C-state as packets have it: minus one. */
static uint64_t stored_state(uint64_t state)
{
	return (state - 1) & 15;
}

static int on_power(struct aux_follower *f, const struct sonde_pt_step *s)
{
	const struct sonde_pt_event *e = &s->event;

	switch (e->kind) {
	case SONDE_PT_EVENT_PSB:
		TRY(add_raw(f, s, AUX_PSB, 0, f->tally.psb ? e->value : 0)); /* as in perf */
		f->tally.psb = true;
		return on_cbr(f, e->extra, e->has_ip ? e->ip : 0, s->tsc);
	case SONDE_PT_EVENT_CBR: return on_cbr(f, e->value, s->ip, s->tsc);
	case SONDE_PT_EVENT_PTWRITE: return add_raw(f, s, AUX_PTWRITE, e->count, e->value);
	case SONDE_PT_EVENT_MWAIT:
		return add_raw(f, s, AUX_MWAIT, 0, (e->value & 0xff) | (e->extra & 3) << 32);
	case SONDE_PT_EVENT_PWRE:
		return add_raw(f, s, AUX_PWRE, 0,
		        (uint64_t)(e->count != 0) << 7 | stored_state(e->extra) << 8 |
		                stored_state(e->value) << 12);
	case SONDE_PT_EVENT_EXSTOP: return add_raw(f, s, AUX_EXSTOP, e->has_ip, 0);
	case SONDE_PT_EVENT_PWRX:
		return add_raw(f, s, AUX_PWRX, 0,
		        stored_state(e->extra) | stored_state(e->value) << 4 |
		                (uint64_t)(e->count & 15) << 8);
	default: return 0;
	}
}

int aux_follow_event(struct aux_follower *f, const struct sonde_pt_step *s)
{
	const struct sonde_pt_event *e = &s->event;
	struct aux_sample begin = {.kind = AUX_BRANCHES,
	        .addr = e->ip,
	        .tsc = s->tsc,
	        .period = 1,
	        .extra = {.flags = AUX_FLAG_BRANCH | AUX_FLAG_BEGIN}};

	switch (e->kind) {
	case SONDE_PT_EVENT_DISABLED: return on_switch_of_tracing(f, s);
	case SONDE_PT_EVENT_CFE:
		f->cause = *s;
		f->has_cause = f->a->event_of[AUX_EVT] != AUX_NO_EVENT;
		return 0;
	case SONDE_PT_EVENT_IFLAG: return f->a->event_trace ? on_iflag(f, s) : 0;
	case SONDE_PT_EVENT_ENABLED:
		if (!f->a->event_trace) {
			return on_switch_of_tracing(f, s);
		}
		f->waiting = *s; /* an IFLAG may follow */
		f->waits = true;
		return 0;
	case SONDE_PT_EVENT_ASYNC:
		f->waiting = *s;
		f->waits = true;
		return 0;
	case SONDE_PT_EVENT_TSX_BEGIN:
	case SONDE_PT_EVENT_TSX_COMMIT:
	case SONDE_PT_EVENT_TSX_ABORT: return on_tsx(f, s);
	case SONDE_PT_EVENT_OVERFLOW:
		f->pebs.open = false;
		TRY(add_error(f, AUX_ERROR_OVERFLOW, e->extra, e->data[0]));
		return e->has_ip ? aux_branch_add(f, &begin) : 0;
	case SONDE_PT_EVENT_PEBS_BLOCK:
	case SONDE_PT_EVENT_PEBS_ITEM:
	case SONDE_PT_EVENT_PEBS_END: return aux_pebs_event(f, s);
	default: return on_power(f, s);
	}
}

static int on_gap(struct aux_follower *f, const struct sonde_pt_step *s)
{
	const struct aux_sample begin = {.kind = AUX_BRANCHES,
	        .addr = s->ip,
	        .tsc = s->tsc,
	        .period = 1,
	        .extra = {.flags = AUX_FLAG_BRANCH | AUX_FLAG_BEGIN}};

	return s->ip != 0 && is_known(f) ? aux_branch_add(f, &begin) : 0;
}

int aux_follow_range(struct aux_follower *f, uint64_t tsc)
{
	const struct aux_queue *q = f->queue;
	size_t before = f->range;
	uint64_t time;

	if (f->range + 1 >= q->nranges) {
		return 0;
	}
	time = aux_ns(&f->a->clock, tsc);
	while (f->range + 1 < q->nranges && q->ranges[f->range + 1].time <= time) {
		f->range++;
	}
	return f->range != before ? aux_follow_thread(f) : 0;
}

/* Counts the branches before a step (NULL: the end) that the flow passed. */
static void count_passed(struct aux_follower *f, const struct sonde_pt_step *s)
{
	const struct pt_passed *p = &f->flow->passed;
	bool calls = f->a->setup.itrace.calls;
	uint64_t n = calls ? p->calls - f->seen.calls : p->taken - f->seen.taken;
	bool ends = s != NULL && s->kind == SONDE_PT_STEP_EVENT &&
	            s->event.kind == SONDE_PT_EVENT_DISABLED && s->event.value == 0;

	if (!p->on || p->taken == f->seen.taken) {
		return;
	}
	/* the letter c selects a branch that ends tracing, of any class */
	ends = ends && calls && !p->last_calls;
	f->seen = *p;
	(void)aux_follow_range(f, p->tsc); /* without trails it cannot fail */
	if (n + ends != 0) {
		aux_branches_count(f, n + ends, calls && !ends ? p->calls_tsc : p->tsc);
	}
}

int aux_follow(struct aux_follower *f)
{
	const struct sonde_pt_step *s;
	int rc;

	while ((rc = sonde_pt_flow_next(f->flow, &s)) > 0) {
		count_passed(f, s);
		TRY(before_step(f, s));
		if (f->pasts != NULL) {
			TRY(aux_pasts_reach(f, aux_ns(&f->a->clock, s->tsc)));
		}
		f->tally.guest = (s->space & SONDE_PT_GUEST) != 0;
		f->tally.lost_guest = f->tally.lost_guest && f->tally.guest;
		TRY(aux_follow_range(f, s->tsc));
		switch (s->kind) {
		case SONDE_PT_STEP_INSN: TRY(on_insn(f, s)); break;
		case PT_STEP_BRANCHES: TRY(on_branches(f, s)); break;
		case SONDE_PT_STEP_EVENT: TRY(aux_follow_event(f, s)); break;
		case SONDE_PT_STEP_GAP:
			f->skipped += f->failed && s->end > s->offset ? s->end - s->offset : 0;
			f->failed = false;
			TRY(on_gap(f, s));
			break;
		case SONDE_PT_STEP_ERROR:
			f->failed = true;
			f->pebs.open = false;
			if (!s->resync) {
				TRY(aux_follow_error(f, s->error, s->ip, s->tsc));
			}
			break;
		default: break;
		}
	}
	count_passed(f, NULL);
	TRY(flush(f, 0));
	return rc;
}
