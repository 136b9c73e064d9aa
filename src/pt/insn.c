/* SPDX-License-Identifier: MIT */
/*
 * The length and branch class of an instruction.
 *
 *	prefixes  REX|REX2|VEX|EVEX|XOP  [0F|0F 38|0F 3A] opcode  [ModRM [SIB] [disp]]  [immediate]
 *
 * One letter for each opcode names what follows it; `shapes` defines the letters. Errors that do
 * not change the length (a LOCK that is not allowed, a reserved register) are checked for branches
 * only: the processor does not execute such an instruction, so no trace contains it.
 *
 * Source: the opcode maps of the Intel SDM, volume 2, appendix A; XOP and 3DNow! from AMD's
 * manuals.
 */
#include "pt/insn.h"

#include <string.h>

enum imm {
	IMM_NONE = 0,
	IMM_8,
	IMM_16,
	IMM_32,
	IMM_Z, /* 2 bytes with a 16-bit operand, else 4 */
	IMM_V, /* as IMM_Z, but 8 with REX.W */
	IMM_ADDRESS, /* as long as an address */
	IMM_FAR, /* as IMM_Z, and a selector of 2 bytes */
	IMM_ENTER, /* 3 bytes */
	IMM_REL8,
	IMM_RELZ, /* as IMM_Z, but 4 in 64-bit code */
	IMM_8_8
};

enum modrm {
	MODRM_NONE = 0,
	MODRM_YES,
	MODRM_REGISTER, /* always names a register, whatever mod says */
	MODRM_TEST /* has an immediate only with /0 and /1 */
};

struct shape {
	uint8_t modrm, imm;
	bool bad;
};

static const struct shape shapes[128] = {
        ['.'] = {MODRM_NONE, IMM_NONE, false},
        ['m'] = {MODRM_YES, IMM_NONE, false},
        ['r'] = {MODRM_REGISTER, IMM_NONE, false},
        ['M'] = {MODRM_YES, IMM_8, false},
        ['Z'] = {MODRM_YES, IMM_Z, false},
        ['D'] = {MODRM_YES, IMM_32, false},
        ['B'] = {MODRM_YES, IMM_8_8, false},
        ['g'] = {MODRM_TEST, IMM_8, false},
        ['G'] = {MODRM_TEST, IMM_Z, false},
        ['b'] = {MODRM_NONE, IMM_8, false},
        ['w'] = {MODRM_NONE, IMM_16, false},
        ['z'] = {MODRM_NONE, IMM_Z, false},
        ['v'] = {MODRM_NONE, IMM_V, false},
        ['o'] = {MODRM_NONE, IMM_ADDRESS, false},
        ['p'] = {MODRM_NONE, IMM_FAR, false},
        ['e'] = {MODRM_NONE, IMM_ENTER, false},
        ['j'] = {MODRM_NONE, IMM_REL8, false},
        ['J'] = {MODRM_NONE, IMM_RELZ, false},
        ['x'] = {MODRM_NONE, IMM_NONE, true},
};

/* P: prefix, E: escape; both are handled before this table is used. */
static const char one_byte[] = "mmmmbz..mmmmbz.E"
                               "mmmmbz..mmmmbz.."
                               "mmmmbzP.mmmmbzP."
                               "mmmmbzP.mmmmbzP."
                               "................"
                               "................"
                               "..mmPPPPzZbM...."
                               "jjjjjjjjjjjjjjjj"
                               "MZMMmmmmmmmmmmmm"
                               "..........p....."
                               "oooo....bz......"
                               "bbbbbbbbvvvvvvvv"
                               "MMw.mmMZe.w..b.."
                               "mmmmbb..mmmmmmmm"
                               "jjjjbbbbJJpj...."
                               "P.PP..gG......mm";
