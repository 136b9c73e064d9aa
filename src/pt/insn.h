/* SPDX-License-Identifier: MIT */
/*
 * Length and branch class of x86 instructions: all that a decoder of traces needs to know of code.
 */
#ifndef SONDE_PT_INSN_H
#define SONDE_PT_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_INSN_MAX 15 /* bytes of the longest instruction */

enum pt_mode { PT_MODE_UNKNOWN = 0, PT_MODE_16, PT_MODE_32, PT_MODE_64 };

/* The effect of an instruction on the flow, in the terms of the trace. */
enum pt_class {
	PT_CLASS_OTHER = 0, /* the next instruction follows */
	PT_CLASS_COND, /* decided by a TNT bit */
	PT_CLASS_JUMP, /* direct: no packet */
	PT_CLASS_CALL, /* direct: no packet, pushes the return address */
	PT_CLASS_JUMP_IND, /* decided by a TIP */
	PT_CLASS_CALL_IND,
	PT_CLASS_RET, /* a TNT bit when compressed, else a TIP */
	PT_CLASS_FAR_CALL, /* far transfers: decided by a TIP */
	PT_CLASS_FAR_RET,
	PT_CLASS_FAR_JUMP,
	PT_CLASSES
};

/* Instructions that packets other than branches belong to. */
enum pt_special {
	PT_SPECIAL_NONE = 0,
	PT_SPECIAL_PTWRITE, /* PTW */
	PT_SPECIAL_MOV_CR3, /* PIP */
	PT_SPECIAL_IRET, /* CFE, and EVD before it */
	PT_SPECIAL_VM, /* VMCS, PIP: vmlaunch, vmresume, vmptrld, vmcall */
	PT_SPECIAL_INT /* software interrupts: FUP names them */
};

struct pt_insn {
	int32_t disp; /* COND, JUMP, CALL: the target is ip + size + disp */
	uint8_t size; /* bytes */
	uint8_t class; /* enum pt_class */
	uint8_t special; /* enum pt_special */
	bool wraps16; /* operand size 16: the target has only 16 bits */
};

enum pt_insn_status {
	PT_INSN_OK = 0,
	PT_INSN_BAD = -1, /* no instruction begins with these bytes */
	PT_INSN_TRUNCATED = -2 /* more than n bytes are needed */
};

/* Decodes the instruction in the n bytes at p. Returns enum pt_insn_status. */
int pt_insn_decode(const uint8_t *p, size_t n, enum pt_mode mode, struct pt_insn *out);

/* Target of a COND, JUMP or CALL at ip. */
uint64_t pt_insn_target(const struct pt_insn *insn, uint64_t ip, enum pt_mode mode);

#endif
