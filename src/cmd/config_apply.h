/* SPDX-License-Identifier: MIT */
#ifndef SONDE_CMD_CONFIG_APPLY_H
#define SONDE_CMD_CONFIG_APPLY_H

#include "cmd/config.h"
#include "cmd/option.h"

/*
 * Sets the options of a command to the values in configuration files, without marking them as
 * given. A value that an option does not accept is ignored with a warning on standard error; so is
 * an unknown option in a file of Sonde.
 */
void config_apply(const struct config *config, const struct option_command *command);

#endif
