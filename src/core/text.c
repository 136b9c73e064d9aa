/* SPDX-License-Identifier: MIT */
#include "core/text.h"

#include "core/span.h"

#include <stdio.h>
#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

void text_fini(struct text *t)
{
	free(t->p);
	*t = (struct text){0};
}

int text_flush(struct text *t, size_t above, sonde_write_fn write, void *arg)
{
	int rc;

	if (t->failed) {
		return SONDE_ENOMEM;
	}
	if (t->n <= above) {
		return 0;
	}
	rc = write(arg, t->p, t->n) < 0 ? SONDE_EOUTPUT : 0;
	t->n = 0;
	return rc;
}

bool text_grow(struct text *t, size_t more)
{
	size_t cap = t->cap + t->cap / 2;
	char *p;

	if (t->failed) {
		return false;
	}
	if (more > SIZE_MAX / 4 || t->n > SIZE_MAX / 4) {
		t->failed = true;
		return false;
	}
	if (cap < t->n + more) {
		cap = t->n + more;
	}
	if (cap < 256) {
		cap = 256;
	}
	p = realloc(t->p, cap);
	if (p == NULL) {
		t->failed = true;
		return false;
	}
	t->p = p;
	t->cap = cap;
	return true;
}

void text_fill(struct text *t, char c, size_t n)
{
	char *p = text_room(t, n);

	if (p != NULL && n != 0) {
		memset(p, c, n);
		t->n += n;
	}
}

void text_padded(struct text *t, const char *s, int width)
{
	size_t n = strlen(s);
	size_t w = (size_t)(width < 0 ? -width : width);

	if (width > 0 && n < w) {
		text_fill(t, ' ', w - n);
	}
	text_bytes(t, s, n);
	if (width < 0 && n < w) {
		text_fill(t, ' ', w - n);
	}
}

/* Returns room for n digits after their padding, or NULL. */
static char *room_for_digits(struct text *t, size_t n, unsigned width, char pad)
{
	size_t padding = n < width ? width - n : 0;
	char *p = text_room(t, n + padding);

	if (p == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < padding; i++) {
		p[i] = pad;
	}
	t->n += n + padding;
	return p + padding;
}

/* The number of decimal digits: that of bits, times log10(2), is it or one less. */
static size_t decimal_digits(uint64_t v)
{
	static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000,
	        100000000, 1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000,
	        100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
	        1000000000000000000, 10000000000000000000u};
	unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1);
	size_t n = bits * 1233 >> 12;

	return n + ((v | 1) >= powers[n]);
}

void text_u64(struct text *t, uint64_t v, unsigned width, char pad)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
	                            "31323334353637383940414243444546474849505152535455565758596061"
	                            "62636465666768697071727374757677787980818283848586878889909192"
	                            "93949596979899";
	size_t n = decimal_digits(v);
	char *p = room_for_digits(t, n, width, pad);

	if (p == NULL) {
		return;
	}
	p += n;
	while (v >= 100) {
		p -= 2;
		memcpy(p, pairs + (v % 100) * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		memcpy(p - 2, pairs + v * 2, 2);
	} else {
		p[-1] = (char)('0' + v);
	}
}

