/* SPDX-License-Identifier: MIT */
/*
 * Options and commands that perf has and Sonde does not have yet, so that they are not reported as
 * typing mistakes. The commit that adds the option or command removes its entry; the test
 * `perf-only` compares the tables with the help of the installed perf.
 */
#ifndef SONDE_CMD_PERF_ONLY_H
#define SONDE_CMD_PERF_ONLY_H

#include "cmd/option.h"

#include <stdbool.h>

/*
 * Returns the options of a command ("report"), or those before a command (""), ending with
 * OPTION_END. The table is empty if perf has no such command.
 */
const struct option_def *perf_only_options(const char *command);

/*
 * Prints that only perf has this option, as the user wrote it ("--no-itrace", "-b"); def is its
 * entry. Returns OPTIONS_USAGE.
 */
int perf_only_option(const char *command, const struct option_def *def, const char *written);

/* Prints that only perf has this command, and returns true; false: perf has no such command. */
bool perf_only_command(const char *name);

#endif
