/* SPDX-License-Identifier: MIT */
/*
 * An indirect branch, after its prefixes:
 *
 *	FF  ModRM  [SIB]  [displacement]      ModRM: mod (2 bits), operation (3), rm (3)
 *
 * Operation 2 is a call, 4 a jump. mod 3: the target is in register rm. Otherwise it is in memory:
 * at rm + displacement; rm 4: at base + index * scale + displacement of SIB; mod 0 and rm 5: at the
 * end of the instruction + displacement.
 */
#include "softpt/emulate.h"

#include <stddef.h>
#include <string.h>

#define FLAG_CARRY    (1u << 0)
#define FLAG_PARITY   (1u << 2)
#define FLAG_ZERO     (1u << 6)
#define FLAG_SIGN     (1u << 7)
#define FLAG_OVERFLOW (1u << 11)

#define REX_B 1u
#define REX_X 2u

struct prefixes {
	size_t n; /* bytes of them, with REX */
	uint8_t rex; /* 0: none */
	uint8_t segment; /* 0x64, 0x65; 0: none with a base */
	bool address32, operand16;
};

static struct prefixes read_prefixes(const uint8_t *p)
{
	struct prefixes x = {0};

	for (;; x.n++) {
		switch (p[x.n]) {
		case 0x64:
		case 0x65: x.segment = p[x.n]; break;
		case 0x66: x.operand16 = true; break;
		case 0x67: x.address32 = true; break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf2:
		case 0xf3: break;
		default:
			if ((p[x.n] & 0xf0) == 0x40) {
				x.rex = p[x.n++];
			}
			return x;
		}
	}
}

static uint64_t get_register(const struct user_regs_struct *r, unsigned n)
{
	const unsigned long long values[16] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp,
	        r->rsi, r->rdi, r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};

	return values[n & 15];
}

/* The lowest bit of the condition negates it. */
static bool condition(unsigned code, uint64_t flags)
{
	bool less = ((flags & FLAG_SIGN) != 0) != ((flags & FLAG_OVERFLOW) != 0);
	bool value = false;

	switch (code >> 1 & 7) {
	case 0: value = (flags & FLAG_OVERFLOW) != 0; break;
	case 1: value = (flags & FLAG_CARRY) != 0; break;
	case 2: value = (flags & FLAG_ZERO) != 0; break;
	case 3: value = (flags & (FLAG_CARRY | FLAG_ZERO)) != 0; break;
	case 4: value = (flags & FLAG_SIGN) != 0; break;
	case 5: value = (flags & FLAG_PARITY) != 0; break;
	case 6: value = less; break;
	default: value = less || (flags & FLAG_ZERO) != 0; break;
	}
	return value != ((code & 1) != 0);
}

/* LOOPNE, LOOPE, LOOP decrement the counter without changing flags; JRCXZ only looks at it. */
static bool loops(uint8_t opcode, bool address32, struct user_regs_struct *r)
{
	uint64_t mask = address32 ? UINT32_MAX : UINT64_MAX;
	bool zero = (r->eflags & FLAG_ZERO) != 0;

	if (opcode == 0xe3) {
		return (r->rcx & mask) == 0;
	}
	r->rcx = (r->rcx - 1) & mask; /* a 32-bit result clears the upper half */
	return r->rcx != 0 && (opcode == 0xe2 || zero == (opcode == 0xe1));
}

static int32_t load_disp(const uint8_t *p, unsigned size)
{
	int32_t v = 0;

	if (size == 1) {
		return (int8_t)*p;
	}
	memcpy(&v, p, size);
	return v;
}

