/* SPDX-License-Identifier: MIT */
/* Asks debuginfod servers for the files of objects, through libdebuginfod, which is loaded when first needed. */
#ifndef SONDE_SYMBOL_REMOTE_H
#define SONDE_SYMBOL_REMOTE_H

#include "image/image.h"

#include <sonde/session.h>

enum symbol_remote_kind { SYMBOL_REMOTE_EXECUTABLE, SYMBOL_REMOTE_DEBUG };

/* May be used by any number of threads; one file is fetched at a time. */
struct symbol_remote;

/* fn may be NULL. NULL: out of memory. */
struct symbol_remote *symbol_remote_new(sonde_download_fn fn, void *arg);
void symbol_remote_free(struct symbol_remote *r); /* accepts NULL */

/*
 * Fetches a file by its build id, and writes its path in the library's own cache. False: no server
 * has it, or one failed, now or before: then none is asked again. object: its name, for fn.
 */
bool symbol_remote_find(struct symbol_remote *r, const struct image_build_id *id,
        enum symbol_remote_kind kind, const char *object, char path[IMAGE_PATH_MAX]);

#endif
