/* SPDX-License-Identifier: MIT */
/* File descriptors. */
#ifndef SONDE_CORE_FD_H
#define SONDE_CORE_FD_H

#include <stdbool.h>
#include <stddef.h>

/* Closes it and sets it to -1; negative: ignored. */
void fd_close(int *fd);

/* Writes all bytes; false with errno. */
bool fd_write(int fd, const void *bytes, size_t n);

#endif
