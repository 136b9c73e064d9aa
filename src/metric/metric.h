/* SPDX-License-Identifier: MIT */
/* Metrics: ratios of the counts of a group of events, such as instructions per cycle. */
#ifndef SONDE_METRIC_H
#define SONDE_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts that metrics are relative to. */
enum metric_base {
	METRIC_BASE_CLOCK = 0, /* ns */
	METRIC_BASE_CYCLES,
	METRIC_BASE_INSTRUCTIONS,
	METRIC_BASE_BRANCHES,
	METRIC_BASE_STALLED_FRONT,
	METRIC_BASE_STALLED_BACK,
	METRIC_BASE_CACHE_REFS,
	METRIC_BASE_L1D,
	METRIC_BASE_L1I,
	METRIC_BASE_LLC,
	METRIC_BASE_DTLB,
	METRIC_BASE_ITLB,
	METRIC_BASES
};

struct metric_bases {
	double v[METRIC_BASES];
	bool known[METRIC_BASES];
	uint64_t n[METRIC_BASES]; /* number of values in the mean v */
};

struct metric {
	const char *unit; /* NULL: none */
	double value;
	unsigned width, digits; /* in text */
	const char *tail; /* printed directly after the number in text: "%", " %", " " or "" */
};

/* The base that an event is, by type and config of its attr; -1: none. */
int metric_base_of(uint32_t type, uint64_t config);

/* The metric of an event with a count, and in *more a second one. */
void metric_find(uint32_t type, uint64_t config, double value, const struct metric_bases *bases,
        struct metric *out, struct metric *more);

/* The unit of the event's metric, even if the metric cannot be computed; "": none. */
const char *metric_unit(uint32_t type, uint64_t config);

/* The name of the metric that relates an event to others; false: none. */
bool metric_name(uint32_t type, uint64_t config, const char *event, char *out, size_t size);

#endif
