/* SPDX-License-Identifier: MIT */
/* From registers and a copy of the stack to a call chain. */
#include "unwind/unwind.h"

#define PERF_SP_X86_64  7u /* of enum perf_event_x86_regs, <asm/perf_regs.h> */
#define PERF_IP_X86_64  8u
#define PERF_SP_AARCH64 31u
#define PERF_PC_AARCH64 32u

#define RBP_X86_64 6u
#define FP_AARCH64 29u
#define LR_AARCH64 30u

/* A signal frame of aarch64: siginfo, then ucontext; <asm/ucontext.h>, <asm/sigcontext.h>. */
#define SIGNAL_X0_AARCH64 (128u + 176u + 8u)
#define SIGNAL_SP_AARCH64 (SIGNAL_X0_AARCH64 + 31u * 8u)
#define SIGNAL_PC_AARCH64 (SIGNAL_SP_AARCH64 + 8u)

#define NO_REGISTER 0xffu

/* DWARF numbers by bit of sample_regs_user. */
static const uint8_t x86_64_registers[] = {0, 3, 2, 1, 4, 5, 6, 7,
        16, /* ax bx cx dx si di bp sp ip */
        NO_REGISTER, NO_REGISTER, NO_REGISTER, NO_REGISTER, NO_REGISTER, NO_REGISTER,
        NO_REGISTER, /* flags and segments */
        8, 9, 10, 11, 12, 13, 14, 15};

static uint8_t dwarf_register(enum unwind_machine machine, unsigned bit)
{
	if (machine == UNWIND_AARCH64) {
		return bit <= PERF_SP_AARCH64 ? (uint8_t)bit : NO_REGISTER;
	}
	return bit < sizeof(x86_64_registers) ? x86_64_registers[bit] : NO_REGISTER;
}

uint64_t unwind_regs_needed(enum unwind_machine machine)
{
	return machine == UNWIND_AARCH64
	               ? UINT64_C(1) << PERF_SP_AARCH64 | UINT64_C(1) << PERF_PC_AARCH64
	               : UINT64_C(1) << PERF_SP_X86_64 | UINT64_C(1) << PERF_IP_X86_64;
}

bool unwind_regs_take(
        enum unwind_machine machine, uint64_t mask, const uint64_t *values, struct unwind_regs *out)
{
	uint64_t needed = unwind_regs_needed(machine);
	unsigned pc = machine == UNWIND_AARCH64 ? PERF_PC_AARCH64 : PERF_IP_X86_64;

	out->known = 0;
	if (machine == UNWIND_OTHER || (mask & needed) != needed) {
		return false;
	}
	for (uint64_t left = mask; left != 0; left &= left - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(left);
		uint8_t reg = dwarf_register(machine, bit);

		if (reg != NO_REGISTER) {
			out->value[reg] = *values;
			out->known |= UINT64_C(1) << reg;
		}
		if (bit == pc) {
			out->pc = *values;
		}
		values++;
	}
	return true;
}

/* State of one chain. */
struct walk {
	const struct unwind_stack *stack;
	struct unwind_cache *cache;
	struct unwind_regs regs;
	bool exact; /* the pc is the next instruction, not one after a call */
};

static bool read_word(const struct walk *w, uint64_t address, uint64_t *out)
{
	return unwind_memory_read(&w->stack->memory, address, 8, out);
}

/*
 * The kernel of aarch64 has no complete call frame information for its return from signals, and no
 * other of its functions calls code of the program: restores what the kernel saved for sigreturn.
 */
static enum unwind_end step_signal(struct walk *w)
{
	uint64_t frame = w->regs.value[unwind_stack_pointer(UNWIND_AARCH64)];
	struct unwind_regs regs = {.known = (UINT64_C(1) << 32) - 1};

