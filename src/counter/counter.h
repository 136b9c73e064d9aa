/* SPDX-License-Identifier: MIT */
/* Counters with a table of kernel functions, so that tests can use a fake kernel. */
#ifndef SONDE_COUNTER_COUNTER_H
#define SONDE_COUNTER_COUNTER_H

#include "host/kernel.h"

#include <sonde/counter.h>

/* As sonde_counter_new, with these kernel functions. */
struct sonde_counter *counter_new_with(
        const struct sonde_counter_options *options, const struct host_kernel *kernel);

#endif
