/* SPDX-License-Identifier: MIT */
/* A build without capstone prints no instructions of other processors than x86. */
#include "frame/disassembler.h"

int frame_disassembler_new(const struct frame_code_kind *kind, struct frame_disassembler **out)
{
	(void)kind;
	*out = NULL;
	return 0;
}

void frame_disassembler_free(struct frame_disassembler *d)
{
	(void)d;
}

bool frame_disassembler_read(struct frame_disassembler *d, uint64_t ip, struct span code,
        struct text *out, struct frame_disassembled *insn)
{
	(void)d;
	(void)ip;
	(void)code;
	(void)out;
	*insn = (struct frame_disassembled){0};
	return false;
}
