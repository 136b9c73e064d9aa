/* SPDX-License-Identifier: MIT */
/*
 * Reading packets. The first byte identifies most of them, after 02 the second byte does:
 *
 *	00                 PAD                 02 A3 +6   TNT, 47 bits
 *	1xxxxxx0 .. 1xx0   TNT, 6..1 bits      02 43 +6   PIP
 *	iii 01101 +n       TIP                 02 03 +2   CBR
 *	iii 10001 +n       TIP.PGE             02 73 +5   TMA
 *	iii 00001 +n       TIP.PGD             02 C8 +5   VMCS
 *	iii 11101 +n       FUP                 02 F3      OVF
 *	19 +7              TSC                 02 82 x 8  PSB
 *	59 +1              MTC                 02 23      PSBEND
 *	99 +1              MODE                02 83      TraceStop
 *	D9 +2|+4           TRIG                02 C3 88 +8  MNT
 *	xxxxx100 +4|+8     BIP, between        02 62|E2   EXSTOP
 *	                   BBP and BEP         02 C2 +8   MWAIT
 *	xxxxxe11 ..        CYC, a further      02 22 +2   PWRE
 *	                   byte as long as e   02 A2 +5   PWRX
 *	                   (then bit 0) is     02 i0010010 +4, i0110010 +8  PTW
 *	                   set                 02 13 +2   CFE
 *	                                       02 53 +9   EVD
 *	                                       02 63 +1   BBP
 *	                                       02 33|B3   BEP
 *
 * iii is the IP compression: 0 no IP, 1 16 bits, 2 32 bits, 3 48 bits sign-extended, 4 48 bits, 6
 * all 64. All numbers are little-endian. Source: Intel SDM, volume 3, "Intel Processor Trace".
 */
#include "pt/packet.h"

#include "core/span.h"
#include "pt/errata.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_CYC 10 /* bytes of a CYC of 64 bits */

typedef bool (*read_fn)(const uint8_t *p, struct sonde_pt_packet *out);

static const uint8_t psb_bytes[16] = {
        2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

static uint64_t load_n(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++) {
		v |= (uint64_t)p[i] << (8 * i);
	}
	return v;
}

static bool read_nothing(const uint8_t *p, struct sonde_pt_packet *out)
{
	(void)p;
	(void)out;
	return true;
}

/* Reads the bits below the highest set bit. */
static bool read_bits(uint64_t payload, struct sonde_pt_packet *out)
{
	unsigned stop;

	if (payload <= 1) {
		return false;
	}
	stop = 63u - (unsigned)__builtin_clzll(payload);
	out->count = (uint8_t)stop;
	out->value = payload & ~(1ULL << stop);
	return true;
}

static bool read_tnt8(const uint8_t *p, struct sonde_pt_packet *out)
{
	return read_bits(p[0] >> 1, out);
}

static bool read_tnt64(const uint8_t *p, struct sonde_pt_packet *out)
{
	return read_bits(load_n(p + 2, 6), out);
}

static bool read_ip(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->count = p[0] >> 5;
	out->value = load_n(p + 1, out->size - 1u);
	return true;
}

static bool read_tsc(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->value = load_n(p + 1, 7);
	return true;
}

static bool read_mtc(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->value = p[1];
	return true;
}

static bool read_mode(const uint8_t *p, struct sonde_pt_packet *out)
{
	unsigned leaf = p[1] >> 5;

	out->kind = leaf == 0 ? SONDE_PT_MODE_EXEC : SONDE_PT_MODE_TSX;
	out->value = p[1] & (leaf == 0 ? 7 : 3);
	return leaf <= 1;
}

static bool read_pip(const uint8_t *p, struct sonde_pt_packet *out)
{
	uint64_t payload = load_n(p + 2, 6);

	out->flags = payload & 1 ? SONDE_PT_F_NR : 0;
	out->value = (payload >> 1) << 5; /* CR3[51:5] */
	return true;
}

static bool read_cbr(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->value = p[2];
	return true;
}

