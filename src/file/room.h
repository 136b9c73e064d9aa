/* SPDX-License-Identifier: MIT */
/* Makes room for a new recording: an older one of the same name is renamed to NAME.old. */
#ifndef SONDE_FILE_ROOM_H
#define SONDE_FILE_ROOM_H

#include "core/status.h"

/*
 * Renames the file or directory at `path` to PATH.old and removes an older PATH.old. Everything is
 * checked before anything is changed. Refuses a PATH that ends with '/', and a directory at PATH or
 * PATH.old that is neither empty nor a recording.
 *
 * Devices, pipes and empty files at `path` are left alone. SONDE_EFORMAT: a directory contains
 * something else. SONDE_EPERM, SONDE_EIO, SONDE_ELIMIT, SONDE_ENOMEM.
 */
int file_make_room(const char *path, struct error *err);

#endif
