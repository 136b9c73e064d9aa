/* SPDX-License-Identifier: MIT */
/* A build without Zydis prints no instructions as text. */
#include "frame/code.h"

bool frame_insn_text_supported(void)
{
	return false;
}

bool frame_insn_text(
        const struct frame_code_kind *kind, uint64_t ip, struct span code, struct text *out)
{
	(void)kind;
	(void)ip;
	(void)code;
	(void)out;
	return false;
}

bool frame_insn_text_as(const struct frame_code_kind *kind, bool intel, uint64_t ip,
        struct span code, struct text *out)
{
	(void)intel;
	return frame_insn_text(kind, ip, code, out);
}
