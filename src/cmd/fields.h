/* SPDX-License-Identifier: MIT */
#ifndef SONDE_CMD_FIELDS_H
#define SONDE_CMD_FIELDS_H

#include <sonde/preview/field.h>

/*
 * Prints the section of --help with the fields for any of the uses (bits of enum sonde_field_use):
 * a line for each, beginning with its names. scripts/check-docs and completions/sonde parse it.
 */
void fields_print(const char *heading, unsigned uses);

#endif
