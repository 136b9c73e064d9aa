/* SPDX-License-Identifier: MIT */
/* Bits of attr.config of intel_pt, as in the files of format/ of the PMU's folder in sysfs. */
#ifndef SONDE_SOFTPT_SOFTPT_H
#define SONDE_SOFTPT_SOFTPT_H

#include "core/status.h"
#include "softpt/flow.h"

#define SOFTPT_PT         0x1u
#define SOFTPT_CYC        0x2u
#define SOFTPT_MTC        0x200u
#define SOFTPT_TSC        0x400u
#define SOFTPT_NORETCOMP  0x800u
#define SOFTPT_BRANCH     0x2000u
#define SOFTPT_MTC_PERIOD 0x3c000u
#define SOFTPT_CYC_THRESH 0x780000u
#define SOFTPT_PSB_PERIOD 0xf000000u

/*
 * Parses an event such as "intel_pt/cyc,psb_period=0/u" into attr.config and the terms of the
 * flow. SONDE_EARG, SONDE_EUNSUPPORTED: not an event that software PT can record, with the reason.
 */
int softpt_parse_event(
        const char *text, uint64_t *config, struct flow_terms *flow, struct error *err);

#endif
