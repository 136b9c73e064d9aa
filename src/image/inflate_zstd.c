/* SPDX-License-Identifier: MIT */
#include "image/inflate.h"

#include <zstd.h>

bool image_inflate_zstd(struct span packed, uint8_t *out, size_t n)
{
	return ZSTD_decompress(out, n, packed.p, packed.n) == n;
}
