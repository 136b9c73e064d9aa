/* SPDX-License-Identifier: MIT */
/* Times of virtual machines in traces: inject --vm-time-correlation. */
#ifndef SONDE_CMD_VM_TIME_H
#define SONDE_CMD_VM_TIME_H

#include "cmd/rewriting.h"

/* Whether the words of the option say that the recording stays as it is. */
bool vm_time_is_dry(const char *words);

/* Changes the recording `files->input` in place. Returns the exit status. */
int vm_time_run(const struct rewriting *files, const char *words);

#endif
