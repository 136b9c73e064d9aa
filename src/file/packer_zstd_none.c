/* SPDX-License-Identifier: MIT */
/* In place of packer_zstd.c in a build without libzstd. */
#include "file/packer.h"

int packer_new(struct packer **out, int level, bool swap, struct error *err)
{
	(void)level;
	(void)swap;
	*out = NULL;
	return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
	        "this build cannot compress: it was made without libzstd");
}

void packer_free(struct packer *p)
{
	(void)p;
}

size_t packer_room(const struct packer *p)
{
	(void)p;
	return 0;
}

int packer_put(struct packer *p, const void *bytes, size_t n, const struct packer_out *to,
        struct error *err)
{
	(void)p;
	(void)bytes;
	(void)n;
	(void)to;
	(void)err;
	return SONDE_EUNSUPPORTED;
}

int packer_flush(struct packer *p, const struct packer_out *to, struct error *err)
{
	(void)p;
	(void)to;
	(void)err;
	return SONDE_EUNSUPPORTED;
}

void packer_counts(const struct packer *p, uint64_t *in, uint64_t *out)
{
	(void)p;
	(void)in;
	(void)out;
}
