/* SPDX-License-Identifier: MIT */
/* Contents of a sample, parsed from options. */
#ifndef SONDE_CAPTURE_PLAN_CONTENT_H
#define SONDE_CAPTURE_PLAN_CONTENT_H

#include "core/status.h"

#include <sonde/attr.h>
#include <sonde/preview/recorder.h>

enum capture_chain {
	CAPTURE_CHAIN_NONE = 0,
	CAPTURE_CHAIN_FP,
	CAPTURE_CHAIN_DWARF,
	CAPTURE_CHAIN_LBR,
	CAPTURE_CHAIN_UNWIND /* recorded as DWARF, written as plain chains */
};

struct capture_content {
	enum capture_chain chain;
	uint64_t frames_max; /* 0: the kernel's limit */
	uint32_t stack_dump; /* bytes, of DWARF and UNWIND chains */
	uint64_t branches; /* branch_sample_type; 0: none */
	uint64_t user_regs, intr_regs; /* masks; 0: none */
};

/* SONDE_EARG: the text has the wrong word and the valid ones; SONDE_EUNSUPPORTED. */
int capture_content_parse(
        const struct sonde_recorder_options *o, struct capture_content *c, struct error *err);

/*
 * Applies the contents to an attr whose rate is set; tracking: for the event that only has
 * side-band.
 */
void capture_content_apply(const struct sonde_recorder_options *o, const struct capture_content *c,
        struct sonde_attr *attr, bool tracking);

/*
 * What files say of an attr of CAPTURE_CHAIN_UNWIND: samples have plain call chains. False: the
 * event records no copies of stacks.
 */
bool capture_content_plain(const struct capture_content *c, struct sonde_attr *attr);

/* Applies only --all-user and --all-kernel. */
void capture_content_levels(const struct sonde_recorder_options *o, struct sonde_attr *attr);

#endif
