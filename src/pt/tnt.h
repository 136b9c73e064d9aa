/* SPDX-License-Identifier: MIT */
/* Branch bits that were read ahead. */
#ifndef SONDE_PT_TNT_H
#define SONDE_PT_TNT_H

#include <stdint.h>

struct pt_tnt {
	uint64_t bits; /* the highest bit is next */
	unsigned nbits, gathered;
	const uint8_t *gather; /* their first packet */
};

#endif
