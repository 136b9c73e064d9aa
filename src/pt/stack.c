/* SPDX-License-Identifier: MIT */
#include "pt/stack.h"

#include <string.h>

void pt_stack_shrink(struct sonde_pt_flow *f)
{
	const unsigned half = PT_STACK_SIZE / 2;

	memmove(f->calls.nodes + 1, f->calls.nodes + f->calls.sp - half,
	        half * sizeof(f->calls.nodes[0]));
	f->calls.sp = half + 1;
}
