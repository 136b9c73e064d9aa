/* SPDX-License-Identifier: MIT */
/*
 * The length and class decoder compared with Zydis, as TAP: zydis [STRINGS].
 *
 * STRINGS byte strings for each mode: random ones, ones grown from accepted strings, and the code
 * of this process from each of its bytes on. If Zydis accepts a string, length, class and
 * displacement must be equal, and there must be strings of every encoding and map, and with every
 * prefix. A string that only Zydis rejects must be of a kind listed in `only_ours`, with the
 * reason; each line of the list must occur.
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "pt/insn.h"
#include "tests/tap.h"

#include <Zydis/Zydis.h>
#include <link.h>
#include <stdlib.h>

struct rules {
	ZydisMnemonic mnemonic;
	uint8_t class;
};

/* Branches other than Jcc, CALL, JMP and RET. */
static const struct rules others[] = {
        {ZYDIS_MNEMONIC_XBEGIN, PT_CLASS_OTHER}, /* an abort is reported by MODE.TSX */
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
 * Left out: branches on mask registers of Knights Corner, which has no Intel PT; on other
 * processors the same bytes are no instruction.
 */
static bool left_out(const ZydisDecodedInstruction *i)
{
	return i->mnemonic == ZYDIS_MNEMONIC_JKZD || i->mnemonic == ZYDIS_MNEMONIC_JKNZD;
}

enum { E_LEGACY, E_3DNOW, E_XOP, E_VEX, E_EVEX, E_REX2, ENCODINGS };

static const char *const encoding_names[ENCODINGS] = {
        "legacy", "3DNow", "XOP", "VEX", "EVEX", "REX2"};

/* Zydis' verdict on strings that Sonde accepts, by the encoding that the string begins with. */
static const struct only_ours {
	ZyanStatus status;
	uint8_t encoding;
	bool only_64; /* occurs in 64-bit mode only */
	const char *reason;
} only_ours[] = {
        {ZYDIS_STATUS_DECODING_ERROR, E_LEGACY, false,
                "opcodes and members of groups that are not defined, as 0F C7 /0 with a register"},
        {ZYDIS_STATUS_DECODING_ERROR, E_3DNOW, false, "suffixes of 3DNow! that are not defined"},
        {ZYDIS_STATUS_DECODING_ERROR, E_XOP, false, "opcodes that XOP does not define"},
        {ZYDIS_STATUS_DECODING_ERROR, E_VEX, false, "opcodes, W and L that VEX does not define"},
        {ZYDIS_STATUS_DECODING_ERROR, E_EVEX, false, "opcodes, W and L that EVEX does not define"},
        {ZYDIS_STATUS_DECODING_ERROR, E_REX2, true, "REX2, which is newer than Zydis 4.0"},
        {ZYDIS_STATUS_BAD_REGISTER, E_LEGACY, false, "registers that do not exist, as CR1"},
        {ZYDIS_STATUS_BAD_REGISTER, E_XOP, false, "a register in vvvv where there must be none"},
        {ZYDIS_STATUS_BAD_REGISTER, E_VEX, false,
                "registers that do not exist, or twice in a gather"},
        {ZYDIS_STATUS_BAD_REGISTER, E_EVEX, false, "the same"},
        {ZYDIS_STATUS_ILLEGAL_LOCK, E_LEGACY, false, "LOCK where nothing is written to memory"},
        {ZYDIS_STATUS_ILLEGAL_LOCK, E_3DNOW, false, "the same"},
        {ZYDIS_STATUS_ILLEGAL_LOCK, E_XOP, false, "LOCK in front of XOP"},
        {ZYDIS_STATUS_ILLEGAL_LOCK, E_VEX, false, "LOCK in front of VEX"},
        {ZYDIS_STATUS_ILLEGAL_LOCK, E_EVEX, false, "LOCK in front of EVEX"},
        {ZYDIS_STATUS_ILLEGAL_LEGACY_PFX, E_XOP, false, "66, F2 or F3 in front of XOP"},
        {ZYDIS_STATUS_ILLEGAL_LEGACY_PFX, E_VEX, false, "66, F2 or F3 in front of VEX"},
        {ZYDIS_STATUS_ILLEGAL_LEGACY_PFX, E_EVEX, false, "66, F2 or F3 in front of EVEX"},
        {ZYDIS_STATUS_ILLEGAL_REX, E_XOP, true, "REX in front of XOP"},
        {ZYDIS_STATUS_ILLEGAL_REX, E_VEX, true, "REX in front of VEX"},
        {ZYDIS_STATUS_ILLEGAL_REX, E_EVEX, true, "REX in front of EVEX"},
        {ZYDIS_STATUS_INVALID_MAP, E_EVEX, false, "map 4 of EVEX (APX), newer than Zydis 4.0"},
        {ZYDIS_STATUS_MALFORMED_EVEX, E_EVEX, false, "reserved fields of EVEX"},
        {ZYDIS_STATUS_INVALID_MASK, E_EVEX, false,
                "a mask where there is none, or none where one must be"},
};

#define ONLY_OURS (sizeof(only_ours) / sizeof(only_ours[0]))

struct tally {
	uint64_t accepted, wrong_length, wrong_class, wrong_target, refused;
	uint64_t maps[ZYDIS_INSTRUCTION_ENCODING_MAX_VALUE + 1][ZYDIS_OPCODE_MAP_MAX_VALUE + 1];
	uint64_t prefixes[256];
	uint64_t only_ours[ONLY_OURS], unlisted, branches;
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
	t->maps[want->encoding][want->opcode_map]++;
	for (unsigned i = 0; i < want->raw.prefix_count; i++) {
		t->prefixes[want->raw.prefixes[i].value]++;
	}
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

/* Writes a vector prefix with valid reserved fields at p. */
static void make_vector(uint8_t *p, uint64_t *state)
{
	static const uint8_t evex_maps[] = {1, 2, 3, 5, 6};
	uint64_t r = next_random(state);
	uint8_t unused = r & 1 ? 0x78 : (uint8_t)(r >> 8 & 0x78); /* vvvv: no register */

	switch (r >> 32 & 3) {
	case 0:
		p[0] = 0xc5;
		p[1] = (uint8_t)(0x80 | unused | (r >> 16 & 7));
		break;
	case 1:
		p[0] = 0xc4;
		p[1] = (uint8_t)(0xe0 | (1 + (r >> 40) % 3));
		p[2] = (uint8_t)((r >> 16 & 0x87) | unused);
		break;
	case 2:
		p[0] = 0x8f;
		p[1] = (uint8_t)(0xe0 | (8 + (r >> 40) % 3));
		p[2] = (uint8_t)((r >> 16 & 0x84) | unused);
		p[3] = (uint8_t)(r >> 24 & (r & 2 ? 0x1f : 0xff)); /* the opcodes of map A */
		break;
	default:
		p[0] = 0x62;
		p[1] = (uint8_t)(0xf0 | evex_maps[(r >> 40) % 5]);
		p[2] = (uint8_t)(4 | (r >> 16 & 0x83) | unused);
		p[3] = (uint8_t)(8 | (r >> 24 & (r & 2 ? 0x60 : 0xf7)));
		break;
	}
}

/*
 * Prefixes, escapes and vector prefixes are more frequent than by chance, so that all maps occur.
 */
static void make(uint8_t *bytes, uint64_t *state)
{
	static const uint8_t starts[] = {
	        0x66, 0xf2, 0xf3, 0x67, 0x0f, 0xc4, 0xc5, 0x62, 0x8f, 0x48, 0xff, 0x0f, 0xf0, 0xd5};
	uint64_t r[2] = {next_random(state), next_random(state)};
	unsigned n = (unsigned)(next_random(state) % 4);
	unsigned what = (unsigned)(next_random(state) % 4);

	memcpy(bytes, r, 16);
	for (unsigned i = 0; i < n; i++) {
		bytes[i] = starts[next_random(state) % sizeof(starts)];
	}
	if (what == 0) {
		bytes[n] = 0x0f;
		bytes[n + 1] = next_random(state) & 1 ? 0x38 : 0x3a;
	} else if (what == 1) {
		make_vector(bytes + (n > 1 ? 0 : n), state);
	}
}

/* By the byte after the prefixes, as Sonde reads it. */
static unsigned encoding_of(const uint8_t *p, enum pt_mode mode)
{
	while (*p == 0x66 || *p == 0x67 || *p == 0xf2 || *p == 0xf3 || *p == 0xf0 || *p == 0x26 ||
	        *p == 0x2e || *p == 0x36 || *p == 0x3e || *p == 0x64 || *p == 0x65 ||
	        (mode == PT_MODE_64 && (*p & 0xf0) == 0x40)) {
		p++;
	}
	switch (*p) {
	case 0x0f: return p[1] == 0x0f ? E_3DNOW : E_LEGACY;
	case 0x8f: return (p[1] & 0x1f) >= 8 ? E_XOP : E_LEGACY;
	case 0xd5: return mode == PT_MODE_64 ? E_REX2 : E_LEGACY;
	case 0xc4:
	case 0xc5: return mode == PT_MODE_64 || p[1] >= 0xc0 ? E_VEX : E_LEGACY;
	case 0x62: return mode == PT_MODE_64 || p[1] >= 0xc0 ? E_EVEX : E_LEGACY;
	default: return E_LEGACY;
	}
}

/* Newer than Zydis 4.0: ERETU, ERETS (F3, F2 0F 01 CA) and JMPABS (REX2). */
static bool is_new_branch(const uint8_t *bytes, unsigned encoding)
{
	const uint8_t *p = bytes;

	while (p < bytes + 12 && *p != 0x0f) {
		p++;
	}
	return encoding == E_REX2 || (p[0] == 0x0f && p[1] == 0x01 && p[2] == 0xca);
}

static void show_only_ours(struct tally *t, const uint8_t *bytes, const char *what,
        ZyanStatus status, const struct pt_insn *got)
{
	if (t->shown++ >= 12) {
		return;
	}
	printf("#   %s, status %" PRIx32 ":", what, status);
	for (unsigned i = 0; i < 15; i++) {
		printf(" %02x", bytes[i]);
	}
	printf(" got size %u class %u\n", got->size, got->class);
}

static void take_only_ours(struct tally *t, const uint8_t *bytes, ZyanStatus status,
        enum pt_mode mode, const struct pt_insn *got)
{
	unsigned encoding = encoding_of(bytes, mode);

	if (got->class != PT_CLASS_OTHER && !is_new_branch(bytes, encoding)) {
		t->branches++;
		show_only_ours(t, bytes, "branch", status, got);
	}
	for (size_t i = 0; i < ONLY_OURS; i++) {
		if (only_ours[i].status == status && only_ours[i].encoding == encoding) {
			t->only_ours[i]++;
			return;
		}
	}
	t->unlisted++;
	show_only_ours(t, bytes, "not listed", status, got);
}

static bool try_string(
        struct tally *t, const ZydisDecoder *decoder, const uint8_t *bytes, enum pt_mode mode)
{
	ZydisDecodedInstruction want;
	struct pt_insn got;
	ZyanStatus status = ZydisDecoderDecodeInstruction(decoder, NULL, bytes, 16, &want);

	if (ZYAN_SUCCESS(status)) {
		if (!left_out(&want)) {
			compare(t, bytes, &want, mode);
		}
		return !left_out(&want);
	}
	if (pt_insn_decode(bytes, 16, mode, &got) == PT_INSN_OK) {
		take_only_ours(t, bytes, status, mode, &got);
	}
	return false;
}

struct real {
	struct tally *tally;
	const ZydisDecoder *decoder;
	enum pt_mode mode;
	uint64_t left, done;
};

/* All mapped code, from every byte on. */
static int try_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct real *real = arg;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives a number */
		const uint8_t *code = (const uint8_t *)(info->dlpi_addr + ph->p_vaddr);

		if (ph->p_type != PT_LOAD || (ph->p_flags & (PF_X | PF_R)) != (PF_X | PF_R)) {
			continue;
		}
		for (uint64_t at = 0; at + 16 <= ph->p_filesz && real->left > 0; at++) {
			(void)try_string(real->tally, real->decoder, code + at, real->mode);
			real->left--;
			real->done++;
		}
	}
	return 0;
}

