/* SPDX-License-Identifier: MIT */
#ifndef SONDE_REWRITE_REPAIR_H
#define SONDE_REWRITE_REPAIR_H

#include "rewrite/output.h"

/* The stage of `whole`, which leaves out records and header features that do not fit their fields.
 */
struct repair {
	struct output *output;
	uint64_t left_out; /* records and features */
};

/* The stage; arg is a struct repair, which outlives it. */
struct sonde_rewriter_stage repair_stage(struct repair *repair);

#endif
