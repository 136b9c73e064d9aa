/* SPDX-License-Identifier: MIT */
/* Trace in a plan: which use of an AUX area, and what of the PMU its attrs depend on. */
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

/* types of AUXTRACE_INFO */
enum { AUXTRACE_INTEL_PT = 1, AUXTRACE_ARM_SPE = 4 };

enum capture_aux_mode {
	CAPTURE_AUX_NONE = 0,
	CAPTURE_AUX_FULL,
	CAPTURE_AUX_SNAPSHOT,
	CAPTURE_AUX_SAMPLE
};

enum capture_aux_switch { /* as AUXTRACE_INFO says it */
	CAPTURE_SWITCH_NONE = 0,
	CAPTURE_SWITCH_TRACEPOINT,
	CAPTURE_SWITCH_TASK,
	CAPTURE_SWITCH_CPU
};

struct capture_aux_pmu {
	const char *name; /* its folder in sysfs, or how that begins */
	const char *title; /* in messages */
	uint32_t type;
};

struct capture_aux_plan {
	enum capture_aux_mode mode;
	const struct capture_aux_pmu *pmu; /* NULL: nothing is traced */
	char pmu_name[32]; /* its folder in sysfs */
	enum capture_aux_switch switches;
	uint64_t
	        min_interval; /* operations between samples of Arm SPE, as the PMU says; 0: it does not */
	struct text filter; /* as the kernel gets it, with a NUL; empty: none */
};

/*
 * Finds the AUX event among the parsed ones, puts it first, adds the events that belong to it: the
 * dummy for side-band, sched_switch where the kernel has no records of switches. SONDE_EARG with
 * perf's words where the options do not go with the events.
 */
int capture_aux_plan(struct capture_plan *p, const struct capture_machine *m);

/* Puts the attrs of all events right, after everything else has. */
void capture_aux_plan_attrs(struct capture_plan *p);

/* The bits of attr.config that a term of the PMU's format has; 0: it has no such term. */
uint64_t capture_aux_mask(const struct capture_aux_plan *aux, int root, const char *term);

/* A number in a file of the PMU's folder; 0: not there. */
uint64_t capture_aux_number(const struct capture_aux_plan *aux, int root, const char *file);

/*
 * Address filters: what the user wrote, as the kernel wants it. Symbols become offsets, sizes are
 * worked out. SONDE_EARG says what was not understood, or which symbols a name could mean.
 */
int capture_aux_filter(int root, const char *text, struct text *out, struct error *err);

#endif
