/* SPDX-License-Identifier: MIT */
/*
 * Copies of kernels in the cache of build ids, which `perf buildid-cache -k` makes:
 *
 *	[kernel.kcore]/ID/YYYYMMDDhhmmsscc/     kcore, kallsyms, modules
 *
 * A kernel has a copy for each address that it was loaded at, and for other addresses of its modules.
 */
#include "symbol/kernel_copy.h"

#include "symbol/builder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define HEAD 65536u /* bytes of kallsyms that have the reference symbol */

/* Whether the kernel was loaded at the recorded address. */
static bool has_base(const char *kallsyms, const struct symbol_kernel *k)
{
	uint8_t *head = malloc(HEAD);
	struct span text = {.p = head};
	uint64_t address = 0;

	if (head == NULL) {
		return false;
	}
	text.n = image_head_read(kallsyms, head, HEAD);
	if (text.n != 0 && k->reference == NULL) {
		address = k->base;
	} else if (text.n != 0) {
		(void)kallsyms_find(text, k->reference, &address);
	}
	free(head);
	return text.n != 0 && address == k->base;
}

/* '-' in the name of a file is '_' in that of the module. */
static bool same_module(const char *a, const char *b) /* b is in brackets */
{
	b += *b == '[';
	while (*a != '\0' && (*a == '-' ? '_' : *a) == (*b == '-' ? '_' : *b)) {
		a++;
		b++;
	}
	return *a == '\0' && (*b == '\0' || *b == ']');
}

/* Whether the text of /proc/modules has a module at an address. */
static bool has_module(const char *text, const struct symbol_module *m)
{
	for (const char *line = text; line != NULL && *line != '\0';
	        line = strchr(line, '\n'), line += line != NULL) {
		unsigned long long at;
		char name[64];

		if (sscanf(line, "%63[^ \n] %*[^ \n] %*[^ \n] %*[^ \n] %*[^ \n] %llx", name, &at) ==
		                2 &&
		        at == m->start && same_module(name, m->name)) {
			return true;
		}
	}
	return false;
}

static bool has_modules(const char *path, const struct symbol_kernel *k)
{
	struct image_text file = {0};
	struct error err = {0};
	bool all = k->nmodules == 0;
	char *text;

	if (all || image_text_read(&file, path, &err) < 0) {
		return all;
	}
	text = malloc(file.size + 1);
	if (text != NULL) {
		memcpy(text, file.bytes, file.size);
		text[file.size] = '\0';
		all = true;
		for (size_t i = 0; i < k->nmodules && all; i++) {
			all = has_module(text, &k->modules[i]);
		}
	}
	free(text);
	free(file.bytes);
	return all;
}

/* 2: the copy has the kernel and its modules where they were; 1: only the kernel; 0: another one. */
static int fit(const char *folder, const char *name, const struct symbol_kernel *k,
        char kallsyms[IMAGE_PATH_MAX])
{
	char modules[IMAGE_PATH_MAX];
	int n = snprintf(kallsyms, IMAGE_PATH_MAX, "%s/%s/kallsyms", folder, name);
	int m = snprintf(modules, IMAGE_PATH_MAX, "%s/%s/modules", folder, name);

	if (n <= 0 || n >= IMAGE_PATH_MAX || m <= 0 || !has_base(kallsyms, k)) {
		return 0;
	}
	return has_modules(modules, k) ? 2 : 1;
}

/* The symbols of the running kernel have all modules that are loaded. */
static bool is_running(const struct symbol_kernel *k)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];
	int n = image_build_id_of_kernel(id);

	return n > 0 && (size_t)n >= k->id.size && memcmp(id, k->id.bytes, k->id.size) == 0;
}

int symbol_kernel_copy(const struct symbol_kernel *k, char out[IMAGE_PATH_MAX])
{
	char folder[IMAGE_PATH_MAX], id[2 * IMAGE_BUILD_ID_MAX + 1], best[256] = "",
	                                                             path[IMAGE_PATH_MAX];
	const struct dirent *entry;
	int fits = 0, n;
	DIR *dir;

	for (size_t i = 0; i < k->id.size; i++) {
		(void)snprintf(id + 2 * i, 3, "%02x", k->id.bytes[i]);
	}
	n = k->id.size != 0
	            ? snprintf(folder, sizeof(folder), "%s/[kernel.kcore]/%s", k->build_ids, id)
	            : 0;
	dir = n > 0 && (size_t)n < sizeof(folder) ? opendir(folder) : NULL;
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		int one = entry->d_name[0] != '.' ? fit(folder, entry->d_name, k, path) : 0;

		/* the latest one, as names are times */
		if (one > fits || (one == fits && one != 0 && strcmp(entry->d_name, best) > 0)) {
			fits = one;
			(void)snprintf(best, sizeof(best), "%s", entry->d_name);
			memcpy(out, path, sizeof(path));
		}
	}
	if (dir != NULL) {
		(void)closedir(dir);
	}
	return fits == 1 && is_running(k) ? 0 : fits;
}
