/* SPDX-License-Identifier: MIT */
/*
 * The execution of a generated program, and its trace. An executed instruction is recorded first,
 * then its packets are written; events may come between two instructions.
 *
 * TNT bits are gathered; TIPs of indirect jumps and calls may wait until later bits are written too
 * (deferred TIPs). All other packets are written after both.
 */
#include "tests/pt/program.h"

#include <sonde/pt_packet.h>
#include <stdlib.h>
#include <string.h>

#define STACK_MAX    128
#define HARDWARE_MAX 64 /* calls that a compressed return can return from */
#define DEFERRED_MAX 6
#define LONG_TNT     47
#define SHORT_TNT    6
#define ELSEWHERE    0xffffffff81a00020 /* an address that is not traced */

/*
 * Calls that a compressed return can return from. Sonde and perf pop one at each return; libipt
 * only at compressed ones.
 */
struct known {
	uint64_t ips[HARDWARE_MAX];
	unsigned n;
};

struct run {
	struct program *p;
	uint32_t at; /* the next instruction */
	uint32_t stack[STACK_MAX]; /* return addresses */
	unsigned depth;
	struct known pops, keeps; /* the same, limited to what the processor compresses */

	uint64_t bits;
	unsigned nbits;
	uint64_t deferred[DEFERRED_MAX];
	unsigned ndeferred;
	uint64_t last_ip;
	unsigned told_mode; /* from the last MODE.EXEC; 0: none */
	bool speculative;
	bool compresses; /* returns are compressed */
	uint64_t cr3;
	bool behind_special; /* the last packet was bound to an instruction */
	size_t way_max;
	size_t placed; /* instructions of the way that packets have decided */
	uint64_t tsc;
};

static uint32_t pick(struct run *r, uint32_t n)
{
	return program_pick(r->p, n);
}

static bool chance(struct run *r, uint32_t one_in)
{
	return pick(r, one_in) == 0;
}

static const struct program_insn *here(const struct run *r)
{
	return &r->p->insns[r->at];
}

static uint64_t ip_of(const struct run *r, uint32_t insn)
{
	return r->p->insns[insn].ip;
}

static const struct program_function *function_of(const struct run *r, uint32_t insn)
{
	return &r->p->functions[r->p->insns[insn].function];
}

/* Packets. */

static void write_packet(struct run *r, const struct sonde_pt_packet *packet)
{
	struct program *p = r->p;
	size_t n;

	if (PROGRAM_TRACE - p->trace_size < SONDE_PT_PACKET_MAX) {
		abort();
	}
	n = sonde_pt_packet_encode(packet, p->trace + p->trace_size);
	if (n == 0) {
		abort();
	}
	p->trace_size += n;
	p->packets[packet->kind]++;
}

/* Chooses one of the compressions that can represent the IP. */
static void write_ip(struct run *r, uint8_t kind, uint64_t ip)
{
	static const uint8_t bits[8] = {0, 16, 32, 48, 48, 0, 64, 0};
	uint64_t differs = ip ^ r->last_ip;
	uint8_t fits[5];
	unsigned n = 0;
	struct sonde_pt_packet packet = {.kind = kind};

	if (differs >> 16 == 0) {
		fits[n++] = 1;
	}
	if (differs >> 32 == 0) {
		fits[n++] = 2;
	}
	if ((uint64_t)((int64_t)(ip << 16) >> 16) == ip) {
		fits[n++] = 3;
	}
	if (differs >> 48 == 0) {
		fits[n++] = 4;
	}
	fits[n++] = 6;
	packet.count = fits[chance(r, 4) ? pick(r, n) : 0];
	packet.value = ip & ~0ULL >> (64 - bits[packet.count]);
	r->p->compressions[packet.count]++;
	r->last_ip = ip;
	write_packet(r, &packet);
}

static void write_bits(struct run *r, unsigned n)
{
	struct sonde_pt_packet packet = {
	        .kind = n > SHORT_TNT || chance(r, 8) ? SONDE_PT_TNT64 : SONDE_PT_TNT8,
	        .count = (uint8_t)n,
	        .value = r->bits >> (r->nbits - n)};

	r->nbits -= n;
	r->bits &= (1ULL << r->nbits) - 1;
	write_packet(r, &packet);
}

