/* SPDX-License-Identifier: MIT */
#include "file/decoder.h"

#include <lzma.h>
#include <stdlib.h>

#define XZ_MEMORY ((uint64_t)256 << 20) /* most memory in bytes for one stream */

struct xz {
	lzma_stream z;
	bool at_end;
};

static void *start(void)
{
	struct xz *x = calloc(1, sizeof(*x));

	if (x != NULL && lzma_stream_decoder(&x->z, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK) {
		free(x);
		return NULL;
	}
	return x;
}

static long next(void *state, struct span *in, uint8_t *out, size_t cap)
{
	struct xz *x = state;
	lzma_ret rc;

	x->z.next_in = in->p;
	x->z.avail_in = in->n;
	x->z.next_out = out;
	x->z.avail_out = cap;
	rc = lzma_code(&x->z, LZMA_RUN);
	if (rc == LZMA_OK && x->z.avail_in == 0 && x->z.avail_out == cap) {
		rc = lzma_code(&x->z, LZMA_FINISH); /* LZMA_FINISH makes it report the end */
		x->at_end = rc == LZMA_STREAM_END;
		return 0;
	}
	in->p = x->z.next_in;
	in->n = x->z.avail_in;
	if (rc != LZMA_OK && rc != LZMA_STREAM_END && x->z.avail_out == cap) {
		return rc == LZMA_BUF_ERROR && in->n == 0 ? 0 : -1;
	}
	return (long)(cap - x->z.avail_out);
}

static bool at_end(const void *state)
{
	return ((const struct xz *)state)->at_end;
}

static void stop(void *state)
{
	struct xz *x = state;

	lzma_end(&x->z);
	free(x);
}

const struct decoder_ops decoder_xz = {.name = "xz",
        .library = "liblzma",
        .start = start,
        .next = next,
        .at_end = at_end,
        .stop = stop};
