/* SPDX-License-Identifier: MIT */
/*
 * Configuration files: keys and values are bounded, and a text in which a variable is set has that
 * value, and all other variables as before.
 */
#include "cmd/config_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST 512

/* Counts variables but x.y, and hashes them; *value: the last one of x.y, NULL without. */
static size_t read_all(const char *text, size_t n, uint64_t *hash, char value[CONFIG_WORD_MAX])
{
	struct config_parser c;
	size_t count = 0;
	int rc;

	*hash = 0;
	config_parse_begin(&c, text, n);
	while ((rc = config_parse_next(&c)) > 0) {
		if (strcasecmp(c.variable.key, "x.y") == 0) {
			memcpy(value, c.variable.value, CONFIG_WORD_MAX);
			continue;
		}
		count++;
		for (const char *p = c.variable.key; *p != '\0'; p++) {
			*hash = *hash * 31 + (uint8_t)*p;
		}
		for (const char *p = c.variable.value; *p != '\0'; p++) {
			*hash = *hash * 37 + (uint8_t)*p;
		}
	}
	return rc < 0 ? SIZE_MAX : count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char set[MOST], old[CONFIG_WORD_MAX] = "", new[CONFIG_WORD_MAX] = "";
	const char *text = (const char *)data;
	size_t n = size < MOST ? size : MOST - 1;
	uint64_t before, after;
	char *changed;

	memcpy(set, data, n);
	set[n] = '\0';
	if (read_all(text, size, &before, old) == SIZE_MAX) {
		return 0;
	}
	changed = config_text_set(text, size, "x.y", set);
	if (changed == NULL) {
		abort();
	}
	if (read_all(changed, strlen(changed), &after, new) == SIZE_MAX || after != before ||
	        strcmp(new, set) != 0) {
		if (memchr(data, '\0', size) == NULL) {
			abort();
		}
	}
	free(changed);
	return 0;
}