static bool read_tma(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->value = load_n(p + 2, 2);
	out->extra = load_n(p + 5, 2);
	return p[4] == 0 && (p[6] & 0xfe) == 0;
}

static bool read_vmcs(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->value = load_n(p + 2, 5) << 12;
	return true;
}

static bool read_psb(const uint8_t *p, struct sonde_pt_packet *out)
{
	(void)out;
	return memcmp(p, psb_bytes, sizeof(psb_bytes)) == 0;
}

static bool read_mnt(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->value = load_n(p + 3, 8);
	return p[2] == 0x88;
}

static bool read_ip_flag(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->flags = p[1] & 0x80 ? SONDE_PT_F_IP : 0;
	return true;
}

static bool read_mwait(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->value = load_n(p + 2, 4);
	out->extra = load_n(p + 6, 4);
	return true;
}

/*
 * C-states are stored minus one: f is C0. The bit of hardware is bit 7 in the SDM, and bit 3 in
 * test vectors; the other one is 0.
 */
static bool read_pwre(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->flags = p[2] & 0x88 ? SONDE_PT_F_HW : 0;
	out->value = ((p[3] >> 4) + 1u) & 0xf;
	out->extra = ((p[3] & 0xf) + 1u) & 0xf;
	return true;
}

static bool read_pwrx(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->value = ((p[2] >> 4) + 1u) & 0xf;
	out->extra = ((p[2] & 0xf) + 1u) & 0xf;
	out->count = p[3] & 0xf;
	return true;
}

static bool read_ptw(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->flags = p[1] & 0x80 ? SONDE_PT_F_IP : 0;
	out->count = (p[1] >> 5) & 3;
	out->value = load_n(p + 2, out->count == 0 ? 4 : 8);
	return true;
}

static bool read_cfe(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->flags = p[2] & 0x80 ? SONDE_PT_F_IP : 0;
	out->count = p[2] & 0x1f;
	out->value = p[3];
	return true;
}

static bool read_evd(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->count = p[2] & 0x3f;
	out->value = load_n(p + 3, 8);
	return true;
}

static bool read_trig(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->flags =
	        (uint8_t)((p[1] & 0x80 ? SONDE_PT_F_IP : 0) | (p[1] & 0x20 ? SONDE_PT_F_MULT : 0) |
	                  (p[1] & 0x40 ? SONDE_PT_F_ICNT : 0));
	out->value = p[2];
	out->extra = p[1] & 0x40 ? load_n(p + 3, 2) : 0;
	return true;
}

static bool read_bbp(const uint8_t *p, struct sonde_pt_packet *out)
{
	out->count = p[2] & 0x1f;
	out->value = p[2] & 0x80 ? 4 : 8;
	return true;
}

static const read_fn readers[SONDE_PT_KINDS] = {
        [SONDE_PT_PAD] = read_nothing,
        [SONDE_PT_TNT8] = read_tnt8,
        [SONDE_PT_TNT64] = read_tnt64,
        [SONDE_PT_TIP] = read_ip,
        [SONDE_PT_TIP_PGE] = read_ip,
        [SONDE_PT_TIP_PGD] = read_ip,
        [SONDE_PT_FUP] = read_ip,
        [SONDE_PT_PIP] = read_pip,
        [SONDE_PT_MODE_EXEC] = read_mode,
        [SONDE_PT_MODE_TSX] = read_mode,
        [SONDE_PT_STOP] = read_nothing,
        [SONDE_PT_CBR] = read_cbr,
        [SONDE_PT_TSC] = read_tsc,
        [SONDE_PT_TMA] = read_tma,
        [SONDE_PT_MTC] = read_mtc,
        [SONDE_PT_VMCS] = read_vmcs,
        [SONDE_PT_OVF] = read_nothing,
        [SONDE_PT_PSB] = read_psb,
        [SONDE_PT_PSBEND] = read_nothing,
        [SONDE_PT_MNT] = read_mnt,
        [SONDE_PT_EXSTOP] = read_ip_flag,
        [SONDE_PT_MWAIT] = read_mwait,
        [SONDE_PT_PWRE] = read_pwre,
        [SONDE_PT_PWRX] = read_pwrx,
        [SONDE_PT_PTW] = read_ptw,
        [SONDE_PT_CFE] = read_cfe,
        [SONDE_PT_EVD] = read_evd,
        [SONDE_PT_TRIG] = read_trig,
        [SONDE_PT_BBP] = read_bbp,
        [SONDE_PT_BEP] = read_ip_flag,
};

