/* SPDX-License-Identifier: MIT */
#include "trace/print.h"

static const char digits_lower[] = "0123456789abcdef", digits_upper[] = "0123456789ABCDEF";

/* The value in the bytes that a style prints, and whether it is negative. */
static uint64_t magnitude(struct style style, uint64_t v, bool *negative)
{
	unsigned unused = 64 - 8u * style.bytes;

	*negative = false;
	v <<= unused;
	if ((style.flags & STYLE_SIGNED) == 0) {
		return v >> unused;
	}
	*negative = v >> 63 != 0;
	v = *negative ? 0 - v : v;
	return v >> unused;
}

static size_t write_digits(char *end, struct style style, uint64_t v)
{
	const char *digits = (style.flags & STYLE_UPPER) != 0 ? digits_upper : digits_lower;
	uint64_t base = (style.flags & STYLE_HEX) != 0     ? 16
	                : (style.flags & STYLE_OCTAL) != 0 ? 8
	                                                   : 10;
	char *p = end;

	for (; v != 0; v /= base) {
		*--p = digits[v % base];
	}
	return (size_t)(end - p);
}

/* A number with a width, a precision or a prefix, as printf prints it. */
static void put_styled(struct text *out, struct style style, uint64_t v)
{
	char digits[24], *end = digits + sizeof(digits);
	const char *prefix = "";
	size_t n, zeros = 0, used;
	bool negative;

	v = magnitude(style, v, &negative);
	n = write_digits(end, style, v);
	if (negative) {
		prefix = "-";
	} else if ((style.flags & STYLE_PREFIX) != 0 && (style.flags & STYLE_HEX) != 0 && v != 0) {
		prefix = (style.flags & STYLE_UPPER) != 0 ? "0X" : "0x";
	}
	used = n + strlen(prefix);
	if (style.precision != NO_PRECISION) {
		zeros = style.precision > n ? style.precision - n : 0;
	} else if ((style.flags & (STYLE_ZEROS | STYLE_LEFT)) == STYLE_ZEROS) {
		zeros = style.width > used ? style.width - used : 0;
	}
	if (style.precision == NO_PRECISION && n + zeros == 0) {
		zeros = 1;
	}
	if ((style.flags & (STYLE_PREFIX | STYLE_OCTAL)) == (STYLE_PREFIX | STYLE_OCTAL) &&
	        zeros == 0) {
		zeros = 1;
	}
	used += zeros;
	if ((style.flags & STYLE_LEFT) == 0 && used < style.width) {
		text_fill(out, ' ', style.width - used);
	}
	text_str(out, prefix);
	text_fill(out, '0', zeros);
	text_bytes(out, end - n, n);
	if ((style.flags & STYLE_LEFT) != 0 && used < style.width) {
		text_fill(out, ' ', style.width - used);
	}
}

void print_number(struct text *out, struct style style, uint64_t v)
{
	bool negative;

	if ((style.flags & STYLE_PLAIN) == 0) {
		put_styled(out, style, v);
		return;
	}
	v = magnitude(style, v, &negative);
	if (negative) {
		text_char(out, '-');
	}
	if ((style.flags & STYLE_HEX) != 0) {
		text_hex(out, v, 0, ' ');
	} else {
		text_u64(out, v, 0, ' ');
	}
}

void print_padded(struct text *out, struct style style, const void *p, size_t n)
{
	size_t pad;

	n = n < style.precision || style.precision == NO_PRECISION ? n : style.precision;
	pad = style.width > n ? style.width - n : 0;
	if ((style.flags & STYLE_LEFT) == 0) {
		text_fill(out, ' ', pad);
	}
	text_bytes(out, p, n);
	if ((style.flags & STYLE_LEFT) != 0) {
		text_fill(out, ' ', pad);
	}
}

void print_pointer(struct text *out, uint64_t v)
{
	if (v == 0) {
		text_str(out, "(nil)");
	} else {
		text_0x(out, v);
	}
}

void print_uuid(struct text *out, const uint8_t *p)
{
	for (size_t i = 0; i < 16; i++) {
		text_str(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
		text_hex(out, p[i], 2, '0');
	}
}

void print_ipv4(struct text *out, const uint8_t *p)
{
	for (size_t i = 0; i < 4; i++) {
		text_str(out, i != 0 ? "." : "");
		text_u64(out, p[i], 0, ' ');
	}
}

/* The longest run of zero words, which is printed as "::"; 8: there is none. */
static size_t zero_run(const uint8_t *p, size_t words, size_t *length)
{
	size_t best = 8, n = 0;

	*length = 1;
	for (size_t i = 0; i < words; i++) {
		n = p[2 * i] == 0 && p[2 * i + 1] == 0 ? n + 1 : 0;
		if (n > *length) {
			*length = n;
			best = i + 1 - n;
		}
	}
	return best;
}

/* An address as RFC 5952 writes it; the last 4 bytes are decimal if it is one of IPv4. */
void print_ipv6(struct text *out, const uint8_t *p)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	bool ipv4 = memcmp(p, mapped, sizeof(mapped)) == 0;
	size_t words = ipv4 ? 6 : 8, length, run = zero_run(p, words, &length);
	bool colon = false;

	for (size_t i = 0; i < words; i++) {
		if (i == run) {
			text_str(out, "::");
			colon = false;
			i += length - 1;
			continue;
		}
		text_str(out, colon ? ":" : "");
		text_hex(out, (uint64_t)p[2 * i] << 8 | p[2 * i + 1], 0, ' ');
		colon = true;
	}
	if (ipv4) {
		text_str(out, colon ? ":" : "");
		print_ipv4(out, p + 12);
	}
}
