/* SPDX-License-Identifier: MIT */
/* Generates the code of a program. */
#include "tests/pt/program.h"

#include <stdlib.h>
#include <string.h>

enum { M16 = 1, M32 = 2, M64 = 4, RUNS = 8 }; /* modes of the bytes; RUNS: executable */

struct piece {
	uint8_t size, modes, op;
	uint8_t bytes[12];
};

/* Instructions that are no branches. Those with RUNS do not change rsi, rsp and memory. */
static const struct piece plain[] = {
        {1, M16 | M32 | M64 | RUNS, OP_PLAIN, {0x90}},
        {2, M16 | M32 | M64 | RUNS, OP_PLAIN, {0x89, 0xc1}},
        {3, M64 | RUNS, OP_PLAIN, {0x48, 0x89, 0xc1}},
        {3, M16 | M32 | M64 | RUNS, OP_PLAIN, {0x83, 0xc0, 0x01}},
        {2, M16 | M32 | M64 | RUNS, OP_PLAIN, {0x85, 0xc0}},
        {4, M32 | M64 | RUNS, OP_PLAIN, {0x0f, 0x1f, 0x40, 0x00}},
        {6, M32 | M64 | RUNS, OP_PLAIN, {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
        {9, M32 | M64 | RUNS, OP_PLAIN, {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}},
        {4, M16 | M32 | M64 | RUNS, OP_PLAIN, {0xf3, 0x0f, 0x1e, 0xfa}},
        {10, M64 | RUNS, OP_PLAIN, {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}},
        {5, M32 | M64 | RUNS, OP_PLAIN, {0xb8, 1, 0, 0, 0}}, {3, M16, OP_PLAIN, {0xb8, 1, 0}},
        {6, M16, OP_PLAIN, {0x66, 0xb8, 1, 0, 0, 0}},
        {4, M32 | M64 | RUNS, OP_PLAIN, {0x66, 0xb8, 1, 0}},
        {6, M64 | RUNS, OP_PLAIN, {0x48, 0x05, 1, 0, 0, 0}}, {5, M32, OP_PLAIN, {0x05, 1, 0, 0, 0}},
        {3, M16, OP_PLAIN, {0x05, 1, 0}}, {6, M32 | M64 | RUNS, OP_PLAIN, {0x69, 0xc0, 7, 0, 0, 0}},
        {4, M16, OP_PLAIN, {0x69, 0xc0, 7, 0}},
        {3, M16 | M32 | M64 | RUNS, OP_PLAIN, {0xc1, 0xe0, 0x03}},
        {3, M16 | M32 | M64 | RUNS, OP_PLAIN, {0x0f, 0xaf, 0xc1}},
        {4, M64 | RUNS, OP_PLAIN, {0x48, 0x0f, 0xa3, 0xc8}},
        {3, M16 | M32 | M64, OP_PLAIN, {0x8b, 0x45, 0xf8}},
        {6, M32 | M64, OP_PLAIN, {0x8b, 0x80, 0x00, 0x10, 0, 0}},
        {4, M16, OP_PLAIN, {0x8b, 0x80, 0x00, 0x10}},
        {7, M32 | M64, OP_PLAIN, {0x8b, 0x84, 0x88, 0, 1, 0, 0}},
        {7, M64, OP_PLAIN, {0x48, 0x8b, 0x05, 0, 1, 0, 0}},
        {4, M16, OP_PLAIN, {0x8b, 0x06, 0x00, 0x10}}, {5, M32, OP_PLAIN, {0xa1, 0, 0x10, 0, 0}},
        {3, M16, OP_PLAIN, {0xa1, 0, 0x10}}, {9, M64, OP_PLAIN, {0xa1, 0, 0x10, 0, 0, 0, 0, 0, 0}},
        {4, M32, OP_PLAIN, {0x67, 0xa1, 0, 0x10}}, {6, M64, OP_PLAIN, {0x67, 0xa1, 0, 0x10, 0, 0}},
        {4, M16 | M32 | M64, OP_PLAIN, {0xc8, 0x10, 0, 0}}, {1, M16 | M32, OP_PLAIN, {0x40}},
        {2, M16 | M32, OP_PLAIN, {0xd4, 0x0a}}, {3, M16 | M32, OP_PLAIN, {0xc4, 0x46, 0x08}},
        {3, M16 | M32, OP_PLAIN, {0xc5, 0x45, 0x08}}, {3, M16 | M32, OP_PLAIN, {0x62, 0x45, 0x08}},
        {4, M64, OP_PLAIN, {0xc5, 0xf8, 0x28, 0xc1}},
        {5, M64, OP_PLAIN, {0xc4, 0xe2, 0x79, 0x18, 0xc0}},
        {6, M64, OP_PLAIN, {0x62, 0xf1, 0x7c, 0x48, 0x28, 0xc1}},
        {7, M64, OP_PLAIN, {0x62, 0xf1, 0x7c, 0x48, 0x28, 0x40, 0x01}},
        {5, M16 | M32 | M64, OP_PLAIN, {0xf0, 0x0f, 0xb1, 0x48, 0x08}},
        {2, M16 | M32 | M64, OP_PLAIN, {0xf3, 0xa4}}, {1, M16 | M32 | M64, OP_PLAIN, {0x50}},
        {2, M16 | M32 | M64, OP_PLAIN, {0x0f, 0xa2}}, {2, M16 | M32 | M64, OP_PLAIN, {0x0f, 0x31}},
        {6, M32 | M64, OP_PLAIN, {0xc7, 0xf8, 0, 0, 0, 0}}, /* xbegin */
        {4, M16, OP_PLAIN, {0xc7, 0xf8, 0, 0}},
        {3, M16 | M32 | M64, OP_PLAIN, {0x0f, 0x01, 0xd5}}, /* xend */
};

/* Instructions that packets are bound to, and far branches. */
static const struct piece special[] = {
        {4, M16 | M32 | M64, OP_PTWRITE, {0xf3, 0x0f, 0xae, 0xe0}},
        {5, M64, OP_PTWRITE, {0xf3, 0x48, 0x0f, 0xae, 0xe1}},
        {3, M16 | M32 | M64, OP_MOV_CR3, {0x0f, 0x22, 0xd8}},
        {3, M32 | M64, OP_VMPTRLD, {0x0f, 0xc7, 0x30}},
        {4, M64, OP_VMPTRLD, {0x0f, 0xc7, 0x75, 0x08}},
};

static const struct piece far_ones[] = {
        {2, M16 | M32 | M64, OP_FAR, {0xcd, 0x80}},
        {1, M16 | M32 | M64, OP_FAR, {0xcc}},
        {1, M16 | M32, OP_FAR, {0xce}},
        {1, M16 | M32 | M64, OP_FAR, {0xcb}},
        {2, M64, OP_FAR, {0x48, 0xcb}},
        {3, M16 | M32 | M64, OP_FAR, {0xca, 0x08, 0}},
        {1, M16 | M32 | M64, OP_FAR, {0xcf}},
        {2, M64, OP_FAR, {0x48, 0xcf}},
        {2, M16 | M32 | M64, OP_FAR, {0xff, 0x18}},
        {2, M16 | M32 | M64, OP_FAR, {0xff, 0x28}},
        {3, M64, OP_FAR, {0x48, 0xff, 0x18}},
        {7, M32, OP_FAR, {0x9a, 0, 0, 0, 0, 8, 0}},
        {5, M16, OP_FAR, {0x9a, 0, 0, 8, 0}},
        {7, M32, OP_FAR, {0xea, 0, 0, 0, 0, 8, 0}},
        {5, M16, OP_FAR, {0xea, 0, 0, 8, 0}},
        {2, M64, OP_FAR, {0x0f, 0x05}},
        {2, M32 | M64, OP_FAR, {0x0f, 0x34}},
        {2, M32 | M64, OP_FAR, {0x0f, 0x35}},
        {2, M64, OP_FAR, {0x0f, 0x07}},
        {3, M64, OP_FAR, {0x48, 0x0f, 0x07}},
        {3, M32 | M64, OP_FAR, {0x0f, 0x01, 0xc1}},
        {3, M32 | M64, OP_FAR, {0x0f, 0x01, 0xc2}},
        {3, M32 | M64, OP_FAR, {0x0f, 0x01, 0xc3}},
};

static const struct piece rets[] = {
        {1, M16 | M32 | M64 | RUNS, OP_RET, {0xc3}},
        {2, M16 | M32 | M64 | RUNS, OP_RET, {0xf3, 0xc3}},
        {3, M16 | M32 | M64 | RUNS, OP_RET, {0xc2, 0, 0}},
};

static const struct piece jumps_ind[] = {
        {2, M16 | M32 | M64 | RUNS, OP_JUMP_IND, {0xff, 0xe0}},
        {3, M32 | M64 | RUNS, OP_JUMP_IND, {0x3e, 0xff, 0xe0}},
        {3, M64 | RUNS, OP_JUMP_IND, {0xff, 0x66, 0xf8}}, /* an address from the tape */
        {6, M32 | M64, OP_JUMP_IND, {0xff, 0x25, 0, 0, 0, 0}},
        {4, M16, OP_JUMP_IND, {0xff, 0x26, 0, 0}},
};

static const struct piece calls_ind[] = {
        {2, M16 | M32 | M64 | RUNS, OP_CALL_IND, {0xff, 0xd0}},
        {3, M64 | RUNS, OP_CALL_IND, {0xff, 0x56, 0xf8}},
        {3, M32 | M64, OP_CALL_IND, {0xf2, 0xff, 0xd0}},
        {3, M16 | M32 | M64, OP_CALL_IND, {0xff, 0x50, 0x08}},
};

#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

uint32_t program_pick(struct program *p, uint32_t n)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (uint32_t)((p->random >> 32) % n);
}

static struct program_function *current(struct program *p)
{
	return &p->functions[p->nfunctions];
}

static struct program_insn *put(struct program *p, uint8_t op, const uint8_t *bytes, uint8_t size)
{
	struct program_insn *insn = &p->insns[p->count++];

	if (p->count == PROGRAM_INSNS) {
		abort();
	}
	*insn = (struct program_insn){
	        .op = op, .size = size, .target = PROGRAM_NONE, .function = (uint8_t)p->nfunctions};
	memcpy(insn->bytes, bytes, size);
	return insn;
}

static void put_one_of(struct program *p, const struct piece *pieces, uint32_t n)
{
	unsigned mode = current(p)->mode;
	unsigned wanted = p->real ? RUNS : mode == 16 ? M16 : mode == 32 ? M32 : M64;

	for (;;) {
		const struct piece *piece = &pieces[program_pick(p, n)];

		if (piece->modes & wanted) {
			(void)put(p, piece->op, piece->bytes, piece->size);
			return;
		}
	}
}

/* Bytes before the displacement, which is long, or has one byte. */
static void put_relative(struct program *p, uint8_t op, unsigned cc, bool is_long)
{
	uint8_t bytes[2] = {0};
	uint8_t size = 1;
	struct program_insn *insn;

	if (op == OP_JUMP) {
		bytes[0] = is_long ? 0xe9 : 0xeb;
	} else if (op == OP_CALL || op == OP_CALL_NEXT) {
		bytes[0] = 0xe8;
		is_long = true;
	} else if (cc >= 16) {
		bytes[0] = (uint8_t)(0xe0 + cc - 16);
		is_long = false;
	} else if (is_long) {
		bytes[0] = 0x0f;
		bytes[1] = (uint8_t)(0x80 + cc);
		size = 2;
	} else {
		bytes[0] = (uint8_t)(0x70 + cc);
	}
	insn = put(p, op, bytes, size);
	insn->rel = 1;
	if (is_long) {
		insn->rel = current(p)->mode == 16 ? 2 : 4;
	}
	insn->size = (uint8_t)(insn->size + insn->rel);
	insn->cc = (uint8_t)cc;
}

/* lodsb; then flags from al: mov ah,al; test al,al; sahf. */
static void put_flags(struct program *p)
{
	(void)put(p, OP_TAPE, (const uint8_t[]){0xac}, 1);
	(void)put(p, OP_PLAIN, (const uint8_t[]){0x88, 0xc4}, 2);
	(void)put(p, OP_PLAIN, (const uint8_t[]){0x84, 0xc0}, 2);
	(void)put(p, OP_PLAIN, (const uint8_t[]){0x9e}, 1);
}

/* lodsb; movzx ecx,al. */
static void put_count(struct program *p)
{
	(void)put(p, OP_TAPE, (const uint8_t[]){0xac}, 1);
	(void)put(p, OP_PLAIN, (const uint8_t[]){0x0f, 0xb6, 0xc8}, 3);
}

static void put_cond(struct program *p)
{
	unsigned cc = program_pick(p, 8) == 0 ? 16 + program_pick(p, 4) : program_pick(p, 16);

	if (p->real && cc >= 16) {
		cc = cc < 18 ? 18 : cc; /* loop and jrcxz: no flags */
		put_count(p);
	} else if (p->real) {
		put_flags(p);
	}
	put_relative(p, OP_COND, cc, program_pick(p, 2) != 0);
}

static void put_indirect(struct program *p, const struct piece *pieces, uint32_t n)
{
	if (p->real) {
		(void)put(p, OP_TAPE, (const uint8_t[]){0x48, 0xad}, 2); /* lodsq */
	}
	put_one_of(p, pieces, n);
}

/* A return to an address from the tape. */
static void put_ret_anywhere(struct program *p)
{
	if (p->real) {
		(void)put(p, OP_TAPE, (const uint8_t[]){0x48, 0xad}, 2);
		(void)put(p, OP_PLAIN, (const uint8_t[]){0x50}, 1); /* push rax */
	}
	(void)put(p, OP_RET_ANYWHERE, (const uint8_t[]){0xc3}, 1);
}

/* mov eax, 39 (getpid); syscall. */
static void put_syscall(struct program *p)
{
	if (p->real) {
		(void)put(p, OP_PLAIN, (const uint8_t[]){0xb8, 39, 0, 0, 0}, 5);
	}
	(void)put(p, OP_SYSCALL, (const uint8_t[]){0x0f, 0x05}, 2);
}

static void put_last(struct program *p, bool is_main)
{
	if (is_main) {
		put_indirect(p, jumps_ind, COUNT(jumps_ind));
	} else if (!p->real && program_pick(p, 6) == 0) {
		put_one_of(p, far_ones, COUNT(far_ones));
	} else {
		put_one_of(p, rets, COUNT(rets));
	}
}

static void put_end_of_block(struct program *p, bool may_call)
{
	uint32_t what = program_pick(p, 100);

	if (what < 10) {
		put_relative(p, OP_JUMP, 0, program_pick(p, 2) != 0);
	} else if (what < 27 && may_call) {
		put_relative(p, OP_CALL, 0, true);
	} else if (what < 35 && may_call) {
		put_indirect(p, calls_ind, COUNT(calls_ind));
	} else if (what < 41) {
		put_indirect(p, jumps_ind, COUNT(jumps_ind));
	} else if (what < 43) {
		put_relative(p, OP_CALL_NEXT, 0, true);
		if (p->real) {
			(void)put(p, OP_PLAIN, (const uint8_t[]){0x58}, 1); /* pop rax */
		}
	} else if (what < 45) {
		put_ret_anywhere(p);
	} else if (what < 48 && current(p)->mode == 64) {
		put_syscall(p);
	} else if (what < 52 && !p->real) {
		put_one_of(p, far_ones, COUNT(far_ones));
	} else {
		put_cond(p);
	}
}

static void put_block(struct program *p, bool is_last, bool is_main, bool may_call)
{
	uint32_t first = p->count;
	uint32_t n = program_pick(p, 6);

	for (uint32_t i = 0; i < n; i++) {
		if (!p->real && program_pick(p, 30) == 0) {
			put_one_of(p, special, COUNT(special));
		} else {
			put_one_of(p, plain, COUNT(plain));
		}
	}
	if (is_last) {
		put_last(p, is_main);
	} else {
		put_end_of_block(p, may_call);
	}
	p->insns[first].starts = true;
}

static void put_function(struct program *p, bool may_call)
{
	struct program_function *f = current(p);
	uint32_t blocks = 3 + program_pick(p, 12);

	f->first = p->count;
	for (uint32_t i = 0; i < blocks; i++) {
		put_block(p, i + 1 == blocks, p->nfunctions == 0, may_call);
	}
	f->end = p->count;
	p->nfunctions++;
}

/* A block of the function, before `from` or anywhere. */
static uint32_t pick_block(struct program *p, const struct program_function *f, uint32_t from)
{
	uint32_t found = PROGRAM_NONE;
	uint32_t seen = 0;

	for (uint32_t i = from; i < f->end; i++) {
		if (p->insns[i].starts && program_pick(p, ++seen) == 0) {
			found = i;
		}
	}
	return found;
}

/* Direct jumps and calls lead forward, so that code without a packet ends. */
static void aim(struct program *p, uint32_t i)
{
	struct program_insn *insn = &p->insns[i];
	const struct program_function *f = &p->functions[insn->function];
	uint32_t found = PROGRAM_NONE;
	uint32_t seen = 0;

	if (insn->op == OP_COND) {
		insn->target = pick_block(p, f, f->first);
	} else if (insn->op == OP_JUMP) {
		insn->target = pick_block(p, f, i + 1);
	} else if (insn->op == OP_CALL_NEXT) {
		insn->target = i + 1;
	} else if (insn->op == OP_CALL) {
		for (unsigned k = insn->function + 1u; k < p->nfunctions; k++) {
			if (p->functions[k].region == f->region && program_pick(p, ++seen) == 0) {
				found = p->functions[k].first;
			}
		}
		insn->target = found;
	}
}

/* Sets the addresses of a region's instructions, one function after the other. */
static void lay_out(struct program *p)
{
	uint64_t at[PROGRAM_REGIONS];

	for (unsigned i = 0; i < PROGRAM_REGIONS; i++) {
		at[i] = p->regions[i].base;
	}
	for (uint32_t i = 0; i < p->count; i++) {
		struct program_insn *insn = &p->insns[i];
		unsigned region = p->functions[insn->function].region;

		insn->ip = at[region];
		at[region] += insn->size;
	}
	for (unsigned i = 0; i < PROGRAM_REGIONS; i++) {
		p->regions[i].size = at[i] - p->regions[i].base;
		if (p->regions[i].size > PROGRAM_CODE - 16) {
			abort();
		}
	}
}

static int64_t displacement(const struct program *p, const struct program_insn *insn)
{
	return (int64_t)(p->insns[insn->target].ip - (insn->ip + insn->size));
}

/* loop and jcxz have no long form: they become je, and the decrement becomes test al,al. */
static void lengthen_cond(struct program *p, uint32_t i)
{
	struct program_insn *insn = &p->insns[i];

	if (insn->cc >= 16 && p->real) {
		p->insns[i - 1].size = 2;
		memcpy(p->insns[i - 1].bytes, (const uint8_t[]){0x84, 0xc0}, 2);
	}
	insn->cc = insn->cc >= 16 ? 20 : insn->cc;
	insn->bytes[0] = 0x0f;
	insn->bytes[1] = (uint8_t)(0x80 + (insn->cc == 20 ? 4 : insn->cc));
	insn->size = 2;
}

/* Replaces short branches that cannot reach their target by long ones; true: there was one. */
static bool stretch(struct program *p)
{
	bool changed = false;

	for (uint32_t i = 0; i < p->count; i++) {
		struct program_insn *insn = &p->insns[i];
		unsigned mode = p->functions[insn->function].mode;
		int64_t disp = insn->rel == 1 ? displacement(p, insn) : 0;

		if (disp >= -128 && disp <= 127) {
			continue;
		}
		changed = true;
		if (insn->op == OP_COND) {
			lengthen_cond(p, i);
		} else {
			insn->bytes[0] = 0xe9;
			insn->size = 1;
		}
		insn->rel = mode == 16 ? 2 : 4;
		insn->size = (uint8_t)(insn->size + insn->rel);
	}
	return changed;
}

static void assemble(struct program *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct program_insn *insn = &p->insns[i];
		unsigned region = p->functions[insn->function].region;

		if (insn->rel != 0) {
			uint64_t disp = (uint64_t)displacement(p, insn);

			for (unsigned k = 0; k < insn->rel; k++) {
				insn->bytes[insn->size - insn->rel + k] = (uint8_t)(disp >> 8 * k);
			}
		}
		memcpy(p->regions[region].code + (insn->ip - p->regions[region].base), insn->bytes,
		        insn->size);
	}
}