/* Grown strings change one byte of an accepted one. */
static void try_random(struct tally *t, const ZydisDecoder *decoder, enum pt_mode mode, uint64_t n)
{
	uint64_t state = 0x9e3779b97f4a7c15ULL + (unsigned)mode;
	uint8_t bytes[16], good[16] = {0x90};

	for (uint64_t i = 0; i < n; i++) {
		if (i & 1) {
			memcpy(bytes, good, sizeof(bytes));
			bytes[next_random(&state) % 8] = (uint8_t)next_random(&state);
		} else {
			make(bytes, &state);
		}
		if (try_string(t, decoder, bytes, mode)) {
			memcpy(good, bytes, sizeof(good));
		}
	}
}

/* Whether all encodings, maps and prefixes that Zydis knows in the mode occurred. */
static bool is_all(const struct tally *t, enum pt_mode mode)
{
	static const uint8_t wanted[][2] = {
	        {ZYDIS_INSTRUCTION_ENCODING_LEGACY, ZYDIS_OPCODE_MAP_DEFAULT},
	        {ZYDIS_INSTRUCTION_ENCODING_LEGACY, ZYDIS_OPCODE_MAP_0F},
	        {ZYDIS_INSTRUCTION_ENCODING_LEGACY, ZYDIS_OPCODE_MAP_0F38},
	        {ZYDIS_INSTRUCTION_ENCODING_LEGACY, ZYDIS_OPCODE_MAP_0F3A},
	        {ZYDIS_INSTRUCTION_ENCODING_3DNOW, ZYDIS_OPCODE_MAP_0F0F},
	        {ZYDIS_INSTRUCTION_ENCODING_XOP, ZYDIS_OPCODE_MAP_XOP8},
	        {ZYDIS_INSTRUCTION_ENCODING_XOP, ZYDIS_OPCODE_MAP_XOP9},
	        {ZYDIS_INSTRUCTION_ENCODING_XOP, ZYDIS_OPCODE_MAP_XOPA},
	        {ZYDIS_INSTRUCTION_ENCODING_VEX, ZYDIS_OPCODE_MAP_0F},
	        {ZYDIS_INSTRUCTION_ENCODING_VEX, ZYDIS_OPCODE_MAP_0F38},
	        {ZYDIS_INSTRUCTION_ENCODING_VEX, ZYDIS_OPCODE_MAP_0F3A},
	        {ZYDIS_INSTRUCTION_ENCODING_EVEX, ZYDIS_OPCODE_MAP_0F},
	        {ZYDIS_INSTRUCTION_ENCODING_EVEX, ZYDIS_OPCODE_MAP_0F38},
	        {ZYDIS_INSTRUCTION_ENCODING_EVEX, ZYDIS_OPCODE_MAP_0F3A},
	        {ZYDIS_INSTRUCTION_ENCODING_EVEX, ZYDIS_OPCODE_MAP_MAP5},
	        {ZYDIS_INSTRUCTION_ENCODING_EVEX, ZYDIS_OPCODE_MAP_MAP6},
	};
	static const uint8_t prefixes[] = {
	        0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
	bool all = true;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t n = t->maps[wanted[i][0]][wanted[i][1]];

		all = all && n > 0;
		printf("#   encoding %u map %u: %" PRIu64 "\n", wanted[i][0], wanted[i][1], n);
	}
	for (size_t i = 0; i < sizeof(prefixes); i++) {
		all = all && t->prefixes[prefixes[i]] > 0;
	}
	for (unsigned i = 0x40; i < 0x50 && mode == PT_MODE_64; i++) {
		all = all && t->prefixes[i] > 0;
	}
	return all;
}

