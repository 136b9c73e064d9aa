/* SPDX-License-Identifier: MIT */
#ifndef SONDE_CMD_FIELDS_H
#define SONDE_CMD_FIELDS_H

#include <sonde/preview/field.h>

/*
 * The part of --help that lists the fields for any of the uses (bits of enum sonde_field_use): a line
 * each, which begins with its names. scripts/check-docs and completions/sonde read it.
 */
void fields_print(const char *heading, unsigned uses);

#endif
