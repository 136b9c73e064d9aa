/* SPDX-License-Identifier: MIT */
/*
 * Packets: decode(encode(x)) is x for random packets of every kind; the encoder's packing and IPs.
 */
#include "pt/packet.h"
#include "tests/tap.h"

#include <stdlib.h>

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t low_bits(uint64_t v, unsigned n)
{
	return n >= 64 ? v : v & ((1ULL << n) - 1);
}

/* Valid values of a packet's fields; a mask 0 means that the field is always 0. */
static const struct fields {
	uint64_t value, extra;
	uint8_t flags, count;
} fields[SONDE_PT_KINDS] = {
        [SONDE_PT_PIP] = {0xffffffffffe0ULL, 0, SONDE_PT_F_NR, 0},
        [SONDE_PT_MODE_EXEC] = {7, 0, 0, 0},
        [SONDE_PT_MODE_TSX] = {3, 0, 0, 0},
        [SONDE_PT_CBR] = {0xff, 0, 0, 0},
        [SONDE_PT_TSC] = {~0ULL >> 8, 0, 0, 0},
        [SONDE_PT_TMA] = {0xffff, 0x1ff, 0, 0},
        [SONDE_PT_MTC] = {0xff, 0, 0, 0},
        [SONDE_PT_CYC] = {~0ULL, 0, 0, 0},
        [SONDE_PT_VMCS] = {0xffffffffff000ULL, 0, 0, 0},
        [SONDE_PT_MNT] = {~0ULL, 0, 0, 0},
        [SONDE_PT_EXSTOP] = {0, 0, SONDE_PT_F_IP, 0},
        [SONDE_PT_MWAIT] = {0xffffffff, 0xffffffff, 0, 0},
        [SONDE_PT_PWRE] = {0xf, 0xf, SONDE_PT_F_HW, 0},
        [SONDE_PT_PWRX] = {0xf, 0xf, 0, 0xf},
        [SONDE_PT_CFE] = {0xff, 0, SONDE_PT_F_IP, 0x1f},
        [SONDE_PT_EVD] = {~0ULL, 0, 0, 0x3f},
        [SONDE_PT_TRIG] = {0xff, 0xffff, SONDE_PT_F_IP | SONDE_PT_F_MULT | SONDE_PT_F_ICNT, 0},
        [SONDE_PT_BEP] = {0, 0, SONDE_PT_F_IP, 0},
};

static struct sonde_pt_packet random_packet(uint64_t *state)
{
	static const uint8_t ip_counts[6] = {0, 1, 2, 3, 4, 6};
	static const uint8_t ip_bits[7] = {0, 16, 32, 48, 48, 0, 64};
	unsigned kind = (unsigned)(next_random(state) % SONDE_PT_KINDS);
	const struct fields *f = &fields[kind];
	struct sonde_pt_packet p = {.kind = (uint8_t)kind,
	        .value = next_random(state) & f->value,
	        .extra = next_random(state) & f->extra,
	        .flags = (uint8_t)(next_random(state) & f->flags),
	        .count = (uint8_t)(next_random(state) & f->count)};

	if (kind == SONDE_PT_TNT8 || kind == SONDE_PT_TNT64) {
		unsigned max = kind == SONDE_PT_TNT8 ? 6 : 47;

		p.count = (uint8_t)(1 + next_random(state) % max);
		p.value = low_bits(next_random(state), p.count);
	} else if (kind >= SONDE_PT_TIP && kind <= SONDE_PT_FUP) {
		p.count = ip_counts[next_random(state) % 6];
		p.value = low_bits(next_random(state), ip_bits[p.count]);
	} else if (kind == SONDE_PT_PTW) {
		p.count = next_random(state) & 1;
		p.flags = next_random(state) & SONDE_PT_F_IP;
		p.value = low_bits(next_random(state), p.count ? 64 : 32);
	} else if (kind == SONDE_PT_CYC) {
		p.value >>= next_random(state) % 64;
	} else if (kind == SONDE_PT_TRIG && !(p.flags & SONDE_PT_F_ICNT)) {
		p.extra = 0;
	} else if (kind == SONDE_PT_BBP) {
		p.value = next_random(state) & 1 ? 4 : 8;
		p.count = next_random(state) & 0x1f;
	} else if (kind == SONDE_PT_BIP) {
		p.extra = next_random(state) & 1 ? 4 : 8;
		p.count = next_random(state) & 0x1f;
		p.value = low_bits(next_random(state), (unsigned)p.extra * 8);
	}
	return p;
}

