/* SPDX-License-Identifier: MIT */
/* Makes room for a new recording: an older one of the same name becomes NAME.old. */
#ifndef SONDE_FILE_ROOM_H
#define SONDE_FILE_ROOM_H

#include "core/status.h"

/*
 * Renames the file or folder at `path` to PATH.old and removes an older PATH.old. Everything is
 * checked before anything changes. Refused are a PATH that ends in '/', and a folder at PATH or at
 * PATH.old that is neither empty nor a recording.
 *
 * Devices, pipes and empty files at `path` stay as they are. SONDE_EFORMAT: a folder holds something
 * else. SONDE_EPERM, SONDE_EIO, SONDE_ELIMIT, SONDE_ENOMEM.
 */
int file_make_room(const char *path, struct error *err);

#endif
