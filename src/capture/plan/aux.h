/* SPDX-License-Identifier: MIT */
/* Traces in a plan: the use of the AUX area, and properties of the PMU that its attrs depend on. */
#ifndef SONDE_CAPTURE_PLAN_AUX_H
#define SONDE_CAPTURE_PLAN_AUX_H

#include "core/status.h"
#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>

struct capture_machine;
struct capture_plan;
struct sonde_attr;

#define AUX_PMU_FOLDER     "sys/bus/event_source/devices/"
#define CAPTURE_SAMPLE_MAX 61440u /* bytes of trace in a sample */

/* types in AUXTRACE_INFO */
enum { AUXTRACE_INTEL_PT = 1, AUXTRACE_ARM_SPE = 4 };

enum capture_aux_mode {
	CAPTURE_AUX_NONE = 0,
	CAPTURE_AUX_FULL,
	CAPTURE_AUX_SNAPSHOT,
	CAPTURE_AUX_SAMPLE
};

enum capture_aux_switch { /* as in AUXTRACE_INFO */
	CAPTURE_SWITCH_NONE = 0,
	CAPTURE_SWITCH_TRACEPOINT,
	CAPTURE_SWITCH_TASK,
	CAPTURE_SWITCH_CPU
};

struct capture_aux_pmu {
	const char *name; /* its folder in sysfs, or a prefix of it */
	const char *title; /* for messages */
	uint32_t type;
};

struct capture_aux_plan {
	enum capture_aux_mode mode;
	const struct capture_aux_pmu *pmu; /* NULL: no trace */
	char pmu_name[32]; /* its folder in sysfs */
	enum capture_aux_switch switches;
	uint64_t min_interval; /* operations between samples of Arm SPE according to the PMU; 0:
	                         unknown */
	struct text filter; /* in the kernel's form, with a NUL; empty: none */
};

/*
 * Finds the AUX event among the parsed ones, moves it to the front, and adds the events that belong
 * to it: the dummy for side-band, sched_switch if the kernel has no records of switches. SONDE_EARG
 * with perf's text if the options do not match the events.
 */
int capture_aux_plan(struct capture_plan *p, const struct capture_machine *m);

/* Adjusts the attrs of all events, after all other steps. */
void capture_aux_plan_attrs(struct capture_plan *p);

/* Returns the bits of attr.config for a term of the PMU's format; 0: no such term. */
uint64_t capture_aux_mask(const struct capture_aux_plan *aux, int root, const char *term);

/* Reads a number from a file in the PMU's folder; 0: not found. */
uint64_t capture_aux_number(const struct capture_aux_plan *aux, int root, const char *file);

/*
 * Converts address filters from the user's form to the kernel's: symbols become offsets, sizes are
 * computed. SONDE_EARG: the text shows the mistake, or the symbols that a name could mean.
 */
int capture_aux_filter(int root, const char *text, struct text *out, struct error *err);

#endif