/* Writes everything that waits. Without deferred TIPs the bits may be in more than one packet. */
static void flush(struct run *r)
{
	while (r->nbits != 0) {
		bool all = r->ndeferred != 0 || chance(r, 2);

		write_bits(r, all ? r->nbits : 1 + pick(r, r->nbits));
	}
	for (unsigned i = 0; i < r->ndeferred; i++) {
		write_ip(r, SONDE_PT_TIP, r->deferred[i]);
	}
	r->ndeferred = 0;
}

static void packet(struct run *r, uint8_t kind, uint64_t value, uint64_t extra)
{
	const struct sonde_pt_packet packet = {.kind = kind, .value = value, .extra = extra};

	flush(r);
	write_packet(r, &packet);
}

static void packet_with(struct run *r, uint8_t kind, uint64_t value, uint8_t count, uint8_t flags)
{
	const struct sonde_pt_packet packet = {
	        .kind = kind, .value = value, .count = count, .flags = flags};

	flush(r);
	write_packet(r, &packet);
}

static void ip_packet(struct run *r, uint8_t kind, uint64_t ip)
{
	flush(r);
	write_ip(r, kind, ip);
	r->placed = r->p->way_size;
	r->behind_special = false;
}

static void no_ip_packet(struct run *r, uint8_t kind)
{
	packet(r, kind, 0, 0);
	r->p->compressions[0]++;
}

static void bit(struct run *r, bool taken)
{
	r->bits = r->bits << 1 | taken;
	r->nbits++;
	r->placed = r->p->way_size;
	r->behind_special = false;
	if (r->nbits == LONG_TNT || (r->nbits >= SHORT_TNT && chance(r, 3))) {
		flush(r);
	}
}

/* Advances the time. */
static void time_packet(struct run *r)
{
	r->tsc += 1 + pick(r, 5000);
	switch (pick(r, 6)) {
	case 0: packet(r, SONDE_PT_PAD, 0, 0); break;
	case 1: packet(r, SONDE_PT_TSC, r->tsc, 0); break;
	case 2:
		packet(r, SONDE_PT_CYC, pick(r, 3) == 0 ? pick(r, 1u << 20) : pick(r, 64), 0);
		break;
	case 3:
		packet(r, SONDE_PT_TSC, r->tsc, 0);
		packet(r, SONDE_PT_TMA, r->tsc & 0xffff, pick(r, 512));
		break;
	default: packet(r, SONDE_PT_MTC, r->tsc >> 9 & 0xff, 0); break;
	}
}

static void tell_mode(struct run *r, uint32_t insn)
{
	unsigned mode = function_of(r, insn)->mode;

	if (mode != r->told_mode || (!r->p->real && chance(r, 10))) {
		packet(r, SONDE_PT_MODE_EXEC,
		        mode == 64   ? SONDE_PT_EXEC_CS_L
		        : mode == 32 ? SONDE_PT_EXEC_CS_D
		                     : 0,
		        0);
		r->told_mode = mode;
	}
}

static void paging(struct run *r)
{
	r->cr3 = (uint64_t)(1 + pick(r, 8)) << 13;
	packet_with(r, SONDE_PT_PIP, r->cr3, 0, chance(r, 3) ? SONDE_PT_F_NR : 0);
}

static void vmcs(struct run *r)
{
	packet(r, SONDE_PT_VMCS, (uint64_t)(1 + pick(r, 8)) << 12, 0);
}