static bool same(const struct sonde_pt_packet *a, const struct sonde_pt_packet *b)
{
	return a->kind == b->kind && a->value == b->value && a->extra == b->extra &&
	       a->count == b->count && a->flags == b->flags;
}

/* A BIP is allowed only between BBP and BEP. */
static bool round_trip(const struct sonde_pt_packet *p, uint64_t *seen)
{
	uint8_t bytes[SONDE_PT_PACKET_MAX];
	size_t n = sonde_pt_packet_encode(p, bytes);
	struct pt_cursor c = pt_cursor_make(bytes, n);
	struct sonde_pt_packet got;

	if (p->kind == SONDE_PT_BIP) {
		c.bip_size = (uint8_t)p->extra;
	}
	*seen |= 1ULL << p->kind;
	if (n == 0 || pt_cursor_next(&c, &got) != 1 || got.size != n || !same(p, &got)) {
		return false;
	}
	/* A truncated packet is refused and the cursor does not move. */
	for (size_t cut = 1; cut < n; cut++) {
		c = pt_cursor_make(bytes, cut);
		c.bip_size = p->kind == SONDE_PT_BIP ? (uint8_t)p->extra : 0;
		if (pt_cursor_next(&c, &got) != SONDE_EFORMAT || c.p != bytes ||
		        c.error != SONDE_PT_ERROR_TRUNCATED) {
			return false;
		}
	}
	return true;
}

static void test_round_trip(void)
{
	uint64_t state = 88172645463325252ULL;
	uint64_t seen = 0;
	unsigned bad = 0;

	for (unsigned i = 0; i < 200000; i++) {
		struct sonde_pt_packet p = random_packet(&state);

		bad += !round_trip(&p, &seen);
	}
	eq_u64(bad, 0, "200000 random packets are decoded as they were encoded");
	eq_u64(seen, (1ULL << SONDE_PT_KINDS) - 1, "every kind of packet occurred");
}

static void test_encoder(void)
{
	struct sonde_pt_encoder *e = sonde_pt_encoder_new(false);
	const struct sonde_pt_packet psb = {.kind = SONDE_PT_PSB};
	static const uint8_t want[] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2,
	        0x82, 2, 0x82, 0x5d, 0x00, 0x10, 0x40, 0x00, /* FUP, 32 bits */
	        0xfe, 0x04, /* six taken and one not taken */
	        0x2d, 0x04, 0x10, /* TIP, 16 bits */
	        0x4d, 0x00, 0x00, 0x50, 0x00, /* TIP, 32 bits */
	        0xcd, 1, 0, 0x50, 0, 0, 0, 1, 0x80}; /* TIP, all bits */
	const uint8_t *bytes;
	size_t n;
	int rc = e == NULL;

	rc |= sonde_pt_encoder_packet(e, &psb);
	rc |= sonde_pt_encoder_ip(e, SONDE_PT_FUP, 0x401000);
	for (unsigned i = 0; i < 7; i++) {
		rc |= sonde_pt_encoder_tnt(e, i < 6);
	}
	rc |= sonde_pt_encoder_ip(e, SONDE_PT_TIP, 0x401004);
	rc |= sonde_pt_encoder_ip(e, SONDE_PT_TIP, 0x500000);
	rc |= sonde_pt_encoder_ip(e, SONDE_PT_TIP, 0x8001000000500001ULL);
	rc |= sonde_pt_encoder_bytes(e, &bytes, &n);
	eq_u64(rc, 0, "the encoder accepts branches and IPs");
	eq_u64(n, sizeof(want), "the encoder writes the expected number of bytes");
	ok(n == sizeof(want) && memcmp(bytes, want, n) == 0,
	        "the encoder writes the expected bytes");
	eq_u64(sonde_pt_encoder_ip(e, SONDE_PT_PSB, 0), SONDE_EARG, "a PSB cannot have an IP");
	sonde_pt_encoder_free(e);
}

