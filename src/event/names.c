/* SPDX-License-Identifier: MIT */
/* Finds the names of record/event_name.h, and of tool events, in event strings. */
#include "event/parts.h"

#include <stdio.h>
#include <string.h>

static const char *const tools[EVENT_TOOLS] = {
        [EVENT_TOOL_DURATION] = "duration_time",
        [EVENT_TOOL_USER] = "user_time",
        [EVENT_TOOL_SYSTEM] = "system_time",
};

const char *event_tool_name(enum event_tool tool)
{
	return tools[tool];
}

enum event_tool event_tool_find(struct word w)
{
	for (enum event_tool i = EVENT_TOOL_NONE + 1; i < EVENT_TOOLS; i++) {
		if (word_is(w, tools[i])) {
			return i;
		}
	}
	return EVENT_TOOL_NONE;
}

enum event_tool event_tool_named(const char *name)
{
	return event_tool_find((struct word){name, strcspn(name, ":")});
}

const struct record_event_name *event_name_find(struct word w)
{
	size_t n;
	const struct record_event_name *names = record_event_names(&n);

	for (size_t i = 0; i < n; i++) {
		if (word_is(w, names[i].name)) {
			return &names[i];
		}
	}
	return NULL;
}

/*
 * Index of the part whose longest name is a prefix of w up to "-" or the end; -1: none. *used: its
 * length.
 */
static int begins(struct word w, const struct record_cache_word *parts, size_t n, size_t *used)
{
	int found = -1;
	size_t i, k, len;

	*used = 0;
	for (i = 0; i < n; i++) {
		for (k = 0; k < sizeof(parts->names) / sizeof(parts->names[0]) &&
		            parts[i].names[k] != NULL;
		        k++) {
			len = strlen(parts[i].names[k]);
			if (len > *used && len <= w.n && memcmp(w.p, parts[i].names[k], len) == 0 &&
			        (len == w.n || w.p[len] == '-')) {
				found = (int)i;
				*used = len;
			}
		}
	}
	return found;
}

bool event_cache_parse(struct word w, uint64_t *config)
{
	size_t used;
	int cache = begins(w, record_caches, RECORD_CACHES, &used);
	int op = -1;
	int result = -1;
	int words;
	int which;

	for (words = 0; cache >= 0 && words < 2 && used < w.n; words++) {
		w.p += used + 1;
		w.n -= used + 1;
		which = begins(w, record_cache_operations, RECORD_CACHE_OPERATIONS, &used);
		if (which >= 0) {
			op = op < 0 ? which : op;
			continue;
		}
		which = begins(w, record_cache_results, RECORD_CACHE_RESULTS, &used);
		result = result < 0 ? which : result;
		if (which < 0) {
			return false;
		}
	}
	op = op < 0 ? 0 : op;
	result = result < 0 ? 0 : result;
	if (cache < 0 || used != w.n || !record_cache_allowed((unsigned)cache, (unsigned)op)) {
		return false;
	}
	*config = (uint64_t)cache | (uint64_t)op << 8 | (uint64_t)result << 16;
	return true;
}

bool event_cache_name(size_t i, char out[32], uint64_t *config)
{
	for (unsigned cache = 0; cache < RECORD_CACHES; cache++) {
		for (unsigned op = 0; op < RECORD_CACHE_OPERATIONS; op++) {
			if (!record_cache_allowed(cache, op)) {
				continue;
			}
			for (unsigned result = 0; result < RECORD_CACHE_RESULTS; result++) {
				if (i-- == 0) {
					(void)snprintf(out, 32, "%s-%s",
					        record_caches[cache].names[0],
					        record_cache_usual(op, result));
					*config = cache | op << 8 | result << 16;
					return true;
				}
			}
		}
	}
	return false;
}

bool event_raw_parse(struct word w, uint64_t *config)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	size_t i;
	uint64_t v = 0;

	if (w.n < 2 || w.n > 17 || w.p[0] != 'r') {
		return false;
	}
	for (i = 1; i < w.n; i++) {
		char c = w.p[i];

		if (c >= 'A' && c <= 'F') {
			c = (char)(c - 'A' + 'a');
		}
		digit = c != '\0' ? strchr(digits, c) : NULL;
		if (digit == NULL) {
			return false;
		}
		v = v << 4 | (uint64_t)(digit - digits);
	}
	*config = v;
	return true;
}
