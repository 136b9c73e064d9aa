/* SPDX-License-Identifier: MIT */
/*
 * Generates a program and an Intel PT trace of it: pt_gen BRANCHES CODE TRACE [SEED [PSB]].
 *
 * CODE is for address 0x401000. It has some thousand blocks in 400 functions: conditional branches
 * (a fifth is random, the others mostly go one way), direct and indirect calls and jumps, returns.
 * The trace has compressed returns, MTCs, and a PSB about every PSB bytes (16 KiB). Prints the
 * expected counts.
 */
#include <endian.h>
#include <sonde/pt_packet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE      0x401000u
#define FUNCTIONS 400u
#define BLOCKS    24u /* in a function, at most */
#define DEPTH     60u
#define PSB_EVERY 16384u
#define CODE_MAX  (FUNCTIONS * BLOCKS * 64u)

enum term { COND, JUMP, CALL, CALL_IND, JUMP_IND, RET };

struct block {
	uint32_t ip, insns, target; /* target: a block; for calls the first of `function` */
	uint32_t function;
	uint8_t term, lean; /* lean: the branch is taken with probability lean / 256 */
};

struct program {
	struct block blocks[FUNCTIONS * BLOCKS];
	uint32_t first[FUNCTIONS + 1]; /* the first block of each function */
	uint32_t count;
	uint8_t code[CODE_MAX];
	uint32_t size;
	uint64_t random;
};

static uint32_t pick(struct program *p, uint32_t n)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (uint32_t)((p->random >> 32) % n);
}

static uint8_t pick_term(struct program *p)
{
	uint32_t kind = pick(p, 100);

	if (kind < 66) {
		return COND;
	}
	if (kind < 74) {
		return JUMP;
	}
	if (kind < 92) {
		return CALL;
	}
	return kind < 97 ? CALL_IND : JUMP_IND;
}

/* The target of a branch: forward in the function, except for some loops. */
static void pick_target(struct program *p, uint32_t f, uint32_t n, struct block *b)
{
	b->target = p->first[f] + pick(p, n);
	if (b->target <= p->count && (b->term != COND || pick(p, 4) != 0)) {
		b->target = p->count + 1;
	}
	if (b->target <= p->count) {
		b->lean = 200;
	}
}

static void pick_callee(struct program *p, uint32_t f, struct block *b)
{
	b->target = f == 0 ? 1 + pick(p, FUNCTIONS - 1) : f + 8 + pick(p, 40);
	if (b->target >= FUNCTIONS) {
		b->term = COND;
		b->target = p->count + 1;
	}
}

static void shape_block(struct program *p, uint32_t f, uint32_t n, uint32_t i)
{
	struct block *b = &p->blocks[p->count];

	b->insns = 1 + pick(p, 6);
	b->term = pick_term(p);
	if (f == 0) {
		b->term = i % 2 == 0 ? CALL : CALL_IND;
	}
	b->lean = pick(p, 2) != 0 ? 250 : 6;
	if (pick(p, 5) == 0) {
		b->lean = 128;
	}
	if (b->term == CALL || b->term == CALL_IND) {
		pick_callee(p, f, b);
	} else {
		pick_target(p, f, n, b);
	}
}

static void shape(struct program *p)
{
	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		uint32_t n = 6 + pick(p, BLOCKS - 6);

		p->first[f] = p->count;
		for (uint32_t i = 0; i < n; i++, p->count++) {
			shape_block(p, f, n, i);
		}
		p->blocks[p->count - 1].term = f == 0 ? JUMP : RET;
		p->blocks[p->count - 1].target = 0;
	}
	p->first[FUNCTIONS] = p->count;
	for (uint32_t i = 0; i < p->count; i++) {
		struct block *b = &p->blocks[i];

		if (b->term == CALL || b->term == CALL_IND) {
			b->function = b->target;
			b->target = p->first[b->target];
		}
	}
}