/* Whether each line of the list occurred in the mode; prints it with the counts. */
static bool is_list_met(const struct tally *t, enum pt_mode mode)
{
	bool all = true;

	for (size_t i = 0; i < ONLY_OURS; i++) {
		if (only_ours[i].only_64 && mode != PT_MODE_64) {
			continue;
		}
		all = all && t->only_ours[i] > 0;
		printf("#   %s: %" PRIu64 ", %s\n", encoding_names[only_ours[i].encoding],
		        t->only_ours[i], only_ours[i].reason);
	}
	return all;
}

static void run_mode(enum pt_mode mode, ZydisMachineMode zmode, ZydisStackWidth width, uint64_t n)
{
	static const char *const names[] = {"", "16-bit", "32-bit", "64-bit"};
	struct tally t = {.accepted = 0};
	ZydisDecoder decoder;
	struct real real = {&t, &decoder, mode, n / 4, 0};
	char what[96];

	(void)ZydisDecoderInit(&decoder, zmode, width);
	(void)dl_iterate_phdr(try_code, &real);
	try_random(&t, &decoder, mode, n - real.done);
	(void)snprintf(what, sizeof(what),
	        "%s: %" PRIu64 " of %" PRIu64 " strings are instructions", names[mode], t.accepted,
	        n);
	ok(t.accepted > n / 8, what);
	printf("# %" PRIu64 " strings are of real code\n", real.done);
	eq_u64(t.refused, 0, "no string that Zydis accepts is refused");
	eq_u64(t.wrong_length, 0, "lengths are those of Zydis");
	eq_u64(t.wrong_class, 0, "classes are those of Zydis");
	eq_u64(t.wrong_target, 0, "displacements are those of Zydis");
	ok(is_all(&t, mode), "every encoding, map and prefix occurred");
	eq_u64(t.unlisted, 0, "strings that only Zydis rejects are listed");
	ok(is_list_met(&t, mode), "every line of the list occurred");
	eq_u64(t.branches, 0, "no listed string is a branch, except those newer than Zydis");
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;

	run_mode(PT_MODE_64, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64, n);
	run_mode(PT_MODE_32, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32, n);
	run_mode(PT_MODE_16, ZYDIS_MACHINE_MODE_LEGACY_16, ZYDIS_STACK_WIDTH_16, n);
	return tap_done();
}