/* The last function of each region is outside; filter ranges end before it. */
static void set_filters(struct program *p)
{
	for (unsigned r = 0; r < PROGRAM_REGIONS; r++) {
		struct program_function *last = NULL;

		for (unsigned i = 0; i < p->nfunctions; i++) {
			last = p->functions[i].region == r ? &p->functions[i] : last;
		}
		if (last != NULL && last != &p->functions[0]) {
			last->outside = true;
			p->filter[p->filters].first = p->regions[r].base;
			p->filter[p->filters++].last = p->insns[last->first].ip - 1;
		}
	}
}

void program_make_code(struct program *p)
{
	static const uint64_t bases[PROGRAM_REGIONS] = {
	        0x7f1234567000, 0xffffffff81000000, 0x8049000, 0x1000};
	static const uint8_t modes[PROGRAM_REGIONS] = {64, 64, 32, 16};
	unsigned regions = p->real ? 1 : 1 + program_pick(p, PROGRAM_REGIONS);
	unsigned first = p->real ? 0 : program_pick(p, PROGRAM_REGIONS);

	for (unsigned i = 0; i < PROGRAM_REGIONS; i++) {
		p->regions[i].base = bases[i];
	}
	if (p->real) { /* at unused addresses, also with sanitizers */
		p->regions[0].base = 0x500000000000;
	}
	for (unsigned i = 0; i < regions; i++) {
		unsigned functions = 3 + program_pick(p, PROGRAM_FUNCTIONS / regions - 3);

		for (unsigned k = 0; k < functions; k++) {
			current(p)->region = (uint8_t)((first + i) % PROGRAM_REGIONS);
			current(p)->mode = modes[current(p)->region];
			put_function(p, k + 1 < functions);
		}
	}
	for (uint32_t i = 0; i < p->count; i++) {
		aim(p, i);
	}
	do {
		lay_out(p);
	} while (stretch(p));
	assemble(p);
	if (!p->real && program_pick(p, 3) == 0) {
		set_filters(p);
	}
}

void program_make(struct program *p, uint64_t seed, bool real)
{
	memset(p, 0, sizeof(*p));
	p->random = seed * 0x9e3779b97f4a7c15ULL + 88172645463325252ULL;
	p->real = real;
	program_make_code(p);
	program_run(p);
}