/* Random branches and IPs are decoded as encoded. */
static bool flow_round_trip(uint64_t *state, bool long_tnt)
{
	struct sonde_pt_encoder *e = sonde_pt_encoder_new(long_tnt);
	uint64_t saved = *state;
	uint64_t last = 0;
	uint64_t left = 0; /* bits of the packet that are not compared yet */
	struct sonde_pt_packet p = {.kind = SONDE_PT_PAD};
	struct pt_cursor c;
	const uint8_t *bytes;
	size_t n;
	bool good = true;

	for (unsigned i = 0; i < 3000; i++) {
		uint64_t r = next_random(state);

		(void)(r & 3 ? sonde_pt_encoder_tnt(e, r >> 2 & 1)
		             : sonde_pt_encoder_ip(
		                       e, SONDE_PT_TIP, r >> 8 << (r >> 2 & 31) ^ (r & 0xffff)));
	}
	(void)sonde_pt_encoder_bytes(e, &bytes, &n);
	c = pt_cursor_make(bytes, n);
	*state = saved;
	for (unsigned i = 0; i < 3000 && good; i++) {
		uint64_t r = next_random(state);

		if (left == 0) {
			good = pt_cursor_next(&c, &p) == 1;
			left = p.count;
		}
		if (r & 3) {
			good = good && (p.value >> --left & 1) == (r >> 2 & 1);
		} else {
			good = good && sonde_pt_packet_ip(&p, &last) &&
			       last == (r >> 8 << (r >> 2 & 31) ^ (r & 0xffff));
			left = 0;
		}
	}
	good = good && c.p == c.end;
	sonde_pt_encoder_free(e);
	return good;
}

static void test_damage(void)
{
	uint8_t bytes[64] = {0xc9, 0, 2, 0xff};
	struct sonde_pt_packet p = {.kind = SONDE_PT_PSB};
	struct pt_cursor c = pt_cursor_make(bytes, sizeof(bytes));

	(void)sonde_pt_packet_encode(&p, bytes + 21);
	eq_u64(pt_cursor_next(&c, &p), SONDE_EFORMAT, "c9 begins no packet");
	eq_u64(c.error, SONDE_PT_ERROR_OPCODE, "the error of c9 is unknown opcode");
	eq_u64(pt_cursor_sync(&c), 1, "the next PSB is found");
	eq_u64(c.p - c.begin, 21, "the PSB is at its offset");
	eq_u64(pt_cursor_next(&c, &p), 1, "the PSB is read");
	eq_u64(pt_cursor_sync(&c), 0, "there is no second PSB");
	eq_u64(pt_cursor_next(&c, &p), 0, "the cursor is at the end");
}

/* The payload of an MNT has the first 9 bytes of a PSB; the rest of them are no packet. */
static void test_swallowed(void)
{
	uint8_t bytes[3 + 16 + 1] = {0x02, 0xc3, 0x88};
	struct sonde_pt_packet p = {.kind = SONDE_PT_PSB};
	struct sonde_pt_packets *packets = sonde_pt_packets_new(bytes, sizeof(bytes), NULL);

	(void)sonde_pt_packet_encode(&p, bytes + 3);
	eq_u64(sonde_pt_packets_next(packets, &p), 1, "a packet in which a PSB begins is read");
	eq_u64(p.kind, SONDE_PT_MNT, "it is an MNT");
	eq_u64(sonde_pt_packets_next(packets, &p), SONDE_EFORMAT, "the rest is no packet");
	eq_u64(sonde_pt_packets_offset(packets), 11, "the error is after the MNT");
	eq_u64(sonde_pt_packets_sync(packets), 1, "the swallowed PSB is found");
	eq_u64(sonde_pt_packets_next(packets, &p), 1, "the swallowed PSB is read");
	eq_u64(p.offset, 3, "the swallowed PSB is at its offset");
	eq_u64(sonde_pt_packets_sync(packets), 0, "without a failure no PSB is found again");
	sonde_pt_packets_free(packets);
}

static void test_walk(void)
{
	struct sonde_pt_encoder *e = sonde_pt_encoder_new(false);
	const struct sonde_pt_packet psb = {.kind = SONDE_PT_PSB};
	uint64_t counts[SONDE_PT_KINDS] = {0};
	uint64_t skipped;
	const uint8_t *bytes;
	size_t n;

	for (unsigned i = 0; i < 100; i++) {
		(void)sonde_pt_encoder_packet(e, &psb);
		for (unsigned j = 0; j < 60; j++) {
			(void)sonde_pt_encoder_tnt(e, true);
		}
	}
	(void)sonde_pt_encoder_bytes(e, &bytes, &n);
	skipped = pt_packet_walk(bytes, n, counts);
	eq_u64(skipped, 0, "a walk skips nothing of a good trace");
	eq_u64(counts[SONDE_PT_TNT8], 1000, "a walk counts the TNTs");
	eq_u64(counts[SONDE_PT_PSB], 100, "a walk counts the PSBs");
	sonde_pt_encoder_free(e);
}

int main(void)
{
	uint64_t state = 12345;
	unsigned bad = 0;

	test_round_trip();
	test_encoder();
	for (unsigned i = 0; i < 100; i++) {
		bad += !flow_round_trip(&state, i & 1);
	}
	eq_u64(bad, 0, "100 random flows of branches and IPs are decoded as encoded");
	test_damage();
	test_swallowed();
	test_walk();
	return tap_done();
}
