/* SPDX-License-Identifier: MIT */
/* Bytes of pages of SQLite's file format, which are described in pages.c. */
#ifndef SONDE_EXPORT_PAGE_BYTES_H
#define SONDE_EXPORT_PAGE_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline void page_u16(uint8_t *at, size_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static inline void page_u32(uint8_t *at, uint32_t v)
{
	page_u16(at, v >> 16);
	page_u16(at + 2, v & 0xffff);
}

static inline void page_u64(uint8_t *at, uint64_t v)
{
	page_u32(at, (uint32_t)(v >> 32));
	page_u32(at + 4, (uint32_t)v);
}

static inline uint8_t *page_varint(uint8_t *at, uint64_t v)
{
	unsigned n = 1;

	if (v < 0x80) {
		*at = (uint8_t)v;
		return at + 1;
	}
	if (v >> 56 != 0) {
		at[8] = (uint8_t)v;
		v >>= 8;
		for (n = 8; n > 0; n--, v >>= 7) {
			at[n - 1] = (uint8_t)(v | 0x80);
		}
		return at + 9;
	}
	while (v >> (7 * n) != 0) {
		n++;
	}
	for (unsigned i = n; i > 0; i--, v >>= 7) {
		at[i - 1] = (uint8_t)((v & 0x7f) | (i != n ? 0x80 : 0));
	}
	return at + n;
}

/* Bytes of a number, and its type. */
static inline unsigned page_number_size(int64_t v, uint8_t *type)
{
	static const uint8_t types[] = {0, 1, 2, 3, 4, 5, 5, 6, 6};
	static const uint8_t sizes[] = {0, 1, 2, 3, 4, 6, 6, 8, 8};
	uint64_t bits = v < 0 ? ~(uint64_t)v : (uint64_t)v;
	unsigned n;

	if (bits == (uint64_t)v && bits <= 1) {
		*type = (uint8_t)(8 + bits);
		return 0;
	}
	n = bits == 0 ? 1 : (unsigned)(64 - __builtin_clzll(bits)) / 8 + 1; /* with the sign */
	*type = types[n];
	return sizes[n];
}

#endif
