/* SPDX-License-Identifier: MIT */
/* Output files of commands that appear as a whole or not at all. */
#ifndef SONDE_CMD_TARGET_H
#define SONDE_CMD_TARGET_H

#include <stdbool.h>

/* An output. With a temporary file, `path` has either all of the new contents or the old ones. */
struct target {
	char *path; /* symbolic links resolved */
	char *temporary; /* NULL: written in place (a pipe, a device) */
	int fd;
};

/* "-" is standard output. Returns 0 or a negative errno; call target_close in any case. */
int target_open(struct target *t, const char *path);

/* Renames a finished file to its path, or removes an unfinished one. 0 or a negative errno. */
int target_close(struct target *t, bool finished);

#endif
