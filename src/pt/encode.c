/* SPDX-License-Identifier: MIT */
/* Encodes packets; the formats are drawn at the head of packet.c. */
#include "pt/encode.h"
#include "core/array.h"
#include "core/status.h"
#include "pt/packet.h"

#include <stdlib.h>
#include <string.h>

#define TNT8_BITS  6
#define TNT64_BITS 47

typedef size_t (*write_fn)(const struct sonde_pt_packet *p, uint8_t *out);

static void store_n(uint8_t *p, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		p[i] = (uint8_t)(v >> (8 * i));
	}
}

/* 02, the second byte, and n bytes of payload. */
static size_t put_extended(uint8_t *out, unsigned second, uint64_t payload, unsigned n)
{
	out[0] = 0x02;
	out[1] = (uint8_t)second;
	store_n(out + 2, payload, n);
	return n + 2u;
}

static bool fits(uint64_t v, unsigned bits)
{
	return bits >= 64 || v >> bits == 0;
}

static size_t write_pad(const struct sonde_pt_packet *p, uint8_t *out)
{
	(void)p;
	out[0] = 0;
	return 1;
}

static size_t write_tnt8(const struct sonde_pt_packet *p, uint8_t *out)
{
	if (p->count == 0 || p->count > TNT8_BITS || p->value >> p->count != 0) {
		return 0;
	}
	out[0] = (uint8_t)(((1u << p->count) | (unsigned)p->value) << 1);
	return 1;
}

static size_t write_tnt64(const struct sonde_pt_packet *p, uint8_t *out)
{
	if (p->count == 0 || p->count > TNT64_BITS || p->value >> p->count != 0) {
		return 0;
	}
	return put_extended(out, 0xa3, (1ULL << p->count) | p->value, 6);
}

static size_t write_ip(const struct sonde_pt_packet *p, uint8_t *out)
{
	static const uint8_t opcodes[SONDE_PT_KINDS] = {[SONDE_PT_TIP] = 0x0d,
	        [SONDE_PT_TIP_PGE] = 0x11,
	        [SONDE_PT_TIP_PGD] = 0x01,
	        [SONDE_PT_FUP] = 0x1d};
	static const int8_t sizes[8] = {0, 2, 4, 6, 6, -1, 8, -1};

	if (p->count > 7 || sizes[p->count] < 0 ||
	        !fits(p->value, 8u * (unsigned)sizes[p->count])) {
		return 0;
	}
	out[0] = (uint8_t)(opcodes[p->kind] | p->count << 5);
	store_n(out + 1, p->value, (unsigned)sizes[p->count]);
	return 1u + (unsigned)sizes[p->count];
}

static size_t write_pip(const struct sonde_pt_packet *p, uint8_t *out)
{
	uint64_t nr = p->flags & SONDE_PT_F_NR ? 1 : 0;

	return put_extended(out, 0x43, p->value >> 5 << 1 | nr, 6);
}

static size_t write_mode(const struct sonde_pt_packet *p, uint8_t *out)
{
	out[0] = 0x99;
	out[1] = (uint8_t)(p->kind == SONDE_PT_MODE_EXEC ? p->value & 7 : 0x20 | (p->value & 3));
	return 2;
}

static size_t write_stop(const struct sonde_pt_packet *p, uint8_t *out)
{
	(void)p;
	return put_extended(out, 0x83, 0, 0);
}

static size_t write_cbr(const struct sonde_pt_packet *p, uint8_t *out)
{
	return put_extended(out, 0x03, p->value & 0xff, 2);
}

static size_t write_tsc(const struct sonde_pt_packet *p, uint8_t *out)
{
	out[0] = 0x19;
	store_n(out + 1, p->value, 7);
	return 8;
}

static size_t write_tma(const struct sonde_pt_packet *p, uint8_t *out)
{
	return put_extended(out, 0x73, (p->value & 0xffff) | (p->extra & 0x1ff) << 24, 5);
}

static size_t write_mtc(const struct sonde_pt_packet *p, uint8_t *out)
{
	out[0] = 0x59;
	out[1] = (uint8_t)p->value;
	return 2;
}

static size_t write_cyc(const struct sonde_pt_packet *p, uint8_t *out)
{
	uint64_t rest = p->value >> 5;
	size_t n = 1;

	out[0] = (uint8_t)((p->value & 0x1f) << 3 | (rest != 0 ? 4 : 0) | 3);
	for (; rest != 0; n++) {
		out[n] = (uint8_t)((rest & 0x7f) << 1 | (rest >> 7 != 0));
		rest >>= 7;
	}
	return n;
}

static size_t write_vmcs(const struct sonde_pt_packet *p, uint8_t *out)
{
	return put_extended(out, 0xc8, p->value >> 12, 5);
}

