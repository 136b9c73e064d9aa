/* SPDX-License-Identifier: MIT */
/*
 * Metrics printed with the counts. Which event has which metric, and its form, was observed in what
 * perf 6.1 prints of recordings made for this purpose (tests/stat): the ratio to another count of
 * the same group, or, for events without such a ratio, counts per second of task time.
 */
#include "stat/stat.h"

#include <math.h>
#include <stdio.h>

void stat_mean_add(struct stat_mean *m, double v)
{
	double delta = v - m->mean;

	m->n++;
	m->mean += delta / (double)m->n;
	m->m2 += delta * (v - m->mean);
}

double stat_mean_error(const struct stat_mean *m)
{
	return m->n < 2 ? 0 : sqrt(m->m2 / (double)(m->n - 1) / (double)m->n);
}

double stat_mean_error_percent(const struct stat_mean *m)
{
	return m->mean != 0 ? 100 * stat_mean_error(m) / m->mean : 0;
}

#define CACHE(id, op, miss) ((uint64_t)(id) | (op) << 8 | (miss) << 16)
#define LOADS(id)           CACHE(id, 0u, 0u)
#define LOAD_MISSES(id)     CACHE(id, 0u, 1u)

static const struct {
	uint32_t type;
	uint64_t config;
	int base;
} bases_of[] = {
        {SONDE_TYPE_SOFTWARE, SONDE_SW_CPU_CLOCK, STAT_BASE_CLOCK},
        {SONDE_TYPE_SOFTWARE, SONDE_SW_TASK_CLOCK, STAT_BASE_CLOCK},
        {SONDE_TYPE_HARDWARE, 0, STAT_BASE_CYCLES},
        {SONDE_TYPE_HARDWARE, 1, STAT_BASE_INSTRUCTIONS},
        {SONDE_TYPE_HARDWARE, 2, STAT_BASE_CACHE_REFS},
        {SONDE_TYPE_HARDWARE, 4, STAT_BASE_BRANCHES},
        {SONDE_TYPE_HARDWARE, 7, STAT_BASE_STALLED_FRONT},
        {SONDE_TYPE_HARDWARE, 8, STAT_BASE_STALLED_BACK},
        {SONDE_TYPE_HW_CACHE, LOADS(0), STAT_BASE_L1D},
        {SONDE_TYPE_HW_CACHE, LOADS(1), STAT_BASE_L1I},
        {SONDE_TYPE_HW_CACHE, LOADS(2), STAT_BASE_LLC},
        {SONDE_TYPE_HW_CACHE, LOADS(3), STAT_BASE_DTLB},
        {SONDE_TYPE_HW_CACHE, LOADS(4), STAT_BASE_ITLB},
};

int stat_base_of(const struct stat_event *e)
{
	size_t i;

	for (i = 0; i < sizeof(bases_of) / sizeof(bases_of[0]); i++) {
		if (bases_of[i].type == e->type && bases_of[i].config == e->config) {
			return bases_of[i].base;
		}
	}
	return -1;
}

/* Events that are shown as a share of another. */
static const struct relation {
	uint32_t type;
	uint64_t config;
	enum stat_base base;
	double factor;
	unsigned width, digits;
	const char *tail, *unit;
} relations[] = {
        {SONDE_TYPE_HARDWARE, 0, STAT_BASE_CLOCK, 1, 8, 3, "", "GHz"},
        {SONDE_TYPE_HARDWARE, 1, STAT_BASE_CYCLES, 1, 7, 2, " ", "insn per cycle"},
        {SONDE_TYPE_HARDWARE, 3, STAT_BASE_CACHE_REFS, 100, 8, 3, " %", "of all cache refs"},
        {SONDE_TYPE_HARDWARE, 5, STAT_BASE_BRANCHES, 100, 7, 2, "%", "of all branches"},
        {SONDE_TYPE_HARDWARE, 7, STAT_BASE_CYCLES, 100, 7, 2, "%", "frontend cycles idle"},
        {SONDE_TYPE_HARDWARE, 8, STAT_BASE_CYCLES, 100, 7, 2, "%", "backend cycles idle"},
        {SONDE_TYPE_HW_CACHE, LOAD_MISSES(0), STAT_BASE_L1D, 100, 7, 2, "%",
                "of all L1-dcache accesses"},
        {SONDE_TYPE_HW_CACHE, LOAD_MISSES(1), STAT_BASE_L1I, 100, 7, 2, "%",
                "of all L1-icache accesses"},
        {SONDE_TYPE_HW_CACHE, LOAD_MISSES(2), STAT_BASE_LLC, 100, 7, 2, "%",
                "of all LL-cache accesses"},
        {SONDE_TYPE_HW_CACHE, LOAD_MISSES(3), STAT_BASE_DTLB, 100, 7, 2, "%",
                "of all dTLB cache accesses"},
        {SONDE_TYPE_HW_CACHE, LOAD_MISSES(4), STAT_BASE_ITLB, 100, 7, 2, "%",
                "of all iTLB cache accesses"},
};

