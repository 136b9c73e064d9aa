/* SPDX-License-Identifier: MIT */
/*
 * The input selects what is encoded: branches, IPs, packets with any fields. Decoding gives what
 * the encoder accepted: the same branches between the same packets, the same IPs, the same fields.
 * A refused packet leaves no byte.
 */
#include "pt/packet.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ASKED_MAX 512

struct asked {
	struct sonde_pt_packet packet; /* in a TNT8: value has this many branch bits */
	bool by_ip; /* value is the IP */
};

struct input {
	const uint8_t *p, *end;
};

static uint64_t take(struct input *in, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n && in->p < in->end; i++) {
		v |= (uint64_t)*in->p++ << (8 * i);
	}
	return v;
}

static struct sonde_pt_packet take_packet(struct input *in)
{
	unsigned sizes = (unsigned)take(in, 1);
	struct sonde_pt_packet p = {.kind = (uint8_t)(take(in, 1) % (SONDE_PT_KINDS + 1))};

	p.count = (uint8_t)(sizes & 1 ? take(in, 1) : 0);
	p.flags = (uint8_t)(sizes & 2 ? take(in, 1) : 0);
	p.value = take(in, (sizes >> 2 & 7) + (sizes >> 2 & 1));
	p.extra = sizes & 0x20 ? take(in, sizes >> 6 & 3) : 0;
	return p;
}

/* Inside a block, the first byte of a TNT may be that of a BIP, and a BIP has the block's size. */
static bool may_stand(const struct sonde_pt_packet *p, unsigned block)
{
	if (p->kind == SONDE_PT_BIP
	                ? p->extra != block
	                : block != 0 && (p->kind == SONDE_PT_TNT8 || p->kind == SONDE_PT_TNT64)) {
		return false;
	}
	return true;
}

static void follow_block(const struct sonde_pt_packet *p, unsigned *block)
{
	if (p->kind == SONDE_PT_BBP) {
		*block = (unsigned)p->value;
	} else if (p->kind == SONDE_PT_BEP || p->kind == SONDE_PT_OVF || p->kind == SONDE_PT_PSB) {
		*block = 0;
	}
}

static size_t length(struct sonde_pt_encoder *e)
{
	const uint8_t *bytes;
	size_t n;

	if (sonde_pt_encoder_bytes(e, &bytes, &n) != 0) {
		abort();
	}
	return n;
}

static bool ask_packet(struct sonde_pt_encoder *e, struct asked *a, unsigned *block)
{
	size_t before = length(e);

	if (!may_stand(&a->packet, *block)) {
		return false;
	}
	if (sonde_pt_encoder_packet(e, &a->packet) != 0) {
		if (length(e) != before) {
			abort();
		}
		return false;
	}
	follow_block(&a->packet, block);
	return true;
}

/* Encodes one thing; false: the encoder refused it. */
static bool ask(struct sonde_pt_encoder *e, struct input *in, struct asked *a, unsigned *block)
{
	unsigned what = (unsigned)take(in, 1);

	*a = (struct asked){.by_ip = false};
	if (what % 4 == 0 && *block == 0) {
		a->packet.kind = SONDE_PT_TNT8;
		a->packet.count = 1;
		a->packet.value = what >> 7;
		return sonde_pt_encoder_tnt(e, what >> 7) == 0;
	}
	if (what % 4 == 1) {
		a->by_ip = true;
		a->packet.kind = (uint8_t)(SONDE_PT_TIP + (what >> 2 & 3));
		a->packet.value = take(in, 1 + (what >> 5));
		return sonde_pt_encoder_ip(e, a->packet.kind, a->packet.value) == 0;
	}
	a->packet = take_packet(in);
	return ask_packet(e, a, block);
}

/* Decodes branch by branch. */
struct reader {
	struct pt_cursor cursor;
	struct sonde_pt_packet packet;
	unsigned bits;
	uint64_t last_ip;
};

static void next(struct reader *r)
{
	if (pt_cursor_next(&r->cursor, &r->packet) != 1) {
		abort();
	}
	r->bits = r->packet.kind == SONDE_PT_TNT8 || r->packet.kind == SONDE_PT_TNT64
	                  ? r->packet.count
	                  : 0;
	if (r->packet.kind == SONDE_PT_PSB || r->packet.kind == SONDE_PT_OVF) {
		r->last_ip = 0;
	}
}

static void check_bits(struct reader *r, const struct sonde_pt_packet *want)
{
	for (unsigned i = want->count; i-- > 0;) {
		if (r->bits == 0) {
			next(r);
		}
		if (r->bits == 0 || (r->packet.value >> --r->bits & 1) != (want->value >> i & 1)) {
			abort();
		}
	}
}

static void check(struct reader *r, const struct asked *a)
{
	const struct sonde_pt_packet *want = &a->packet;
	const struct sonde_pt_packet *got = &r->packet;

	if (want->kind == SONDE_PT_TNT8 || want->kind == SONDE_PT_TNT64) {
		check_bits(r, want);
		return;
	}
	if (r->bits != 0) {
		abort(); /* branches that were not encoded */
	}
	next(r);
	if (got->kind != want->kind) {
		abort();
	}
	if (a->by_ip) {
		if (!sonde_pt_packet_ip(got, &r->last_ip) || r->last_ip != want->value) {
			abort();
		}
		return;
	}
	if (got->kind >= SONDE_PT_TIP && got->kind <= SONDE_PT_FUP) {
		(void)sonde_pt_packet_ip(got, &r->last_ip);
	}
	if (got->value != want->value || got->extra != want->extra || got->count != want->count ||
	        got->flags != want->flags) {
		abort();
	}
}

/*
 * The end of a packet with the bytes after it may look like a PSB (a CYC that ends with 02, a TNT
 * 82, a PSB): then a decoder must report a PSB.
 */
static bool looks_like_more(
        const uint8_t *bytes, size_t n, const struct asked *asked, unsigned count)
{
	static const uint8_t psb[] = {
	        2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	unsigned seen = 0, wanted = 0;

	for (size_t i = 0; i + sizeof(psb) <= n; i++) {
		seen += memcmp(bytes + i, psb, sizeof(psb)) == 0;
	}
	for (unsigned i = 0; i < count; i++) {
		wanted += asked[i].packet.kind == SONDE_PT_PSB && !asked[i].by_ip;
	}
	return seen != wanted;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct sonde_pt_encoder *e = sonde_pt_encoder_new(take(&in, 1) & 1);
	struct asked *asked = calloc(ASKED_MAX, sizeof(*asked));
	struct reader r = {.bits = 0};
	const uint8_t *bytes;
	unsigned n = 0, block = 0;

	if (e == NULL || asked == NULL) {
		abort();
	}
	while (in.p < in.end && n < ASKED_MAX) {
		n += ask(e, &in, &asked[n], &block);
	}
	size = length(e);
	if (sonde_pt_encoder_bytes(e, &bytes, &size) != 0) {
		abort();
	}
	r.cursor = pt_cursor_make(bytes, size);
	if (looks_like_more(bytes, size, asked, n)) {
		r.cursor.p = r.cursor.end;
		n = 0;
	}
	for (unsigned i = 0; i < n; i++) {
		check(&r, &asked[i]);
	}
	if (r.bits != 0 || pt_cursor_next(&r.cursor, &r.packet) != 0) {
		abort();
	}
	free(asked);
	sonde_pt_encoder_free(e);
	return 0;
}