static size_t write_ovf(const struct sonde_pt_packet *p, uint8_t *out)
{
	(void)p;
	return put_extended(out, 0xf3, 0, 0);
}

static size_t write_psb(const struct sonde_pt_packet *p, uint8_t *out)
{
	(void)p;
	for (unsigned i = 0; i < 16; i += 2) {
		(void)put_extended(out + i, 0x82, 0, 0);
	}
	return 16;
}

static size_t write_psbend(const struct sonde_pt_packet *p, uint8_t *out)
{
	(void)p;
	return put_extended(out, 0x23, 0, 0);
}

static size_t write_mnt(const struct sonde_pt_packet *p, uint8_t *out)
{
	(void)put_extended(out, 0xc3, 0x88, 1);
	store_n(out + 3, p->value, 8);
	return 11;
}

static unsigned ip_bit(const struct sonde_pt_packet *p)
{
	return p->flags & SONDE_PT_F_IP ? 0x80 : 0;
}

static size_t write_exstop(const struct sonde_pt_packet *p, uint8_t *out)
{
	return put_extended(out, 0x62 | ip_bit(p), 0, 0);
}

static size_t write_mwait(const struct sonde_pt_packet *p, uint8_t *out)
{
	return put_extended(out, 0xc2, (p->value & 0xffffffff) | p->extra << 32, 8);
}

static size_t write_pwre(const struct sonde_pt_packet *p, uint8_t *out)
{
	uint64_t states = ((p->value - 1) & 0xf) << 4 | ((p->extra - 1) & 0xf);

	return put_extended(out, 0x22, states << 8 | (p->flags & SONDE_PT_F_HW ? 8 : 0), 2);
}

static size_t write_pwrx(const struct sonde_pt_packet *p, uint8_t *out)
{
	uint64_t states = ((p->value - 1) & 0xf) << 4 | ((p->extra - 1) & 0xf);

	return put_extended(out, 0xa2, states | (p->count & 0xfu) << 8, 5);
}

static size_t write_ptw(const struct sonde_pt_packet *p, uint8_t *out)
{
	if (p->count > 1 || !fits(p->value, p->count == 0 ? 32 : 64)) {
		return 0;
	}
	return put_extended(
	        out, 0x12 | ip_bit(p) | (unsigned)p->count << 5, p->value, p->count == 0 ? 4 : 8);
}

static size_t write_cfe(const struct sonde_pt_packet *p, uint8_t *out)
{
	return put_extended(out, 0x13, (p->value & 0xff) << 8 | ip_bit(p) | (p->count & 0x1fu), 2);
}

static size_t write_evd(const struct sonde_pt_packet *p, uint8_t *out)
{
	(void)put_extended(out, 0x53, p->count & 0x3fu, 1);
	store_n(out + 3, p->value, 8);
	return 11;
}

static size_t write_trig(const struct sonde_pt_packet *p, uint8_t *out)
{
	bool icnt = p->flags & SONDE_PT_F_ICNT;

	if (!icnt && p->extra != 0) {
		return 0;
	}
	out[0] = 0xd9;
	out[1] = (uint8_t)(ip_bit(p) | (icnt ? 0x40u : 0) |
	                   (p->flags & SONDE_PT_F_MULT ? 0x20u : 0));
	out[2] = (uint8_t)p->value;
	store_n(out + 3, p->extra, icnt ? 2 : 0);
	return icnt ? 5 : 3;
}

static size_t write_bbp(const struct sonde_pt_packet *p, uint8_t *out)
{
	if (p->value != 4 && p->value != 8) {
		return 0;
	}
	return put_extended(out, 0x63, (p->count & 0x1fu) | (p->value == 4 ? 0x80u : 0), 1);
}

static size_t write_bip(const struct sonde_pt_packet *p, uint8_t *out)
{
	if ((p->extra != 4 && p->extra != 8) || !fits(p->value, 8u * (unsigned)p->extra)) {
		return 0;
	}
	out[0] = (uint8_t)((p->count & 0x1fu) << 3 | 4);
	store_n(out + 1, p->value, (unsigned)p->extra);
	return 1 + (size_t)p->extra;
}

static size_t write_bep(const struct sonde_pt_packet *p, uint8_t *out)
{
	return put_extended(out, 0x33 | ip_bit(p), 0, 0);
}

