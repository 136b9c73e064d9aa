/* SPDX-License-Identifier: MIT */
/* In place of write_zstd.c in a build without libzstd. */
#include "file/write.h"

int write_packer_new(struct write_stream *s, int level, bool swap, struct error *err)
{
	(void)s;
	(void)level;
	(void)swap;
	return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
	        "this build cannot compress: it was made without libzstd");
}

void write_packer_free(struct write_packer *p)
{
	(void)p;
}

int write_packer_put(struct write_stream *s, const void *bytes, size_t n, struct error *err)
{
	(void)s;
	(void)bytes;
	(void)n;
	(void)err;
	return SONDE_EUNSUPPORTED;
}

int write_packer_flush(struct write_stream *s, struct error *err)
{
	(void)s;
	(void)err;
	return SONDE_EUNSUPPORTED;
}

void write_packer_counts(const struct write_stream *s, uint64_t *in, uint64_t *out)
{
	(void)s;
	(void)in;
	(void)out;
}
