/* SPDX-License-Identifier: MIT */
/* The parts of the formats of tracepoints that are not formats (host/tracing.c draws all of them). */
#ifndef SONDE_EDIT_TRACING_H
#define SONDE_EDIT_TRACING_H

#include "core/span.h"

struct edit_tracing { /* n 0: not there */
	struct span symbols; /* lines "ADDRESS TYPE NAME" of the kernel */
	struct span prints; /* lines "ADDRESS : TEXT" of the kernel's format strings */
	struct span names; /* lines "PID NAME" of threads */
};

struct edit_tracing edit_tracing_split(struct span all);

#endif
