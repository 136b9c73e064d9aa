/* SPDX-License-Identifier: MIT */
/* Instructions whose class matters for a trace, and those newer than the other decoders. */
#include "pt/insn.h"
#include "tests/tap.h"

#include <stdlib.h>

static const struct known {
	const char *bytes;
	uint8_t mode, size, class, special;
	int32_t disp;
	const char *what;
} known[] = {
        {"90", 64, 1, PT_CLASS_OTHER, 0, 0, "nop"},
        {"74fe", 64, 2, PT_CLASS_COND, 0, -2, "je to itself"},
        {"0f8510000000", 64, 6, PT_CLASS_COND, 0, 16, "jne with 32 bits"},
        {"660f851000", 32, 5, PT_CLASS_COND, 0, 16, "jne with 16 bits"},
        {"660f8510000000", 64, 7, PT_CLASS_COND, 0, 16,
                "66 means nothing to a branch of 64-bit code"},
        {"e3f0", 16, 2, PT_CLASS_COND, 0, -16, "jcxz"},
        {"e8fbffffff", 64, 5, PT_CLASS_CALL, 0, -5, "call"},
        {"e80100", 16, 3, PT_CLASS_CALL, 0, 1, "call with 16 bits"},
        {"eb00", 32, 2, PT_CLASS_JUMP, 0, 0, "jmp"},
        {"ffd0", 64, 2, PT_CLASS_CALL_IND, 0, 0, "call rax"},
        {"41ff24c500000000", 64, 8, PT_CLASS_JUMP_IND, 0, 0, "jmp through a table"},
        {"ff18", 64, 2, PT_CLASS_FAR_CALL, 0, 0, "far call"},
        {"ff28", 64, 2, PT_CLASS_FAR_JUMP, 0, 0, "far jmp"},
        {"f3c3", 64, 2, PT_CLASS_RET, 0, 0, "rep ret"},
        {"c20800", 64, 3, PT_CLASS_RET, 0, 0, "ret 8"},
        {"48cb", 64, 2, PT_CLASS_FAR_RET, 0, 0, "far ret"},
        {"48cf", 64, 2, PT_CLASS_FAR_RET, PT_SPECIAL_IRET, 0, "iretq"},
        {"cd80", 64, 2, PT_CLASS_FAR_CALL, PT_SPECIAL_INT, 0, "int 80h"},
        {"cc", 64, 1, PT_CLASS_FAR_CALL, PT_SPECIAL_INT, 0, "int3"},
        {"0f05", 64, 2, PT_CLASS_FAR_CALL, 0, 0, "syscall"},
        {"480f07", 64, 3, PT_CLASS_FAR_RET, 0, 0, "sysretq"},
        {"0f01c1", 64, 3, PT_CLASS_FAR_CALL, PT_SPECIAL_VM, 0, "vmcall"},
        {"0f01c3", 64, 3, PT_CLASS_FAR_RET, PT_SPECIAL_VM, 0, "vmresume"},
        {"f30f01ca", 64, 4, PT_CLASS_FAR_RET, PT_SPECIAL_IRET, 0, "eretu"},
        {"f20f01ca", 64, 4, PT_CLASS_FAR_RET, PT_SPECIAL_IRET, 0, "erets"},
        {"0f01ca", 64, 3, PT_CLASS_OTHER, 0, 0, "clac"},
        {"f30f01ec", 64, 4, PT_CLASS_FAR_RET, PT_SPECIAL_IRET, 0, "uiret"},
        {"f30f01ec", 32, 4, PT_CLASS_OTHER, 0, 0, "no uiret in 32-bit code"},
        {"f20f01ca", 32, 4, PT_CLASS_OTHER, 0, 0, "nor erets"},
        {"f30faee0", 64, 4, PT_CLASS_OTHER, PT_SPECIAL_PTWRITE, 0, "ptwrite eax"},
        {"f3480fae2425785634120f", 64, 10, PT_CLASS_OTHER, PT_SPECIAL_PTWRITE, 0, "ptwrite [m64]"},
        {"0f22d8", 64, 3, PT_CLASS_OTHER, PT_SPECIAL_MOV_CR3, 0, "mov cr3, rax"},
        {"0f2218", 64, 3, PT_CLASS_OTHER, PT_SPECIAL_MOV_CR3, 0, "the same; mod is not looked at"},
        {"d500a10d10000000000000", 64, 11, PT_CLASS_JUMP_IND, 0, 0, "jmpabs"},
        {"d5888441", 64, 0, 0, 0, 0, "REX2 jcc is cut short"},
        {"d50a", 32, 2, PT_CLASS_OTHER, 0, 0, "aad in 32-bit code"},
        {"48b8efcdab9078563412", 64, 10, PT_CLASS_OTHER, 0, 0, "movabs"},
        {"c7f800000000", 64, 6, PT_CLASS_OTHER, 0, 0, "xbegin"},
        {"62f17c48584101", 64, 7, PT_CLASS_OTHER, 0, 0, "EVEX vaddps"},
        {"62f40c1881c078563412", 64, 10, PT_CLASS_OTHER, 0, 0, "EVEX map 4: add with imm32"},
        {"c5f877", 64, 3, PT_CLASS_OTHER, 0, 0, "vzeroupper"},
        {"8fe97812c0", 64, 5, PT_CLASS_OTHER, 0, 0, "XOP llwpcb"},
        {"0f0fc0b4", 64, 4, PT_CLASS_OTHER, 0, 0, "3DNow! pfmul"},
        {"9a000000000000", 64, 255, 0, 0, 0, "far call ptr is none in 64-bit code"},
        {"9a00000000000000", 32, 7, PT_CLASS_FAR_CALL, 0, 0, "and one of 7 bytes in 32-bit code"},
        {"6666666666666666666666666666666690", 64, 255, 0, 0, 0, "16 bytes are too many"},
        {"f0e800000000", 64, 255, 0, 0, 0, "no branch has LOCK"},
        {"ffd8", 64, 255, 0, 0, 0, "a far address is not in a register"},
        {"f0ff00", 64, 3, PT_CLASS_OTHER, 0, 0, "lock inc"},
        {"0f", 64, 0, 0, 0, 0, "an escape alone is cut short"},
};