static const char two_byte[] = "mmmmx.....x.xm.M"
                               "mmmmmmmmmmmmmmmm"
                               "rrrrxxxxmmmmmmmm"
                               "......x.ExExxxxx"
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm"
                               "MMMMmmm.mmxxmmmm"
                               "JJJJJJJJJJJJJJJJ"
                               "mmmmmmmmmmmmmmmm"
                               "...mMmmm...mMmmm"
                               "mmmmmmmmmmMmmmmm"
                               "mmMmMMMm........"
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm";
/* The second map, as VEX and EVEX use it. */
static const char vector[] = "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "MMMMmmm.mmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmMmMMMmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm";

/* Opcode maps; a map without a table has one shape for all opcodes. */
enum map {
	MAP_ONE = 0,
	MAP_0F,
	MAP_0F38,
	MAP_0F3A,
	MAP_VECTOR,
	MAP_XOP_IMM,
	MAP_XOP,
	MAP_XOP_IMM32
};

static const struct {
	const char *table;
	char shape;
} maps[] = {
        [MAP_ONE] = {one_byte, 0},
        [MAP_0F] = {two_byte, 0},
        [MAP_0F38] = {NULL, 'm'},
        [MAP_0F3A] = {NULL, 'M'},
        [MAP_VECTOR] = {vector, 0},
        [MAP_XOP_IMM] = {NULL, 'M'},
        [MAP_XOP] = {NULL, 'm'},
        [MAP_XOP_IMM32] = {NULL, 'D'},
};

struct decoder {
	const uint8_t *start, *p, *end;
	enum pt_mode mode;
	enum map map;
	uint8_t opcode;
	uint8_t modrm;
	uint8_t repeat; /* F2 or F3, the last one; 0: none */
	bool has_modrm;
	bool operand_prefix, address_prefix, wide; /* 66, 67, REX.W */
	bool lock;
	bool extended; /* REX2, VEX, EVEX or XOP */
	bool plain; /* the opcode is in a map with branches: not VEX, EVEX, XOP */
	bool jump_absolute;
};

/* Opcodes that are invalid in 64-bit code, or read as prefixes before this function is called. */
static bool only_legacy(uint8_t opcode)
{
	static const uint64_t bits[4] = {
	        (1ULL << 0x06) | (1ULL << 0x07) | (1ULL << 0x0e) | (1ULL << 0x16) | (1ULL << 0x17) |
	                (1ULL << 0x1e) | (1ULL << 0x1f) | (1ULL << 0x27) | (1ULL << 0x2f) |
	                (1ULL << 0x37) | (1ULL << 0x3f),
	        (1ULL << 0x20) | (1ULL << 0x21) | (1ULL << 0x22), /* 60 61 62 */
	        (1ULL << 0x02) | (1ULL << 0x1a), /* 82 9a */
	        (1ULL << 0x04) | (1ULL << 0x05) | (1ULL << 0x0e) | (1ULL << 0x14) | (1ULL << 0x15) |
	                (1ULL << 0x16) | (1ULL << 0x2a), /* c4 c5 ce d4-d6 ea */
	};

	return bits[opcode >> 6] >> (opcode & 63) & 1;
}

static bool take(struct decoder *d, uint8_t *byte)
{
	if (d->p == d->end) {
		return false;
	}
	*byte = *d->p++;
	return true;
}

/* Reads prefixes up to the opcode; a REX counts only directly before the opcode. */
static int read_prefixes(struct decoder *d)
{
	for (;; d->p++) {
		if (d->p == d->end) {
			return PT_INSN_TRUNCATED;
		}
		if (d->mode == PT_MODE_64 && (*d->p & 0xf0) == 0x40) {
			d->wide = *d->p & 8;
			continue;
		}
		switch (*d->p) {
		case 0x66: d->operand_prefix = true; break;
		case 0x67: d->address_prefix = true; break;
		case 0xf2:
		case 0xf3: d->repeat = *d->p; break;
		case 0xf0: d->lock = true; break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65: break;
		default: return PT_INSN_OK;
		}
		d->wide = false;
	}
}

/*
 * REX2: D5, then a byte with the map in its top bit and W in bit 3, then an opcode without escape.
 */
