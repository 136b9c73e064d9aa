/* SPDX-License-Identifier: MIT */
/* Skipped bytes, from an error (or the beginning) to where a flow continues. */
#ifndef SONDE_PT_SKIPPED_H
#define SONDE_PT_SKIPPED_H

#include <sonde/base.h>

struct pt_skipped {
	bool open;
	bool told; /* report the gap even if it has no bytes */
	uint64_t at; /* offset */
	size_t item; /* its index in the output queue */
	uint64_t packet_at; /* offset of the current packet: gaps begin and end there */
	uint64_t found_ip; /* the last IP that made the position known */
};

#endif
