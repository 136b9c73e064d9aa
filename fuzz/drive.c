/* SPDX-License-Identifier: MIT */
/*
 * Replays a folder of inputs through a fuzz target in an ordinary build, as TAP: a line for each
 * input. The empty input and a few fixed ones are always run, so that a target without a corpus is
 * run too.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (16u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads at most INPUT_MAX bytes; NULL: the file cannot be read. */
static uint8_t *read_input(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;

	if (f == NULL) {
		return NULL;
	}
	data = malloc(INPUT_MAX);
	*size = data != NULL ? fread(data, 1, INPUT_MAX, f) : 0;
	(void)fclose(f);
	return data;
}

static void try_fixed(void)
{
	uint8_t bytes[512] = {0};
	uint32_t x = 1;

	(void)LLVMFuzzerTestOneInput(bytes, 0);
	(void)LLVMFuzzerTestOneInput(bytes, sizeof(bytes));
	memset(bytes, 0xff, sizeof(bytes));
	(void)LLVMFuzzerTestOneInput(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(x >> 24);
	}
	for (size_t n = 1; n <= sizeof(bytes); n *= 2) {
		(void)LLVMFuzzerTestOneInput(bytes, n);
	}
}

/*
 * A sanitizer or a signal ends the program inside the target; an input passes if the target
 * returns.
 */
static int replay(const char *folder, int count)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	char path[4096];

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		size_t size = 0;
		uint8_t *data;

		if (entry->d_name[0] == '.') {
			continue;
		}
		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		data = read_input(path, &size);
		if (data == NULL) {
			continue;
		}
		(void)LLVMFuzzerTestOneInput(data, size);
		free(data);
		printf("ok %d - %s\n", ++count, entry->d_name);
	}
	if (dir != NULL) {
		(void)closedir(dir);
	}
	return count;
}

int main(int argc, char **argv)
{
	int count = 0;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	try_fixed();
	printf("ok %d - fixed inputs\n", ++count);
	for (int i = 1; i < argc; i++) {
		count = replay(argv[i], count);
	}
	printf("1..%d\n", count);
	return 0;
}
