/* SPDX-License-Identifier: MIT */
#ifndef SONDE_PT_FAST_H
#define SONDE_PT_FAST_H

#include "pt/state.h"

/* Follows branches until something else than TNT and TIP must be handled. */
void pt_fast_run(struct sonde_pt_flow *f);

#endif
