/* SPDX-License-Identifier: MIT */
#include "image/inflate.h"

#include <zlib.h>

bool image_inflate_zlib(struct span packed, uint8_t *out, size_t n)
{
	uLongf got = (uLongf)n;

	return uncompress(out, &got, packed.p, (uLong)packed.n) == Z_OK && got == n;
}
