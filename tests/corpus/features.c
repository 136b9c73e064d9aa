/* SPDX-License-Identifier: MIT */
/*
 * Decodes and encodes every attr and header feature of every file that $SONDE_CORPUS/INDEX.tsv
 * names: the bytes must be the same, also after a conversion to the other byte order and back, and
 * decoding as a struct must leave the same bytes as decoding field by field.
 */
#include "file/feature.h"
#include "record/layout.h"

#include "tap.h"

#include <stdlib.h>

static struct arena arena;
static union {
	uint64_t align;
	char bytes[1024];
} value, other;

static bool same(const struct text *t, struct span s)
{
	return !t->failed && t->n == s.n && (s.n == 0 || memcmp(t->p, s.p, s.n) == 0);
}

/* Number of bytes after the last field of the layout; SIZE_MAX: the payload does not fit it. */
static size_t layout_tail(const struct feature_source *source, unsigned bit)
{
	const struct layout *layout = layout_of_feature(bit);
	struct layout_walk w;
	struct layout_value v;
	size_t rest = 0;
	enum layout_event event;

	if (layout == NULL) {
		return SIZE_MAX;
	}
	layout_walk_init(&w, layout, source->bytes, source->swap, NULL, 0);
	w.slots[SLOT_CPUS] = source->ncpus;
	while ((event = layout_next(&w, &v)) != LAYOUT_END) {
		rest = event == LAYOUT_REST ? v.bytes.n : rest;
	}
	return w.bad ? SIZE_MAX : rest;
}

/* Whether decoding and encoding keeps the payload; *known counts decoded payloads. */
static bool survives(const struct feature_source *source, unsigned bit, unsigned *known)
{
	struct feature_source turned = *source;
	struct text same_order = {0};
	struct text turned_order = {0};
	struct text back = {0};
	struct span tail;
	size_t size = feature_size(bit);
	bool good;

	if (feature_decode(source, bit, &arena, value.bytes, size, &tail) != 1) {
		return tail.n == source->bytes.n; /* kept as bytes */
	}
	++*known;
	(void)feature_encode(&same_order, bit, value.bytes, tail, source->swap);
	(void)feature_encode(&turned_order, bit, value.bytes, tail, !source->swap);
	turned.swap = !source->swap;
	turned.bytes = (struct span){(const uint8_t *)turned_order.p, turned_order.n};
	good = feature_decode(&turned, bit, &arena, other.bytes, size, &tail) == 1;
	(void)feature_encode(&back, bit, other.bytes, tail, source->swap);
	good = good && same(&same_order, source->bytes) && same(&back, source->bytes);
	if (layout_tail(source, bit) != tail.n) {
		printf("# feature %u: %zu bytes are left, the layout leaves %zu\n", bit, tail.n,
		        layout_tail(source, bit));
		good = false;
	}
	text_fini(&same_order);
	text_fini(&turned_order);
	text_fini(&back);
	return good;
}

static bool attr_survives(struct span bytes, bool swap)
{
	struct span tail = record_attr_tail(bytes);
	size_t n = bytes.n - tail.n;
	struct sonde_attr attr, again;
	uint8_t turned[ATTR_SIZE_NOW], back[ATTR_SIZE_NOW];

	memset(&attr, 0, sizeof(attr));
	memset(&again, 0, sizeof(again));
	if (!record_attr_decode(bytes, swap, &attr)) {
		return true;
	}
	record_attr_encode_as(&attr, !swap, turned);
	(void)record_attr_decode((struct span){turned, n}, !swap, &again);
	record_attr_encode_as(&again, swap, back);
	return memcmp(back, bytes.p, n) == 0;
}

static void test_file(const char *path, const char *name)
{
	struct diag_sink diags = {0};
	struct file f = {.diags = &diags};
	struct feature_cpus cpus = {0};
	unsigned known = 0;
	bool good = true;

	if (file_open(&f, path) < 0) {
		printf("# %s\n", f.error.text);
		skip("this file cannot be opened");
		file_close(&f);
		return;
	}
	(void)FEATURE_READ(&f, FEATURE_NRCPUS, &arena, &cpus);
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		struct feature_source source = {.bytes = file_feature(&f, (enum abi_feature)bit),
		        .swap = f.swap,
		        .ncpus = cpus.available};

		if (file_has_feature(&f, (enum abi_feature)bit) &&
		        !survives(&source, bit, &known)) {
			printf("# feature %u (%s)\n", bit,
			        feature_name(bit) != NULL ? feature_name(bit) : "unknown");
			good = false;
		}
	}
	for (size_t i = 0; i < f.nevents; i++) {
		if (!attr_survives(f.events[i].bytes, f.swap)) {
			printf("# attr %zu\n", i);
			good = false;
		}
	}
	printf("# %zu attrs, %u features\n", f.nevents, known);
	ok(good, name);
	file_close(&f);
	arena_fini(&arena);
}

int main(void)
{
	const char *corpus = getenv("SONDE_CORPUS");
	char line[4096], path[sizeof(line) * 2];
	FILE *index;

	(void)snprintf(path, sizeof(path), "%s/INDEX.tsv", corpus != NULL ? corpus : "");
	index = corpus != NULL ? fopen(path, "r") : NULL;
	if (index == NULL) {
		printf("1..0 # SKIP SONDE_CORPUS does not name a folder with INDEX.tsv\n");
		return 0;
	}
	while (fgets(line, sizeof(line), index) != NULL) {
		line[strcspn(line, "\t\n")] = '\0';
		if (strcmp(line, "path") != 0 && line[0] != '\0') {
			(void)snprintf(path, sizeof(path), "%s/%s", corpus, line);
			test_file(path, line);
		}
	}
	(void)fclose(index);
	return tap_done();
}
