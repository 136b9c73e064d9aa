/* SPDX-License-Identifier: MIT */
/* Whole stacks made by hand, and expressions. */
#include "made.h"

#include "tap.h"

#define PROGRAM(text) (text), sizeof(text) - 1
#define X86_START     "\x0c\x07\x08\x90\x01"
#define STACK         0x7ffe0000u
#define WORDS         64u

/* A process with one object at its own addresses, and a stack. */
struct process {
	struct made made;
	struct unwind_table *table;
	struct unwind_cache cache;
	uint64_t words[WORDS];
	struct unwind_stack stack;
	uint64_t ips[WORDS];
	size_t n;
	uint64_t vdso; /* start of the vdso, a page; 0: none */
	uint64_t jit; /* start of code without a file, a page; 0: none */
	bool missing; /* that code has one, which was not found */
};

static int find(void *arg, uint64_t pc, struct unwind_code *out)
{
	struct process *p = arg;

	*out = (struct unwind_code){0};
	if (pc - CODE < 0x1000) {
		*out = (struct unwind_code){.table = p->table, .address = pc, .mapped = true};
	} else if (p->vdso != 0 && pc - p->vdso < 0x1000) {
		*out = (struct unwind_code){.mapped = true, .vdso = true};
	} else if (p->jit != 0 && pc - p->jit < 0x1000) {
		*out = (struct unwind_code){.mapped = true, .missing = p->missing};
	}
	return pc == 0x666 ? SONDE_ENOMEM : 0;
}

static void process_start(struct process *p, uint16_t machine, uint64_t pc)
{
	unsigned sp = machine == AARCH64 ? 31 : 7;

	p->table = made_table(&p->made, machine);
	(void)unwind_cache_init(&p->cache);
	p->stack = (struct unwind_stack){
	        .machine = machine == AARCH64 ? UNWIND_AARCH64 : UNWIND_X86_64,
	        .memory = {.address = STACK,
	                .bytes = {(const uint8_t *)p->words, sizeof(p->words)}},
	        .find = find,
	        .arg = p};
	p->stack.regs.pc = pc;
	p->stack.regs.value[sp] = STACK;
	p->stack.regs.known = (UINT64_C(1) << 32) - 1;
}

static int process_unwind(struct process *p)
{
	return unwind_stack(&p->stack, &p->cache, p->ips, WORDS, &p->n);
}

static void process_end(struct process *p)
{
	unwind_table_free(p->table);
	unwind_cache_fini(&p->cache);
}

/*
 * x86-64 code: at CODE a function without a frame, at +0x100 one with 16 bytes of locals that saved
 * rbx, at +0x200 the outermost one, at +0x300 the return from signals, at +0x400 a PLT.
 */
static void x86_code(struct made *m)
{
	/* the frame of a signal: all of rip, rsp and rbx at fixed offsets from rsp */
	static const char signal[] = "\x0f\x03\x77\x20\x06" /* CFA: [rsp + 32] */
	                             "\x10\x10\x02\x77\x28" /* rip: at rsp + 40 */
	                             "\x10\x03\x02\x77\x30"; /* rbx: at rsp + 48 */
	/* rsp + 8 + ((rip & 15) >= 11) * 8 */
	static const char plt[] = "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22";

	made_cie(m, "zR", 16, PROGRAM(X86_START));
	made_fde(m, CODE, 0x40, "", 0);
	made_fde(m, CODE + 0x100, 0x40, PROGRAM("\x0e\x20\x83\x02"));
	made_fde(m, CODE + 0x200, 0x40, PROGRAM("\x07\x10"));
	made_fde(m, CODE + 0x400, 0x40, PROGRAM(plt));
	made_cie(m, "zRS", 16, PROGRAM(X86_START));
	made_fde(m, CODE + 0x2ff, 0x10, PROGRAM(signal));
}

