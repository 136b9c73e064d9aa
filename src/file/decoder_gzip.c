/* SPDX-License-Identifier: MIT */
#include "file/decoder.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_ONLY 16

struct gzip {
	z_stream z;
	bool at_end;
};

static void *start(void)
{
	struct gzip *g = calloc(1, sizeof(*g));

	if (g != NULL && inflateInit2(&g->z, MAX_WBITS + GZIP_ONLY) != Z_OK) {
		free(g);
		return NULL;
	}
	return g;
}

static long next(void *state, struct span *in, uint8_t *out, size_t cap)
{
	struct gzip *g = state;
	long n = 0;
	int rc = Z_OK;

	while (n == 0 && rc != Z_BUF_ERROR) {
		union {
			const uint8_t *in;
			uint8_t *out;
		} p = {.in = in->p};

		if (g->at_end && (in->n == 0 || inflateReset(&g->z) != Z_OK)) {
			return in->n == 0 ? 0 : -1; /* several members may follow each other */
		}
		g->z.next_in = p.out;
		g->z.avail_in = (uInt)(in->n < INT_MAX ? in->n : INT_MAX);
		g->z.next_out = out;
		g->z.avail_out = (uInt)cap;
		rc = inflate(&g->z, Z_NO_FLUSH);
		n = (long)(cap - g->z.avail_out);
		in->n -= (size_t)(g->z.next_in - p.out);
		in->p += g->z.next_in - p.out;
		g->at_end = rc == Z_STREAM_END;
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR && n == 0) {
			return -1;
		}
	}
	return n;
}

static bool at_end(const void *state)
{
	return ((const struct gzip *)state)->at_end;
}

static void stop(void *state)
{
	struct gzip *g = state;

	(void)inflateEnd(&g->z);
	free(g);
}

const struct decoder_ops decoder_gzip = {.name = "gzip",
        .library = "zlib",
        .start = start,
        .next = next,
        .at_end = at_end,
        .stop = stop};
