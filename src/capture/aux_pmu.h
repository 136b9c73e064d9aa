/* SPDX-License-Identifier: MIT */
/* The PMUs that have an AUX area and what sysfs says of them. */
#ifndef SONDE_CAPTURE_AUX_PMU_H
#define SONDE_CAPTURE_AUX_PMU_H

#include <stdbool.h>
#include <stdint.h>

#define AUX_PMU_FOLDER "sys/bus/event_source/devices/"

/* types of AUXTRACE_INFO */
enum { AUXTRACE_INTEL_PT = 1, AUXTRACE_ARM_SPE = 4 };

struct capture_aux_pmu {
	const char *name; /* its folder in sysfs */
	const char *title; /* in messages */
	uint32_t type;
};

struct sonde_record;

/* The bits of attr.config that a term of the PMU's format has; 0: it has no such term. */
uint64_t aux_format_mask(const struct sonde_record *r, const char *term);

/* A number in a file of the PMU's folder; 0: not there. */
uint64_t aux_pmu_number(const struct sonde_record *r, const char *file);

#endif
