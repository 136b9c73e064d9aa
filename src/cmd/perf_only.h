/* SPDX-License-Identifier: MIT */
/*
 * Options and commands that perf has and Sonde does not have yet. They are refused by name, as no
 * typing mistake. An entry goes away with the commit that adds the option or the command; the test
 * `perf-only` compares the tables with the help of the installed perf.
 */
#ifndef SONDE_CMD_PERF_ONLY_H
#define SONDE_CMD_PERF_ONLY_H

#include "cmd/options.h"

#include <stdbool.h>

/* Of the command of that name ("report"); "" for those in front of a command. Ends with OPTION_END;
 * an empty table where perf has no such command. */
const struct option_def *perf_only_options(const char *command);

/* Prints that perf has this option, written as the user did ("--no-itrace", "-b"); def is its
 * entry. Returns OPTIONS_USAGE. */
int perf_only_option(const char *command, const struct option_def *def, const char *written);

/* Prints that perf has this command and returns true; false when perf has none of that name. */
bool perf_only_command(const char *name);

#endif