/* Widths of each packet's fields in bits, and the flags that it can hold. */
static const struct room {
	uint8_t value, low_zeros, extra, count, flags;
} rooms[SONDE_PT_KINDS] = {
        [SONDE_PT_TNT8] = {6, 0, 0, 3, 0},
        [SONDE_PT_TNT64] = {47, 0, 0, 6, 0},
        [SONDE_PT_TIP] = {64, 0, 0, 3, 0},
        [SONDE_PT_TIP_PGE] = {64, 0, 0, 3, 0},
        [SONDE_PT_TIP_PGD] = {64, 0, 0, 3, 0},
        [SONDE_PT_FUP] = {64, 0, 0, 3, 0},
        [SONDE_PT_PIP] = {52, 5, 0, 0, SONDE_PT_F_NR},
        [SONDE_PT_MODE_EXEC] = {3, 0, 0, 0, 0},
        [SONDE_PT_MODE_TSX] = {2, 0, 0, 0, 0},
        [SONDE_PT_CBR] = {8, 0, 0, 0, 0},
        [SONDE_PT_TSC] = {56, 0, 0, 0, 0},
        [SONDE_PT_TMA] = {16, 0, 9, 0, 0},
        [SONDE_PT_MTC] = {8, 0, 0, 0, 0},
        [SONDE_PT_CYC] = {64, 0, 0, 0, 0},
        [SONDE_PT_VMCS] = {52, 12, 0, 0, 0},
        [SONDE_PT_MNT] = {64, 0, 0, 0, 0},
        [SONDE_PT_EXSTOP] = {0, 0, 0, 0, SONDE_PT_F_IP},
        [SONDE_PT_MWAIT] = {32, 0, 32, 0, 0},
        [SONDE_PT_PWRE] = {4, 0, 4, 0, SONDE_PT_F_HW},
        [SONDE_PT_PWRX] = {4, 0, 4, 4, 0},
        [SONDE_PT_PTW] = {64, 0, 0, 1, SONDE_PT_F_IP},
        [SONDE_PT_CFE] = {8, 0, 0, 5, SONDE_PT_F_IP},
        [SONDE_PT_EVD] = {64, 0, 0, 6, 0},
        [SONDE_PT_TRIG] = {8, 0, 16, 0, SONDE_PT_F_IP | SONDE_PT_F_MULT | SONDE_PT_F_ICNT},
        [SONDE_PT_BBP] = {4, 0, 0, 5, 0},
        [SONDE_PT_BIP] = {64, 0, 4, 5, 0},
        [SONDE_PT_BEP] = {0, 0, 0, 0, SONDE_PT_F_IP},
};

static bool has_room(const struct sonde_pt_packet *p)
{
	const struct room *room = &rooms[p->kind];

	return fits(p->value, room->value) && (p->value & ((1ULL << room->low_zeros) - 1)) == 0 &&
	       fits(p->extra, room->extra) && fits(p->count, room->count) &&
	       (p->flags & ~(unsigned)room->flags) == 0;
}

size_t sonde_pt_packet_encode(const struct sonde_pt_packet *packet, uint8_t *out)
{
	static const write_fn writers[SONDE_PT_KINDS] = {
	        [SONDE_PT_PAD] = write_pad,
	        [SONDE_PT_TNT8] = write_tnt8,
	        [SONDE_PT_TNT64] = write_tnt64,
	        [SONDE_PT_TIP] = write_ip,
	        [SONDE_PT_TIP_PGE] = write_ip,
	        [SONDE_PT_TIP_PGD] = write_ip,
	        [SONDE_PT_FUP] = write_ip,
	        [SONDE_PT_PIP] = write_pip,
	        [SONDE_PT_MODE_EXEC] = write_mode,
	        [SONDE_PT_MODE_TSX] = write_mode,
	        [SONDE_PT_STOP] = write_stop,
	        [SONDE_PT_CBR] = write_cbr,
	        [SONDE_PT_TSC] = write_tsc,
	        [SONDE_PT_TMA] = write_tma,
	        [SONDE_PT_MTC] = write_mtc,
	        [SONDE_PT_CYC] = write_cyc,
	        [SONDE_PT_VMCS] = write_vmcs,
	        [SONDE_PT_OVF] = write_ovf,
	        [SONDE_PT_PSB] = write_psb,
	        [SONDE_PT_PSBEND] = write_psbend,
	        [SONDE_PT_MNT] = write_mnt,
	        [SONDE_PT_EXSTOP] = write_exstop,
	        [SONDE_PT_MWAIT] = write_mwait,
	        [SONDE_PT_PWRE] = write_pwre,
	        [SONDE_PT_PWRX] = write_pwrx,
	        [SONDE_PT_PTW] = write_ptw,
	        [SONDE_PT_CFE] = write_cfe,
	        [SONDE_PT_EVD] = write_evd,
	        [SONDE_PT_TRIG] = write_trig,
	        [SONDE_PT_BBP] = write_bbp,
	        [SONDE_PT_BIP] = write_bip,
	        [SONDE_PT_BEP] = write_bep,
	};

	if (packet->kind >= SONDE_PT_KINDS || !has_room(packet)) {
		return 0;
	}
	return writers[packet->kind](packet, out);
}

