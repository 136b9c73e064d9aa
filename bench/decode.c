/* SPDX-License-Identifier: MIT */
/*
 * Reads the records of a recording in one of three depths, to compare their cost:
 *
 *	sonde-decode bare FILE     reads only record headers of the mapped file, without checks, the
 *	                           minimum for any reader; seekable files in host byte order only
 *	sonde-decode walk FILE     reads every record by sonde_file_next
 *	sonde-decode samples FILE  also decodes every sample to a C struct
 *
 * Prints the number of records and samples, and a sum, so that compilers cannot remove the work.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sonde/record.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAMPLE 9u

struct count {
	uint64_t records, samples, sum;
};

static int bare(const char *path, struct count *c)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	const uint8_t *map, *p, *end;
	uint64_t at, size;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size < 104) {
		return -1;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		return -1;
	}
	memcpy(&at, map + 40, 8);
	memcpy(&size, map + 48, 8);
	for (p = map + at, end = p + size; p < end;) {
		uint32_t type;
		uint16_t n;

		memcpy(&type, p, 4);
		memcpy(&n, p + 6, 2);
		c->records++;
		c->samples += type == SAMPLE;
		c->sum += n;
		if (n < 8) {
			return -1;
		}
		p += n;
	}
	return close(fd);
}

static int through_library(const char *path, int decode, struct count *c)
{
	struct sonde_file *f = sonde_file_new(NULL);
	const struct sonde_raw_record *r;
	const struct sonde_typed_record *t;
	int rc = f != NULL ? sonde_file_open(f, path) : SONDE_ENOMEM;

	while (rc >= 0 && sonde_file_next(f, &r) > 0) {
		c->records++;
		c->sum += r->size;
		if (r->type != SAMPLE) {
			continue;
		}
		c->samples++;
		if (decode && sonde_file_decode(f, r, &t) > 0) {
			c->sum += t->sample.ip ^ t->sample.time ^ t->sample.callchain_len;
		}
	}
	sonde_file_free(f);
	return rc;
}

int main(int argc, char **argv)
{
	struct count c = {0};
	int rc = -1;

	if (argc == 3 && strcmp(argv[1], "bare") == 0) {
		rc = bare(argv[2], &c);
	} else if (argc == 3) {
		rc = through_library(argv[2], strcmp(argv[1], "samples") == 0, &c);
	}
	if (rc < 0) {
		(void)fprintf(stderr, "usage: sonde-decode bare|walk|samples FILE\n");
		return 2;
	}
	printf("%" PRIu64 " records, %" PRIu64 " samples, sum %" PRIx64 "\n", c.records, c.samples,
	        c.sum);
	return 0;
}