static bool base_known(const struct stat_bases *b, enum stat_base base)
{
	return b->known[base] && b->v[base] != 0;
}

static const struct relation *find_relation(const struct stat_event *e)
{
	size_t i;

	for (i = 0; i < sizeof(relations) / sizeof(relations[0]); i++) {
		if (relations[i].type == e->type && relations[i].config == e->config) {
			return &relations[i];
		}
	}
	return NULL;
}

const char *stat_metric_unit(const struct stat_event *e)
{
	const struct relation *r = find_relation(e);

	return e->clock ? "CPUs utilized" : r == NULL ? "" : r == &relations[0] ? "Ghz" : r->unit;
}

bool stat_metric_name(const struct stat_event *e, char *out, size_t size)
{
	const struct relation *r = find_relation(e);

	if (r != NULL) {
		bool part = strncmp(r->unit, "of all ", 7) == 0; /* the event names the whole */

		(void)snprintf(out, size, "%s%s%s", part ? e->name : "", part ? " " : "", r->unit);
	}
	return r != NULL;
}

static void set_rate(double value, double ns, struct stat_metric *out)
{
	static const struct {
		double above, divisor;
		const char *unit;
	} units[] = {
	        {1e9, 1e9, "G/sec"}, {1e6, 1e6, "M/sec"}, {1e3, 1e3, "K/sec"}, {-1, 1, "/sec"}};
	double rate = value * 1e9 / ns;
	size_t i = 0;

	while (i < 3 && rate <= units[i].above) {
		i++;
	}
	*out = (struct stat_metric){units[i].unit, rate / units[i].divisor, 8, 3, ""};
}

/* Cycles that instructions waited, of the kind with more cycles. */
static void set_stalled(double instructions, const struct stat_bases *b, struct stat_metric *more)
{
	double front = b->known[STAT_BASE_STALLED_FRONT] ? b->v[STAT_BASE_STALLED_FRONT] : 0;
	double back = b->known[STAT_BASE_STALLED_BACK] ? b->v[STAT_BASE_STALLED_BACK] : 0;
	double most = front > back ? front : back;

	if (most > 0 && instructions > 0) {
		*more = (struct stat_metric){
		        "stalled cycles per insn", most / instructions, 7, 2, " "};
	}
}

void stat_metric(const struct stat_event *e, double value, const struct stat_bases *b,
        double wall_ns, struct stat_metric *out, struct stat_metric *more)
{
	const struct relation *r = find_relation(e);

	*out = (struct stat_metric){0};
	*more = (struct stat_metric){0};
	if (e->clock) {
		if (wall_ns > 0) {
			*out = (struct stat_metric){
			        "CPUs utilized", value / e->scale / wall_ns, 8, 3, ""};
		}
		return;
	}
	if (r != NULL) {
		if (base_known(b, r->base)) {
			*out = (struct stat_metric){r->unit, r->factor * value / b->v[r->base],
			        r->width, r->digits, r->tail};
		}
		if (e->config == 1 && e->type == SONDE_TYPE_HARDWARE) {
			set_stalled(value, b, more);
		}
		return;
	}
	if (base_known(b, STAT_BASE_CLOCK)) {
		set_rate(value, b->v[STAT_BASE_CLOCK], out);
	}
}