static int read_rex2(struct decoder *d)
{
	uint8_t payload;

	d->extended = true;
	if (!take(d, &payload) || !take(d, &d->opcode)) {
		return PT_INSN_TRUNCATED;
	}
	d->wide = payload & 8;
	d->map = payload & 0x80 ? MAP_0F : MAP_ONE;
	d->jump_absolute = d->map == MAP_ONE && d->opcode == 0xa1 && !d->wide;
	return PT_INSN_OK;
}

/* VEX: C5 and one byte, or C4 and two. */
static int read_vex(struct decoder *d, uint8_t first)
{
	static const uint8_t by_field[4] = {0, MAP_VECTOR, MAP_0F38, MAP_0F3A};
	uint8_t byte;
	uint8_t second;
	unsigned field = 1;

	d->extended = true;
	d->plain = false;
	if (!take(d, &byte) || (first == 0xc4 && !take(d, &second)) || !take(d, &d->opcode)) {
		return PT_INSN_TRUNCATED;
	}
	if (first == 0xc4) {
		field = byte & 0x1f;
	}
	if (field == 0 || field > 3) {
		return PT_INSN_BAD;
	}
	d->map = (enum map)by_field[field];
	return PT_INSN_OK;
}

/* EVEX: 62 and three bytes; map 4 is the one-byte map, with the shapes of its ModRM opcodes. */
static int read_evex(struct decoder *d)
{
	static const uint8_t by_field[8] = {
	        0, MAP_VECTOR, MAP_0F38, MAP_0F3A, MAP_ONE, MAP_0F38, MAP_0F38, 0};
	uint8_t bytes[3];

	d->extended = true;
	d->plain = false;
	for (unsigned i = 0; i < 3; i++) {
		if (!take(d, &bytes[i])) {
			return PT_INSN_TRUNCATED;
		}
	}
	if (!take(d, &d->opcode)) {
		return PT_INSN_TRUNCATED;
	}
	if ((bytes[0] & 7) == 0 || (bytes[0] & 7) == 7) {
		return PT_INSN_BAD;
	}
	d->map = (enum map)by_field[bytes[0] & 7];
	d->operand_prefix = d->map == MAP_ONE && (bytes[1] & 3) == 1;
	d->wide = bytes[1] & 0x80;
	return PT_INSN_OK;
}

static int read_xop(struct decoder *d)
{
	uint8_t byte;
	uint8_t second;

	d->extended = true;
	d->plain = false;
	if (!take(d, &byte) || !take(d, &second) || !take(d, &d->opcode)) {
		return PT_INSN_TRUNCATED;
	}
	if ((byte & 0x1f) > 10) {
		return PT_INSN_BAD;
	}
	d->map = (enum map)(MAP_XOP_IMM + (byte & 0x1f) - 8);
	return PT_INSN_OK;
}

static int read_escaped(struct decoder *d)
{
	d->map = MAP_0F;
	if (!take(d, &d->opcode)) {
		return PT_INSN_TRUNCATED;
	}
	if (d->opcode == 0x38 || d->opcode == 0x3a) {
		d->map = d->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
		return take(d, &d->opcode) ? PT_INSN_OK : PT_INSN_TRUNCATED;
	}
	return PT_INSN_OK;
}

/*
 * In 16 and 32-bit code, C4, C5 and 62 are older instructions with a memory operand unless both
 * bits in the position of mod are set. 8F is XOP unless ModRM.reg would be 0.
 */
static int read_opcode(struct decoder *d)
{
	uint8_t first = 0;
	uint8_t next;

	d->plain = true;
	if (!take(d, &first)) {
		return PT_INSN_TRUNCATED;
	}
	if (first == 0x0f) {
		return read_escaped(d);
	}
	d->map = MAP_ONE;
	d->opcode = first;
	if (first != 0xc4 && first != 0xc5 && first != 0x62 && first != 0x8f && first != 0xd5) {
		return PT_INSN_OK;
	}
	if (d->p == d->end) {
		return PT_INSN_TRUNCATED;
	}
	next = *d->p;
	if (first == 0x8f) {
		return (next & 0x1f) >= 8 ? read_xop(d) : PT_INSN_OK;
	}
	if (first == 0xd5) {
		return d->mode == PT_MODE_64 ? read_rex2(d) : PT_INSN_OK;
	}
	if (d->mode != PT_MODE_64 && (next & 0xc0) != 0xc0) {
		return PT_INSN_OK;
	}
	return first == 0x62 ? read_evex(d) : read_vex(d, first);
}

