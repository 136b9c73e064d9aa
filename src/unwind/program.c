/* SPDX-License-Identifier: MIT */
/* Programs of call frame information: the instructions DW_CFA_* (DWARF 5, section 6.4.2). */
#include "unwind/cfi.h"

#define REMEMBERED_MAX 16u /* states; compilers nest them at most twice */

#define CFA_NOP                0x00u
#define CFA_SET_LOC            0x01u
#define CFA_ADVANCE_LOC1       0x02u
#define CFA_ADVANCE_LOC2       0x03u
#define CFA_ADVANCE_LOC4       0x04u
#define CFA_OFFSET_EXTENDED    0x05u
#define CFA_RESTORE_EXTENDED   0x06u
#define CFA_UNDEFINED          0x07u
#define CFA_SAME_VALUE         0x08u
#define CFA_REGISTER           0x09u
#define CFA_REMEMBER_STATE     0x0au
#define CFA_RESTORE_STATE      0x0bu
#define CFA_DEF_CFA            0x0cu
#define CFA_DEF_CFA_REGISTER   0x0du
#define CFA_DEF_CFA_OFFSET     0x0eu
#define CFA_DEF_CFA_EXPRESSION 0x0fu
#define CFA_EXPRESSION         0x10u
#define CFA_OFFSET_EXTENDED_SF 0x11u
#define CFA_DEF_CFA_SF         0x12u
#define CFA_DEF_CFA_OFFSET_SF  0x13u
#define CFA_VAL_OFFSET         0x14u
#define CFA_VAL_OFFSET_SF      0x15u
#define CFA_VAL_EXPRESSION     0x16u
#define CFA_AARCH64_NEGATE_RA  0x2du /* of GNU: the return address is signed from here on, or not */
#define CFA_GNU_ARGS_SIZE      0x2eu
#define CFA_GNU_NEGATIVE       0x2fu /* offset_extended with a negative offset */
/* The two highest bits of these, the rest is their operand. */
#define CFA_ADVANCE_LOC 0x40u
#define CFA_OFFSET      0x80u
#define CFA_RESTORE     0xc0u

struct state {
	uint8_t rule[UNWIND_REGS];
	int32_t value[UNWIND_REGS];
	uint64_t cfa_reg;
	int32_t cfa_value;
	bool cfa_expression, signed_return;
};

struct machine {
	const struct cfi_section *s;
	const struct cfi_cie *cie;
	struct cursor c;
	uint64_t at, limit; /* instructions apply to addresses from `at` on */
	struct state now, initial;
	struct state remembered[REMEMBERED_MAX];
	unsigned depth;
	bool bad;
};

/* Whether the program is past the address of interest. */
static bool advance(struct machine *m, uint64_t units)
{
	m->at += units * m->cie->code_align;
	return m->at > m->limit;
}

static int32_t number(struct machine *m, int64_t value)
{
	m->bad = m->bad || value < INT32_MIN || value > INT32_MAX;
	return m->bad ? 0 : (int32_t)value;
}

static int64_t factored(const struct machine *m, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)m->cie->data_align);
}

/* Registers that are not followed, such as those of vectors, are ignored. */
static void rule(struct machine *m, uint64_t reg, enum unwind_rule rule, int64_t value)
{
	int32_t v = number(m, value);

	if (reg < UNWIND_REGS) {
		m->now.rule[reg] = (uint8_t)rule;
		m->now.value[reg] = v;
	}
}

static void restore(struct machine *m, uint64_t reg)
{
	if (reg < UNWIND_REGS) {
		m->now.rule[reg] = m->initial.rule[reg];
		m->now.value[reg] = m->initial.value[reg];
	}
}

/* Skips an expression; returns the offset of its size in the section. */
static int64_t expression(struct machine *m)
{
	int64_t offset = m->c.p - m->s->bytes.p;
	uint64_t size = cfi_uleb(&m->c);

	if (size > cursor_left(&m->c)) {
		m->bad = true;
		return 0;
	}
	(void)cursor_take(&m->c, (size_t)size);
	return offset;
}

static void define(struct machine *m, uint64_t reg, int64_t offset)
{
	m->now.cfa_reg = reg;
	m->now.cfa_value = number(m, offset);
	m->now.cfa_expression = false;
}

static void define_offset(struct machine *m, int64_t offset)
{
	m->bad = m->bad || m->now.cfa_expression;
	m->now.cfa_value = number(m, offset);
}

static void define_register(struct machine *m)
{
	m->bad = m->bad || m->now.cfa_expression;
	m->now.cfa_reg = cfi_uleb(&m->c);
}

static void define_expression(struct machine *m)
{
	m->now.cfa_value = number(m, expression(m));
	m->now.cfa_expression = true;
}

static void remember(struct machine *m)
{
	if (m->depth == REMEMBERED_MAX) {
		m->bad = true;
		return;
	}
	m->remembered[m->depth++] = m->now;
}

static void recall(struct machine *m)
{
	if (m->depth == 0) {
		m->bad = true;
		return;
	}
	m->now = m->remembered[--m->depth];
}