/* The address in memory of the operand at p, which begins with ModRM. */
static uint64_t operand_address(
        const uint8_t *p, const struct prefixes *x, const struct user_regs_struct *r, uint64_t next)
{
	unsigned mod = p[0] >> 6, rm = p[0] & 7u, size = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	unsigned high = x->rex & REX_B ? 8 : 0, index;
	uint64_t at = 0;

	p++;
	if (rm == 4) {
		index = (*p >> 3 & 7u) | (x->rex & REX_X ? 8u : 0);
		at = index != 4 ? get_register(r, index) << (*p >> 6) : 0;
		rm = *p & 7u;
		p++;
		if (rm == 5 && mod == 0) {
			size = 4;
		} else {
			at += get_register(r, rm | high);
		}
	} else if (rm == 5 && mod == 0) {
		size = 4;
		at = next;
	} else {
		at = get_register(r, rm | high);
	}
	at += size != 0 ? (uint64_t)(int64_t)load_disp(p, size) : 0;
	at &= x->address32 ? UINT32_MAX : UINT64_MAX;
	return at + (x->segment == 0x64 ? r->fs_base : x->segment == 0x65 ? r->gs_base : 0);
}

static bool push(struct user_regs_struct *r, uint64_t value, const struct emulate_memory *memory)
{
	if (!memory->store(memory->arg, r->rsp - 8, value)) {
		return false;
	}
	r->rsp -= 8;
	return true;
}

static bool indirect(const struct pt_insn *insn, const uint8_t *bytes, const struct prefixes *x,
        struct user_regs_struct *r, const struct emulate_memory *memory)
{
	const uint8_t *modrm = bytes + x->n + 1;
	uint64_t next = r->rip + insn->size, target;

	if (bytes[x->n] != 0xff) {
		return false; /* a direct jump with an absolute address (APX) */
	}
	if (*modrm >= 0xc0) {
		target = get_register(r, (*modrm & 7u) | (x->rex & REX_B ? 8u : 0));
	} else if (!memory->load(memory->arg, operand_address(modrm, x, r, next), &target)) {
		return false;
	}
	if (insn->class == PT_CLASS_CALL_IND && !push(r, next, memory)) {
		return false;
	}
	r->rip = target;
	return true;
}

static bool ret(const uint8_t *bytes, const struct prefixes *x, struct user_regs_struct *r,
        const struct emulate_memory *memory)
{
	const uint8_t *opcode = bytes + x->n;
	uint64_t target;

	if (!memory->load(memory->arg, r->rsp, &target)) {
		return false;
	}
	r->rip = target;
	r->rsp += 8u + (*opcode == 0xc2 ? opcode[1] | (unsigned)opcode[2] << 8 : 0);
	return true;
}

bool emulate_branch(const struct pt_insn *insn, const uint8_t *bytes, struct user_regs_struct *regs,
        const struct emulate_memory *memory)
{
	struct prefixes x = read_prefixes(bytes);
	const uint8_t *opcode = bytes + x.n;
	bool taken;

	if (x.operand16) { /* processors differ in its effect on near branches */
		return false;
	}
	switch (insn->class) {
	case PT_CLASS_COND:
		if (*opcode >= 0xe0 && *opcode <= 0xe3) {
			taken = loops(*opcode, x.address32, regs);
		} else if (*opcode == 0x0f || (*opcode & 0xf0) == 0x70) {
			taken = condition(*opcode == 0x0f ? opcode[1] : *opcode, regs->eflags);
		} else {
			return false;
		}
		regs->rip = taken ? pt_insn_target(insn, regs->rip, PT_MODE_64)
		                  : regs->rip + insn->size;
		return true;
	case PT_CLASS_JUMP_IND:
	case PT_CLASS_CALL_IND: return indirect(insn, bytes, &x, regs, memory);
	case PT_CLASS_RET: return ret(bytes, &x, regs, memory);
	case PT_CLASS_JUMP: regs->rip = pt_insn_target(insn, regs->rip, PT_MODE_64); return true;
	case PT_CLASS_CALL:
		if (!push(regs, regs->rip + insn->size, memory)) {
			return false;
		}
		regs->rip = pt_insn_target(insn, regs->rip, PT_MODE_64);
		return true;
	default: return false;
	}
}
