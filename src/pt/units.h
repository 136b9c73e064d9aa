/* SPDX-License-Identifier: MIT */
/* Where a flow has found units. */
#ifndef SONDE_PT_UNITS_H
#define SONDE_PT_UNITS_H

#include "core/index.h"

#include <sonde/base.h>

#define PT_NEARS     64 /* a power of two */
#define PT_LEAVE_MAX 8

/* Code at first..last has nodes of this context. */
struct pt_near {
	uint64_t first, last; /* both inclusive */
	uint32_t context, bias;
	uint16_t turn; /* of the flow when it was found; else it is empty */
};

/* Nodes LEAVE that were met while this was the next packet. */
struct pt_leaving {
	const uint8_t *p;
	unsigned nbits, times;
};

struct pt_units {
	uint64_t *biases; /* each is there once; biases[0] is 0 */
	size_t nbiases, cap;
	struct index by_bias;
	uint16_t turn; /* changes when the flow's view or mode does; never 0 */
	struct pt_leaving leaving;
	struct pt_near near[PT_NEARS]; /* by hash of the address */
};

#endif
