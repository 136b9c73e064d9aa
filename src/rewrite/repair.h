/* SPDX-License-Identifier: MIT */
#ifndef SONDE_REWRITE_REPAIR_H
#define SONDE_REWRITE_REPAIR_H

#include "rewrite/output.h"

/* The stage of `whole`: removes records and header features that do not match their fields. */
struct repair {
	struct output *output;
	uint64_t left_out; /* records and features */
};

/* Returns the stage; arg is a struct repair, which must outlive it. */
struct sonde_rewriter_stage repair_stage(struct repair *repair);

#endif
