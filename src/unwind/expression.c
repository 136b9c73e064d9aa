/* SPDX-License-Identifier: MIT */
/*
 * Expressions of call frame information: DW_OP_* (DWARF 5, section 2.5) but for those that need
 * more than registers and memory. Loops are bounded by a number of operations.
 */
#include "unwind/cfi.h"

#define DEPTH      64u /* values */
#define OPERATIONS 4096u

#define OP_ADDR        0x03u
#define OP_DEREF       0x06u
#define OP_CONST1U     0x08u
#define OP_CONST1S     0x09u
#define OP_CONST2U     0x0au
#define OP_CONST2S     0x0bu
#define OP_CONST4U     0x0cu
#define OP_CONST4S     0x0du
#define OP_CONST8U     0x0eu
#define OP_CONST8S     0x0fu
#define OP_CONSTU      0x10u
#define OP_CONSTS      0x11u
#define OP_DUP         0x12u
#define OP_DROP        0x13u
#define OP_OVER        0x14u
#define OP_PICK        0x15u
#define OP_SWAP        0x16u
#define OP_ROT         0x17u
#define OP_ABS         0x19u
#define OP_AND         0x1au
#define OP_DIV         0x1bu
#define OP_MINUS       0x1cu
#define OP_MOD         0x1du
#define OP_MUL         0x1eu
#define OP_NEG         0x1fu
#define OP_NOT         0x20u
#define OP_OR          0x21u
#define OP_PLUS        0x22u
#define OP_PLUS_UCONST 0x23u
#define OP_SHL         0x24u
#define OP_SHR         0x25u
#define OP_SHRA        0x26u
#define OP_XOR         0x27u
#define OP_BRA         0x28u
#define OP_EQ          0x29u
#define OP_GE          0x2au
#define OP_GT          0x2bu
#define OP_LE          0x2cu
#define OP_LT          0x2du
#define OP_NE          0x2eu
#define OP_SKIP        0x2fu
#define OP_LIT0        0x30u
#define OP_LIT31       0x4fu
#define OP_BREG0       0x70u
#define OP_BREG31      0x8fu
#define OP_BREGX       0x92u
#define OP_DEREF_SIZE  0x94u
#define OP_NOP         0x96u

struct machine {
	struct cursor c;
	const uint8_t *start;
	const struct unwind_regs *regs;
	const struct unwind_memory *memory;
	uint64_t stack[DEPTH];
	unsigned n;
	enum unwind_end end;
};

static void fail(struct machine *m)
{
	m->end = m->end == UNWIND_END_OUTERMOST ? UNWIND_END_DAMAGED : m->end;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->n == DEPTH) {
		fail(m);
		return;
	}
	m->stack[m->n++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->n == 0) {
		fail(m);
		return 0;
	}
	return m->stack[--m->n];
}

/* Pushes a copy of the value that has `depth` others above it. */
static void pick(struct machine *m, unsigned depth)
{
	if (depth >= m->n) {
		fail(m);
		return;
	}
	push(m, m->stack[m->n - 1 - depth]);
}

static void read(struct machine *m, unsigned size)
{
	uint64_t value = 0;

	if (!unwind_memory_read(m->memory, pop(m), size, &value) &&
	        m->end == UNWIND_END_OUTERMOST) {
		m->end = UNWIND_END_STACK;
	}
	push(m, value);
}

static void push_register(struct machine *m, uint64_t reg)
{
	int64_t offset = cfi_sleb(&m->c);

	if (reg >= UNWIND_REGS || (m->regs->known >> reg & 1) == 0) {
		fail(m);
		return;
	}
	push(m, m->regs->value[reg] + (uint64_t)offset);
}

static void jump(struct machine *m, bool taken)
{
	int16_t distance = (int16_t)cursor_u16(&m->c);
	int64_t target = (m->c.p - m->start) + distance;

	if (!taken) {
		return;
	}
	if (target < 0 || target > m->c.end - m->start) {
		fail(m);
		return;
	}
	m->c.p = m->start + target;
}

/* Reads a constant. False: the operation is not one of these. */
static bool constant(struct machine *m, uint8_t op, uint64_t *out)
{
	switch (op) {
	case OP_ADDR:
	case OP_CONST8U:
	case OP_CONST8S: *out = cursor_u64(&m->c); return true;
	case OP_CONST1U: *out = cursor_u8(&m->c); return true;
	case OP_CONST1S: *out = (uint64_t)(int64_t)(int8_t)cursor_u8(&m->c); return true;
	case OP_CONST2U: *out = cursor_u16(&m->c); return true;
	case OP_CONST2S: *out = (uint64_t)(int64_t)(int16_t)cursor_u16(&m->c); return true;
	case OP_CONST4U: *out = cursor_u32(&m->c); return true;
	case OP_CONST4S: *out = (uint64_t)(int64_t)(int32_t)cursor_u32(&m->c); return true;
	case OP_CONSTU: *out = cfi_uleb(&m->c); return true;
	case OP_CONSTS: *out = (uint64_t)cfi_sleb(&m->c); return true;
	default: *out = op - OP_LIT0; return op >= OP_LIT0 && op <= OP_LIT31;
	}
}

