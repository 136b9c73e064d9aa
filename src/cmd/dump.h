/* SPDX-License-Identifier: MIT */
/* What `sonde dump` and `sonde script -D` share. */
#ifndef SONDE_CMD_DUMP_H
#define SONDE_CMD_DUMP_H

#include <sonde/preview/dump.h>

/* Dumps to standard output, words about failures to standard error; the exit status. */
int dump_print(const char *input, struct sonde_dump_options *o);

#endif
