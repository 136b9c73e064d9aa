/* SPDX-License-Identifier: MIT */
/* Errors and gaps. */
#ifndef SONDE_PT_GAP_H
#define SONDE_PT_GAP_H

#include "pt/state.h"

/* Reports an error at f->error_at and skips to where the flow can continue. */
void pt_gap_error(struct sonde_pt_flow *f, int error);
/* Opens a gap at an error, or at the beginning of a trace or a part. */
void pt_gap_open(struct sonde_pt_flow *f, uint64_t offset, bool told);
/* The position of the flow is known (again). */
void pt_gap_found(struct sonde_pt_flow *f, uint64_t ip);
/* Called before and after handling a packet; *syncing is the caller's. */
void pt_gap_before(struct sonde_pt_flow *f, bool *syncing);
void pt_gap_behind(struct sonde_pt_flow *f, bool syncing);

#endif