/* Writes a PSB+; the call stack and the last IP start again. */
static void sync(struct run *r, bool on)
{
	bool all = r->told_mode == 0 || chance(r, 2);

	packet(r, SONDE_PT_PSB, 0, 0);
	r->last_ip = 0;
	if (all || chance(r, 2)) {
		packet(r, SONDE_PT_TSC, r->tsc, 0);
		packet(r, SONDE_PT_TMA, r->tsc & 0xffff, pick(r, 512));
		packet(r, SONDE_PT_CBR, 8 + pick(r, 30), 0);
	}
	if (chance(r, 2)) {
		packet(r, SONDE_PT_MODE_TSX, r->speculative ? SONDE_PT_TSX_IN : 0, 0);
	}
	r->told_mode = 0; /* a decoder that begins here does not know it */
	if (on || all) {
		tell_mode(r, r->at);
	}
	if (chance(r, 3)) {
		packet_with(r, SONDE_PT_PIP, r->cr3, 0, 0);
	}
	if (chance(r, 3)) {
		vmcs(r);
	}
	if (on) {
		ip_packet(r, SONDE_PT_FUP, ip_of(r, r->at));
	}
	packet(r, SONDE_PT_PSBEND, 0, 0);
	r->pops.n = 0;
	r->keeps.n = 0;
}

/* Addresses. */

/* Returns a block of any function inside the filters, or only of the given function. */
static uint32_t any_block(struct run *r, uint32_t first, uint32_t end)
{
	for (;;) {
		uint32_t i = first + pick(r, end - first);

		if (r->p->insns[i].starts && (r->p->filters == 0 || !function_of(r, i)->outside)) {
			return i;
		}
	}
}

static uint32_t anywhere(struct run *r)
{
	return any_block(r, 0, r->p->count);
}

/* Returns a block that near branches can reach: in the same function, or one of the same width. */
static uint32_t near_block(struct run *r, uint32_t from)
{
	const struct program_function *f = function_of(r, from);

	for (unsigned i = 0; i < 20 && !r->p->real; i++) {
		uint32_t to = anywhere(r);

		if (function_of(r, to)->mode == f->mode) {
			return to;
		}
	}
	if (f->outside) {
		return f->first;
	}
	return any_block(r, f->first, f->end);
}

/* Where tracing continues. */
static void enable(struct run *r, uint32_t at)
{
	r->at = at;
	tell_mode(r, at);
	ip_packet(r, SONDE_PT_TIP_PGE, ip_of(r, at));
}

/* Packets while tracing is off. */
static void while_off(struct run *r)
{
	for (unsigned n = pick(r, 3); n > 0 && !r->p->real; n--) {
		switch (pick(r, 10)) {
		case 0: packet(r, SONDE_PT_CBR, 8 + pick(r, 30), 0); break;
		case 1: packet(r, SONDE_PT_MNT, pick(r, 1000), 0); break;
		case 2: paging(r); break;
		case 3: vmcs(r); break;
		case 4: packet(r, SONDE_PT_EXSTOP, 0, 0); break;
		case 5: packet(r, SONDE_PT_PWRE, 1 + pick(r, 7), pick(r, 4)); break;
		case 6:
			packet_with(r, SONDE_PT_PWRX, 1 + pick(r, 7),
			        (uint8_t)(pick(r, 2) != 0 ? 1 : 4 + 4 * pick(r, 2)), 0);
			break;
		case 7: sync(r, false); break;
		case 8: packet(r, SONDE_PT_STOP, 0, 0); break;
		default: time_packet(r); break;
		}
	}
}

/*
 * The branch at r->at left the traced code. Directly after MOV CR3 and VMPTRLD, libipt takes a
 * TIP.PGD without IP as theirs, Sonde as that of the next branch (see src/pt/README.md).
 */
static void leave(struct run *r, uint64_t to, bool has_ip)
{
	if (has_ip || r->behind_special) {
		ip_packet(r, SONDE_PT_TIP_PGD, to);
	} else {
		no_ip_packet(r, SONDE_PT_TIP_PGD);
	}
	while_off(r);
	enable(r, chance(r, 2) ? near_block(r, r->at) : anywhere(r));
}

/* Continues at an instruction after a direct branch. */
static void go(struct run *r, uint32_t to)
{
	if (r->p->filters != 0 && function_of(r, to)->outside) {
		bool has_ip = chance(r, 2);

		r->p->left_without_ip += !has_ip && !r->behind_special;
		leave(r, ip_of(r, to), has_ip || r->behind_special);
		return;
	}
	r->at = to;
}