/* Size in bytes (0: no packet) and kind by the byte after 02. */
struct shape {
	uint8_t size, kind;
};

static const struct shape extended[256] = {
        [0x03] = {4, SONDE_PT_CBR},
        [0x12] = {6, SONDE_PT_PTW},
        [0x92] = {6, SONDE_PT_PTW},
        [0x32] = {10, SONDE_PT_PTW},
        [0xb2] = {10, SONDE_PT_PTW},
        [0x13] = {4, SONDE_PT_CFE},
        [0x22] = {4, SONDE_PT_PWRE},
        [0x23] = {2, SONDE_PT_PSBEND},
        [0x33] = {2, SONDE_PT_BEP},
        [0xb3] = {2, SONDE_PT_BEP},
        [0x43] = {8, SONDE_PT_PIP},
        [0x53] = {11, SONDE_PT_EVD},
        [0x62] = {2, SONDE_PT_EXSTOP},
        [0xe2] = {2, SONDE_PT_EXSTOP},
        [0x63] = {3, SONDE_PT_BBP},
        [0x73] = {7, SONDE_PT_TMA},
        [0x82] = {16, SONDE_PT_PSB},
        [0x83] = {2, SONDE_PT_STOP},
        [0xa2] = {7, SONDE_PT_PWRX},
        [0xa3] = {8, SONDE_PT_TNT64},
        [0xc2] = {10, SONDE_PT_MWAIT},
        [0xc3] = {11, SONDE_PT_MNT},
        [0xc8] = {7, SONDE_PT_VMCS},
        [0xf3] = {2, SONDE_PT_OVF},
};

static const uint8_t ip_size[8] = {1, 3, 5, 7, 7, 0, 9, 0}; /* size of the packet; 0: reserved */

/* Packets with an IP, by the low 5 bits of the first byte. */
static const uint8_t ip_kinds[32] = {[0x0d] = SONDE_PT_TIP,
        [0x11] = SONDE_PT_TIP_PGE,
        [0x01] = SONDE_PT_TIP_PGD,
        [0x1d] = SONDE_PT_FUP};

/* Kind and size of packets with an odd first byte, except CYC; size 0: no packet. */
static struct shape odd_shape(const uint8_t *p, size_t left)
{
	unsigned kind = ip_kinds[p[0] & 0x1f];

	if (kind != 0) {
		return (struct shape){ip_size[p[0] >> 5], (uint8_t)kind};
	}
	switch (p[0]) {
	case 0x19: return (struct shape){8, SONDE_PT_TSC};
	case 0x59: return (struct shape){2, SONDE_PT_MTC};
	case 0x99: return (struct shape){2, SONDE_PT_MODE_EXEC};
	case 0xd9: return (struct shape){left > 1 && p[1] & 0x40 ? 5 : 3, SONDE_PT_TRIG};
	default: return (struct shape){0, 0};
	}
}

static int fail(struct pt_cursor *c, enum sonde_pt_error error)
{
	c->error = (uint8_t)error;
	return SONDE_EFORMAT;
}

static bool is_psb(const uint8_t *p, const uint8_t *end)
{
	return (size_t)(end - p) >= sizeof(psb_bytes) &&
	       memcmp(p, psb_bytes, sizeof(psb_bytes)) == 0;
}

/*
 * Whether a PSB begins inside a packet of that size: then the packet was cut off, as in a full
 * buffer. If another PSB begins directly after the packet, the packet only ends with the same
 * bytes.
 */
