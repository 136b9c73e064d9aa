/* SPDX-License-Identifier: MIT */
/* What -D of `sonde report` and `sonde script` does. */
#ifndef SONDE_CMD_DUMP_H
#define SONDE_CMD_DUMP_H

#include <stdbool.h>

/*
 * Dumps every record with its bytes to standard output, words about failures to standard error; the
 * exit status. force: files of other users too.
 */
int dump_raw(const char *input, bool force);

#endif