static unsigned address_size(const struct decoder *d)
{
	if (d->mode == PT_MODE_64) {
		return d->address_prefix ? 4 : 8;
	}
	return (d->mode == PT_MODE_16) != d->address_prefix ? 2 : 4;
}

/* Size of an immediate: 2 or 4 bytes. */
static unsigned operand_size(const struct decoder *d)
{
	bool small = (d->mode == PT_MODE_16) != d->operand_prefix;

	return small && !d->wide ? 2 : 4;
}

/* Size of the SIB byte and the displacement of a memory operand. */
static int memory_size(const struct decoder *d)
{
	unsigned mod = d->modrm >> 6;
	unsigned rm = d->modrm & 7;
	int sib = 0;

	if (address_size(d) == 2) {
		return mod == 0 ? (rm == 6 ? 2 : 0) : (int)mod;
	}
	if (rm == 4) {
		if (d->p == d->end) {
			return PT_INSN_TRUNCATED;
		}
		sib = 1;
		rm = *d->p & 7;
	}
	if (mod == 0) {
		return sib + (rm == 5 ? 4 : 0);
	}
	return sib + (mod == 1 ? 1 : 4);
}

static unsigned imm_size(const struct decoder *d, unsigned imm)
{
	switch (imm) {
	case IMM_8:
	case IMM_REL8: return 1;
	case IMM_16:
	case IMM_8_8: return 2;
	case IMM_ENTER: return 3;
	case IMM_32: return 4;
	case IMM_Z: return operand_size(d);
	case IMM_V: return d->wide ? 8 : operand_size(d);
	case IMM_ADDRESS: return d->jump_absolute ? 8 : address_size(d);
	case IMM_FAR: return operand_size(d) + 2;
	case IMM_RELZ: return d->mode == PT_MODE_64 ? 4 : operand_size(d);
	default: return 0;
	}
}

static int skip(struct decoder *d, int n)
{
	if (n < 0) {
		return n;
	}
	if (d->end - d->p < n) {
		return PT_INSN_TRUNCATED;
	}
	d->p += n;
	return PT_INSN_OK;
}

/* For two opcodes the shape depends on a prefix or on ModRM. */
static struct shape shape_of(const struct decoder *d)
{
	char letter = maps[d->map].shape;

	if (maps[d->map].table != NULL) {
		letter = maps[d->map].table[d->opcode];
	}
	if (d->map == MAP_0F && d->opcode == 0x78 && (d->operand_prefix || d->repeat == 0xf2)) {
		letter = 'B'; /* EXTRQ, INSERTQ */
	}
	if (d->map == MAP_ONE && d->mode == PT_MODE_64 && d->plain && only_legacy(d->opcode)) {
		letter = 'x';
	}
	if (d->map == MAP_ONE && d->extended && (letter == 'P' || letter == 'E')) {
		letter = 'x';
	}
	return shapes[(unsigned char)letter];
}