static bool is_cut(const struct pt_cursor *c, unsigned size)
{
	for (unsigned i = 1; i < size && !c->over_psb; i++) {
		if (c->p[i] == psb_bytes[0] && is_psb(c->p + i, c->end)) {
			return !is_psb(c->p + size, c->end);
		}
	}
	return false;
}

/* A CYC has 5 bits in its first byte and 7 in each further one. */
static int read_cyc(struct pt_cursor *c, struct sonde_pt_packet *out)
{
	size_t left = (size_t)(c->end - c->p);
	uint64_t value = c->p[0] >> 3;
	unsigned size = 1;
	unsigned shift = 5;
	bool more = c->p[0] & 4;

	while (more) {
		if (size == left) {
			return fail(c, SONDE_PT_ERROR_TRUNCATED);
		}
		if (size == LONGEST_CYC || (shift > 57 && c->p[size] >> 1 >> (64 - shift) != 0)) {
			return fail(c, SONDE_PT_ERROR_PACKET);
		}
		value |= (uint64_t)(c->p[size] >> 1) << shift;
		more = c->p[size] & 1;
		shift += 7;
		size++;
	}
	if (size == 2 && left > 2 && c->p[1] == 0x02 && c->p[2] == 0xf3 &&
	        c->errata & PT_ERRATUM_SKD007) {
		out->kind = SONDE_PT_OVF;
		out->size = 3;
		c->p += 3;
		return 1;
	}
	if (is_cut(c, size)) {
		return fail(c, SONDE_PT_ERROR_TRUNCATED);
	}
	out->kind = SONDE_PT_CYC;
	out->value = value;
	out->size = (uint8_t)size;
	c->p += size;
	return 1;
}

static int read_bip(struct pt_cursor *c, struct sonde_pt_packet *out)
{
	if ((size_t)(c->end - c->p) < c->bip_size + 1u) {
		return fail(c, SONDE_PT_ERROR_TRUNCATED);
	}
	out->kind = SONDE_PT_BIP;
	out->count = c->p[0] >> 3;
	out->value = load_n(c->p + 1, c->bip_size);
	out->extra = c->bip_size;
	out->size = (uint8_t)(c->bip_size + 1);
	c->p += out->size;
	return 1;
}

/* BBP opens a block of BIPs; BEP ends it, and so does any packet that is not allowed inside. */
static void follow_block(struct pt_cursor *c, const struct sonde_pt_packet *p)
{
	if (p->kind == SONDE_PT_BBP) {
		c->bip_size = (uint8_t)p->value;
	} else if (p->kind == SONDE_PT_BEP || p->kind == SONDE_PT_OVF || p->kind == SONDE_PT_PSB) {
		c->bip_size = 0;
	}
}

/* SKZ84: a TMA with reserved bits set is ignored, and the byte after it belongs to it. */
static bool repair(const struct pt_cursor *c, struct sonde_pt_packet *out)
{
	if ((c->errata & PT_ERRATUM_SKZ84) == 0 || out->kind != SONDE_PT_TMA ||
	        c->end - c->p < out->size + 1) {
		return false;
	}
	out->size++;
	out->value = 0;
	out->extra = 0;
	out->flags = SONDE_PT_F_BAD;
	return true;
}

int pt_cursor_next(struct pt_cursor *c, struct sonde_pt_packet *out)
{
	size_t left = (size_t)(c->end - c->p);
	struct shape shape = {1, SONDE_PT_TNT8};

	*out = (struct sonde_pt_packet){.offset = (uint64_t)(c->p - c->begin)};
	if (left == 0) {
		return 0;
	}
	if ((c->p[0] & 3) == 3) {
		return read_cyc(c, out);
	}
	if (c->bip_size != 0 && (c->p[0] & 7) == 4) {
		return read_bip(c, out);
	}
	if (c->p[0] & 1) {
		shape = odd_shape(c->p, left);
	} else if (c->p[0] == 0) {
		shape.kind = SONDE_PT_PAD;
	} else if (c->p[0] == 2) {
		if (left == 1) {
			return fail(c, SONDE_PT_ERROR_TRUNCATED);
		}
		shape = extended[c->p[1]];
	}
	if (shape.size == 0) {
		return fail(c, SONDE_PT_ERROR_OPCODE);
	}
	if (shape.size > left || (shape.kind != SONDE_PT_PSB && is_cut(c, shape.size))) {
		return fail(c, SONDE_PT_ERROR_TRUNCATED);
	}
	out->kind = shape.kind;
	out->size = shape.size;
	if (!readers[shape.kind](c->p, out) && !repair(c, out)) {
		return fail(c, SONDE_PT_ERROR_PACKET);
	}
	c->p += out->size;
	follow_block(c, out);
	return 1;
}

