/* SPDX-License-Identifier: MIT */
/*
 * COMPRESSED records: a zstd stream, cut into records wherever one is full. A record ends where a
 * piece was flushed, so that it inflates to at most WRITE_INFLATED_MAX bytes; a frame ends every
 * few MiB, so that the stream can be read in parallel.
 */
#include "file/write.h"

#include <stdlib.h>
#include <zstd.h>

#define PIECE      (WRITE_INFLATED_MAX / 2) /* bytes of records that are compressed together */
#define FRAME      (4u << 20) /* bytes of records in a frame */
#define RECORD_MAX 0xffe8u /* bytes of a COMPRESSED record */

struct write_packer {
	ZSTD_CCtx *z;
	bool swap;
	size_t n; /* bytes in `in` */
	uint64_t in_all, out_all, in_frame; /* bytes */
	uint8_t in[PIECE];
	uint8_t out[RECORD_MAX];
};

int write_packer_new(struct write_stream *s, int level, bool swap, struct error *err)
{
	struct write_packer *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		return error_nomem(err);
	}
	p->z = ZSTD_createCCtx();
	if (p->z == NULL ||
	        ZSTD_isError(ZSTD_CCtx_setParameter(p->z, ZSTD_c_compressionLevel, level))) {
		write_packer_free(p);
		return error_nomem(err);
	}
	p->swap = swap;
	s->packer = p;
	return 0;
}

void write_packer_free(struct write_packer *p)
{
	if (p != NULL) {
		(void)ZSTD_freeCCtx(p->z);
		free(p);
	}
}

static int record_put(struct write_stream *s, size_t n, struct error *err)
{
	struct write_packer *p = s->packer;

	store_u32(p->out, RECORD_COMPRESSED, p->swap);
	store_u16(p->out + 4, 0, p->swap);
	store_u16(p->out + 6, (uint16_t)n, p->swap);
	p->out_all += n;
	return sink_put(&s->sink, p->out, n, err);
}

int write_packer_flush(struct write_stream *s, struct error *err)
{
	struct write_packer *p = s->packer;
	ZSTD_inBuffer in = {.src = p->in, .size = p->n};
	ZSTD_EndDirective how;
	size_t left;

	if (p->n == 0) {
		return 0;
	}
	p->in_all += p->n;
	p->in_frame += p->n;
	p->n = 0;
	how = p->in_frame >= FRAME ? ZSTD_e_end : ZSTD_e_flush;
	p->in_frame = how == ZSTD_e_end ? 0 : p->in_frame;
	do {
		ZSTD_outBuffer out = {.dst = p->out + RECORD_HEADER_SIZE,
		        .size = RECORD_MAX - RECORD_HEADER_SIZE};

		left = ZSTD_compressStream2(p->z, &out, &in, how);
		if (ZSTD_isError(left)) {
			return error_set(err, SONDE_EIO, NO_OFFSET, "zstd cannot compress: %s",
			        ZSTD_getErrorName(left));
		}
		if (out.pos != 0) {
			TRY(record_put(s, RECORD_HEADER_SIZE + out.pos, err));
		}
	} while (left != 0);
	return 0;
}

int write_packer_put(struct write_stream *s, const void *bytes, size_t n, struct error *err)
{
	struct write_packer *p = s->packer;

	if (n > PIECE - p->n) {
		TRY(write_packer_flush(s, err));
	}
	memcpy(p->in + p->n, bytes, n); /* a record is shorter than a piece */
	p->n += n;
	return 0;
}

void write_packer_counts(const struct write_stream *s, uint64_t *in, uint64_t *out)
{
	if (s->packer != NULL) {
		*in += s->packer->in_all;
		*out += s->packer->out_all;
	}
}