static int32_t load_disp(const uint8_t *p, unsigned size)
{
	int8_t b;
	int16_t w;
	int32_t l;

	if (size == 1) {
		memcpy(&b, p, 1);
		return b;
	}
	if (size == 2) {
		w = (int16_t)(p[0] | p[1] << 8);
		return w;
	}
	l = (int32_t)(p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
	return l;
}

static int read_operands(struct decoder *d, struct pt_insn *out)
{
	struct shape shape = shape_of(d);
	unsigned size;
	int rc;

	if (shape.bad) {
		return PT_INSN_BAD;
	}
	if (shape.modrm != MODRM_NONE) {
		if (!take(d, &d->modrm)) {
			return PT_INSN_TRUNCATED;
		}
		d->has_modrm = true;
		if (shape.modrm != MODRM_REGISTER && d->modrm < 0xc0) {
			rc = skip(d, memory_size(d));
			if (rc != PT_INSN_OK) {
				return rc;
			}
		}
		if (shape.modrm == MODRM_TEST && (d->modrm & 0x38) > 0x08) {
			shape.imm = IMM_NONE;
		}
	}
	size = imm_size(d, shape.imm);
	rc = skip(d, (int)size);
	if (rc == PT_INSN_OK && (shape.imm == IMM_REL8 || shape.imm == IMM_RELZ)) {
		out->disp = load_disp(d->p - size, size);
		out->wraps16 = d->mode != PT_MODE_64 && operand_size(d) == 2;
	}
	return rc;
}

/* Classes of one-byte opcodes; FF is a group. */
static uint8_t class_one(const struct decoder *d)
{
	static const uint8_t classes[256] = {
	        [0x70 ... 0x7f] = PT_CLASS_COND,
	        [0x9a] = PT_CLASS_FAR_CALL,
	        [0xc2 ... 0xc3] = PT_CLASS_RET,
	        [0xca ... 0xcb] = PT_CLASS_FAR_RET,
	        [0xcc ... 0xce] = PT_CLASS_FAR_CALL,
	        [0xcf] = PT_CLASS_FAR_RET,
	        [0xe0 ... 0xe3] = PT_CLASS_COND,
	        [0xe8] = PT_CLASS_CALL,
	        [0xe9] = PT_CLASS_JUMP,
	        [0xea] = PT_CLASS_FAR_JUMP,
	        [0xeb] = PT_CLASS_JUMP,
	        [0xf1] = PT_CLASS_FAR_CALL,
	};
	static const uint8_t group5[8] = {0, 0, PT_CLASS_CALL_IND, PT_CLASS_FAR_CALL,
	        PT_CLASS_JUMP_IND, PT_CLASS_FAR_JUMP, 0, 0};

	if (d->jump_absolute) {
		return PT_CLASS_JUMP_IND; /* a direct branch, but the processor writes a TIP */
	}
	return d->opcode == 0xff ? group5[d->modrm >> 3 & 7] : classes[d->opcode];
}

static uint8_t special_one(const struct decoder *d)
{
	if (d->opcode == 0xcf) {
		return PT_SPECIAL_IRET;
	}
	return (d->opcode >= 0xcc && d->opcode <= 0xce) || d->opcode == 0xf1 ? PT_SPECIAL_INT
	                                                                     : PT_SPECIAL_NONE;
}

/*
 * Rows of 0F 01, 0F 22, 0F AE and 0F C7 that matter; prefix 0: any, 1: none of 66 F2 F3. ERETS,
 * ERETU and UIRET exist in 64-bit code only.
 */
static const struct two_row {
	uint8_t opcode, modrm_mask, modrm, prefix, class, special;
} two_rows[] = {
        {0x05, 0, 0, 0, PT_CLASS_FAR_CALL, PT_SPECIAL_NONE}, /* syscall */
        {0x34, 0, 0, 0, PT_CLASS_FAR_CALL, PT_SPECIAL_NONE}, /* sysenter */
        {0x07, 0, 0, 0, PT_CLASS_FAR_RET, PT_SPECIAL_NONE}, /* sysret */
        {0x35, 0, 0, 0, PT_CLASS_FAR_RET, PT_SPECIAL_NONE}, /* sysexit */
        {0xaa, 0, 0, 0, PT_CLASS_FAR_RET, PT_SPECIAL_NONE}, /* rsm */
        {0x01, 0xff, 0xc1, 1, PT_CLASS_FAR_CALL, PT_SPECIAL_VM}, /* vmcall */
        {0x01, 0xff, 0xc2, 1, PT_CLASS_FAR_RET, PT_SPECIAL_VM}, /* vmlaunch */
        {0x01, 0xff, 0xc3, 1, PT_CLASS_FAR_RET, PT_SPECIAL_VM}, /* vmresume */
        {0x01, 0xff, 0xca, 0xf2, PT_CLASS_FAR_RET, PT_SPECIAL_IRET}, /* erets */
        {0x01, 0xff, 0xca, 0xf3, PT_CLASS_FAR_RET, PT_SPECIAL_IRET}, /* eretu */
        {0x01, 0xff, 0xec, 0xf3, PT_CLASS_FAR_RET, PT_SPECIAL_IRET}, /* uiret */
        {0x22, 0x38, 0x18, 0, PT_CLASS_OTHER, PT_SPECIAL_MOV_CR3},
        {0xae, 0x38, 0x20, 0xf3, PT_CLASS_OTHER, PT_SPECIAL_PTWRITE},
        {0xc7, 0xf8, 0x30, 1, PT_CLASS_OTHER, PT_SPECIAL_VM}, /* vmptrld, mod 0 */
        {0xc7, 0xf8, 0x70, 1, PT_CLASS_OTHER, PT_SPECIAL_VM}, /* mod 1 */
        {0xc7, 0xf8, 0xb0, 1, PT_CLASS_OTHER, PT_SPECIAL_VM}, /* mod 2 */
};

static void classify_two(const struct decoder *d, struct pt_insn *out)
{
	uint8_t prefix = d->repeat != 0 ? d->repeat : d->operand_prefix ? 0x66 : 1;

	if (d->opcode >= 0x80 && d->opcode <= 0x8f) {
		out->class = PT_CLASS_COND;
		return;
	}
	for (size_t i = 0; i < sizeof(two_rows) / sizeof(two_rows[0]); i++) {
		const struct two_row *row = &two_rows[i];

		if (row->opcode == d->opcode && (d->modrm & row->modrm_mask) == row->modrm &&
		        (row->prefix == 0 || row->prefix == prefix) &&
		        (row->special != PT_SPECIAL_IRET || d->mode == PT_MODE_64)) {
			out->class = row->class;
			out->special = row->special;
			return;
		}
	}
}

/*
 * Branches that the processor refuses to execute: with LOCK, and far ones with a register operand.
 */
static bool is_no_branch(const struct decoder *d, const struct pt_insn *insn)
{
	if (insn->class == PT_CLASS_OTHER) {
		return false;
	}
	return d->lock || (d->map == MAP_ONE && d->opcode == 0xff && d->modrm >= 0xc0 &&
	                          insn->class >= PT_CLASS_FAR_CALL);
}

int pt_insn_decode(const uint8_t *p, size_t n, enum pt_mode mode, struct pt_insn *out)
{
	struct decoder d = {.start = p, .p = p, .end = p + n, .mode = mode};
	bool limited = n >= PT_INSN_MAX;
	int rc;

	*out = (struct pt_insn){.size = 0};
	if (limited) {
		d.end = p + PT_INSN_MAX;
	}
	rc = read_prefixes(&d);
	if (rc == PT_INSN_OK) {
		rc = read_opcode(&d);
	}
	if (rc == PT_INSN_OK) {
		rc = read_operands(&d, out);
	}
	if (rc != PT_INSN_OK) {
		return rc == PT_INSN_TRUNCATED && limited ? PT_INSN_BAD : rc;
	}
	out->size = (uint8_t)(d.p - d.start);
	if (d.plain && d.map == MAP_ONE) {
		out->class = class_one(&d);
		out->special = special_one(&d);
	} else if (d.plain && d.map == MAP_0F) {
		classify_two(&d, out);
	}
	return is_no_branch(&d, out) ? PT_INSN_BAD : PT_INSN_OK;
}

uint64_t pt_insn_target(const struct pt_insn *insn, uint64_t ip, enum pt_mode mode)
{
	uint64_t target = ip + insn->size + (uint64_t)(int64_t)insn->disp;

	if (insn->wraps16) {
		return target & 0xffff;
	}
	return mode == PT_MODE_64 ? target : target & 0xffffffff;
}
