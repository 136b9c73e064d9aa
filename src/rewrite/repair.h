/* SPDX-License-Identifier: MIT */
#ifndef SONDE_REWRITE_REPAIR_H
#define SONDE_REWRITE_REPAIR_H

#include "rewrite/output.h"

/* Removes records and header features that do not match their fields, for `whole`. */
struct repair {
	struct output *output;
	uint64_t left_out; /* records and features */
};

/* Drops such features. */
void repair_features(struct repair *repair);
/* Whether a record is kept. */
bool repair_takes(struct repair *repair, const struct sonde_raw_record *raw);

#endif
