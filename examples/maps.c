/* SPDX-License-Identifier: MIT */
/* Prints the mappings of a recording: maps FILE */
#include <sonde/record.h>

#include <inttypes.h>
#include <stdio.h>

static void print_map(const struct sonde_record_mmap *m)
{
	(void)printf("%7" PRId32 " %#18" PRIx64 " %#12" PRIx64 " %.*s", m->pid, m->addr, m->len,
	        (int)m->filename.n, m->filename.p);
	for (uint8_t i = 0; i < m->build_id_size && i < m->build_id.n; i++) {
		(void)printf("%s%02x", i == 0 ? " " : "", ((const uint8_t *)m->build_id.p)[i]);
	}
	(void)printf("\n");
}

int main(int argc, char **argv)
{
	struct sonde_file *f = sonde_file_new(NULL);
	const struct sonde_raw_record *raw;
	const struct sonde_typed_record *r;
	int rc = f != NULL ? sonde_file_open(f, argc > 1 ? argv[1] : "perf.data") : SONDE_ENOMEM;

	while (rc >= 0 && (rc = sonde_file_next(f, &raw)) > 0) {
		if (raw->type != 1 && raw->type != 10) {
			continue;
		}
		if (sonde_file_decode(f, raw, &r) > 0) {
			print_map(&r->mmap);
		} else {
			(void)printf("a record at %#" PRIx64 " is cut short\n", raw->offset);
		}
	}
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n",
		        f != NULL ? sonde_file_error(f)->text : sonde_status_text(rc));
	}
	sonde_file_free(f);
	return rc < 0;
}
