/* SPDX-License-Identifier: MIT */
/* sonde/file.h: records in file order with their offsets, and gaps. */
#include "make.h"
#include "tap.h"

#include <sonde/record.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct make m;
static char path[] = "/tmp/sonde-reader-XXXXXX";

static void save(void)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL || fwrite(m.p, 1, m.n, f) != m.n || fclose(f) != 0) {
		abort();
	}
}

static struct sonde_file *reopen(int gaps)
{
	struct sonde_file_options options = {.size = sizeof(options), .gaps = gaps};
	struct sonde_file *f = sonde_file_new(&options);

	if (f == NULL) {
		abort();
	}
	save();
	eq_u64(sonde_file_open(f, path), 0, "sonde_file_open opens the file");
	return f;
}

/* Ten samples; the size of the fourth is damaged. */
static void make_damaged(void)
{
	make_begin(&m, 144, true);
	for (uint64_t i = 0; i < 10; i++) {
		make_sample(&m, i, 2, i);
	}
	store_u16(m.p + m.data + (size_t)3 * 40 + 6, 4, m.swap);
	make_end(&m);
}

static void test_whole(void)
{
	const struct sonde_raw_record *r;
	struct sonde_file *f;
	size_t size;
	uint64_t n = 0;

	make_begin(&m, 144, true);
	make_sample(&m, 1, 2, 3);
	make_round(&m);
	make_sample(&m, 4, 5, 6);
	make_end(&m);
	f = reopen(0);
	eq_u64(sonde_file_events(f), 1, "the file has one event");
	(void)sonde_file_event_bytes(f, 0, &size);
	eq_u64(size, 144, "the attr of the event has 144 bytes");
	(void)sonde_file_event_ids(f, 0, &size);
	eq_u64(size, 2, "the event has two ids");
	ok(sonde_file_event_name(f, 1) == NULL, "an event that does not exist has no name");
	ok(sonde_file_next(f, &r) == 1 && r->type == RECORD_SAMPLE && r->size == 40 &&
	                r->offset == m.data && !r->inflated && r->stream == 0,
	        "the first record is a sample with its size and offset");
	eq_str(r->file, path, "a record has the path of its file");
	ok(sonde_file_record_event(f, r) == 0, "the first record belongs to the event");
	ok(sonde_file_next(f, &r) == 1 && r->type == RECORD_FINISHED_ROUND,
	        "the second record is a FINISHED_ROUND");
	ok(sonde_file_record_event(f, r) == -1, "a FINISHED_ROUND belongs to no event");
	ok(sonde_file_next(f, &r) == 1 && r->offset == m.data + 48,
	        "the third record has its offset");
	ok(sonde_file_next(f, &r) == 0 && sonde_file_next(f, &r) == 0,
	        "after the last record sonde_file_next returns 0");
	sonde_file_rewind(f);
	while (sonde_file_next(f, &r) > 0) {
		n++;
	}
	eq_u64(n, 3, "after sonde_file_rewind all three records are read again");
	ok(sonde_file_open(f, path) == SONDE_EARG, "a second open on the same handle is refused");
	sonde_file_free(f);
}

static void test_gap(void)
{
	const struct sonde_raw_record *r;
	struct sonde_file *f;
	uint64_t n = 0;
	uint64_t at;

	make_damaged();
	f = reopen(1);
	for (at = m.data; sonde_file_next(f, &r) > 0; at += r->size) {
		if (r->offset != at) {
			ok(false, "records and gaps follow each other without holes");
		}
		if (r->gap != NULL) {
			eq_u64(r->offset, m.data + 120, "the gap has its offset");
			eq_u64(r->size, 40, "the gap has its size");
			n += 100;
		}
		n++;
	}
	eq_u64(at, m.n, "records and gaps cover the data up to its end");
	eq_u64(n, 110, "there are nine records and one gap");
	eq_u64(sonde_file_diags(f, SONDE_DIAG_DAMAGED), 1, "the gap is reported once");
	sonde_file_free(f);
	f = reopen(0);
	for (n = 0; sonde_file_next(f, &r) > 0; n++) {
	}
	eq_u64(n, 9, "without gaps nine records are returned");
	sonde_file_free(f);
}

/* Text after a damaged last record is not taken for a record. */
static void test_tail(void)
{
	static const char text[] = "[ some text that a program wrote to the same output, 1 2 3 ]\n";
	const struct sonde_raw_record *r;
	struct sonde_file *f;
	uint64_t n = 0;

	make_begin(&m, 144, true);
	make_sample(&m, 1, 2, 3);
	memcpy(m.p + m.n, text, sizeof(text) - 1);
	m.n += sizeof(text) - 1;
	make_end(&m);
	f = reopen(0);
	while (sonde_file_next(f, &r) > 0) {
		n++;
	}
	eq_u64(n, 1, "text after the last record is one gap");
	eq_u64(sonde_file_diags(f, SONDE_DIAG_NOTE), 1, "text after the last record is noted");
	eq_u64(sonde_file_diags(f, SONDE_DIAG_DAMAGED), 0,
	        "text after the last record is no damage");
	sonde_file_free(f);
}