static uint64_t shift_right(uint64_t value, uint64_t by, bool sign)
{
	uint64_t fill = sign && (value >> 63) != 0 ? UINT64_MAX : 0;

	if (by == 0) {
		return value;
	}
	return by > 63 ? fill : value >> by | fill << (64 - by);
}

/* a: below b on the stack. False: the operation does not take two values. */
static bool binary(uint8_t op, uint64_t a, uint64_t b, uint64_t *out)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case OP_AND: *out = a & b; return true;
	case OP_DIV: *out = y == 0 ? 0 : y == -1 ? 0 - a : (uint64_t)(x / y); return true;
	case OP_MINUS: *out = a - b; return true;
	case OP_MOD: *out = b == 0 ? 0 : a % b; return true;
	case OP_MUL: *out = a * b; return true;
	case OP_OR: *out = a | b; return true;
	case OP_PLUS: *out = a + b; return true;
	case OP_SHL: *out = b > 63 ? 0 : a << b; return true;
	case OP_SHR: *out = shift_right(a, b, false); return true;
	case OP_SHRA: *out = shift_right(a, b, true); return true;
	case OP_XOR: *out = a ^ b; return true;
	case OP_EQ: *out = x == y; return true;
	case OP_GE: *out = x >= y; return true;
	case OP_GT: *out = x > y; return true;
	case OP_LE: *out = x <= y; return true;
	case OP_LT: *out = x < y; return true;
	case OP_NE: *out = x != y; return true;
	default: return false;
	}
}

/* Operations on the top of the stack. False: not one of them. */
static bool unary(struct machine *m, uint8_t op)
{
	uint64_t a;

	switch (op) {
	case OP_NOP: break;
	case OP_DUP: pick(m, 0); break;
	case OP_OVER: pick(m, 1); break;
	case OP_PICK: pick(m, cursor_u8(&m->c)); break;
	case OP_DROP: (void)pop(m); break;
	case OP_ABS:
		a = pop(m);
		push(m, (a >> 63) != 0 ? 0 - a : a);
		break;
	case OP_NEG: push(m, 0 - pop(m)); break;
	case OP_NOT: push(m, ~pop(m)); break;
	case OP_PLUS_UCONST: push(m, pop(m) + cfi_uleb(&m->c)); break;
	case OP_DEREF: read(m, 8); break;
	case OP_DEREF_SIZE: read(m, cursor_u8(&m->c)); break;
	default: return false;
	}
	return true;
}

static void swap_values(struct machine *m)
{
	uint64_t b = pop(m), a = pop(m);

	push(m, b);
	push(m, a);
}

/* The top of the stack becomes the third value. */
static void rotate(struct machine *m)
{
	uint64_t c = pop(m), b = pop(m), a = pop(m);

	push(m, c);
	push(m, a);
	push(m, b);
}

static void operate(struct machine *m, uint8_t op)
{
	uint64_t value, b;

	if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(m, op - OP_BREG0);
		return;
	}
	if (constant(m, op, &value)) {
		push(m, value);
		return;
	}
	if (unary(m, op)) {
		return;
	}
	switch (op) {
	case OP_SWAP: swap_values(m); return;
	case OP_ROT: rotate(m); return;
	case OP_BREGX: push_register(m, cfi_uleb(&m->c)); return;
	case OP_SKIP: jump(m, true); return;
	case OP_BRA: jump(m, pop(m) != 0); return;
	default: break;
	}
	b = pop(m);
	if (binary(op, pop(m), b, &value)) {
		push(m, value);
	} else {
		fail(m);
	}
}

enum unwind_end unwind_expression(struct cursor c, const struct unwind_regs *regs,
        const struct unwind_memory *memory, const uint64_t *first, uint64_t *out)
{
	uint64_t size = cfi_uleb(&c);
	struct machine m;

	if (c.bad || size > cursor_left(&c)) {
		return UNWIND_END_DAMAGED;
	}
	m.c = cursor_make((struct span){c.p, (size_t)size}, c.swap);
	m.start = c.p;
	m.regs = regs;
	m.memory = memory;
	m.n = 0;
	m.end = UNWIND_END_OUTERMOST;
	if (first != NULL) {
		push(&m, *first);
	}
	for (unsigned i = 0; cursor_left(&m.c) != 0; i++) {
		if (i == OPERATIONS) {
			return UNWIND_END_DAMAGED;
		}
		operate(&m, cursor_u8(&m.c));
		if (m.c.bad) {
			fail(&m);
		}
		if (m.end != UNWIND_END_OUTERMOST) {
			return m.end;
		}
	}
	*out = pop(&m);
	return m.end;
}