struct sonde_pt_encoder {
	uint8_t *bytes;
	size_t n, cap;
	uint64_t last_ip;
	uint64_t bits; /* pending branches, the oldest in the highest bit */
	unsigned nbits;
	bool long_tnt;
	bool full_ip; /* after an OVF, where decoders disagree about the last IP */
};

struct sonde_pt_encoder *sonde_pt_encoder_new(bool long_tnt)
{
	struct sonde_pt_encoder *encoder = calloc(1, sizeof(*encoder));

	if (encoder != NULL) {
		encoder->long_tnt = long_tnt;
	}
	return encoder;
}

void sonde_pt_encoder_free(struct sonde_pt_encoder *encoder)
{
	if (encoder != NULL) {
		free(encoder->bytes);
		free(encoder);
	}
}

static int append(struct sonde_pt_encoder *e, const struct sonde_pt_packet *packet)
{
	size_t n;

	if (!array_reserve(&e->bytes, &e->cap, e->n + SONDE_PT_PACKET_MAX, 1)) {
		return SONDE_ENOMEM;
	}
	n = sonde_pt_packet_encode(packet, e->bytes + e->n);
	e->n += n;
	return n != 0 ? SONDE_OK : SONDE_EARG;
}

/* More than six branches fit only into a long TNT, so they are written as one. */
static int flush(struct sonde_pt_encoder *e)
{
	struct sonde_pt_packet packet = {
	        .kind = e->nbits > TNT8_BITS ? SONDE_PT_TNT64 : SONDE_PT_TNT8,
	        .count = (uint8_t)e->nbits,
	        .value = e->bits};

	if (e->nbits == 0) {
		return SONDE_OK;
	}
	TRY(append(e, &packet));
	e->nbits = 0;
	e->bits = 0;
	return SONDE_OK;
}

int sonde_pt_encoder_tnt(struct sonde_pt_encoder *encoder, bool taken)
{
	encoder->bits = encoder->bits << 1 | (taken ? 1 : 0);
	encoder->nbits++;
	if (encoder->nbits == (encoder->long_tnt ? TNT64_BITS : TNT8_BITS)) {
		return flush(encoder);
	}
	return SONDE_OK;
}

/* Returns the IP compression that needs the fewest bytes. */
static unsigned compression(uint64_t ip, uint64_t last)
{
	if (ip >> 16 == last >> 16) {
		return 1;
	}
	if (ip >> 32 == last >> 32) {
		return 2;
	}
	if ((uint64_t)((int64_t)(ip << 16) >> 16) == ip) {
		return 3;
	}
	return ip >> 48 == last >> 48 ? 4 : 6;
}

int sonde_pt_encoder_ip(struct sonde_pt_encoder *encoder, int kind, uint64_t ip)
{
	static const uint8_t bits[8] = {0, 16, 32, 48, 48, 0, 64, 0};
	unsigned how = compression(ip, encoder->full_ip ? ~ip : encoder->last_ip);
	struct sonde_pt_packet packet = {.kind = (uint8_t)kind,
	        .count = (uint8_t)how,
	        .value = ip & ~0ULL >> (64 - bits[how])};

	if (kind < SONDE_PT_TIP || kind > SONDE_PT_FUP) {
		return SONDE_EARG;
	}
	TRY(flush(encoder));
	TRY(append(encoder, &packet));
	encoder->last_ip = ip;
	encoder->full_ip = false;
	return SONDE_OK;
}

int sonde_pt_encoder_packet(struct sonde_pt_encoder *encoder, const struct sonde_pt_packet *packet)
{
	TRY(flush(encoder));
	TRY(append(encoder, packet));
	if (packet->kind == SONDE_PT_PSB || packet->kind == SONDE_PT_OVF) {
		encoder->last_ip = 0;
		encoder->full_ip = packet->kind == SONDE_PT_OVF;
	} else if (packet->kind >= SONDE_PT_TIP && packet->kind <= SONDE_PT_FUP) {
		(void)sonde_pt_packet_ip(packet, &encoder->last_ip);
	}
	return SONDE_OK;
}

int sonde_pt_encoder_bytes(struct sonde_pt_encoder *encoder, const uint8_t **bytes, size_t *n)
{
	TRY(flush(encoder));
	*bytes = encoder->bytes;
	*n = encoder->n;
	return SONDE_OK;
}

void pt_encoder_clear(struct sonde_pt_encoder *encoder)
{
	encoder->n = 0;
}
