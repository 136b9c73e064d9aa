/* SPDX-License-Identifier: MIT */
/* What a flow counts. */
#ifndef SONDE_PT_TALLY_H
#define SONDE_PT_TALLY_H

#include <sonde/pt_flow.h>

struct pt_counts;

struct pt_tally {
	bool counting; /* without steps */
	struct pt_counts *counts;
	uint64_t events, errors, gaps, gap_bytes;
	struct sonde_pt_totals totals; /* of sonde_pt_flow_count */
};

#endif