static void tip(struct run *r, uint32_t to, bool may_wait)
{
	r->at = to;
	if (may_wait && r->nbits != 0 && r->ndeferred < DEFERRED_MAX && chance(r, 2)) {
		r->deferred[r->ndeferred++] = ip_of(r, to);
		r->placed = r->p->way_size;
		return;
	}
	ip_packet(r, SONDE_PT_TIP, ip_of(r, to));
}

/* Executing instructions. */

static void tape(struct run *r, uint64_t v, unsigned n)
{
	if (r->p->real) {
		for (unsigned i = 0; i < n; i++) {
			r->p->tape[r->p->tape_size++] = (uint8_t)(v >> 8 * i);
		}
	}
}

/* Whether the condition holds for flags set by sahf after test, or for rcx with the byte. */
static bool holds(unsigned cc, uint8_t byte)
{
	bool cf = byte & 1, pf = byte & 4, zf = byte & 0x40, sf = byte & 0x80;
	const bool even[] = {false, cf, zf, cf || zf, sf, pf, sf, zf || sf};

	switch (cc) {
	case 18: return byte != 1;
	case 19:
	case 20: return byte == 0;
	default: return (cc & 1) != 0 ? !even[cc >> 1] : even[cc >> 1];
	}
}

static void do_cond(struct run *r, const struct program_insn *insn)
{
	bool taken = chance(r, 2);
	uint8_t byte = (uint8_t)(taken ? insn->cc == 18 ? 2 : 0 : 1);

	if (r->p->real) {
		byte = insn->cc < 16 ? (uint8_t)pick(r, 256) : byte;
		taken = holds(insn->cc, byte);
		tape(r, byte, 1);
	}
	if (taken && r->p->filters != 0 && function_of(r, insn->target)->outside &&
	        !function_of(r, r->at)->outside) {
		leave(r, ip_of(r, insn->target), true);
		return;
	}
	bit(r, taken);
	r->at = taken ? insn->target : r->at + 1;
}

static void push_known(struct known *k, uint64_t ip)
{
	if (k->n == HARDWARE_MAX) {
		memmove(k->ips, k->ips + 1, sizeof(k->ips) - sizeof(k->ips[0]));
		k->n--;
	}
	k->ips[k->n++] = ip;
}

static bool is_top(const struct known *k, uint64_t ip)
{
	return k->n > 0 && k->ips[k->n - 1] == ip;
}

static void push(struct run *r, uint32_t back)
{
	if (r->depth < STACK_MAX) {
		r->stack[r->depth++] = back;
	}
	push_known(&r->pops, ip_of(r, back));
	push_known(&r->keeps, ip_of(r, back));
}

/* Returns a later function, so that the program ends; now and then any, for a deep stack. */
static uint32_t callee(struct run *r, const struct program_insn *insn)
{
	bool any = !r->p->real && r->depth < 100 && chance(r, 2);
	unsigned from = any ? 0 : insn->function + 1u;

	for (unsigned i = 0; i < 50; i++) {
		unsigned k = from + pick(r, r->p->nfunctions - from);
		const struct program_function *f = &r->p->functions[k];

		if (f->mode == r->p->functions[insn->function].mode &&
		        !(r->p->filters != 0 && f->outside)) {
			return f->first;
		}
	}
	return PROGRAM_NONE;
}

static void do_call_ind(struct run *r, const struct program_insn *insn)
{
	uint32_t to = callee(r, insn);

	if (to == PROGRAM_NONE) {
		to = near_block(r, r->at);
	}
	tape(r, ip_of(r, to), 8);
	push(r, r->at + 1);
	tip(r, to, true);
}

static void do_ret(struct run *r, uint32_t to)
{
	bool fits = is_top(&r->pops, ip_of(r, to));
	bool keeps = is_top(&r->keeps, ip_of(r, to));

	r->pops.n -= r->pops.n > 0;
	if (fits && r->compresses && (keeps || r->p->pops_always)) {
		r->keeps.n -= keeps;
		bit(r, true);
		r->at = to;
	} else {
		tip(r, to, false);
	}
}

static void do_near_ret(struct run *r)
{
	uint32_t to = r->depth > 0 ? r->stack[--r->depth] : near_block(r, r->at);

	/* a far return can lead to a function of another width */
	if (function_of(r, to)->mode != function_of(r, r->at)->mode ||
	        (r->p->filters != 0 && function_of(r, to)->outside)) {
		to = near_block(r, r->at);
	}
	do_ret(r, to);
}

