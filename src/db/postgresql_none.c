/* SPDX-License-Identifier: MIT */
/* A build without libpq: nothing but `open` is called. */
#include "db/db.h"

static int postgres_open(struct sonde_db *d, const char *name)
{
	(void)name;
	return error_set(&d->error, SONDE_EUNSUPPORTED, NO_OFFSET,
	        "this sonde was built without PostgreSQL (libpq)");
}

static void postgres_close(struct sonde_db *d)
{
	(void)d;
}

const struct db_engine db_postgresql = {.open = postgres_open, .close = postgres_close};