struct pt_cursor pt_cursor_make(const uint8_t *data, size_t n)
{
	static const uint8_t none[1];

	data = data != NULL ? data : none;
	return (struct pt_cursor){.begin = data, .p = data, .end = data + n};
}

#define SEARCH_BLOCK 64

/* Whether 4 aligned bytes of a PSB may be in a block; compilers vectorise this loop. */
static bool may_have_psb(const uint8_t *p)
{
	uint32_t words[SEARCH_BLOCK / 4];
	uint32_t hits = 0;

	memcpy(words, p, SEARCH_BLOCK);
	for (unsigned i = 0; i < SEARCH_BLOCK / 4; i++) {
		hits |= (words[i] == 0x82028202u) | (words[i] == 0x02820282u);
	}
	return hits != 0;
}

/* A PSB that covers 4 bytes of a block begins at most 12 bytes before it, or in it. */
const uint8_t *pt_find_psb(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from = p;

	while ((size_t)(end - p) >= SEARCH_BLOCK) {
		const uint8_t *next = p + SEARCH_BLOCK;

		if (may_have_psb(p)) {
			const uint8_t *first = p - from < 12 ? from : p - 12;

			for (const uint8_t *q = first; q < next; q++) {
				if (*q == psb_bytes[0] && is_psb(q, end)) {
					return q;
				}
			}
		}
		p = next;
	}
	p = p - from < 15 ? from : p - 15;
	for (; p < end; p++) {
		if (*p == psb_bytes[0] && is_psb(p, end)) {
			return p;
		}
	}
	return NULL;
}

int pt_cursor_sync(struct pt_cursor *c)
{
	const uint8_t *p = pt_find_psb(c->p, c->end);

	c->bip_size = 0;
	c->p = p != NULL ? p : c->end;
	return p != NULL;
}

/* Sets the high bit of each zero byte; only the lowest one is reliable. */
static inline uint64_t zero_bytes(uint64_t v)
{
	return (v - 0x0101010101010101u) & ~v & 0x8080808080808080u;
}

static inline uint64_t load_8(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return HOST_BIG_ENDIAN ? __builtin_bswap64(v) : v;
}