#ifdef __SSE2__
/* Writes a number as 16 bytes of which the first ones, `blanks` at most 15, are blanks. */
static inline void put_digits(char *p, uint64_t v, unsigned blanks)
{
	static const uint8_t mask[32] = {[0 ... 15] = 0xff}; /* of blanks: from 16 - blanks on */
	const __m128i low = _mm_set1_epi8(15);
	__m128i bytes = _mm_set_epi64x(0, (long long)__builtin_bswap64(v));
	__m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), low);
	__m128i digits = _mm_unpacklo_epi8(high, _mm_and_si128(bytes, low));
	__m128i letters = _mm_cmpgt_epi8(digits, _mm_set1_epi8(9));
	__m128i blank = _mm_loadu_si128((const __m128i *)(mask + 16 - blanks));

	digits = _mm_add_epi8(digits, _mm_set1_epi8('0'));
	digits = _mm_add_epi8(digits, _mm_and_si128(letters, _mm_set1_epi8('a' - '0' - 10)));
	digits = _mm_or_si128(
	        _mm_andnot_si128(blank, digits), _mm_and_si128(blank, _mm_set1_epi8(' ')));
	_mm_storeu_si128((__m128i *)p, digits);
}
#else
/* Eight digits, the first one in the lowest byte; blanks: how many of them are blanks instead. */
static inline uint64_t digits_of(uint32_t v, unsigned blanks)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t x = v;
	uint64_t above9, mask;

	x = (x | x << 16) & 0x0000ffff0000ffffu; /* a digit for each byte, the last one lowest */
	x = (x | x << 8) & 0x00ff00ff00ff00ffu;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
	above9 = (x + 6 * ones) >> 4 & ones;
	x = __builtin_bswap64(x + '0' * ones + above9 * ('a' - '0' - 10));
	mask = (UINT64_C(1) << 8 * blanks) - 1; /* blanks < 8: a number has a digit */
	return (x & ~mask) | (' ' * ones & mask);
}

static inline void put_digits(char *p, uint64_t v, unsigned blanks)
{
	uint64_t halves[2] = {' ' * UINT64_C(0x0101010101010101),
	        digits_of((uint32_t)v, blanks > 8 ? blanks - 8 : 0)};

	if (blanks < 8) {
		halves[0] = digits_of((uint32_t)(v >> 32), blanks);
	}
	for (unsigned i = 0; i < 2; i++) {
		halves[i] = HOST_BIG_ENDIAN ? __builtin_bswap64(halves[i]) : halves[i];
	}
	memcpy(p, halves, sizeof(halves));
}
#endif

char *text_put_hex16(char *p, uint64_t v)
{
	put_digits(p, v, (unsigned)__builtin_clzll(v | 1) / 4);
	return p + 16;
}

void text_hex(struct text *t, uint64_t v, unsigned width, char pad)
{
	size_t n = (67 - (size_t)__builtin_clzll(v | 1)) / 4;
	char *p = room_for_digits(t, n, width, pad);
	char digits[16];

	if (p == NULL) {
		return;
	}
	put_digits(digits, v, 0);
	memcpy(p, digits + sizeof(digits) - n, n);
}

void text_hex_bytes(struct text *t, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;
	char *p = n <= SIZE_MAX / 2 ? text_room(t, 2 * n) : NULL;

	for (size_t i = 0; p != NULL && i < n; i++) {
		*p++ = "0123456789abcdef"[from[i] >> 4];
		*p++ = "0123456789abcdef"[from[i] & 15];
	}
	t->n += p != NULL ? 2 * n : 0;
}

void text_percent(struct text *t, uint64_t part, uint64_t total, unsigned width)
{
	double percent = total == 0 ? 0.0 : 100.0 * (double)part / (double)total;
	double hundredths = percent * 100.0;
	uint64_t whole;
	double rest;

	if (percent >= 1e6) {
		text_printf(t, "%*.2f", (int)width, percent);
		return;
	}
	whole = (uint64_t)hundredths;
	rest = hundredths - (double)whole;
	if (rest > 0.499999 && rest < 0.500001) { /* too near to a tie for this arithmetic */
		text_printf(t, "%*.2f", (int)width, percent);
		return;
	}
	whole += rest >= 0.5;
	text_u64(t, whole / 100, width > 3 ? width - 3 : 0, ' ');
	text_char(t, '.');
	text_u64(t, whole % 100, 2, '0');
}

void text_vprintf(struct text *t, const char *fmt, va_list ap)
{
	va_list again;
	char *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0) {
		t->failed = true;
	}
	p = n >= 0 ? text_room(t, (size_t)n + 1) : NULL;
	if (p != NULL) {
		(void)vsnprintf(p, (size_t)n + 1, fmt, again);
		t->n += (size_t)n;
	}
	va_end(again);
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(t, fmt, ap);
	va_end(ap);
}
