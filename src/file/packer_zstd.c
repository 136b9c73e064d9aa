/* SPDX-License-Identifier: MIT */
#include "file/packer.h"

#include "abi/abi.h"
#include "core/span.h"

#include <stdlib.h>
#include <zstd.h>

#define FRAME      (4u << 20) /* bytes of records in a frame */
#define RECORD_MAX 0xffe8u /* bytes of a COMPRESSED record */

struct packer {
	ZSTD_CCtx *z;
	bool swap;
	size_t n; /* bytes in `in` */
	uint64_t in_all, out_all, in_frame; /* bytes */
	uint8_t in[PACKER_PUT_MAX];
	uint8_t out[RECORD_MAX];
};

int packer_new(struct packer **out, int level, bool swap, struct error *err)
{
	struct packer *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		return error_nomem(err);
	}
	p->z = ZSTD_createCCtx();
	if (p->z == NULL ||
	        ZSTD_isError(ZSTD_CCtx_setParameter(p->z, ZSTD_c_compressionLevel, level))) {
		packer_free(p);
		return error_nomem(err);
	}
	p->swap = swap;
	*out = p;
	return 0;
}

void packer_free(struct packer *p)
{
	if (p != NULL) {
		(void)ZSTD_freeCCtx(p->z);
		free(p);
	}
}

static int record_put(struct packer *p, size_t n, const struct packer_out *to, struct error *err)
{
	store_u32(p->out, RECORD_COMPRESSED, p->swap);
	store_u16(p->out + 4, 0, p->swap);
	store_u16(p->out + 6, (uint16_t)n, p->swap);
	p->out_all += n;
	return to->put(to->arg, p->out, n, err);
}

int packer_flush(struct packer *p, const struct packer_out *to, struct error *err)
{
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
			TRY(record_put(p, RECORD_HEADER_SIZE + out.pos, to, err));
		}
	} while (left != 0);
	return 0;
}

size_t packer_room(const struct packer *p)
{
	return PACKER_PUT_MAX - p->n;
}

int packer_put(struct packer *p, const void *bytes, size_t n, const struct packer_out *to,
        struct error *err)
{
	if (n > PACKER_PUT_MAX - p->n) {
		TRY(packer_flush(p, to, err));
	}
	memcpy(p->in + p->n, bytes, n);
	p->n += n;
	return 0;
}

void packer_counts(const struct packer *p, uint64_t *in, uint64_t *out)
{
	*in += p->in_all;
	*out += p->out_all;
}
