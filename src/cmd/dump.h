/* SPDX-License-Identifier: MIT */
/* Option -D of `sonde report` and `sonde script`. */
#ifndef SONDE_CMD_DUMP_H
#define SONDE_CMD_DUMP_H

#include <stdbool.h>

/*
 * Prints every record with its bytes to standard output, and errors to standard error. Returns the
 * exit status. force: accepts files of other users. packets: with the packets of Intel PT.
 */
int dump_raw(const char *input, bool force, bool packets);

#endif