/* Records as structs and as fields: a sample, an unknown type, bytes that are no record. */
static void test_decode(void)
{
	struct sonde_fields *fields = sonde_fields_new();
	const struct sonde_typed_record *t;
	const struct sonde_raw_record *r;
	const struct sonde_field *v;
	struct sonde_file *f;

	make_begin(&m, 144, true);
	for (uint64_t i = 0; i < 10; i++) {
		make_sample(&m, i, 2, i);
	}
	store_u32(m.p + m.data, 90, m.swap); /* the first one's type */
	store_u16(m.p + m.data + (size_t)8 * 40 + 6, 4, m.swap); /* the size of the ninth */
	make_end(&m);
	f = reopen(1);
	ok(sonde_file_next(f, &r) == 1, "a record of an unknown type is returned");
	ok(sonde_file_decode(f, r, &t) == SONDE_EUNSUPPORTED,
	        "a record of an unknown type has no struct");
	ok(strstr(sonde_file_error(f)->text, "type is not known") != NULL,
	        "the error says that the type is not known");
	eq_u64(sonde_file_record_fields(f, r, fields), 0, "a record of an unknown type has fields");
	eq_u64(sonde_fields_next(fields, &v), 1, "a record of an unknown type has one field");
	ok(v->what == SONDE_FIELD_REST && v->size == 32,
	        "the field of an unknown type covers all bytes");
	ok(sonde_file_next(f, &r) == 1 && r->type == RECORD_SAMPLE,
	        "the record after it is a sample");
	eq_u64(sonde_file_decode(f, r, &t), 1, "a sample is decoded");
	ok(t->type == RECORD_SAMPLE && t->event == 0 && t->sample.ip == 1,
	        "a decoded sample has its event and ip");
	ok(t->trailer.tid == 2 && t->trailer.time == 1 && t->sample.time == 1,
	        "a decoded sample has tid and time in its trailer");
	while (sonde_file_next(f, &r) == 1 && r->gap == NULL) {
	}
	ok(r->gap != NULL && sonde_file_decode(f, r, &t) == SONDE_EARG, "a gap cannot be decoded");
	ok(sonde_file_record_fields(f, r, fields) == SONDE_EARG, "a gap has no fields");
	ok(sonde_file_event_fields(f, 0, fields) == 0, "an attr has fields");
	ok(sonde_fields_next(fields, &v) == 1 && strcmp(v->name, "type") == 0,
	        "the first field of an attr is type");
	ok(sonde_file_event_fields(f, 1, fields) == SONDE_ENOENT,
	        "the attr of an event that does not exist is not found");
	ok(sonde_file_feature_fields(f, 3, fields) == SONDE_ENOENT,
	        "the fields of an absent feature are not found");
	ok(sonde_file_feature_fields(f, 256, fields) == SONDE_ENOENT,
	        "the fields of an impossible feature are not found");
	sonde_fields_free(fields);
	sonde_file_free(f);
}

/* A file and more than a spool keeps in memory, from a pipe, by a child. */
static pid_t feed(const char *fifo)
{
	static const char zeros[64 << 10];
	pid_t child = fork();
	FILE *f;

	if (child != 0) {
		return child;
	}
	f = fopen(fifo, "wb");
	if (f == NULL || fwrite(m.p, 1, m.n, f) != m.n) {
		_exit(1);
	}
	for (int i = 0; i < 80; i++) {
		if (fwrite(zeros, 1, sizeof(zeros), f) != sizeof(zeros)) {
			_exit(1);
		}
	}
	_exit(fclose(f) != 0);
}

static bool is_mapped(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];
	bool found = false;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		found |= strstr(line, name) != NULL;
	}
	if (maps != NULL) {
		(void)fclose(maps);
	}
	return found;
}

/* What cannot be mapped goes to the folder that the option names, never to the environment's. */
static void test_temp_dir(void)
{
	char folder[] = "/tmp/sonde-folder-XXXXXX", fifo[64];
	struct sonde_file_options options = {.size = sizeof(options), .temp_dir = folder};
	struct sonde_file *f;
	pid_t child;
	int status;

	if (mkdtemp(folder) == NULL) {
		abort();
	}
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	make_begin(&m, 144, true);
	make_sample(&m, 1, 2, 3);
	make_end(&m);
	ok(mkfifo(fifo, 0600) == 0 && setenv("TMPDIR", folder, 1) == 0, "a pipe");
	for (int i = 0; i < 2; i++) {
		f = sonde_file_new(i == 0 ? &options : NULL);
		child = feed(fifo);
		eq_u64(sonde_file_open(f, fifo), 0, "a long pipe is opened");
		ok(waitpid(child, &status, 0) == child && status == 0, "all of it was read");
		eq_u64(is_mapped(folder), i == 0,
		        i == 0 ? "it is in the folder of the option temp_dir"
		               : "without the option it is not in TMPDIR");
		eq_u64(is_mapped("/sonde-"), 1, "it is in a temporary file");
		sonde_file_free(f);
	}
	(void)unsetenv("TMPDIR");
	(void)unlink(fifo);
	(void)rmdir(folder);
}

static void test_nothing(void)
{
	struct sonde_file *f = sonde_file_new(NULL);
	const struct sonde_raw_record *r;

	ok(sonde_file_open(f, "/nowhere/at/all") == SONDE_ENOENT,
	        "opening a file that does not exist fails");
	ok(sonde_file_error(f)->status == SONDE_ENOENT &&
	                strstr(sonde_file_error(f)->text, "/nowhere/at/all") != NULL,
	        "the error names the file that does not exist");
	ok(sonde_file_next(f, &r) == SONDE_EARG, "a handle without a file has no records");
	sonde_file_free(f);
	sonde_file_free(NULL);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0) {
		return 1;
	}
	(void)close(fd);
	for (int swap = 0; swap <= 1; swap++) {
		m.swap = swap != 0;
		test_whole();
		test_gap();
		test_tail();
		test_decode();
	}
	test_nothing();
	test_temp_dir();
	(void)unlink(path);
	return tap_done();
}
