/* SPDX-License-Identifier: MIT */
/*
 * Spans and bounds-checked cursors: the only code that does arithmetic on input bytes.
 *
 * A cursor reads integers in the input's byte order. A read past the end returns zero and sets
 * `bad`, so that a parser can read a group of fields and check once.
 */
#ifndef SONDE_CORE_SPAN_H
#define SONDE_CORE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const uint8_t *p;
	size_t n;
};

/* The bytes of a string literal. */
#define SPAN_TEXT(s)                                                                               \
	(struct span)                                                                              \
	{                                                                                          \
		(const uint8_t *)(s), sizeof(s) - 1                                                \
	}

/* Whether n bytes are a word, or a span is. */
static inline bool bytes_are(const void *p, size_t n, const char *word)
{
	return n == strlen(word) && memcmp(p, word, n) == 0;
}

static inline bool span_is(struct span s, const char *word)
{
	return bytes_are(s.p, s.n, word);
}

static inline bool span_starts(struct span s, struct span start)
{
	return s.n >= start.n && memcmp(s.p, start.p, start.n) == 0;
}

static inline bool span_equal(struct span a, struct span b)
{
	return a.n == b.n && span_starts(a, b);
}

static inline bool span_has(struct span s, struct span part)
{
	for (size_t i = 0; i + part.n <= s.n; i++) {
		if (memcmp(s.p + i, part.p, part.n) == 0) {
			return true;
		}
	}
	return false;
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HOST_BIG_ENDIAN true
#else
#define HOST_BIG_ENDIAN false
#endif

/* Unaligned loads; `swap`: the input's byte order is not the host's. */
static inline uint16_t load_u16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t load_u32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t load_u64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* Unaligned stores, in host byte order or, with `swap`, in the other one. */
static inline void store_u16(uint8_t *p, uint16_t v, bool swap)
{
	v = swap ? __builtin_bswap16(v) : v;
	memcpy(p, &v, sizeof(v));
}

static inline void store_u32(uint8_t *p, uint32_t v, bool swap)
{
	v = swap ? __builtin_bswap32(v) : v;
	memcpy(p, &v, sizeof(v));
}

static inline void store_u64(uint8_t *p, uint64_t v, bool swap)
{
	v = swap ? __builtin_bswap64(v) : v;
	memcpy(p, &v, sizeof(v));
}

struct cursor {
	const uint8_t *p;
	const uint8_t *end;
	bool swap; /* input byte order differs from the host's */
	bool bad; /* a read went past the end */
};

static inline struct cursor cursor_make(struct span s, bool swap)
{
	static const uint8_t none[1];
	const uint8_t *p = s.p != NULL ? s.p : none; /* no arithmetic on NULL */

	return (struct cursor){.p = p, .end = p + s.n, .swap = swap, .bad = false};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* Returns the next n bytes, or NULL (and sets bad) if fewer are left. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t n)
{
	const uint8_t *p = c->p;

	if (cursor_left(c) < n) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += n;
	return p;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 1);

	return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 2);

	return p ? load_u16(p, c->swap) : 0;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 4);

	return p ? load_u32(p, c->swap) : 0;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 8);

	return p ? load_u64(p, c->swap) : 0;
}

static inline struct span cursor_bytes(struct cursor *c, size_t n)
{
	const uint8_t *p = cursor_take(c, n);

	return (struct span){.p = p, .n = p ? n : 0};
}

/* Reads a text field of n bytes that ends at its first NUL; the cursor advances by n bytes. */
static inline struct span cursor_text(struct cursor *c, size_t n)
{
	struct span s = cursor_bytes(c, n);

	if (s.p != NULL) {
		s.n = strnlen((const char *)s.p, s.n);
	}
	return s;
}

#endif
