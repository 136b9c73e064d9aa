/* SPDX-License-Identifier: MIT */
/* Which code a flow runs. */
#ifndef SONDE_PT_SPACE_H
#define SONDE_PT_SPACE_H

#include "pt/state.h"

/* Code is now that of a space in a generation. */
void pt_space_set(struct sonde_pt_flow *f, uint32_t space, uint32_t generation);
/* Code is decoded in another mode from here on. */
void pt_space_set_mode(struct sonde_pt_flow *f, enum pt_mode mode);
/* Applies a PAGING or VMCS event. */
void pt_space_event(struct sonde_pt_flow *f, const struct sonde_pt_event *event);
/* Whether a move is due at the current time. */
void pt_space_time(struct sonde_pt_flow *f);
/* Makes the moves that are due, and sets how far fast.c may read. */
void pt_space_move(struct sonde_pt_flow *f);

#endif
