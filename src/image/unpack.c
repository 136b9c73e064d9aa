/* SPDX-License-Identifier: MIT */
/* Unpacks xz in memory. */
#include "image/image.h"

#include <lzma.h>
#include <stdlib.h>

#define XZ_MEMORY ((uint64_t)128 << 20) /* most memory in bytes of the decoder */

/* Makes room for more output. False: out of memory, or *cap is `most` already. */
static bool grow(uint8_t **out, size_t *cap, size_t most)
{
	size_t more = *cap < most / 2 ? *cap * 2 : most;
	uint8_t *p = *cap < most ? realloc(*out, more) : NULL;

	if (p == NULL) {
		return false;
	}
	*out = p;
	*cap = more;
	return true;
}

/* LZMA_STREAM_END: everything was unpacked; LZMA_MEM_ERROR: out of memory. */
static lzma_ret unpack(lzma_stream *z, size_t most, uint8_t **out, size_t *size)
{
	size_t cap = 0;
	lzma_ret rc = LZMA_OK;

	while (rc == LZMA_OK) {
		if (*size == cap) {
			if (cap == 0) {
				cap = most < 65536 ? most : 65536;
				*out = malloc(cap);
			} else if (cap >= most) {
				return LZMA_DATA_ERROR;
			} else if (!grow(out, &cap, most)) {
				return LZMA_MEM_ERROR;
			}
			if (*out == NULL) {
				return LZMA_MEM_ERROR;
			}
		}
		z->next_out = *out + *size;
		z->avail_out = cap - *size;
		rc = lzma_code(z, LZMA_FINISH);
		*size = cap - z->avail_out;
	}
	return rc;
}

int image_unpack_xz(struct span packed, size_t most, uint8_t **out, size_t *size)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret rc;

	*out = NULL;
	*size = 0;
	if (packed.n == 0 || most == 0) {
		return 0;
	}
	rc = lzma_stream_decoder(&z, XZ_MEMORY, 0);
	if (rc == LZMA_OK) {
		z.next_in = packed.p;
		z.avail_in = packed.n;
		rc = unpack(&z, most, out, size);
	}
	lzma_end(&z);
	if (rc != LZMA_STREAM_END) {
		free(*out);
		*out = NULL;
		*size = 0;
	}
	return rc == LZMA_STREAM_END ? 1 : rc == LZMA_MEM_ERROR ? SONDE_ENOMEM : 0;
}
