/* SPDX-License-Identifier: MIT */
/*
 * The length and class decoder against Zydis, as TAP: zydis [STRINGS].
 *
 * STRINGS random byte strings a mode, half of them grown from one that was accepted. Where Zydis
 * accepts, length and class must be the same. Strings that only Zydis rejects are counted: ours
 * does not check what does not change the length.
 */
#include "pt/insn.h"
#include "tests/tap.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>

struct rules {
	ZydisMnemonic mnemonic;
	uint8_t class;
};

/* Branches that are no Jcc, CALL, JMP or RET. */
static const struct rules others[] = {
        {ZYDIS_MNEMONIC_XBEGIN, PT_CLASS_OTHER}, /* an abort is told by MODE.TSX */
        {ZYDIS_MNEMONIC_XEND, PT_CLASS_OTHER},
        {ZYDIS_MNEMONIC_LOOP, PT_CLASS_COND},
        {ZYDIS_MNEMONIC_LOOPE, PT_CLASS_COND},
        {ZYDIS_MNEMONIC_LOOPNE, PT_CLASS_COND},
        {ZYDIS_MNEMONIC_INT, PT_CLASS_FAR_CALL},
        {ZYDIS_MNEMONIC_INT1, PT_CLASS_FAR_CALL},
        {ZYDIS_MNEMONIC_INT3, PT_CLASS_FAR_CALL},
        {ZYDIS_MNEMONIC_INTO, PT_CLASS_FAR_CALL},
        {ZYDIS_MNEMONIC_SYSCALL, PT_CLASS_FAR_CALL},
        {ZYDIS_MNEMONIC_SYSENTER, PT_CLASS_FAR_CALL},
        {ZYDIS_MNEMONIC_VMCALL, PT_CLASS_FAR_CALL},
        {ZYDIS_MNEMONIC_SYSRET, PT_CLASS_FAR_RET},
        {ZYDIS_MNEMONIC_SYSEXIT, PT_CLASS_FAR_RET},
        {ZYDIS_MNEMONIC_VMLAUNCH, PT_CLASS_FAR_RET},
        {ZYDIS_MNEMONIC_VMRESUME, PT_CLASS_FAR_RET},
        {ZYDIS_MNEMONIC_IRET, PT_CLASS_FAR_RET},
        {ZYDIS_MNEMONIC_IRETD, PT_CLASS_FAR_RET},
        {ZYDIS_MNEMONIC_IRETQ, PT_CLASS_FAR_RET},
        {ZYDIS_MNEMONIC_RSM, PT_CLASS_FAR_RET},
        {ZYDIS_MNEMONIC_UIRET, PT_CLASS_FAR_RET},
};

static uint8_t near_or_far(
        const ZydisDecodedInstruction *i, uint8_t direct, uint8_t indirect, uint8_t far_class)
{
	if (i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
		return far_class;
	}
	return i->raw.imm[0].is_relative ? direct : indirect;
}

static uint8_t class_of(const ZydisDecodedInstruction *i)
{
	if (i->mnemonic == ZYDIS_MNEMONIC_CALL) {
		return near_or_far(i, PT_CLASS_CALL, PT_CLASS_CALL_IND, PT_CLASS_FAR_CALL);
	}
	if (i->mnemonic == ZYDIS_MNEMONIC_JMP) {
		return near_or_far(i, PT_CLASS_JUMP, PT_CLASS_JUMP_IND, PT_CLASS_FAR_JUMP);
	}
	if (i->mnemonic == ZYDIS_MNEMONIC_RET) {
		return near_or_far(i, PT_CLASS_RET, PT_CLASS_RET, PT_CLASS_FAR_RET);
	}
	for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
		if (others[k].mnemonic == i->mnemonic) {
			return others[k].class;
		}
	}
	return i->meta.category == ZYDIS_CATEGORY_COND_BR ? PT_CLASS_COND : PT_CLASS_OTHER;
}

/*
 * Left out: branches on mask registers of Knights Corner, which has no Intel PT; on all other
 * processors the same bytes are no instruction.
 */
static bool left_out(const ZydisDecodedInstruction *i)
{
	return i->mnemonic == ZYDIS_MNEMONIC_JKZD || i->mnemonic == ZYDIS_MNEMONIC_JKNZD;
}

struct tally {
	uint64_t accepted, wrong_length, wrong_class, wrong_target, refused, only_ours;
	unsigned shown;
};

