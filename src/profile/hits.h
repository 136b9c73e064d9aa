/* SPDX-License-Identifier: MIT */
/* Which objects samples fell into. */
#ifndef SONDE_PROFILE_HITS_H
#define SONDE_PROFILE_HITS_H

#include "session/session.h"

/*
 * hit[i] becomes true when the instruction of a sample lies in object i of the timeline; there are
 * timeline_objects() of them, false at first. 0, or what reading the samples said.
 */
int profile_hits(struct sonde_session *s, bool *hit);

#endif