static size_t parse(const char *text, uint8_t *bytes)
{
	size_t n = strlen(text) / 2;

	for (size_t i = 0; i < n; i++) {
		char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};

		bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return n;
}

/* size: 0 is too short, 255 is no instruction. */
static void check(const struct known *k)
{
	enum pt_mode mode = k->mode == 64 ? PT_MODE_64 : k->mode == 32 ? PT_MODE_32 : PT_MODE_16;
	uint8_t bytes[32];
	struct pt_insn insn;
	int rc = pt_insn_decode(bytes, parse(k->bytes, bytes), mode, &insn);
	bool good = rc == PT_INSN_OK && insn.size == k->size && insn.class == k->class &&
	            insn.special == k->special && insn.disp == k->disp;

	if (k->size == 0 || k->size == 255) {
		good = rc == (k->size == 0 ? PT_INSN_TRUNCATED : PT_INSN_BAD);
	}
	if (!ok(good, k->what)) {
		printf("#   status %d size %u class %u special %u disp %d\n", rc, insn.size,
		        insn.class, insn.special, insn.disp);
	}
}

int main(void)
{
	struct pt_insn near = {.size = 2, .disp = 16, .wraps16 = true};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		check(&known[i]);
	}
	eq_u64(pt_insn_target(&near, 0xfff0, PT_MODE_16), 2, "a 16-bit target wraps");
	near.wraps16 = false;
	eq_u64(pt_insn_target(&near, 0xfffffff0, PT_MODE_32), 2, "a 32-bit target wraps");
	return tap_done();
}
