/* SPDX-License-Identifier: MIT */
/*
 * Which event has which metric, and its form, was observed in what
 * perf 6.1 prints of recordings made for this purpose (tests/stat): the ratio to another count of
 * the same group, or, for events without such a ratio, counts per second of task time.
 */
#include "metric/metric.h"

#include <sonde/attr.h>
#include <stdio.h>
#include <string.h>

#define CACHE(id, op, miss) ((uint64_t)(id) | (op) << 8 | (miss) << 16)
#define LOADS(id)           CACHE(id, 0u, 0u)
#define LOAD_MISSES(id)     CACHE(id, 0u, 1u)

static const struct {
	uint32_t type;
	uint64_t config;
	int base;
} bases_of[] = {
        {SONDE_TYPE_SOFTWARE, SONDE_SW_CPU_CLOCK, METRIC_BASE_CLOCK},
        {SONDE_TYPE_SOFTWARE, SONDE_SW_TASK_CLOCK, METRIC_BASE_CLOCK},
        {SONDE_TYPE_HARDWARE, 0, METRIC_BASE_CYCLES},
        {SONDE_TYPE_HARDWARE, 1, METRIC_BASE_INSTRUCTIONS},
        {SONDE_TYPE_HARDWARE, 2, METRIC_BASE_CACHE_REFS},
        {SONDE_TYPE_HARDWARE, 4, METRIC_BASE_BRANCHES},
        {SONDE_TYPE_HARDWARE, 7, METRIC_BASE_STALLED_FRONT},
        {SONDE_TYPE_HARDWARE, 8, METRIC_BASE_STALLED_BACK},
        {SONDE_TYPE_HW_CACHE, LOADS(0), METRIC_BASE_L1D},
        {SONDE_TYPE_HW_CACHE, LOADS(1), METRIC_BASE_L1I},
        {SONDE_TYPE_HW_CACHE, LOADS(2), METRIC_BASE_LLC},
        {SONDE_TYPE_HW_CACHE, LOADS(3), METRIC_BASE_DTLB},
        {SONDE_TYPE_HW_CACHE, LOADS(4), METRIC_BASE_ITLB},
};

int metric_base_of(uint32_t type, uint64_t config)
{
	size_t i;

	for (i = 0; i < sizeof(bases_of) / sizeof(bases_of[0]); i++) {
		if (bases_of[i].type == type && bases_of[i].config == config) {
			return bases_of[i].base;
		}
	}
	return -1;
}

/* Events that are shown as a share of another. */
static const struct relation {
	uint32_t type;
	uint64_t config;
	enum metric_base base;
	double factor;
	unsigned width, digits;
	const char *tail, *unit;
	bool never_of_zero; /* no metric if the base is 0, else the metric is 0; as in perf */
} relations[] = {
        {SONDE_TYPE_HARDWARE, 0, METRIC_BASE_CLOCK, 1, 8, 3, "", "GHz", true},
        {SONDE_TYPE_HARDWARE, 1, METRIC_BASE_CYCLES, 1, 7, 2, " ", "insn per cycle", true},
        {SONDE_TYPE_HARDWARE, 3, METRIC_BASE_CACHE_REFS, 100, 8, 3, " %", "of all cache refs",
                false},
        {SONDE_TYPE_HARDWARE, 5, METRIC_BASE_BRANCHES, 100, 7, 2, "%", "of all branches", false},
        {SONDE_TYPE_HARDWARE, 7, METRIC_BASE_CYCLES, 100, 7, 2, "%", "frontend cycles idle", true},
        {SONDE_TYPE_HARDWARE, 8, METRIC_BASE_CYCLES, 100, 7, 2, "%", "backend cycles idle", false},
        {SONDE_TYPE_HW_CACHE, LOAD_MISSES(0), METRIC_BASE_L1D, 100, 7, 2, "%",
                "of all L1-dcache accesses", false},
        {SONDE_TYPE_HW_CACHE, LOAD_MISSES(1), METRIC_BASE_L1I, 100, 7, 2, "%",
                "of all L1-icache accesses", false},
        {SONDE_TYPE_HW_CACHE, LOAD_MISSES(2), METRIC_BASE_LLC, 100, 7, 2, "%",
                "of all LL-cache accesses", false},
        {SONDE_TYPE_HW_CACHE, LOAD_MISSES(3), METRIC_BASE_DTLB, 100, 7, 2, "%",
                "of all dTLB cache accesses", false},
        {SONDE_TYPE_HW_CACHE, LOAD_MISSES(4), METRIC_BASE_ITLB, 100, 7, 2, "%",
                "of all iTLB cache accesses", false},
};

static const struct relation *find_relation(uint32_t type, uint64_t config)
{
	size_t i;

	for (i = 0; i < sizeof(relations) / sizeof(relations[0]); i++) {
		if (relations[i].type == type && relations[i].config == config) {
			return &relations[i];
		}
	}
	return NULL;
}

const char *metric_unit(uint32_t type, uint64_t config)
{
	const struct relation *r = find_relation(type, config);

	return r == NULL ? "" : r == &relations[0] ? "Ghz" : r->unit;
}

bool metric_name(uint32_t type, uint64_t config, const char *event, char *out, size_t size)
{
	const struct relation *r = find_relation(type, config);

	if (r != NULL) {
		bool part = strncmp(r->unit, "of all ", 7) == 0; /* the event names the whole */

		(void)snprintf(out, size, "%s%s%s", part ? event : "", part ? " " : "", r->unit);
	}
	return r != NULL;
}

static void set_rate(double value, double ns, struct metric *out)
{
	static const struct {
		double above, divisor;
		const char *unit;
	} units[] = {
	        {1e9, 1e9, "G/sec"}, {1e6, 1e6, "M/sec"}, {1e3, 1e3, "K/sec"}, {-1, 1, "/sec"}};
	double rate = ns != 0 ? value * 1e9 / ns : 0;
	size_t i = 0;

	while (i < 3 && rate <= units[i].above) {
		i++;
	}
	*out = (struct metric){units[i].unit, rate / units[i].divisor, 8, 3, ""};
}

/* Cycles that instructions waited, of the kind with more cycles. */
static void set_stalled(double instructions, const struct metric_bases *b, struct metric *more)
{
	double front = b->known[METRIC_BASE_STALLED_FRONT] ? b->v[METRIC_BASE_STALLED_FRONT] : 0;
	double back = b->known[METRIC_BASE_STALLED_BACK] ? b->v[METRIC_BASE_STALLED_BACK] : 0;
	double most = front > back ? front : back;

	if (most > 0 && instructions > 0) {
		*more = (struct metric){"stalled cycles per insn", most / instructions, 7, 2, " "};
	}
}

void metric_find(uint32_t type, uint64_t config, double value, const struct metric_bases *b,
        struct metric *out, struct metric *more)
{
	const struct relation *r = find_relation(type, config);
	double base;

	*out = (struct metric){0};
	*more = (struct metric){0};
	if (r == NULL && b->known[METRIC_BASE_CLOCK]) {
		set_rate(value, b->v[METRIC_BASE_CLOCK], out);
	}
	if (r == NULL) {
		return;
	}
	base = b->known[r->base] ? b->v[r->base] : 0;
	if (b->known[r->base] && (base != 0 || !r->never_of_zero)) {
		*out = (struct metric){r->unit, base != 0 ? r->factor * value / base : 0, r->width,
		        r->digits, r->tail};
	}
	if (type == SONDE_TYPE_HARDWARE && config == 1) {
		set_stalled(value, b, more);
	}
}
