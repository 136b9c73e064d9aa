/* SPDX-License-Identifier: MIT */
/* The stored index of source lines: what was saved is loaded, anything else is refused. */
#include "symbol/line_index.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct line_index_key key = {.size = 1000, .id = {0xab, 0xcd, 0x01}, .id_size = 3};

/* 0x1000: a line of "inner" in "outer"; 0x1010: a gap; 0x1020: a line of no function. */
static void index_make(struct line_index *out)
{
	static const char texts[] = "\0inner\0outer\0a.h\0a.c";
	static const struct line_node nodes[] = {{0}, {.function = 7}, {1, 17, 90, 1}};
	static const struct line_row rows[] = {{2, 13, 12}, {0}, {0, 17, 5}};
	static const uint64_t starts[] = {0x1000, 0x1010, 0x1020};
	struct line_parts p;

	if (line_parts_new(&p, 5, 3, sizeof(texts)) < 0) {
		exit(1);
	}
	memcpy(p.texts, texts, sizeof(texts));
	memcpy(p.nodes, nodes, sizeof(nodes));
	memcpy(p.rows, rows, sizeof(rows));
	memcpy(p.starts, starts, sizeof(starts));
	line_parts_fit(&p, 3);
	line_index_seal(&p, &key, out);
}

static bool frame_is(
        const struct lines_frame *f, const char *function, const char *file, uint32_t line)
{
	return f->function != NULL && strcmp(f->function, function) == 0 &&
	       strcmp(f->file, file) == 0 && f->line == line;
}

static void test_find(const struct line_index *x)
{
	static struct lines_place p;

	ok(!line_index_find(x, 0xfff, &p), "an address below the first row has no line");
	ok(line_index_find(x, 0x1000, &p) && p.n == 2 && p.found == LINES_LINE,
	        "an address with an inlined function has two frames");
	ok(frame_is(&p.frames[0], "inner", "a.h", 12), "the inlined function is first");
	ok(frame_is(&p.frames[1], "outer", "a.c", 90), "the function around it is at the call");
	ok(line_index_find(x, 0x100f, &p) && p.n == 2, "a row reaches to the next one");
	ok(!line_index_find(x, 0x1010, &p), "a gap has no line");
	ok(line_index_find(x, UINT64_MAX, &p) && p.n == 1 && p.frames[0].function == NULL &&
	                p.frames[0].line == 5,
	        "a line of an unknown function is found");
}

static struct span bytes_of(const struct line_index *x)
{
	uint64_t size;

	memcpy(&size, (const char *)x->memory + 16, sizeof(size));
	return (struct span){x->memory, (size_t)size};
}

static void test_bytes(const struct line_index *x)
{
	struct span s = bytes_of(x);
	struct line_index_key other = key;
	struct line_index back;
	uint8_t *copy = malloc(s.n); /* aligned, and of the exact size */
	size_t taken = 0;

	if (copy == NULL) {
		exit(1);
	}
	memcpy(copy, s.p, s.n);
	s.p = copy;
	eq_u64(line_index_read(s, &key, &back), 0, "the bytes of an index are an index");
	test_find(&back);
	other.size++;
	ok(line_index_read(s, &other, &back) == SONDE_EFORMAT,
	        "the index of a file with another size is refused");
	for (size_t i = 0; i < s.n * 8; i++) {
		copy[i / 8] ^= (uint8_t)(1u << i % 8);
		taken += line_index_read(s, &key, &back) != SONDE_EFORMAT;
		copy[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	for (; s.n > 0; s.n--) {
		taken +=
		        line_index_read((struct span){copy, s.n - 1}, &key, &back) != SONDE_EFORMAT;
	}
	eq_u64(taken, 0, "an index with any bit changed, or cut anywhere, is refused");
	free(copy);
}

static bool loads(const char *folder)
{
	struct line_index x;
	static struct lines_place p;
	bool found = line_index_load(folder, &key, &x) && line_index_find(&x, 0x1000, &p);

	line_index_close(&x);
	return found;
}

static void damage(const char *path)
{
	FILE *f = fopen(path, "r+");

	ok(f != NULL && fseek(f, 130, SEEK_SET) == 0 && fputc('x', f) == 'x' && fclose(f) == 0,
	        "the stored file is damaged");
}

/* Children write it again and again while this process reads it. */
static void test_at_once(const struct line_index *x, const char *folder)
{
	size_t good = 0;
	pid_t pids[2];

	for (size_t i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			for (size_t k = 0; k < 300; k++) {
				line_index_save(folder, &key, x);
			}
			_exit(0);
		}
	}
	for (size_t i = 0; i < 300; i++) {
		good += loads(folder);
	}
	(void)waitpid(pids[0], NULL, 0);
	(void)waitpid(pids[1], NULL, 0);
	eq_u64(good, 300, "two processes write an index at once, and a reader always finds one");
}

static void test_files(const struct line_index *x, const char *scratch)
{
	char folder[128], path[256];

	(void)snprintf(folder, sizeof(folder), "%s/a", scratch);
	(void)snprintf(path, sizeof(path), "%s/lines-abcd01", folder);
	ok(!loads(folder), "without a folder no index is loaded");
	line_index_save(folder, &key, x);
	ok(loads(folder), "a saved index is loaded");
	damage(path);
	ok(!loads(folder), "a damaged index is not loaded");
	line_index_save(folder, &key, x);
	ok(loads(folder), "a new index replaces a damaged one");
	test_at_once(x, folder);
	ok(unlink(path) == 0 && rmdir(folder) == 0, "no other file is left in the folder");
	(void)rmdir(scratch);
}

int main(void)
{
	char scratch[] = "/tmp/sonde-lines-XXXXXX";
	struct line_index x;

	index_make(&x);
	test_find(&x);
	test_bytes(&x);
	if (mkdtemp(scratch) != NULL) {
		test_files(&x, scratch);
	}
	line_index_close(&x);
	return tap_done();
}
