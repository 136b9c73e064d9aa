/* SPDX-License-Identifier: MIT */
/* Where a flow starts again. */
#ifndef SONDE_PT_SYNC_H
#define SONDE_PT_SYNC_H

#include "pt/state.h"

/* Skips to the next PSB. */
void pt_sync_find(struct sonde_pt_flow *f);
void pt_sync_psb(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_sync_psbend(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_sync_ovf(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
/* A MODE.EXEC in a PSB+, which repeats the current state. */
void pt_sync_exec(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
/* Whether a PSB+ may contain a packet of this kind. */
bool pt_sync_may_have(unsigned kind);
/* Restarts at an offset, for a part of the trace; counts are kept. */
void pt_sync_restart(struct sonde_pt_flow *f, uint64_t offset, uint64_t stop_at);

#endif
