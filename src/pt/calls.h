/* SPDX-License-Identifier: MIT */
/* The return stack of a flow. */
#ifndef SONDE_PT_CALLS_H
#define SONDE_PT_CALLS_H

#include "pt/graph.h"

#define PT_STACK_SIZE 1024 /* processors keep 64 calls */
/* What the fast loop adds to a stack or log between checks: bits in a word. */
#define PT_HOT_ROOM 64

struct pt_calls {
	pt_at nodes[PT_STACK_SIZE]; /* nodes[0] is PT_NODE_NONE: the top of an empty stack */
	unsigned sp; /* index above the top */
};

#endif