static void test_x86_chain(void)
{
	static struct process p;

	x86_code(&p.made);
	process_start(&p, X86_64, CODE + 4);
	p.words[0] = CODE + 0x110; /* to the function that saved rbx: CFA at words + 5 */
	p.words[3] = 0x1234;
	p.words[4] = CODE + 0x120;
	p.words[8] = CODE + 0x210;
	eq_u64(process_unwind(&p), UNWIND_END_OUTERMOST,
	        "a chain that reaches the outermost function is complete");
	ok(p.n == 4 && p.ips[0] == CODE + 4 && p.ips[1] == CODE + 0x10f &&
	                p.ips[2] == CODE + 0x11f && p.ips[3] == CODE + 0x20f,
	        "addresses are the sampled one, then those of the calls");
	p.stack.memory.bytes.n = 32;
	eq_u64(process_unwind(&p), UNWIND_END_STACK,
	        "a chain ends at the end of the copy of the stack");
	eq_u64(p.n, 2, "a chain with a short copy has the frames before its end");
	eq_u64(unwind_stack(&p.stack, &p.cache, p.ips, 1, &p.n), UNWIND_END_LIMIT,
	        "a chain ends at the maximum number of frames");
	p.stack.memory.bytes.n = sizeof(p.words);
	p.words[4] = 0x99999;
	eq_u64(process_unwind(&p), UNWIND_END_UNMAPPED, "a chain ends where nothing is mapped");
	p.words[4] = 0;
	eq_u64(process_unwind(&p), UNWIND_END_OUTERMOST,
	        "a return address of 0 is that of the outermost function");
	p.words[4] = 0x667;
	eq_u64(process_unwind(&p), SONDE_ENOMEM, "a failure to find code is returned");
	p.words[4] = CODE + 0x80;
	p.stack.regs.value[6] = 1;
	eq_u64(process_unwind(&p), UNWIND_END_TABLE,
	        "a chain ends in code without call frame information");
	p.stack.regs.value[6] = 0;
	eq_u64(process_unwind(&p), UNWIND_END_OUTERMOST,
	        "a frame pointer of 0 is that of the outermost function");
	process_end(&p);
}

static void test_x86_special_frames(void)
{
	static struct process p;

	x86_code(&p.made);
	process_start(&p, X86_64, CODE);
	p.words[0] = CODE + 0x300; /* the handler was called by the kernel */
	p.words[1 + 4] = STACK + 8 * 20;
	p.words[1 + 5] = CODE + 0x100; /* interrupted at its first instruction */
	p.words[1 + 6] = 77;
	p.words[20 + 3] = CODE + 0x210;
	eq_u64(process_unwind(&p), UNWIND_END_OUTERMOST, "a chain through a signal is complete");
	ok(p.n == 4 && p.ips[1] == CODE + 0x2ff && p.ips[2] == CODE + 0x100 &&
	                p.ips[3] == CODE + 0x20f,
	        "the address that a signal interrupted is not that of a call");
	p.stack.regs.pc = p.stack.regs.value[16] = CODE + 0x40a;
	p.words[0] = CODE + 0x210;
	p.words[1] = 5;
	eq_u64(process_unwind(&p), UNWIND_END_OUTERMOST,
	        "PLT: before the push, the return address is on top");
	eq_u64(p.ips[1], CODE + 0x20f, "PLT: its caller before the push");
	p.stack.regs.pc = p.stack.regs.value[16] = CODE + 0x40b;
	p.words[0] = 5;
	p.words[1] = CODE + 0x210;
	eq_u64(process_unwind(&p), UNWIND_END_OUTERMOST,
	        "PLT: after the push, the return address is below");
	eq_u64(p.ips[1], CODE + 0x20f, "PLT: its caller after the push");
	process_end(&p);
}

/* After pop %rbp, the row says that rbp is saved below the stack pointer, which is not copied. */
static void test_popped_register(void)
{
	static struct process p;

	made_cie(&p.made, "zR", 16, PROGRAM(X86_START));
	made_fde(
	        &p.made, CODE, 0x40, PROGRAM("\x86\x02")); /* rbp at the CFA - 16, CFA at rsp + 8 */
	made_fde(&p.made, CODE + 0x100, 0x40, PROGRAM("\x0c\x06\x10"));
	made_fde(&p.made, CODE + 0x200, 0x40, PROGRAM("\x07\x10"));
	process_start(&p, X86_64, CODE);
	p.words[0] = CODE + 0x110;
	p.stack.regs.value[6] = STACK + 40;
	p.words[6] = CODE + 0x210;
	eq_u64(process_unwind(&p), UNWIND_END_OUTERMOST,
	        "a register that was popped already keeps its value");
	eq_u64(p.n, 3, "a chain from an epilogue has all frames");
	process_end(&p);
}

