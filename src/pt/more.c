/* SPDX-License-Identifier: MIT */
/*
 * Reading branches ahead: the bits of several TNT packets become one word. An indirect branch's TIP
 * may come after TNT packets of later branches (a deferred TIP), but TIPs keep their order, so
 * reading ahead over TNTs never passes one.
 */
#include "pt/more.h"

#include "core/span.h"
#include "pt/clock.h"

#define GATHER_MAX 56 /* bits of the packets that are read at once */
#define DEFER_MAX  47 /* most bits that can precede the TIP of an earlier branch: a long TNT */

/* Size of a packet of time in bytes, or 0; only for flows that do not use the time. */
static size_t skippable(const struct sonde_pt_flow *f, const uint8_t *p, size_t left)
{
	size_t n = 1;

	if (p[0] == 0) {
		return 1;
	}
	if (f->options.time) {
		return 0;
	}
	if (p[0] == 0x59) {
		return left >= 2 && p[1] != 2 ? 2 : 0; /* 02 may be the beginning of a PSB */
	}
	if ((p[0] & 3) != 3 || (f->errata & PT_ERRATUM_SKD007) != 0) {
		return 0;
	}
	if (p[0] & 4) {
		do {
			n++;
		} while (n < left && n < 9 && p[n - 1] & 1);
	}
	return n <= left && (n == 1 || ((p[n - 1] & 1) == 0 && p[n - 1] != 2)) ? n : 0;
}

static void add_bits(struct sonde_pt_flow *f, uint64_t bits, unsigned n)
{
	f->tnt.bits |= bits << (64 - n) >> f->tnt.nbits;
	f->tnt.nbits += n;
	f->tnt.gathered += n;
}

static bool long_tnt(struct sonde_pt_flow *f, const uint8_t *p, size_t left)
{
	uint64_t payload = 0;
	unsigned stop;

	if (left < 8 || f->tnt.nbits > 64 - 47 || p[1] != 0xa3 || memchr(p + 2, 2, 6) != NULL) {
		return false;
	}
	memcpy((uint8_t *)&payload, p, 8);
	payload = HOST_BIG_ENDIAN ? __builtin_bswap64(payload) : payload;
	payload >>= 16;
	if (payload <= 1) {
		return false;
	}
	stop = 63u - (unsigned)__builtin_clzll(payload);
	add_bits(f, payload & ~(1ULL << stop), stop);
	return true;
}

bool pt_refill(struct sonde_pt_flow *f)
{
	const uint8_t *p = f->cursor.p;
	const uint8_t *end = f->cursor.end;
	uint64_t bits = 0;
	unsigned n = 0;

	if (f->cursor.bip_size != 0) {
		return false;
	}
	if (f->tnt.nbits == 0) {
		f->tnt.bits = 0;
		f->tnt.gathered = 0;
		f->tnt.gather = p;
	}
	while (p < end && n <= GATHER_MAX - 6 && f->tnt.nbits + n <= 64 - 6) {
		if ((*p & 1) == 0 && *p > 2) {
			unsigned count = 30u - (unsigned)__builtin_clz(*p);

			bits = bits << count | ((*p >> 1) & ((1u << count) - 1));
			n += count;
			p++;
			continue;
		}
		if (*p == 2 && n == 0 && long_tnt(f, p, (size_t)(end - p))) {
			f->cursor.p = p + 8;
			return true;
		}
		if (skippable(f, p, (size_t)(end - p)) == 0) {
			break;
		}
		p += skippable(f, p, (size_t)(end - p));
	}
	f->cursor.p = p;
	if (n != 0) {
		add_bits(f, bits, n);
	}
	return n != 0;
}

/*
 * All bits up to the TIP are read, so it does not matter how many there were. If time is used,
 * packets of time come in between: they are applied early, to branches that come after this one.
 */
bool pt_deferred(struct sonde_pt_flow *f)
{
	bool more = f->tnt.nbits != 0;

	while (more && f->tnt.nbits <= DEFER_MAX) {
		more = pt_refill(f) || pt_clock_pass(f);
	}
	return f->tnt.nbits <= DEFER_MAX;
}

uint64_t pt_bits_offset(const struct sonde_pt_flow *f, uint64_t *begin)
{
	struct pt_cursor c = f->cursor;
	unsigned used = f->tnt.gathered - f->tnt.nbits;
	unsigned seen = 0;
	struct sonde_pt_packet packet;

	c.p = f->tnt.gather;
	*begin = (uint64_t)(c.p - c.begin);
	while (seen <= used && pt_cursor_next(&c, &packet) > 0) {
		if (packet.kind == SONDE_PT_TNT8 || packet.kind == SONDE_PT_TNT64) {
			seen += packet.count;
			*begin = packet.offset;
		}
	}
	return (uint64_t)(c.p - c.begin);
}
