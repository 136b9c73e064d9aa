/* SPDX-License-Identifier: MIT */
/* The cache of kernel symbols: a saved table is loaded, any other is refused. */
#include "symbol/cache.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
                               "ffffffff81001000 t local_one\n"
                               "not a line\n"
                               "ffffffff81005000 W weak\n";

static struct symbol_table *table_make(void)
{
	struct span text = {.p = (const uint8_t *)kallsyms, .n = sizeof(kallsyms) - 1};
	struct symbol_table *t = NULL;
	struct error err = {0};

	(void)symbol_table_from_kallsyms(text, NULL, &t, &err);
	return t;
}

static bool same_table(const struct symbol_table *a, const struct symbol_table *b)
{
	if (b == NULL || symbol_table_count(a) != symbol_table_count(b) ||
	        symbol_table_skipped(a) != symbol_table_skipped(b)) {
		return false;
	}
	for (size_t i = 0; i < symbol_table_count(a); i++) {
		const struct symbol *x = symbol_table_at(a, i);
		const struct symbol *y = symbol_table_at(b, i);

		if (x->start != y->start || x->end != y->end || x->binding != y->binding ||
		        x->type != y->type || symbol_table_find(b, x->start) != y ||
		        strcmp(symbol_name(a, x), symbol_name(b, y)) != 0) {
			return false;
		}
	}
	return true;
}

static void test_bytes(const struct symbol_table *t)
{
	struct symbol_cache_key key = {.head = 1, .id = {1, 2, 3}, .id_size = 3};
	struct symbol_cache_key other = key;
	struct symbol_table *back = NULL;
	struct text bytes = {0};
	size_t taken = 0;
	struct span s;

	eq_u64(symbol_cache_encode(t, &key, &bytes), SONDE_OK, "a table is encoded");
	s = (struct span){(const uint8_t *)bytes.p, bytes.n};
	eq_u64(symbol_cache_decode(s, &key, &back), SONDE_OK, "an encoded table is decoded");
	ok(same_table(t, back), "the decoded table equals the original");
	symbol_table_free(back);
	other.boot[0] = 'x';
	ok(symbol_cache_decode(s, &other, &back) == SONDE_EFORMAT,
	        "a table of another boot is refused");
	for (size_t i = 0; i < bytes.n; i++) {
		bytes.p[i] ^= 1;
		taken += symbol_cache_decode(s, &key, &back) != SONDE_EFORMAT;
		bytes.p[i] ^= 1;
	}
	for (s.n = 0; s.n < bytes.n; s.n++) {
		taken += symbol_cache_decode(s, &key, &back) != SONDE_EFORMAT;
	}
	eq_u64(taken, 0, "a table with any bit changed, or cut anywhere, is refused");
	text_fini(&bytes);
}

static bool loads(const char *folder, const struct symbol_cache_key *key)
{
	struct symbol_table *t = symbol_cache_load(folder, key);

	symbol_table_free(t);
	return t != NULL;
}

static void test_files(const struct symbol_table *t, const char *scratch)
{
	struct symbol_cache_key key = {.head = 2};
	char folder[256];
	char file[300];
	char aside[300];
	struct stat st = {0};

	(void)snprintf(folder, sizeof(folder), "%s/a/b", scratch);
	(void)snprintf(file, sizeof(file), "%s/kernel-symbols", folder);
	(void)snprintf(aside, sizeof(aside), "%s/aside", scratch);
	ok(!loads(folder, &key), "without a folder nothing is loaded");
	symbol_cache_save(folder, &key, t);
	ok(loads(folder, &key), "a saved table is loaded");
	ok(stat(file, &st) == 0 && (st.st_mode & 0777) == 0600, "only its owner may read the file");
	key.head = 3;
	ok(!loads(folder, &key), "a table under another key is not loaded");
	symbol_cache_save(folder, &key, t);
	ok(loads(folder, &key), "a new table replaces the old one");
	ok(chmod(file, 0622) == 0 && !loads(folder, &key),
	        "a file that others may write is not used");
	ok(chmod(file, 0600) == 0 && loads(folder, &key),
	        "a file that only its owner may write is used");
	ok(rename(file, aside) == 0 && symlink(aside, file) == 0 && !loads(folder, &key),
	        "a symbolic link is not used");
	ok(unlink(file) == 0 && chmod(folder, 0777) == 0, "a folder is made writable for others");
	symbol_cache_save(folder, &key, t);
	ok(access(file, F_OK) != 0, "nothing is written to a folder that others may write");
	symbol_cache_save("/proc/no/such", &key, t);
	symbol_cache_save("", &key, t);
	ok(true, "a folder that cannot be created is no error");
	(void)unlink(aside);
	(void)rmdir(folder);
	(void)snprintf(folder, sizeof(folder), "%s/a", scratch);
	(void)rmdir(folder);
	ok(rmdir(scratch) == 0, "the folder holds no other file");
}

int main(void)
{
	char scratch[] = "/tmp/sonde-cache-XXXXXX";
	struct symbol_table *t = table_make();

	test_bytes(t);
	if (mkdtemp(scratch) != NULL) {
		test_files(t, scratch);
	}
	symbol_table_free(t);
	return tap_done();
}