static void put(struct program *p, const void *bytes, uint32_t n)
{
	if (n > CODE_MAX - p->size) {
		abort();
	}
	memcpy(p->code + p->size, bytes, n);
	p->size += n;
}

static void fill(struct program *p, uint32_t insns)
{
	static const struct {
		uint8_t n, bytes[7];
	} fillers[] = {{1, {0x90}}, {3, {0x48, 0x89, 0xc1}}, {4, {0x0f, 0x1f, 0x40, 0x00}},
	        {6, {0x48, 0x05, 1, 0, 0, 0}}, {3, {0x83, 0xc0, 0x01}}, {2, {0x85, 0xc0}}};

	while (insns-- > 1) {
		uint32_t k = pick(p, 6);

		put(p, fillers[k].bytes, fillers[k].n);
	}
}

/* Emits the code twice, as the first pass yields the addresses of blocks. */
static void assemble(struct program *p, uint64_t random)
{
	static const uint8_t sizes[] = {[COND] = 6, [JUMP] = 5, [CALL] = 5};

	p->random = random;
	p->size = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		struct block *b = &p->blocks[i];
		uint8_t bytes[6] = {0x0f, 0x84};
		uint32_t disp;

		b->ip = BASE + p->size;
		fill(p, b->insns);
		if (b->term == RET || b->term == CALL_IND || b->term == JUMP_IND) {
			static const uint8_t others[][2] = {[CALL_IND] = {0xff, 0xd0},
			        [JUMP_IND] = {0xff, 0xe0},
			        [RET] = {0xc3}};

			put(p, others[b->term], b->term == RET ? 1 : 2);
			continue;
		}
		bytes[0] = b->term == COND ? 0x0f : b->term == JUMP ? 0xe9 : 0xe8;
		disp = htole32(p->blocks[b->target].ip - (BASE + p->size + sizes[b->term]));
		memcpy(bytes + sizes[b->term] - 4, &disp, 4);
		put(p, bytes, sizes[b->term]);
	}
}

struct run {
	struct program *program;
	struct sonde_pt_encoder *encoder;
	uint32_t stack[DEPTH]; /* blocks after calls */
	uint32_t depth, since_psb; /* since_psb: calls whose returns may be compressed */
	uint64_t insns, branches, taken, tnt, tips, tsc;
	size_t next_psb;
};

static void packet(struct run *r, uint8_t kind, uint64_t value, uint64_t extra)
{
	const struct sonde_pt_packet p = {.kind = kind, .value = value, .extra = extra};

	(void)sonde_pt_encoder_packet(r->encoder, &p);
}

static void sync(struct run *r, uint64_t ip)
{
	packet(r, SONDE_PT_PSB, 0, 0);
	packet(r, SONDE_PT_TSC, r->tsc, 0);
	packet(r, SONDE_PT_TMA, r->tsc & 0xffff, 0);
	packet(r, SONDE_PT_CBR, 20, 0);
	packet(r, SONDE_PT_MODE_EXEC, SONDE_PT_EXEC_CS_L, 0);
	if (ip != 0) {
		(void)sonde_pt_encoder_ip(r->encoder, SONDE_PT_FUP, ip);
	}
	packet(r, SONDE_PT_PSBEND, 0, 0);
	r->since_psb = 0;
}

static uint32_t ret(struct run *r)
{
	uint32_t to = r->stack[--r->depth];

	if (r->since_psb != 0) {
		r->since_psb--;
		r->tnt++;
		(void)sonde_pt_encoder_tnt(r->encoder, true);
	} else {
		r->tips++;
		(void)sonde_pt_encoder_ip(r->encoder, SONDE_PT_TIP, r->program->blocks[to].ip);
	}
	return to;
}

