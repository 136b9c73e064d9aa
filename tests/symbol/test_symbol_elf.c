/* SPDX-License-Identifier: MIT */
/* ELF symbols of this very program, alias choice, build ids, the vdso. */
#include "image/image.h"
#include "symbol/symbol.h"

#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

void sonde_test_target(void);
void sonde_test_alias(void);

__attribute__((noinline)) void sonde_test_target(void)
{
	__asm__ volatile("");
}

/* The global name is preferred to the weak one. */
void sonde_test_alias(void) __attribute__((weak, alias("sonde_test_target")));

static void test_self(const struct image_file *f)
{
	struct symbol_request req = {.kind = SYMBOL_ELF, .path = "/proc/self/exe"};
	struct symbol_table *t;
	struct symbol_table *again;
	struct error err = {0};
	const struct symbol *s = NULL;

	eq_u64(symbol_table_load(&req, &t, &err), 0, "the test's own file is loaded");
	for (size_t i = 0; i < symbol_table_count(t); i++) {
		if (strcmp(symbol_name(t, symbol_table_at(t, i)), "sonde_test_target") == 0) {
			s = symbol_table_at(t, i);
		}
		if (strcmp(symbol_name(t, symbol_table_at(t, i)), "sonde_test_alias") == 0) {
			ok(false, "the strong alias is preferred to the weak one");
		}
	}
	ok(s != NULL && symbol_table_find(t, s->end - 1) == s,
	        "a function is found by its addresses");
	eq_u64(symbol_table_from_elf(f->bytes, (struct span){0}, false, &again, &err), 0,
	        "a table is loaded from bytes");
	eq_u64(symbol_table_count(again), symbol_table_count(t),
	        "the table from bytes has as many symbols");
	symbol_table_free(again);
	symbol_table_free(t);
	req.path = "/nonexistent/file";
	eq_u64(symbol_table_load(&req, &t, &err), 0, "loading a missing file succeeds");
	eq_u64(symbol_table_count(t), 0, "a missing file has no symbols");
	symbol_table_free(t);
}

static void test_other_build_id(void)
{
	static const uint8_t other[20] = {1, 2, 3};
	struct symbol_request req = {.kind = SYMBOL_ELF,
	        .path = "/proc/self/exe",
	        .build_id = other,
	        .build_id_size = 20};
	struct symbol_table *t;
	struct error err = {0};

	eq_u64(symbol_table_load(&req, &t, &err), 0,
	        "loading a file with another build id succeeds");
	eq_u64(symbol_table_count(t), 0, "symbols of a file with another build id are not used");
	symbol_table_free(t);
}

static void test_cut(const struct image_file *f)
{
	bool good = true;

	for (size_t n = 0; n < f->bytes.n; n += 997) {
		struct symbol_table *t = NULL;
		struct error err = {0};
		uint8_t *part = malloc(n + 1);

		if (part == NULL) {
			break;
		}
		memcpy(part, f->bytes.p, n);
		if (symbol_table_from_elf((struct span){.p = part, .n = n}, (struct span){0}, true,
		            &t, &err) < 0) {
			good = good && error_status(&err) == SONDE_EFORMAT;
		}
		symbol_table_free(t);
		free(part);
	}
	ok(good, "of a file cut anywhere the remaining symbols are loaded");
}

static void test_ids(void)
{
	static const uint8_t note[] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0x4a,
	        0x5a, 0x9b, 0x0a, 0xff, 0xb6, 0x6c, 0x43, 0x7a, 0xbc, 0xd4, 0x55, 0xd2, 0x73, 0x8a,
	        0xf8, 0x79, 0x98, 0x5f, 0xa9};
	struct image_build_id id = {0};
	uint8_t bytes[IMAGE_BUILD_ID_MAX];
	struct span all = {.p = note, .n = sizeof(note)};

	ok(image_build_id_of_notes(all, HOST_BIG_ENDIAN, &id), "a build-id note is found");
	eq_u64(id.size, 20, "the build id has 20 bytes");
	eq_mem(id.bytes, note + 16, 20, "the build id has its bytes");
	all.n--;
	ok(!image_build_id_of_notes(all, HOST_BIG_ENDIAN, &id), "a cut note has no build id");
	eq_u64(image_build_id_of_file("/nonexistent", bytes), 0, "a missing file has no build id");
	if (image_vdso().n == 0) {
		skip("no vdso here");
		return;
	}
	ok(image_build_id_of_vdso(bytes) > 0, "the vdso has a build id");
}

static void test_vdso(void)
{
	struct symbol_request req = {.kind = SYMBOL_VDSO, .path = "[vdso]"};
	struct symbol_table *t;
	struct error err = {0};

	if (image_vdso().n == 0) {
		skip("no vdso here");
		return;
	}
	eq_u64(symbol_table_load(&req, &t, &err), 0, "the vdso is loaded");
	ok(symbol_table_count(t) > 0, "the vdso has symbols");
	symbol_table_free(t);
}

/* Parts of a mapped file that are kept can be read after the file was cut. */
static void test_keep(void)
{
	enum { SIZE = 300 * 1024 + 5, LEFT = 200 * 1024 };
	char name[] = "/tmp/sonde-keep-XXXXXX";
	int fd = mkstemp(name);
	uint8_t *bytes = malloc(SIZE);
	struct image_file f = {0};
	struct error err = {0};
	struct span none = {0};

	ok(fd >= 0 && bytes != NULL, "there is room for a file");
	if (fd < 0 || bytes == NULL) {
		free(bytes);
		return;
	}
	for (size_t i = 0; i < SIZE; i++) {
		bytes[i] = (uint8_t)(i % 251 + 1);
	}
	eq_u64((uint64_t)write(fd, bytes, SIZE), SIZE, "a file is written");
	eq_u64(image_file_open(&f, name, &err), 0, "it is mapped");
	image_file_keep(&f, (struct span){f.bytes.p + 1000, 10});
	image_file_keep(&f, none);
	image_file_keep(&f, (struct span){bytes, 10}); /* of other memory */
	eq_u64((uint64_t)ftruncate(fd, LEFT), 0, "the file is cut");
	image_file_keep(&f, (struct span){f.bytes.p + LEFT - 1, SIZE - LEFT + 1});
	ok(memcmp(f.bytes.p, bytes, LEFT) == 0, "what was kept, or is left, stays");
	ok(f.bytes.p[SIZE - 1] == 0 && f.bytes.p[SIZE - 50000] == 0, "what was cut before is zero");
	eq_u64((uint64_t)ftruncate(fd, 0), 0, "the file is cut to nothing");
	ok(memcmp(f.bytes.p, bytes, LEFT) == 0, "all stays then");
	image_file_keep(&f, f.bytes);
	image_file_close(&f);
	ok(f.map == NULL && f.kept == NULL, "and is closed");
	(void)close(fd);
	(void)unlink(name);
	free(bytes);
}

int main(void)
{
	struct image_file f;
	struct error err = {0};

	eq_u64(image_file_open(&f, "/proc/self/exe", &err), 0, "the test's own file is mapped");
	test_self(&f);
	test_other_build_id();
	test_cut(&f);
	test_ids();
	test_vdso();
	test_keep();
	image_file_close(&f);
	return tap_done();
}
