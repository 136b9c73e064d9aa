/* SPDX-License-Identifier: MIT */
/* Instructions of x86 as text, by Zydis. */
#include "frame/code.h"

#include <Zydis/Zydis.h>

#define TEXT_MAX 256u /* bytes of the longest text */

bool frame_insn_text_supported(void)
{
	return true;
}

static void formatter_init(ZydisFormatter *f, bool intel)
{
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} properties[] = {
	        {ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
	        {ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE},
	        {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
	        {ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED},
	        {ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
	        {ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
	};

	(void)ZydisFormatterInit(
	        f, intel ? ZYDIS_FORMATTER_STYLE_INTEL : ZYDIS_FORMATTER_STYLE_ATT);
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		(void)ZydisFormatterSetProperty(f, properties[i].property, properties[i].value);
	}
}

/* Whether it is a jump or a call to where a register or memory points. */
static bool is_indirect(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
	bool jumps = insn->meta.category == ZYDIS_CATEGORY_CALL ||
	             insn->meta.category == ZYDIS_CATEGORY_UNCOND_BR;

	return jumps && insn->operand_count_visible != 0 &&
	       operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       operands[0].type != ZYDIS_OPERAND_TYPE_POINTER;
}

bool frame_insn_text(
        const struct frame_code_kind *kind, uint64_t ip, struct span code, struct text *out)
{
	return frame_insn_text_as(kind, false, ip, code, out);
}

bool frame_insn_text_as(const struct frame_code_kind *kind, bool intel, uint64_t ip,
        struct span code, struct text *out)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisFormatter formatter;
	ZydisDecoder decoder;
	char text[TEXT_MAX];
	size_t mnemonic; /* with the prefixes before it */

	(void)ZydisDecoderInit(&decoder,
	        kind->is64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
	        kind->is64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	formatter_init(&formatter, intel);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.p, code.n, &insn, operands)) ||
	        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &insn, operands,
	                insn.operand_count_visible, text, sizeof(text), ip, NULL))) {
		return false;
	}
	if (intel || !is_indirect(&insn, operands)) {
		text_str(out, text);
		return true;
	}
	/* AT&T syntax has a '*' before the operand, which Zydis leaves out; prefixes have no '%' or '(' */
	mnemonic = strcspn(text, "%($0123456789");
	mnemonic -= mnemonic != 0 && text[mnemonic - 1] == '-';
	text_bytes(out, text, mnemonic);
	text_char(out, '*');
	text_str(out, text + mnemonic);
	return true;
}
