/* SPDX-License-Identifier: MIT */
/*
 * Databases without a name, for SQLite: its own functions for files follow no link, and /proc/self/fd/N is
 * the only path of such a file. Nobody else can open it, so it needs no locks.
 */
#ifndef SONDE_EXPORT_LINKS_H
#define SONDE_EXPORT_LINKS_H

#include <sqlite3.h>
#include <stdbool.h>

/* A VFS of SQLite that opens /proc/self/fd/N. It must not move while it is registered. */
struct export_links {
	sqlite3_vfs vfs;
	char name[32];
	bool registered;
};

/* Registers a zero-initialised one, or does nothing; returns its name. NULL: SQLite refused it. */
const char *export_links_register(struct export_links *l);
/* When no connection uses it. */
void export_links_unregister(struct export_links *l);

#endif
