/* SPDX-License-Identifier: MIT */
/* From the registers of a frame to those of its caller. */
#include "unwind/unwind.h"

/* By machine; DWARF numbers. */
#define SP_X86_64  7u
#define SP_AARCH64 31u

unsigned unwind_stack_pointer(enum unwind_machine machine)
{
	return machine == UNWIND_AARCH64 ? SP_AARCH64 : SP_X86_64;
}

bool unwind_memory_read(
        const struct unwind_memory *m, uint64_t address, unsigned size, uint64_t *out)
{
	uint64_t at = address - m->address;
	const uint8_t *p;

	if (size > m->bytes.n || at > m->bytes.n - size) {
		return false;
	}
	p = m->bytes.p + at;
	switch (size) {
	case 1: *out = *p; return true;
	case 2: *out = load_u16(p, m->swap); return true;
	case 4: *out = load_u32(p, m->swap); return true;
	case 8: *out = load_u64(p, m->swap); return true;
	default: return false;
	}
}

/* A step: what it reads, all of the frame whose caller is looked for. */
struct step {
	const struct unwind_table *table;
	const struct unwind_row *row;
	const struct unwind_memory *memory;
	const struct unwind_regs *regs;
	uint64_t cfa;
};

static enum unwind_end evaluate(
        const struct step *s, int32_t expression, const uint64_t *first, uint64_t *out)
{
	struct cursor c = unwind_table_expression(s->table, s->row, expression);

	return unwind_expression(c, s->regs, s->memory, first, out);
}

static enum unwind_end find_cfa(struct step *s)
{
	const struct unwind_row *row = s->row;

	if (row->cfa_expression) {
		return evaluate(s, row->cfa_value, NULL, &s->cfa);
	}
	if ((s->regs->known >> row->cfa_reg & 1) == 0) {
		return UNWIND_END_DAMAGED;
	}
	s->cfa = s->regs->value[row->cfa_reg] + (uint64_t)(int64_t)row->cfa_value;
	return UNWIND_END_OUTERMOST;
}

/* Finds the value of a register in the caller; false: it has none there, *end is why. */
static bool find_saved(
        const struct step *s, const struct unwind_saved *saved, uint64_t *out, enum unwind_end *end)
{
	uint64_t where = s->cfa + (uint64_t)(int64_t)saved->value;

	*end = UNWIND_END_OUTERMOST;
	switch ((enum unwind_rule)saved->rule) {
	case UNWIND_OFFSET: break;
	case UNWIND_VAL_OFFSET: *out = where; return true;
	case UNWIND_REGISTER:
		if (saved->value < 0 || saved->value >= (int32_t)UNWIND_REGS) {
			*end = UNWIND_END_DAMAGED;
			return false;
		}
		*out = s->regs->value[saved->value];
		return (s->regs->known >> saved->value & 1) != 0;
	case UNWIND_EXPRESSION:
	case UNWIND_VAL_EXPRESSION:
		*end = evaluate(s, saved->value, &s->cfa, &where);
		if (*end != UNWIND_END_OUTERMOST) {
			return false;
		}
		if (saved->rule == UNWIND_VAL_EXPRESSION) {
			*out = where;
			return true;
		}
		break;
	case UNWIND_SAME:
	case UNWIND_UNDEFINED:
	default: return false;
	}
	if (unwind_memory_read(s->memory, where, 8, out)) {
		return true;
	}
	/* a function that returns soon has popped the register: the slot is below the stack pointer */
	if (where < s->regs->value[unwind_stack_pointer(unwind_table_machine(s->table))] &&
	        saved->reg != s->row->return_reg) {
		*out = s->regs->value[saved->reg];
		return (s->regs->known >> saved->reg & 1) != 0;
	}
	*end = UNWIND_END_STACK;
	return false;
}

/* Removes the signature of a return address: bits 48 and up of an address in user space. */
static uint64_t unsigned_address(uint64_t address)
{
	return address & ((UINT64_C(1) << 48) - 1);
}

enum unwind_end unwind_step(const struct unwind_table *t, const struct unwind_row *row,
        const struct unwind_memory *memory, struct unwind_regs *regs)
{
	struct step s = {.table = t, .row = row, .memory = memory, .regs = regs};
	unsigned sp = unwind_stack_pointer(unwind_table_machine(t));
	enum unwind_end end = find_cfa(&s), why = UNWIND_END_OUTERMOST;
	uint64_t value[UNWIND_REGS];
	bool known[UNWIND_REGS];

	if (end != UNWIND_END_OUTERMOST) {
		return end;
	}
	for (unsigned i = 0; i < row->n; i++) {
		known[i] = find_saved(&s, &row->saved[i], &value[i], &end);
		if (row->saved[i].reg == row->return_reg) {
			why = end; /* other registers may be lost, until they are needed */
		}
	}
	regs->value[sp] = s.cfa;
	regs->known |= UINT64_C(1) << sp;
	for (unsigned i = 0; i < row->n; i++) {
		uint64_t bit = UINT64_C(1) << row->saved[i].reg;

		regs->value[row->saved[i].reg] = known[i] ? value[i] : 0;
		regs->known = known[i] ? regs->known | bit : regs->known & ~bit;
	}
	if (why != UNWIND_END_OUTERMOST) {
		return why;
	}
	regs->pc = (regs->known >> row->return_reg & 1) != 0 ? regs->value[row->return_reg] : 0;
	if (row->signed_return) {
		regs->pc = unsigned_address(regs->pc);
	}
	return UNWIND_END_OUTERMOST;
}