/* Instructions about the CFA and the whole state. False: not one of them. */
static bool run_state(struct machine *m, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_NOP: break;
	case CFA_GNU_ARGS_SIZE: (void)cfi_uleb(&m->c); break;
	case CFA_REMEMBER_STATE: remember(m); break;
	case CFA_RESTORE_STATE: recall(m); break;
	case CFA_DEF_CFA:
		reg = cfi_uleb(&m->c);
		define(m, reg, (int64_t)cfi_uleb(&m->c));
		break;
	case CFA_DEF_CFA_SF:
		reg = cfi_uleb(&m->c);
		define(m, reg, factored(m, cfi_sleb(&m->c)));
		break;
	case CFA_DEF_CFA_REGISTER: define_register(m); break;
	case CFA_DEF_CFA_OFFSET: define_offset(m, (int64_t)cfi_uleb(&m->c)); break;
	case CFA_DEF_CFA_OFFSET_SF: define_offset(m, factored(m, cfi_sleb(&m->c))); break;
	case CFA_DEF_CFA_EXPRESSION: define_expression(m); break;
	case CFA_AARCH64_NEGATE_RA:
		m->bad = m->s->machine != UNWIND_AARCH64;
		m->now.signed_return = !m->now.signed_return;
		break;
	default: return false;
	}
	return true;
}

/* Instructions about one register. */
static void run_register(struct machine *m, uint8_t op)
{
	uint64_t reg = cfi_uleb(&m->c);

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		rule(m, reg, UNWIND_OFFSET, factored(m, (int64_t)cfi_uleb(&m->c)));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		rule(m, reg, UNWIND_OFFSET, factored(m, cfi_sleb(&m->c)));
		break;
	case CFA_GNU_NEGATIVE:
		rule(m, reg, UNWIND_OFFSET, factored(m, (int64_t)(0 - cfi_uleb(&m->c))));
		break;
	case CFA_VAL_OFFSET:
		rule(m, reg, UNWIND_VAL_OFFSET, factored(m, (int64_t)cfi_uleb(&m->c)));
		break;
	case CFA_VAL_OFFSET_SF:
		rule(m, reg, UNWIND_VAL_OFFSET, factored(m, cfi_sleb(&m->c)));
		break;
	case CFA_RESTORE_EXTENDED: restore(m, reg); break;
	case CFA_UNDEFINED: rule(m, reg, UNWIND_UNDEFINED, 0); break;
	case CFA_SAME_VALUE: rule(m, reg, UNWIND_SAME, 0); break;
	case CFA_REGISTER: rule(m, reg, UNWIND_REGISTER, (int64_t)cfi_uleb(&m->c)); break;
	case CFA_EXPRESSION: rule(m, reg, UNWIND_EXPRESSION, expression(m)); break;
	case CFA_VAL_EXPRESSION: rule(m, reg, UNWIND_VAL_EXPRESSION, expression(m)); break;
	default: m->bad = true; break;
	}
}

/* Whether an instruction moves to a later address; it was done, and *past is whether that is far
 * enough. */
static bool run_advance(struct machine *m, uint8_t op, bool *past)
{
	switch (op) {
	case CFA_ADVANCE_LOC1: *past = advance(m, cursor_u8(&m->c)); return true;
	case CFA_ADVANCE_LOC2: *past = advance(m, cursor_u16(&m->c)); return true;
	case CFA_ADVANCE_LOC4: *past = advance(m, cursor_u32(&m->c)); return true;
	case CFA_SET_LOC:
		m->at = cfi_pointer(&m->c, m->s, m->cie->encoding, m->cie->address_size);
		*past = m->at > m->limit;
		return true;
	default: return false;
	}
}

static bool run(struct machine *m, struct span program)
{
	bool past = false;

	m->c = cursor_make(program, m->s->swap);
	while (cursor_left(&m->c) != 0 && !m->bad && !m->c.bad) {
		uint8_t op = cursor_u8(&m->c);
		uint8_t operand = op & 0x3f;

		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC: past = advance(m, operand); break;
		case CFA_OFFSET:
			rule(m, operand, UNWIND_OFFSET, factored(m, (int64_t)cfi_uleb(&m->c)));
			break;
		case CFA_RESTORE: restore(m, operand); break;
		default:
			if (!run_advance(m, op, &past) && !run_state(m, op)) {
				run_register(m, op);
			}
			break;
		}
		if (past && !m->c.bad) {
			return true;
		}
	}
	return !m->bad && !m->c.bad;
}

bool cfi_run(const struct cfi_section *s, const struct cfi_fde *fde, uint64_t address,
        struct unwind_row *row)
{
	/* those remembered are set before they are read */
	struct machine m;

	m.s = s;
	m.cie = &fde->cie;
	m.at = 0;
	m.limit = 0;
	m.now = (struct state){.cfa_reg = UNWIND_REGS};
	m.depth = 0;
	m.bad = false;
	m.initial = m.now;
	if (!run(&m, fde->cie.program)) {
		return false;
	}
	m.initial = m.now;
	m.at = fde->start;
	m.limit = address;
	if (!run(&m, fde->program) || (!m.now.cfa_expression && m.now.cfa_reg >= UNWIND_REGS) ||
	        fde->cie.return_reg >= UNWIND_REGS) {
		return false;
	}
	row->cfa_value = m.now.cfa_value;
	row->cfa_reg = (uint8_t)m.now.cfa_reg;
	row->cfa_expression = m.now.cfa_expression;
	row->debug_frame = s->debug;
	row->signal = fde->cie.signal;
	row->signed_return = m.now.signed_return;
	row->return_reg = (uint8_t)fde->cie.return_reg;
	row->n = 0;
	for (unsigned i = 0; i < UNWIND_REGS; i++) {
		if (m.now.rule[i] != UNWIND_SAME) {
			row->saved[row->n++] = (struct unwind_saved){
			        .reg = (uint8_t)i, .rule = m.now.rule[i], .value = m.now.value[i]};
		}
	}
	return true;
}