static void show(struct tally *t, const uint8_t *bytes, const char *what,
        const ZydisDecodedInstruction *want, const struct pt_insn *got)
{
	if (t->shown++ >= 12) {
		return;
	}
	printf("#   %s:", what);
	for (unsigned i = 0; i < 15; i++) {
		printf(" %02x", bytes[i]);
	}
	printf(" want %s %u, got size %u class %u\n", ZydisMnemonicGetString(want->mnemonic),
	        want->length, got->size, got->class);
}

static void compare(struct tally *t, const uint8_t *bytes, const ZydisDecodedInstruction *want,
        enum pt_mode mode)
{
	struct pt_insn got;
	uint8_t class = class_of(want);

	t->accepted++;
	if (pt_insn_decode(bytes, 16, mode, &got) != PT_INSN_OK) {
		t->refused++;
		show(t, bytes, "refused", want, &got);
	} else if (got.size != want->length) {
		t->wrong_length++;
		show(t, bytes, "length", want, &got);
	} else if (got.class != class) {
		t->wrong_class++;
		show(t, bytes, "class", want, &got);
	} else if ((class == PT_CLASS_COND || class == PT_CLASS_JUMP || class == PT_CLASS_CALL) &&
	           want->raw.imm[0].value.s != got.disp) {
		t->wrong_target++;
		show(t, bytes, "target", want, &got);
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A prefix or an escape more often than by chance, so that the deeper maps are met. */
static void make(uint8_t *bytes, uint64_t *state)
{
	static const uint8_t starts[] = {
	        0x66, 0xf2, 0xf3, 0x67, 0x0f, 0xc4, 0xc5, 0x62, 0x8f, 0x48, 0xff, 0x0f};
	uint64_t r[2] = {next_random(state), next_random(state)};
	unsigned n = (unsigned)(next_random(state) % 4);

	memcpy(bytes, r, 16);
	for (unsigned i = 0; i < n; i++) {
		bytes[i] = starts[next_random(state) % sizeof(starts)];
	}
	if (next_random(state) % 4 == 0) {
		bytes[n] = 0x0f;
		bytes[n + 1] = next_random(state) & 1 ? 0x38 : 0x3a;
	}
}

/* Strings that are grown keep what was accepted and change one byte of it. */
static void run_mode(enum pt_mode mode, ZydisMachineMode zmode, ZydisStackWidth width, uint64_t n)
{
	static const char *const names[] = {"", "16-bit", "32-bit", "64-bit"};
	uint64_t state = 0x9e3779b97f4a7c15ULL + (unsigned)mode;
	struct tally t = {0};
	ZydisDecoder decoder;
	uint8_t bytes[16], good[16] = {0x90};
	char what[96];

	(void)ZydisDecoderInit(&decoder, zmode, width);
	for (uint64_t i = 0; i < n; i++) {
		ZydisDecodedInstruction want;
		struct pt_insn got;

		if (i & 1) {
			memcpy(bytes, good, sizeof(bytes));
			bytes[next_random(&state) % 8] = (uint8_t)next_random(&state);
		} else {
			make(bytes, &state);
		}
		if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		            &decoder, NULL, bytes, sizeof(bytes), &want))) {
			if (left_out(&want)) {
				continue;
			}
			compare(&t, bytes, &want, mode);
			memcpy(good, bytes, sizeof(good));
		} else {
			t.only_ours += pt_insn_decode(bytes, 16, mode, &got) == PT_INSN_OK;
		}
	}
	(void)snprintf(what, sizeof(what),
	        "%s: %" PRIu64 " of %" PRIu64 " strings are instructions", names[mode], t.accepted,
	        n);
	ok(t.accepted > n / 8, what);
	eq_u64(t.refused, 0, "ours refuses none of them");
	eq_u64(t.wrong_length, 0, "the lengths are the same");
	eq_u64(t.wrong_class, 0, "the classes are the same");
	eq_u64(t.wrong_target, 0, "the displacements are the same");
	printf("# %" PRIu64 " strings are instructions only for ours\n", t.only_ours);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;

	run_mode(PT_MODE_64, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64, n);
	run_mode(PT_MODE_32, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32, n);
	run_mode(PT_MODE_16, ZYDIS_MACHINE_MODE_LEGACY_16, ZYDIS_STACK_WIDTH_16, n);
	return tap_done();
}