static void test_frame_pointer(void)
{
	static struct process p;

	p.jit = 0x40000;
	x86_code(&p.made);
	process_start(&p, X86_64, 0x40010);
	p.stack.regs.value[6] = STACK + 16;
	p.words[2] = 0;
	p.words[3] = CODE + 0x210;
	eq_u64(process_unwind(&p), UNWIND_END_OUTERMOST,
	        "code without a file is unwound by its frame pointer");
	ok(p.n == 2 && p.ips[1] == CODE + 0x20f, "the caller of code without a file is found");
	p.missing = true;
	eq_u64(process_unwind(&p), UNWIND_END_TABLE,
	        "frame pointers are not used in code whose file was not found");
	p.missing = false;
	p.stack.regs.value[6] = STACK - 16;
	eq_u64(process_unwind(&p), UNWIND_END_TABLE,
	        "a frame pointer below the stack pointer is not followed");
	p.stack.regs.value[6] = STACK + 16;
	p.words[3] = 0x99999;
	eq_u64(process_unwind(&p), UNWIND_END_TABLE,
	        "a frame whose return address is not mapped is not followed");
	p.words[2] = STACK + 16;
	p.words[3] = 0x40020;
	eq_u64(process_unwind(&p), UNWIND_END_TABLE, "frames that point to themselves end a chain");
	process_end(&p);
}

static void test_endless(void)
{
	static struct process p;

	made_cie(&p.made, "zR", 16, PROGRAM(X86_START));
	made_fde(&p.made, CODE, 0x40, PROGRAM("\x0e\x00\x90\x00")); /* the CFA is rsp */
	process_start(&p, X86_64, CODE);
	p.words[0] = CODE + 1;
	eq_u64(process_unwind(&p), UNWIND_END_DAMAGED,
	        "a frame without bytes that is not the innermost ends a chain");
	ok(p.n == 2, "frames without bytes do not repeat");
	process_end(&p);
}

static void test_aarch64(void)
{
	static struct process p;

	made_cie(&p.made, "zR", 30, PROGRAM("\x0c\x1f\x00"));
	made_fde(&p.made, CODE, 0x40, "", 0); /* a leaf: its return address is in x30 */
	/* x29, x30 at the CFA - 32, - 24, its return address is signed */
	made_fde(&p.made, CODE + 0x100, 0x40, PROGRAM("\x2d\x0e\x20\x9d\x04\x9e\x03"));
	made_fde(&p.made, CODE + 0x200, 0x40, PROGRAM("\x07\x1e"));
	process_start(&p, AARCH64, CODE);
	p.stack.regs.value[30] = CODE + 0x110;
	p.words[1] = UINT64_C(0x5a) << 56 | (CODE + 0x210);
	eq_u64(process_unwind(&p), UNWIND_END_OUTERMOST, "aarch64: a chain is complete");
	ok(p.n == 3 && p.ips[1] == CODE + 0x10f && p.ips[2] == CODE + 0x20f,
	        "aarch64: the return address of a leaf is in x30, a signed one loses its "
	        "signature");
	process_end(&p);
}

static void test_aarch64_signal(void)
{
	static struct process p;
	static uint64_t words[128];

	p.vdso = 0x50000;
	made_cie(&p.made, "zR", 30, PROGRAM("\x0c\x1f\x00"));
	made_fde(&p.made, CODE, 0x40, "", 0);
	made_fde(&p.made, CODE + 0x200, 0x40, PROGRAM("\x07\x1e"));
	process_start(&p, AARCH64, CODE);
	p.stack.memory.bytes = (struct span){(const uint8_t *)words, sizeof(words)};
	p.stack.regs.value[30] = 0x50004;
	words[39 + 30] = CODE + 0x210; /* x30 of the interrupted leaf */
	words[39 + 31] = STACK + 1000; /* its sp */
	words[39 + 32] = CODE + 8; /* its pc */
	eq_u64(process_unwind(&p), UNWIND_END_OUTERMOST,
	        "aarch64: a chain through a signal is complete");
	ok(p.n == 4 && p.ips[1] == 0x50003 && p.ips[2] == CODE + 8 && p.ips[3] == CODE + 0x20f,
	        "aarch64: the registers of the interrupted leaf are those that the kernel saved");
	p.stack.memory.bytes.n = 560;
	eq_u64(process_unwind(&p), UNWIND_END_STACK,
	        "aarch64: a signal frame that was not copied ends a chain");
	process_end(&p);
}

static void test_registers(void)
{
	uint64_t values[33];
	struct unwind_regs regs;

	for (unsigned i = 0; i < 33; i++) {
		values[i] = 100 + i;
	}
	ok(unwind_regs_take(UNWIND_X86_64, 0xff0fff, values, &regs),
	        "the registers of --call-graph dwarf are enough");
	ok(regs.value[0] == 100 && regs.value[3] == 101 && regs.value[2] == 102 &&
	                regs.value[1] == 103 && regs.value[7] == 107 && regs.value[16] == 108 &&
	                regs.pc == 108 && regs.value[8] == 112 && regs.value[15] == 119,
	        "registers of x86-64 are in the order of DWARF");
	eq_u64(regs.known, 0x1ffff, "all registers of x86-64 are known");
	ok(!unwind_regs_take(UNWIND_X86_64, 0xff0eff, values, &regs),
	        "registers without the program counter are not enough");
	ok(unwind_regs_take(UNWIND_AARCH64, 0x1ffffffff, values, &regs) && regs.pc == 132 &&
	                regs.value[31] == 131 && regs.value[30] == 130,
	        "registers of aarch64 are taken");
}

