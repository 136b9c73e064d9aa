/* SPDX-License-Identifier: MIT */
/*
 * A recording through a stage that drops, repeats and adds records, written as a file or a stream
 * in either byte order, and repaired on the way. The output opens, has exactly the records that
 * were passed on, and is not damaged.
 */
#define _GNU_SOURCE
#include <sonde/preview/rewrite.h>
#include <sonde/record.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct passed {
	uint64_t records;
	bool unknown; /* an unknown type: readers accept it because of the records after it */
};

static bool is_counted(uint32_t type)
{
	return type < 64 || type > 83; /* not what containers make themselves */
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	static const uint64_t ours[2]; /* a size of 0, which is refused */
	const struct sonde_raw_record bad = {.bytes = ours, .size = sizeof(ours)};
	const uint8_t *bytes = r->bytes;
	unsigned copies = bytes[r->size - 1] % 4 == 3 ? 0 : bytes[r->size - 1] % 4;
	struct passed *passed = arg;

	if (r->size == 72 && bytes[71] == 72) {
		return sonde_rewriter_put(rw, &bad);
	}
	passed->records += is_counted(r->type) ? copies : 0;
	passed->unknown |= sonde_record_type_name(r->type) == NULL;
	while (copies > 0 && sonde_rewriter_put(rw, r) >= 0) {
		copies--;
	}
	return 0;
}

/* Sets the first event to its own value: from then on stages and output use a view of the input. */
static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct sonde_rewriter_event e = {.size = sizeof(e)};
	struct sonde_file *f = sonde_rewriter_file(rw);

	(void)arg;
	e.attr = sonde_file_event_bytes(f, 0, &e.attr_size);
	return e.attr != NULL ? sonde_rewriter_set_event(rw, 0, &e) : 0;
}

static uint64_t count_records(const char *path)
{
	struct sonde_file *f = sonde_file_new(NULL);
	const struct sonde_raw_record *r;
	uint64_t n = 0;

	if (f == NULL || sonde_file_open(f, path) < 0) {
		abort();
	}
	while (sonde_file_next(f, &r) > 0) {
		n += is_counted(r->type);
	}
	if (sonde_file_diags(f, SONDE_DIAG_TRUNCATED) + sonde_file_diags(f, SONDE_DIAG_DAMAGED) !=
	                0 ||
	        sonde_file_get_info(f)->interrupted) {
		abort();
	}
	sonde_file_free(f);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sonde_rewriter_options o = {.size = sizeof(o),
	        .container = size % 2 != 0 ? SONDE_CONTAINER_FILE : SONDE_CONTAINER_PIPE,
	        .order = size % 3 == 0 ? SONDE_ORDER_BIG : SONDE_ORDER_LITTLE,
	        .compress = size % 5 == 0 ? 1 : SONDE_REWRITE_PLAIN,
	        .whole = true};
	struct passed passed = {0};
	struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .arg = &passed, .record = record};
	struct sonde_rewriter *rw = sonde_rewriter_new(&o);
	int in = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
	char path[64];

	stage.begin = size % 7 == 0 ? begin : NULL;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
	if (rw != NULL && write(in, data, size) == (ssize_t)size &&
	        sonde_rewriter_add(rw, &stage) >= 0 && sonde_rewriter_open(rw, path) >= 0 &&
	        sonde_rewriter_write_fd(rw, out) >= 0 && !passed.unknown) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
		if (count_records(path) != passed.records) {
			abort();
		}
	}
	sonde_rewriter_free(rw);
	(void)close(in);
	(void)close(out);
	return 0;
}
