/* SPDX-License-Identifier: MIT */
/* Instructions of processors other than x86 as text. */
#ifndef SONDE_FRAME_DISASSEMBLER_H
#define SONDE_FRAME_DISASSEMBLER_H

#include "core/text.h"
#include "frame/code.h"

struct frame_disassembler; /* for one thread */

struct frame_disassembled {
	uint8_t size; /* bytes; of what is no instruction: those to skip */
	bool direct; /* it jumps to or calls `target` */
	uint64_t target;
};

/* *out NULL: this build knows no such processor. 0, or SONDE_ENOMEM. */
int frame_disassembler_new(const struct frame_code_kind *kind, struct frame_disassembler **out);
void frame_disassembler_free(struct frame_disassembler *d); /* accepts NULL */

/*
 * Appends the instruction at the start of `code`, which is at the address ip. False: these bytes are
 * no instruction.
 */
bool frame_disassembler_read(struct frame_disassembler *d, uint64_t ip, struct span code,
        struct text *out, struct frame_disassembled *insn);

#endif