static void test_expressions(void)
{
	static const uint64_t memory_words[] = {0x1122334455667788, 9};
	static const struct {
		const char *name, *text;
		size_t n;
		uint64_t want;
		enum unwind_end end;
	} cases[] = {
#define CASE(name, text, ...) {name, text, sizeof(text) - 1, __VA_ARGS__}
	        CASE("literals and plus", "\x03\x35\x3a\x22", 15, UNWIND_END_OUTERMOST),
	        CASE("register plus offset", "\x02\x71\x7f", 99, UNWIND_END_OUTERMOST),
	        CASE("bregx", "\x03\x92\x01\x02", 102, UNWIND_END_OUTERMOST),
	        CASE("deref", "\x03\x77\x08\x06", 9, UNWIND_END_OUTERMOST),
	        CASE("deref_size", "\x04\x77\x00\x94\x02", 0x7788, UNWIND_END_OUTERMOST),
	        CASE("const1s and neg", "\x03\x09\xfe\x1f", 2, UNWIND_END_OUTERMOST),
	        CASE("const4u", "\x05\x0c\xff\xff\xff\xff", 0xffffffff, UNWIND_END_OUTERMOST),
	        CASE("dup, over, pick, mul", "\x06\x33\x34\x15\x01\x1e\x1e", 36,
	                UNWIND_END_OUTERMOST),
	        CASE("swap and minus", "\x04\x33\x35\x16\x1c", 2, UNWIND_END_OUTERMOST),
	        CASE("rot", "\x05\x31\x32\x33\x17\x13", 1, UNWIND_END_OUTERMOST),
	        CASE("shra of a negative number", "\x04\x09\xf8\x31\x26", UINT64_MAX - 3,
	                UNWIND_END_OUTERMOST),
	        CASE("div by zero", "\x03\x35\x30\x1b", 0, UNWIND_END_OUTERMOST),
	        CASE("a comparison with sign", "\x04\x09\xff\x30\x2d", 1, UNWIND_END_OUTERMOST),
	        CASE("bra is taken", "\x06\x31\x28\x01\x00\x35\x34", 4, UNWIND_END_OUTERMOST),
	        CASE("skip", "\x06\x33\x2f\x01\x00\x00\x96", 3, UNWIND_END_OUTERMOST),
	        CASE("memory outside of the copy", "\x03\x77\x70\x06", 0, UNWIND_END_STACK),
	        CASE("no value", "\x00", 0, UNWIND_END_DAMAGED),
	        CASE("an endless loop", "\x03\x2f\xfd\xff", 0, UNWIND_END_DAMAGED),
	        CASE("a jump outside", "\x03\x2f\x03\x00", 0, UNWIND_END_DAMAGED),
	        CASE("an unknown operation", "\x01\xff", 0, UNWIND_END_DAMAGED),
	        CASE("an unknown register", "\x02\x8f\x00", 0, UNWIND_END_DAMAGED),
	        CASE("an operand that is cut off", "\x02\x0c\x01", 0, UNWIND_END_DAMAGED),
	        CASE("a size beyond the section", "\x09\x31", 0, UNWIND_END_DAMAGED),
#undef CASE
	};
	struct unwind_regs regs = {.known = 0xff};
	struct unwind_memory memory = {
	        .address = 0x1000, .bytes = {(const uint8_t *)memory_words, sizeof(memory_words)}};

	regs.value[1] = 100;
	regs.value[7] = 0x1000;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct span bytes = {(const uint8_t *)cases[i].text, cases[i].n};
		uint64_t value = 0;
		enum unwind_end end =
		        unwind_expression(cursor_make(bytes, false), &regs, &memory, NULL, &value);
		char name[80];

		(void)snprintf(name, sizeof(name), "expression: %s", cases[i].name);
		ok(end == cases[i].end && (end != UNWIND_END_OUTERMOST || value == cases[i].want),
		        name);
	}
}

int main(void)
{
	test_x86_chain();
	test_x86_special_frames();
	test_popped_register();
	test_frame_pointer();
	test_endless();
	test_aarch64();
	test_aarch64_signal();
	test_registers();
	test_expressions();
	return tap_done();
}