/* Returns how many of the next 8 bytes are short TNTs before any other: even, and above 2. */
static inline unsigned short_tnts(const uint8_t *p)
{
	uint64_t v = load_8(p);
	uint64_t other = (v & 0x0101010101010101u) << 7 | zero_bytes(v & 0xfcfcfcfcfcfcfcfcu);

	return other != 0 ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/*
 * Size and kind of a packet that its first byte identifies, without a byte 02 inside, where a PSB
 * could begin; size 0: another packet. 9 bytes must be readable.
 */
static inline struct shape plain_shape(const uint8_t *p)
{
	struct shape shape = {ip_size[p[0] >> 5], ip_kinds[p[0] & 0x1f]};
	uint64_t twos = zero_bytes(load_8(p + 1) ^ 0x0202020202020202u);

	if (p[0] == 0x59) {
		shape = (struct shape){2, SONDE_PT_MTC};
	}
	if (shape.kind == 0 || shape.size == 0 ||
	        (shape.size > 1 && twos << (72 - 8 * shape.size) != 0)) {
		shape.size = 0;
	}
	return shape;
}

/* Most packets of a trace are runs of short TNTs, and most others are TIPs. */
static void walk_plain(struct pt_cursor *c, uint64_t *counts)
{
	const uint8_t *p = c->p;
	uint64_t tnts = 0;

	while (c->end - p >= 17) {
		unsigned n = short_tnts(p);
		struct shape shape;

		p += n;
		tnts += n;
		if (n == 8) {
			continue;
		}
		shape = plain_shape(p);
		if (shape.size == 0) {
			break;
		}
		p += shape.size;
		counts[shape.kind]++;
	}
	c->p = p;
	counts[SONDE_PT_TNT8] += tnts;
}

uint64_t pt_packet_walk(const uint8_t *data, size_t n, uint64_t *counts)
{
	struct pt_cursor c = pt_cursor_make(data, n);
	struct sonde_pt_packet packet;
	uint64_t skipped = 0;

	for (;;) {
		const uint8_t *before;
		int rc;

		if (c.bip_size == 0) {
			walk_plain(&c, counts);
		}
		rc = pt_cursor_next(&c, &packet);
		if (rc == 0) {
			break;
		}
		if (rc > 0) {
			counts[packet.kind]++;
			continue;
		}
		before = c.p;
		c.p++;
		(void)pt_cursor_sync(&c);
		skipped += (uint64_t)(c.p - before);
	}
	return skipped;
}

bool sonde_pt_packet_ip(const struct sonde_pt_packet *packet, uint64_t *last)
{
	static const uint8_t kept[8] = {0, 48, 32, 0, 16, 0, 0, 0}; /* high bits kept from the
	                                                               last IP */
	uint64_t low;

	if (packet->count == 0) {
		return false;
	}
	if (packet->count == 3) {
		*last = (uint64_t)((int64_t)(packet->value << 16) >> 16);
		return true;
	}
	low = ~0ULL >> kept[packet->count & 7];
	*last = (*last & ~low) | (packet->value & low);
	return true;
}

/*
 * The public reader: a cursor on the heap. It reads bytes as the packets that they look like; if a
 * PSB was read as part of a packet, reading fails soon, and finds the PSB then.
 */
struct sonde_pt_packets {
	struct pt_cursor cursor;
	bool failed; /* the last packet could not be read */
};

struct sonde_pt_packets *sonde_pt_packets_new(
        const void *data, size_t n, const struct sonde_pt_cpu *cpu)
{
	struct sonde_pt_packets *packets = malloc(sizeof(*packets));

	if (packets != NULL) {
		*packets = (struct sonde_pt_packets){.cursor = pt_cursor_make(data, n)};
		packets->cursor.over_psb = true;
		packets->cursor.errata = cpu != NULL ? pt_errata(cpu) : 0;
	}
	return packets;
}

void sonde_pt_packets_free(struct sonde_pt_packets *packets)
{
	free(packets);
}

int sonde_pt_packets_next(struct sonde_pt_packets *packets, struct sonde_pt_packet *out)
{
	int rc = pt_cursor_next(&packets->cursor, out);

	packets->failed = rc < 0;
	return rc;
}

int sonde_pt_packets_sync(struct sonde_pt_packets *packets)
{
	size_t passed = (size_t)(packets->cursor.p - packets->cursor.begin);
	size_t back = passed < sizeof(psb_bytes) ? passed : sizeof(psb_bytes) - 1;

	packets->cursor.p -= packets->failed ? back : 0;
	packets->failed = false;
	return pt_cursor_sync(&packets->cursor);
}

uint64_t sonde_pt_packets_offset(const struct sonde_pt_packets *packets)
{
	return (uint64_t)(packets->cursor.p - packets->cursor.begin);
}

void sonde_pt_packets_seek(struct sonde_pt_packets *packets, uint64_t offset)
{
	size_t size = (size_t)(packets->cursor.end - packets->cursor.begin);

	packets->cursor.p = packets->cursor.begin + (offset < size ? (size_t)offset : size);
	packets->cursor.bip_size = 0;
	packets->failed = false;
}

int sonde_pt_packets_error(const struct sonde_pt_packets *packets)
{
	return packets->cursor.error;
}
