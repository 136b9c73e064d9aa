/* SPDX-License-Identifier: MIT */
#include "file/decoder.h"

#include <stdlib.h>
#include <zstd.h>

struct zstd {
	ZSTD_DCtx *z;
	size_t hint; /* 0: at the end of a frame */
	bool failed;
};

static void *start(void)
{
	struct zstd *s = calloc(1, sizeof(*s));

	if (s != NULL) {
		s->z = ZSTD_createDCtx();
	}
	if (s != NULL && s->z == NULL) {
		free(s);
		return NULL;
	}
	return s;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is that of decoder_ops */
static long next(void *state, struct span *in, uint8_t *out, size_t cap)
{
	struct zstd *s = state;
	ZSTD_inBuffer from = {.src = in->p, .size = in->n};
	ZSTD_outBuffer to = {.dst = out, .size = cap};

	do {
		size_t before = from.pos;
		size_t rc = s->failed ? 0 : ZSTD_decompressStream(s->z, &to, &from);

		s->failed = s->failed || ZSTD_isError(rc);
		if (s->failed) {
			break;
		}
		if (to.pos == 0 && from.pos == before) {
			break; /* all input is used, no output is left */
		}
		s->hint = rc;
	} while (to.pos == 0);
	in->p += from.pos;
	in->n -= from.pos;
	return s->failed && to.pos == 0 ? -1 : (long)to.pos;
}

static bool at_end(const void *state)
{
	return ((const struct zstd *)state)->hint == 0;
}

static void stop(void *state)
{
	struct zstd *s = state;

	(void)ZSTD_freeDCtx(s->z);
	free(s);
}

const struct decoder_ops decoder_zstd = {.name = "zstd",
        .library = "libzstd",
        .start = start,
        .next = next,
        .at_end = at_end,
        .stop = stop};
