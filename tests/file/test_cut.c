/* SPDX-License-Identifier: MIT */
/*
 * Every file of a folder, cut at every byte: if it can be opened it has the first records of the
 * whole file, and no others. test_cut FOLDER
 */
#include "file/file.h"
#include "tap.h"

#include <dirent.h>
#include <stdlib.h>

#define FILE_MAX ((size_t)8 << 10) /* bytes; larger files take too long */
#define MANY     4096

struct list {
	size_t n;
	struct {
		uint32_t type;
		size_t size;
		uint64_t first; /* bytes of the body */
	} items[MANY];
};

static struct list whole, part;

/* Reads the records of n bytes; false: they cannot be opened. */
static bool list_records(const uint8_t *p, size_t n, struct list *list)
{
	struct diag_sink diags = {0};
	struct file f = {.diags = &diags};
	struct record r;
	uint64_t position;
	bool good = file_open_bytes(&f, (struct span){p, n}, "cut") >= 0 && file_inflate(&f) >= 0;

	list->n = 0;
	position = good ? file_begin(&f) : 0;
	while (good && list->n < MANY && file_next(&f, &position, &r, &diags) > 0) {
		if (r.type == RECORD_COMPRESSED || r.type == RECORD_COMPRESSED2) {
			continue; /* the beginning of a truncated one is still opened */
		}
		list->items[list->n].type = r.type;
		list->items[list->n].size = r.body.n;
		list->items[list->n].first = r.body.n >= 8 ? load_u64(r.body.p, false) : 0;
		list->n++;
	}
	file_close(&f);
	return good;
}

/*
 * Whether all records of the part are in the whole, in this order. If blocks of a compressed record
 * are stored uncompressed, records after a cut are found too, except one across it.
 */
static bool is_part(void)
{
	size_t at = 0;

	for (size_t i = 0; i < part.n; i++, at++) {
		while (at < whole.n && (part.items[i].type != whole.items[at].type ||
		                               part.items[i].size != whole.items[at].size ||
		                               part.items[i].first != whole.items[at].first)) {
			at++;
		}
		if (at == whole.n) {
			return false;
		}
	}
	return true;
}

static void try_file(const char *name, const uint8_t *p, size_t n)
{
	size_t bad = 0;
	size_t most = 0;
	bool opened = list_records(p, n, &whole);

	for (size_t cut = 0; cut < n && opened; cut++) {
		uint8_t *copy = malloc(cut + 1); /* so that a read past the end is detected */

		if (copy == NULL) {
			abort();
		}
		memcpy(copy, p, cut);
		if (list_records(copy, cut, &part) && !is_part()) {
			bad++;
			printf("# %s: cut to %zu bytes\n", name, cut);
		}
		most = part.n > most ? part.n : most;
		free(copy);
	}
	if (!ok(bad == 0 && most <= whole.n && (whole.n < 2 || most > 0), name)) {
		printf("#   %zu cuts give other records\n", bad);
	}
}

int main(int argc, char **argv)
{
	DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
	const struct dirent *entry;
	static uint8_t bytes[FILE_MAX];
	char path[4096];

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		FILE *f;
		size_t n;

		if (entry->d_name[0] == '.') {
			continue;
		}
		(void)snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		f = fopen(path, "rb");
		n = f != NULL ? fread(bytes, 1, sizeof(bytes), f) : 0;
		if (f != NULL) {
			(void)fclose(f);
		}
		if (n != 0 && n < sizeof(bytes)) {
			try_file(entry->d_name, bytes, n);
		}
	}
	if (dir != NULL) {
		(void)closedir(dir);
	}
	return tap_done();
}
