/* SPDX-License-Identifier: MIT */
/* Counting on many threads. */
#ifndef SONDE_PT_PARALLEL_H
#define SONDE_PT_PARALLEL_H

#include "pt/state.h"

/* Counts the whole trace. Returns 1, 0 (one thread must do it), or SONDE_ENOMEM. */
int pt_parallel_count(struct sonde_pt_flow *f);

#endif
