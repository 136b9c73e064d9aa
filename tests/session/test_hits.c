/* SPDX-License-Identifier: MIT */
/*
 * Objects that samples hit: those found by pages while a recording is opened are those found by reading
 * all samples. test_hits [FILE...]: also in these recordings, with short epochs of the timeline too.
 */
#include "session/inside.h"

#include "../file/make.h"
#include "tap.h"

#include <stdlib.h>

#define BASE 0x10000u

static struct make m;

static void add_mapping(uint32_t tid, uint64_t start, uint64_t size, const char name[8])
{
	uint64_t word;

	memcpy(&word, name, 8);
	make_record(&m, RECORD_MMAP, MISC_USER, 48);
	make_u32s(&m, tid, tid);
	make_u64(&m, start);
	make_u64(&m, size);
	make_u64(&m, 0);
	make_u64(&m, word);
}

/* Mappings of a thread that change between its samples; times are positions in the file. */
static void make_changes(unsigned samples_between)
{
	make_begin(&m, 128, false);
	add_mapping(7, BASE, 0x1000, "/first\0");
	add_mapping(7, BASE + 0x1000, 0x1000, "/never\0");
	for (unsigned i = 0; i < samples_between; i++) {
		make_sample(&m, BASE + 8 + i, 7, 0);
	}
	add_mapping(7, BASE, 0x1000, "/second");
	make_sample(&m, BASE + 9, 7, 0);
	make_end(&m);
}

/* Two mappings share a page, and a sample is in each. */
static void make_halves(void)
{
	make_begin(&m, 128, false);
	add_mapping(7, BASE, 0x800, "/lower\0");
	add_mapping(7, BASE + 0x800, 0x800, "/upper\0");
	make_sample(&m, BASE + 0x900, 7, 0);
	make_sample(&m, BASE + 1, 7, 0);
	make_end(&m);
}

/* More pages than the collection keeps. */
static void make_many(void)
{
	make_begin(&m, 128, false);
	add_mapping(7, 0, UINT64_MAX / 2, "/large\0");
	for (uint64_t i = 0; i < 80000; i++) {
		make_sample(&m, i << 12, 7, 0);
	}
	make_end(&m);
}

/* Opens a recording, or the made one; fills in its objects, [*n]. */
static struct sonde_session *open_hits(
        const char *path, size_t epoch, bool pages, bool **hit, size_t *n)
{
	struct sonde_session_options o = {.size = sizeof(o)};
	struct sonde_session *s = sonde_session_new(&o);
	int rc;

	if (s == NULL) {
		abort();
	}
	s->epoch_records = epoch;
	if (pages) {
		session_want_hits(s);
	}
	rc = path != NULL ? sonde_session_open(s, path) : sonde_session_open_memory(s, m.p, m.n);
	if (rc < 0) {
		printf("# %s\n", sonde_session_error(s)->text);
		sonde_session_free(s);
		return NULL;
	}
	*n = timeline_objects(session_timeline(s));
	*hit = calloc(*n + 1, sizeof(**hit));
	if (*hit == NULL || session_hits(s, *hit) < 0) {
		abort();
	}
	return s;
}

/* Compares both ways; `used`: whether the pages must be enough, -1: any. */
static void compare(const char *path, size_t epoch, int used, const char *what)
{
	bool *by_page, *by_sample, none[1] = {false};
	size_t n = 0, samples_n = 0;
	struct sonde_session *a = open_hits(path, epoch, false, &by_sample, &samples_n);
	struct sonde_session *b = a != NULL ? open_hits(path, epoch, true, &by_page, &n) : NULL;

	if (a == NULL || b == NULL) {
		skip("it cannot be opened");
		sonde_session_free(a);
		return;
	}
	if (used >= 0) {
		bool *again = calloc(n + 1, sizeof(*again));

		ok(again != NULL && b->pages != NULL &&
		                hit_pages_find(b->pages, b->timeline,
		                        again != NULL ? again : none) == used,
		        used != 0 ? "pages are enough" : "pages are not enough");
		free(again);
	}
	ok(n == samples_n && memcmp(by_page, by_sample, n * sizeof(*by_page)) == 0, what);
	free(by_page);
	free(by_sample);
	sonde_session_free(a);
	sonde_session_free(b);
}

int main(int argc, char **argv)
{
	make_changes(3);
	compare(NULL, 0, 0, "the objects of a page whose mapping changes are found");
	make_changes(0);
	compare(NULL, 0, 1, "an object that was replaced before the first sample is not hit");
	make_halves();
	compare(NULL, 0, 0, "the objects of mappings that share a page are found");
	make_many();
	compare(NULL, 0, 0, "the objects of very many pages are found");
	for (int i = 1; i < argc; i++) {
		const char *slash = strrchr(argv[i], '/');
		char what[256];

		(void)snprintf(what, sizeof(what), "%s: pages and samples hit the same objects",
		        slash != NULL ? slash + 1 : argv[i]);
		compare(argv[i], 0, -1, what);
		compare(argv[i], 100, -1, what);
	}
	return tap_done();
}
