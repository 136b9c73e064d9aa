/* SPDX-License-Identifier: MIT */
/*
 * Names that mean the same on every machine. A cache event is
 *
 *	config = cache | operation << 8 | result << 16	(perf_event_open(2))
 *
 * and its name CACHE[-OPERATION][-RESULT]; without an operation it loads, without a result it
 * counts all of them. The names of each part are those that perf 6.1 takes.
 */
#include "event/parts.h"

#include <stdio.h>
#include <string.h>

#define HW(name, config, of)                                                                       \
	{                                                                                          \
		name, SONDE_TYPE_HARDWARE, config, of, EVENT_TOOL_NONE                             \
	}
#define SW(name, config, of)                                                                       \
	{                                                                                          \
		name, SONDE_TYPE_SOFTWARE, config, of, EVENT_TOOL_NONE                             \
	}

#define TOOL(name, tool)                                                                           \
	{                                                                                          \
		name, SONDE_TYPE_SOFTWARE, SONDE_SW_DUMMY, NULL, tool                              \
	}

static const struct event_name names[] = {
        SW("cpu-clock", SONDE_SW_CPU_CLOCK, NULL),
        SW("task-clock", SONDE_SW_TASK_CLOCK, NULL),
        SW("page-faults", SONDE_SW_PAGE_FAULTS, NULL),
        SW("faults", SONDE_SW_PAGE_FAULTS, "page-faults"),
        SW("minor-faults", SONDE_SW_PAGE_FAULTS_MIN, NULL),
        SW("major-faults", SONDE_SW_PAGE_FAULTS_MAJ, NULL),
        SW("context-switches", SONDE_SW_CONTEXT_SWITCHES, NULL),
        SW("cs", SONDE_SW_CONTEXT_SWITCHES, "context-switches"),
        SW("cpu-migrations", SONDE_SW_CPU_MIGRATIONS, NULL),
        SW("migrations", SONDE_SW_CPU_MIGRATIONS, "cpu-migrations"),
        SW("alignment-faults", SONDE_SW_ALIGNMENT_FAULTS, NULL),
        SW("emulation-faults", SONDE_SW_EMULATION_FAULTS, NULL),
        SW("cgroup-switches", SONDE_SW_CGROUP_SWITCHES, NULL),
        SW("bpf-output", SONDE_SW_BPF_OUTPUT, NULL),
        SW("dummy", SONDE_SW_DUMMY, NULL),
        TOOL("duration_time", EVENT_TOOL_DURATION),
        TOOL("user_time", EVENT_TOOL_USER),
        TOOL("system_time", EVENT_TOOL_SYSTEM),
        HW("cpu-cycles", 0, NULL),
        HW("cycles", 0, "cpu-cycles"),
        HW("instructions", 1, NULL),
        HW("cache-references", 2, NULL),
        HW("cache-misses", 3, NULL),
        HW("branch-instructions", 4, NULL),
        HW("branches", 4, "branch-instructions"),
        HW("branch-misses", 5, NULL),
        HW("bus-cycles", 6, NULL),
        HW("stalled-cycles-frontend", 7, NULL),
        HW("idle-cycles-frontend", 7, "stalled-cycles-frontend"),
        HW("stalled-cycles-backend", 8, NULL),
        HW("idle-cycles-backend", 8, "stalled-cycles-backend"),
        HW("ref-cycles", 9, NULL),
};

const struct event_name *event_names(size_t *n)
{
	*n = sizeof(names) / sizeof(names[0]);
	return names;
}

const struct event_name *event_name_find(struct word w)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (word_is(w, names[i].name)) {
			return &names[i];
		}
	}
	return NULL;
}

enum event_tool event_tool_named(const char *name)
{
	const struct event_name *found = event_name_find((struct word){name, strcspn(name, ":")});

	return found != NULL ? found->tool : EVENT_TOOL_NONE;
}

struct part {
	const char *names[6];
};

static const struct part caches[] = {
        {{"L1-dcache", "l1-d", "l1d", "L1-data"}},
        {{"L1-icache", "l1-i", "l1i", "L1-instruction"}},
        {{"LLC", "L2"}},
        {{"dTLB", "d-tlb", "Data-TLB"}},
        {{"iTLB", "i-tlb", "Instruction-TLB"}},
        {{"branch", "bpu", "btb", "bpc"}},
        {{"node"}},
};
static const struct part operations[] = {
        {{"loads", "load", "read"}},
        {{"stores", "store", "write"}},
        {{"prefetches", "prefetch", "speculative-read", "speculative-load"}},
};
static const struct part results[] = {
        {{"refs", "Reference", "ops", "access"}},
        {{"misses", "miss"}},
};
/* How the usual name says operation and result. */
static const char *const usual[3][2] = {
        {"loads", "load-misses"}, {"stores", "store-misses"}, {"prefetches", "prefetch-misses"}};
/* A bit for each operation that a cache has: code is not stored to, an iTLB only looked up. */
static const uint8_t allowed[] = {7, 5, 7, 7, 1, 1, 7};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The part whose longest name w begins with, up to a "-" or the end; -1: none. *used: its bytes. */
static int begins(struct word w, const struct part *parts, size_t n, size_t *used)
{
	int found = -1;
	size_t i, k, len;

	*used = 0;
	for (i = 0; i < n; i++) {
		for (k = 0; k < COUNT(parts->names) && parts[i].names[k] != NULL; k++) {
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
	int cache = begins(w, caches, COUNT(caches), &used);
	int op = -1;
	int result = -1;
	int words;
	int which;

	for (words = 0; cache >= 0 && words < 2 && used < w.n; words++) {
		w.p += used + 1;
		w.n -= used + 1;
		which = begins(w, operations, COUNT(operations), &used);
		if (which >= 0) {
			op = op < 0 ? which : op;
			continue;
		}
		which = begins(w, results, COUNT(results), &used);
		result = result < 0 ? which : result;
		if (which < 0) {
			return false;
		}
	}
	op = op < 0 ? 0 : op;
	result = result < 0 ? 0 : result;
	if (cache < 0 || used != w.n || (allowed[cache] >> op & 1) == 0) {
		return false;
	}
	*config = (uint64_t)cache | (uint64_t)op << 8 | (uint64_t)result << 16;
	return true;
}

bool event_cache_name(size_t i, char out[32], uint64_t *config)
{
	size_t cache, op, result;

	for (cache = 0; cache < COUNT(caches); cache++) {
		for (op = 0; op < COUNT(operations); op++) {
			if ((allowed[cache] >> op & 1) == 0) {
				continue;
			}
			for (result = 0; result < 2; result++) {
				if (i-- == 0) {
					(void)snprintf(out, 32, "%s-%s", caches[cache].names[0],
					        usual[op][result]);
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