static uint32_t call(struct run *r, uint32_t at, const struct block *b)
{
	if (r->depth == DEPTH) { /* impossible, as functions only call later ones */
		abort();
	}
	r->stack[r->depth++] = at + 1;
	r->since_psb++;
	if (b->term == CALL_IND) { /* one of eight functions */
		uint32_t f = b->function + pick(r->program, 8);
		uint32_t to = r->program->first[f < FUNCTIONS ? f : FUNCTIONS - 1];

		r->tips++;
		(void)sonde_pt_encoder_ip(r->encoder, SONDE_PT_TIP, r->program->blocks[to].ip);
		return to;
	}
	return b->target;
}

static uint32_t execute(struct run *r, uint32_t at)
{
	const struct block *b = &r->program->blocks[at];
	bool taken = true;

	r->insns += b->insns;
	r->branches++;
	if (b->term == COND) {
		taken = pick(r->program, 256) < b->lean;
		r->tnt++;
		(void)sonde_pt_encoder_tnt(r->encoder, taken);
	} else if (b->term == JUMP_IND) {
		r->tips++;
		(void)sonde_pt_encoder_ip(
		        r->encoder, SONDE_PT_TIP, r->program->blocks[b->target].ip);
	}
	r->taken += taken;
	if (b->term == RET) {
		return ret(r);
	}
	if (b->term == CALL || b->term == CALL_IND) {
		return call(r, at, b);
	}
	return taken ? b->target : at + 1;
}

static bool save(const char *path, const void *data, size_t n)
{
	FILE *out = fopen(path, "wb");
	bool good = out != NULL && fwrite(data, 1, n, out) == n;

	return out != NULL && fclose(out) == 0 && good;
}

int main(int argc, char **argv)
{
	struct program *p = calloc(1, sizeof(*p));
	struct run r = {.program = p, .encoder = sonde_pt_encoder_new(false), .tsc = 0x1d562f6c000};
	uint64_t n = argc > 3 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t psb = argc > 5 ? strtoull(argv[5], NULL, 10) : PSB_EVERY;
	uint32_t at = 0;
	const uint8_t *bytes;
	size_t size;

	if (n == 0 || p == NULL || r.encoder == NULL) {
		(void)fprintf(stderr, "usage: pt_gen BRANCHES CODE TRACE [SEED [PSB]]\n");
		sonde_pt_encoder_free(r.encoder);
		free(p);
		return 1;
	}
	p->random = argc > 4 ? strtoull(argv[4], NULL, 10) : 88172645463325252ULL;
	shape(p);
	assemble(p, 1);
	assemble(p, 1);
	sync(&r, 0);
	(void)sonde_pt_encoder_ip(r.encoder, SONDE_PT_TIP_PGE, p->blocks[0].ip);
	r.next_psb = psb;
	while (r.branches < n) {
		at = execute(&r, at);
		r.tsc += 3;
		if (r.branches % 256 == 0) {
			packet(&r, SONDE_PT_MTC, r.tsc >> 9 & 0xff, 0);
		}
		if (r.branches % 64 == 0 && sonde_pt_encoder_bytes(r.encoder, &bytes, &size) == 0 &&
		        size >= r.next_psb) {
			r.next_psb = size + psb;
			sync(&r, p->blocks[at].ip);
		}
	}
	(void)sonde_pt_encoder_ip(r.encoder, SONDE_PT_FUP, p->blocks[at].ip);
	packet(&r, SONDE_PT_TIP_PGD, 0, 0);
	if (sonde_pt_encoder_bytes(r.encoder, &bytes, &size) != 0 ||
	        !save(argv[2], p->code, p->size) || !save(argv[3], bytes, size)) {
		(void)fprintf(stderr, "pt_gen: cannot write\n");
		return 1;
	}
	(void)printf(
	        "insn:\t%llu\nbranches:\t%llu\ntaken:\t%llu\ntnt:\t%llu\ntip:\t%llu\nbytes:\t%zu\n",
	        (unsigned long long)r.insns, (unsigned long long)r.branches,
	        (unsigned long long)r.taken, (unsigned long long)r.tnt, (unsigned long long)r.tips,
	        size);
	sonde_pt_encoder_free(r.encoder);
	free(p);
	return 0;
}
