/* SPDX-License-Identifier: MIT */
/* Keeps the samples of one thread and all side-band: filter TID INPUT OUTPUT */
#include <sonde/preview/rewrite.h>
#include <sonde/record.h>

#include <stdio.h>
#include <stdlib.h>

#define RECORD_SAMPLE 9

struct filter {
	uint32_t tid;
	uint64_t samples, kept;
};

static int keep_thread(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct filter *filter = arg;
	const struct sonde_typed_record *t;

	if (r->type == RECORD_SAMPLE) {
		filter->samples++;
		if (sonde_file_decode(sonde_rewriter_file(rw), r, &t) <= 0 ||
		        t->sample.tid != filter->tid) {
			return 0; /* dropped */
		}
		filter->kept++;
	}
	return sonde_rewriter_put(rw, r);
}

int main(int argc, char **argv)
{
	struct filter filter = {.tid = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0};
	const struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .arg = &filter, .record = keep_thread};
	struct sonde_rewriter *rw = sonde_rewriter_new(NULL);
	int rc = argc != 4 ? SONDE_EARG : rw == NULL ? SONDE_ENOMEM : 0;

	if (rc >= 0) {
		rc = sonde_rewriter_add(rw, &stage);
	}
	if (rc >= 0) {
		rc = sonde_rewriter_open(rw, argv[2]);
	}
	if (rc >= 0) {
		rc = sonde_rewriter_write(rw, argv[3]);
	}
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n",
		        argc == 4 && rw != NULL ? sonde_rewriter_error(rw)->text
		                                : "usage: filter TID INPUT OUTPUT");
	} else {
		(void)printf("%llu of %llu samples\n", (unsigned long long)filter.kept,
		        (unsigned long long)filter.samples);
	}
	sonde_rewriter_free(rw);
	return rc < 0;
}
