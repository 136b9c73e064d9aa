/* SPDX-License-Identifier: MIT */
/* A build without SQLite: nothing but `open` is called. */
#include "db/db.h"

static int sqlite_open(struct sonde_db *d, const char *path)
{
	(void)path;
	return error_set(&d->error, SONDE_EUNSUPPORTED, NO_OFFSET,
	        "this sonde was built without SQLite (libsqlite3)");
}

static void sqlite_shut(struct sonde_db *d)
{
	(void)d;
}

const struct db_engine db_sqlite = {.open = sqlite_open, .close = sqlite_shut};