	for (unsigned i = 0; i < 32; i++) { /* x0 to x30, then sp */
		if (!read_word(w, frame + SIGNAL_X0_AARCH64 + (uint64_t)8 * i, &regs.value[i])) {
			return UNWIND_END_STACK;
		}
	}
	if (!read_word(w, frame + SIGNAL_PC_AARCH64, &regs.pc)) {
		return UNWIND_END_STACK;
	}
	w->regs = regs;
	w->exact = true;
	return UNWIND_END_OUTERMOST;
}

/*
 * Code without call frame information, such as that of a JIT compiler: its caller by the frame
 * pointer, if that is in the copy of the stack and points to a frame with a return address. It is 0
 * in the outermost function (System V ABI, AMD64 supplement, "Initial Stack and Register State").
 */
static enum unwind_end step_frame_pointer(struct walk *w)
{
	enum unwind_machine machine = w->stack->machine;
	unsigned reg = machine == UNWIND_AARCH64 ? FP_AARCH64 : RBP_X86_64;
	unsigned sp = unwind_stack_pointer(machine);
	uint64_t fp = w->regs.value[reg], caller, pc;
	struct unwind_code code;

	if ((w->regs.known >> reg & 1) != 0 && fp == 0) {
		w->regs.pc = 0;
		return UNWIND_END_OUTERMOST;
	}
	if ((w->regs.known >> reg & 1) == 0 || fp < w->regs.value[sp] || (fp & 7) != 0 ||
	        !read_word(w, fp, &caller) || !read_word(w, fp + 8, &pc)) {
		return UNWIND_END_TABLE;
	}
	code = (struct unwind_code){0};
	if (pc == 0 || w->stack->find(w->stack->arg, pc - 1, &code) < 0 || !code.mapped) {
		return UNWIND_END_TABLE;
	}
	w->regs.value[reg] = caller;
	w->regs.value[sp] = fp + 16;
	w->regs.pc = pc;
	w->exact = false;
	return UNWIND_END_OUTERMOST;
}

/* Finds the caller; its pc is 0 if there is none. *rc: negative if `find` failed. */
static enum unwind_end step(struct walk *w, int *rc)
{
	unsigned sp = unwind_stack_pointer(w->stack->machine);
	uint64_t before = w->regs.value[sp];
	const struct unwind_row *row = NULL;
	struct unwind_code code = {0};
	bool first = w->exact;
	enum unwind_end end;

	*rc = w->stack->find(w->stack->arg, w->regs.pc - !w->exact, &code);
	if (*rc < 0 || !code.mapped) {
		return UNWIND_END_UNMAPPED;
	}
	if (code.vdso && !w->exact && w->stack->machine == UNWIND_AARCH64) {
		return step_signal(w);
	}
	if (code.table != NULL && unwind_table_machine(code.table) == w->stack->machine) {
		row = unwind_cache_row(w->cache, code.table, code.address);
	}
	if (row == NULL) {
		return code.missing ? UNWIND_END_TABLE : step_frame_pointer(w);
	}
	end = unwind_step(code.table, row, &w->stack->memory, &w->regs);
	w->exact = row->signal;
	/* a function without a frame of its own can only be the innermost one */
	if (end == UNWIND_END_OUTERMOST && w->regs.pc != 0 && !row->signal &&
	        (w->regs.value[sp] < before || (w->regs.value[sp] == before && !first))) {
		return UNWIND_END_DAMAGED;
	}
	return end;
}

int unwind_stack(const struct unwind_stack *s, struct unwind_cache *cache, uint64_t *ips,
        size_t max, size_t *n)
{
	struct walk w = {.stack = s, .cache = cache, .regs = s->regs, .exact = true};
	enum unwind_end end;
	int rc;

	*n = 0;
	while (*n < max) {
		ips[(*n)++] = w.regs.pc - !w.exact;
		end = step(&w, &rc);
		if (rc < 0) {
			return rc;
		}
		if (end != UNWIND_END_OUTERMOST) {
			return (int)end;
		}
		if (w.regs.pc == 0) {
			return UNWIND_END_OUTERMOST;
		}
	}
	return UNWIND_END_LIMIT;
}
