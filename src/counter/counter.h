/* SPDX-License-Identifier: MIT */
/* Counters over a kernel that may be a fake. */
#ifndef SONDE_COUNTER_COUNTER_H
#define SONDE_COUNTER_COUNTER_H

#include "host/kernel.h"

#include <sonde/counter.h>

/* As sonde_counter_new, with a kernel that is a fake. */
struct sonde_counter *counter_new_with(
        const struct sonde_counter_options *options, const struct host_kernel *kernel);

#endif
