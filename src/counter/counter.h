/* SPDX-License-Identifier: MIT */
/* What counting needs from the kernel, and the words for what it refuses. */
#ifndef SONDE_COUNTER_COUNTER_H
#define SONDE_COUNTER_COUNTER_H

#include "core/status.h"
#include "host/kernel.h"

#include <sonde/counter.h>

/* The words and the status for an errno of open. root: where proc is; all: on all threads. */
int counter_open_failed(struct error *err, int root, const char *name,
        const struct sonde_attr *attr, bool all, int why);

/* As sonde_counter_new, with a kernel that is a fake. */
struct sonde_counter *counter_new_with(
        const struct sonde_counter_options *options, const struct host_kernel *kernel);

#endif
