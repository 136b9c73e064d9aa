/* SPDX-License-Identifier: MIT */
#include "pt/stack.h"

#include <string.h>

void pt_stack_shrink(struct sonde_pt_flow *f)
{
	const unsigned half = PT_STACK_SIZE / 2;

	memmove(f->stack + 1, f->stack + f->sp - half, half * sizeof(f->stack[0]));
	f->sp = half + 1;
}
