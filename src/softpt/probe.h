/* SPDX-License-Identifier: MIT */
#ifndef SONDE_SOFTPT_PROBE_H
#define SONDE_SOFTPT_PROBE_H

#include <stdbool.h>

/*
 * Whether PTRACE_SINGLEBLOCK runs up to the next taken branch on this machine: tried on a child.
 * Many virtual machines stop after every instruction instead.
 */
bool softpt_probe_block_steps(void);

#endif
