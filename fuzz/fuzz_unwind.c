/* SPDX-License-Identifier: MIT */
/*
 * Call frame information and a stack: rows have registers that exist, a chain has no more frames than
 * it may have, and a second look-up has the same result. The input:
 *
 *	u8 bits   1: an ELF file, else one section; 2: the section is .debug_frame; 4: aarch64
 *	u8        size of the stack in words of 8 bytes
 *	stack, then the section or the ELF file
 */
#include "unwind/unwind.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ELF        1u
#define DEBUG      2u
#define AARCH64    4u
#define CODE       0x1000u
#define CODE_SIZE  0x10000u
#define STACK      0x7ffe0000u
#define ROWS       64u /* addresses that are looked up */
#define FRAMES_MAX 300u

struct input {
	const struct unwind_table *table;
	uint8_t bits;
};

/* Every address below CODE + CODE_SIZE is code of the object, the next page is the vdso. */
static int find(void *arg, uint64_t pc, struct unwind_code *out)
{
	const struct input *in = arg;

	*out = (struct unwind_code){.table = pc < CODE + CODE_SIZE ? in->table : NULL,
	        .address = pc,
	        .mapped = pc < CODE + CODE_SIZE + 0x1000,
	        .vdso = pc >= CODE + CODE_SIZE};
	return 0;
}

static void check_row(const struct unwind_table *t, uint64_t address)
{
	struct unwind_row row;

	if (!unwind_table_row(t, address, &row)) {
		return;
	}
	if (row.n > UNWIND_REGS || row.return_reg >= UNWIND_REGS ||
	        (!row.cfa_expression && row.cfa_reg >= UNWIND_REGS)) {
		abort();
	}
	for (unsigned i = 0; i < row.n; i++) {
		if (row.saved[i].reg >= UNWIND_REGS || row.saved[i].rule > UNWIND_VAL_EXPRESSION) {
			abort();
		}
	}
}

static void check_stack(struct input *in, struct span words)
{
	struct unwind_stack stack = {
	        .machine = (in->bits & AARCH64) != 0 ? UNWIND_AARCH64 : UNWIND_X86_64,
	        .memory = {.address = STACK, .bytes = words},
	        .find = find,
	        .arg = in};
	static uint64_t ips[2][FRAMES_MAX];
	static struct unwind_cache cache;
	size_t n[2] = {0};
	int end[2];

	for (unsigned i = 0; i < UNWIND_REGS; i++) {
		stack.regs.value[i] = STACK + 8 * i;
	}
	stack.regs.known = (UINT64_C(1) << UNWIND_REGS) - 1;
	stack.regs.value[unwind_stack_pointer(stack.machine)] = STACK;
	stack.regs.pc = CODE + 4;
	if (unwind_cache_init(&cache) < 0) {
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		end[i] = unwind_stack(&stack, &cache, ips[i], FRAMES_MAX, &n[i]);
		if (end[i] < 0 || end[i] >= UNWIND_ENDS || n[i] == 0 || n[i] > FRAMES_MAX) {
			abort();
		}
	}
	if (end[0] != end[1] || n[0] != n[1] || memcmp(ips[0], ips[1], n[0] * 8) != 0) {
		abort();
	}
	unwind_cache_fini(&cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_section section = {.type = 1};
	struct image_elf elf = {.is64 = true, .sections = &section, .nsections = 1};
	struct image_elf opened = {0};
	struct unwind_table *table = NULL;
	struct error err = {0};
	struct span words;
	struct input in;

	if (size < 2 || size - 2 < (size_t)8 * data[1]) {
		return 0;
	}
	in.bits = data[0];
	words = (struct span){data + 2, (size_t)8 * data[1]};
	elf.bytes = (struct span){words.p + words.n, size - 2 - words.n};
	elf.machine = (in.bits & AARCH64) != 0 ? 183 : 62;
	section.name = (in.bits & DEBUG) != 0 ? ".debug_frame" : ".eh_frame";
	section.addr = (in.bits & DEBUG) != 0 ? 0 : 0x3000;
	section.size = elf.bytes.n;
	if ((in.bits & ELF) != 0 && image_elf_open(&opened, elf.bytes, &err) < 0) {
		return 0;
	}
	if (unwind_table_new(
	            &(struct unwind_source){.object = (in.bits & ELF) != 0 ? &opened : &elf},
	            &table) >= 0) {
		in.table = table;
		for (uint64_t i = 0; i < ROWS; i++) {
			check_row(table, CODE + i * (CODE_SIZE / ROWS));
		}
		check_stack(&in, words);
	}
	unwind_table_free(table);
	image_elf_close(&opened);
	return 0;
}