/* Switches tracing of the kernel on or off. */
static void do_syscall(struct run *r)
{
	if (r->p->real || chance(r, 2)) {
		uint32_t back = r->at + 1;

		if (!r->behind_special && chance(r, 2)) {
			no_ip_packet(r, SONDE_PT_TIP_PGD);
		} else {
			ip_packet(r, SONDE_PT_TIP_PGD, ELSEWHERE);
		}
		while_off(r);
		enable(r, back);
		return;
	}
	r->at = anywhere(r);
	tell_mode(r, r->at);
	tip(r, r->at, false);
}

static void do_far(struct run *r)
{
	uint32_t to = anywhere(r);

	if (chance(r, 4)) {
		paging(r);
	}
	if (chance(r, 8)) {
		vmcs(r);
	}
	if (chance(r, 10)) {
		leave(r, ELSEWHERE, chance(r, 2));
		return;
	}
	tell_mode(r, to);
	tip(r, to, false);
}

/* PTWRITE's packet has its IP or not. */
static void do_ptwrite(struct run *r)
{
	bool has_ip = chance(r, 2);
	uint8_t size = (uint8_t)pick(r, 2);
	uint64_t ip = ip_of(r, r->at);

	packet_with(r, SONDE_PT_PTW,
	        size == 0 ? pick(r, 1u << 31) : (uint64_t)pick(r, 1u << 31) << 30, size,
	        has_ip ? SONDE_PT_F_IP : 0);
	if (has_ip) {
		ip_packet(r, SONDE_PT_FUP, ip);
	}
	r->placed = r->p->way_size;
	r->at++;
}

static void execute(struct run *r)
{
	const struct program_insn *insn = here(r);
	uint32_t to;

	r->p->way[r->p->way_size++] = insn->ip;
	switch ((enum program_op)insn->op) {
	case OP_PLAIN:
	case OP_TAPE: r->at++; break;
	case OP_COND: do_cond(r, insn); break;
	case OP_JUMP:
	case OP_CALL_NEXT: go(r, insn->target); break;
	case OP_CALL:
		if (!(r->p->filters != 0 && function_of(r, insn->target)->outside)) {
			push(r, r->at + 1);
		}
		go(r, insn->target);
		break;
	case OP_JUMP_IND:
		to = near_block(r, r->at);
		tape(r, ip_of(r, to), 8);
		tip(r, to, true);
		break;
	case OP_CALL_IND: do_call_ind(r, insn); break;
	case OP_RET: do_near_ret(r); break;
	case OP_RET_ANYWHERE:
		to = near_block(r, r->at);
		tape(r, ip_of(r, to), 8);
		do_ret(r, to);
		break;
	case OP_SYSCALL: do_syscall(r); break;
	case OP_FAR: do_far(r); break;
	case OP_PTWRITE: do_ptwrite(r); break;
	case OP_MOV_CR3:
		r->at++;
		paging(r);
		r->placed = r->p->way_size;
		r->behind_special = true;
		break;
	case OP_VMPTRLD:
		r->at++;
		vmcs(r);
		r->placed = r->p->way_size;
		r->behind_special = true;
		break;
	}
}

/* Events between two instructions. */

static void interrupt(struct run *r)
{
	uint32_t to = anywhere(r);

	ip_packet(r, SONDE_PT_FUP, ip_of(r, r->at));
	if (chance(r, 4)) {
		paging(r);
	}
	if (chance(r, 8)) {
		vmcs(r);
	}
	tell_mode(r, to);
	tip(r, to, false);
}

/* Tracing goes off, and on again there or elsewhere. */
static void pause_tracing(struct run *r)
{
	uint32_t back = r->p->real || chance(r, 2) ? r->at : anywhere(r);

	ip_packet(r, SONDE_PT_FUP, ip_of(r, r->at));
	if (chance(r, 2)) {
		no_ip_packet(r, SONDE_PT_TIP_PGD);
	} else {
		ip_packet(r, SONDE_PT_TIP_PGD, ELSEWHERE);
	}
	while_off(r);
	enable(r, back);
}

