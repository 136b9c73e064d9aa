/* SPDX-License-Identifier: MIT */
#include "file/unwrap.h"

#include "file/decoder.h"

#include <inttypes.h>
#include <stdlib.h>

#define LAYERS      3u /* for packed files that were packed again */
#define OUT_SIZE    ((size_t)128 << 10)
#define GROWTH_MAX  2048u /* an input may grow to this multiple of its size, */
#define GROWTH_FREE ((uint64_t)1 << 20) /* and to this many bytes in any case */

static const struct decoder_ops *find_format(struct span bytes)
{
	static const struct {
		const char *magic;
		size_t n;
		const struct decoder_ops *ops;
	} formats[] = {
	        {"\x1f\x8b\x08", 3, &decoder_gzip},
	        {"\xfd"
	         "7zXZ\0",
	                6, &decoder_xz},
	        {"\x28\xb5\x2f\xfd", 4, &decoder_zstd},
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (bytes.n > formats[i].n &&
		        memcmp(bytes.p, formats[i].magic, formats[i].n) == 0) {
			return formats[i].ops;
		}
	}
	return NULL;
}

/* Returns 1: unpacked to the end, 0: damaged, cut off or too large, negative: failure. */
static int unpack(const struct decoder_ops *ops, void *state, struct span in, struct spool *spool,
        struct error *err)
{
	uint64_t most = GROWTH_FREE + (uint64_t)in.n * GROWTH_MAX;
	uint8_t *out = malloc(OUT_SIZE);
	long n;
	int rc = 0;

	if (out == NULL) {
		return error_nomem(err);
	}
	while ((n = ops->next(state, &in, out, OUT_SIZE)) > 0 && rc == 0) {
		rc = spool_append(spool, out, (size_t)n, err);
		if (spool->size > most) {
			n = -1;
			break;
		}
	}
	free(out);
	if (rc < 0) {
		return rc;
	}
	return n == 0 && ops->at_end(state);
}

int source_unwrap(
        struct source *s, const struct source_open *how, struct diag_sink *diags, struct error *err)
{
	const char *path = how->path;
	const struct decoder_ops *ops = NULL;

	for (unsigned i = 0; i < LAYERS && (ops = find_format(s->bytes)) != NULL; i++) {
		struct spool spool = {.temp_dir = how->temp_dir};
		struct source unpacked;
		void *state;
		int rc;

		if (ops->start == NULL) {
			return error_set(err, SONDE_EUNSUPPORTED, 0,
			        "%s is packed with %s, and this build has no %s; unpack it first: "
			        "%s -d",
			        path, ops->name, ops->library, ops->name);
		}
		state = ops->start();
		if (state == NULL) {
			return error_nomem(err);
		}
		rc = unpack(ops, state, s->bytes, &spool, err);
		ops->stop(state);
		if (rc < 0) {
			spool_fini(&spool);
			return rc;
		}
		if (rc == 0) {
			diag_report(diags, SONDE_DIAG_TRUNCATED, s->bytes.n,
			        "%s is packed with %s and cannot be unpacked to its end; %" PRIu64
			        " bytes came out",
			        path, ops->name, spool.size);
		}
		TRY(spool_finish(&spool, &unpacked, err));
		source_close(s);
		*s = unpacked;
	}
	return 0;
}
