/* SPDX-License-Identifier: MIT */
/* Reads a recording back: counts samples, their times, and build ids of objects that they hit. */
#ifndef SONDE_CAPTURE_SCAN_H
#define SONDE_CAPTURE_SCAN_H

#include "core/status.h"
#include "core/text.h"
#include "host/wait.h"

#include <stdbool.h>
#include <stdint.h>

struct capture_scan_options {
	const char *name; /* of the file or directory */
	bool whole; /* packed, or several files: open it by name */
	int fd; /* otherwise: the file, whose records end at `size` bytes */
	uint64_t size;
	bool build_ids; /* build ids are wanted */
	bool all; /* of all mapped objects: a trace is not decoded to find those that it hit */
	struct host_stop *stop;
};

struct capture_scan {
	uint64_t first, last; /* ns */
	uint64_t samples, lost;
	uint64_t aux_records, aux_truncated, aux_gaps;
	struct text build_ids; /* entries of the feature BUILD_ID; freed by the caller */
};

/* SONDE_ENOMEM. If a recording cannot be read back, such as a device, *out is not changed. */
int capture_scan(struct capture_scan *out, const struct capture_scan_options *o);

#endif