static void overflow(struct run *r)
{
	packet(r, SONDE_PT_OVF, 0, 0);
	r->last_ip = 0;
	r->p->way_size = r->placed; /* later packets are lost */
	r->pops.n = 0;
	r->keeps.n = 0;
	r->speculative = false;
	if (chance(r, 3)) {
		enable(r, anywhere(r));
		return;
	}
	do {
		r->at = anywhere(r);
	} while (function_of(r, r->at)->mode != r->told_mode);
	ip_packet(r, SONDE_PT_FUP, ip_of(r, r->at));
}

static void transaction(struct run *r)
{
	if (!r->speculative) {
		packet(r, SONDE_PT_MODE_TSX, SONDE_PT_TSX_IN, 0);
		ip_packet(r, SONDE_PT_FUP, ip_of(r, r->at));
		r->speculative = true;
		return;
	}
	r->speculative = false;
	if (chance(r, 2)) {
		packet(r, SONDE_PT_MODE_TSX, 0, 0);
		ip_packet(r, SONDE_PT_FUP, ip_of(r, r->at));
		return;
	}
	packet(r, SONDE_PT_MODE_TSX, SONDE_PT_TSX_ABORT, 0);
	interrupt(r);
}

static void power(struct run *r)
{
	switch (pick(r, 4)) {
	case 0:
		packet(r, SONDE_PT_MWAIT, pick(r, 256), pick(r, 4));
		packet_with(r, SONDE_PT_EXSTOP, 0, 0, SONDE_PT_F_IP);
		ip_packet(r, SONDE_PT_FUP, ip_of(r, r->at));
		if (chance(r, 2)) {
			packet(r, SONDE_PT_PWRE, 1 + pick(r, 7), pick(r, 4));
		}
		if (chance(r, 2)) {
			packet_with(r, SONDE_PT_PWRX, 1 + pick(r, 7), 1, 0);
		}
		break;
	case 1:
		packet_with(r, SONDE_PT_EXSTOP, 0, 0, SONDE_PT_F_IP);
		ip_packet(r, SONDE_PT_FUP, ip_of(r, r->at));
		break;
	case 2: packet(r, SONDE_PT_EXSTOP, 0, 0); break;
	default:
		packet_with(r, SONDE_PT_PWRE, 1 + pick(r, 7), 0, chance(r, 2) ? SONDE_PT_F_HW : 0);
		break;
	}
}

static void event(struct run *r)
{
	uint32_t what = pick(r, 20);

	if (what < 6) {
		time_packet(r);
	} else if (what < 9) {
		sync(r, true);
	} else if (what < 12) {
		pause_tracing(r);
	} else if (r->p->real) {
		return;
	} else if (what < 14) {
		interrupt(r);
	} else if (what < 15) {
		overflow(r);
	} else if (what < 17) {
		transaction(r);
	} else if (what < 18) {
		power(r);
	} else if (what < 19) {
		packet(r, SONDE_PT_CBR, 8 + pick(r, 30), 0);
	} else {
		packet(r, SONDE_PT_MNT, (uint64_t)pick(r, 1u << 31) << 20, 0);
	}
}

void program_run(struct program *p)
{
	struct run r = {.p = p, .tsc = 0x1d562f6c000, .cr3 = 0x2000};
	uint32_t events = 4 + pick(&r, 40);

	r.compresses = !chance(&r, 4);
	p->pops_always = p->real || chance(&r, 8);
	r.way_max = 200 + pick(&r, p->real ? 3000 : 1000);
	if (chance(&r, 2)) {
		sync(&r, true);
	} else {
		sync(&r, false);
		enable(&r, 0);
	}
	while (p->way_size < r.way_max && p->trace_size < PROGRAM_TRACE - 4096) {
		if (chance(&r, events)) {
			event(&r);
		}
		execute(&r);
	}
	flush(&r);
	ip_packet(&r, SONDE_PT_FUP, ip_of(&r, r.at));
	no_ip_packet(&r, SONDE_PT_TIP_PGD);
}
