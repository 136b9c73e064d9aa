/* SPDX-License-Identifier: MIT */
/* A connection to a PostgreSQL server, statements on it, and rows by binary COPY. */
#ifndef SONDE_EXPORT_SERVER_H
#define SONDE_EXPORT_SERVER_H

#include "export/export.h"
#include "export/libpq.h"

/* The words of a conninfo: where the server is, and which database is meant. */
struct server_address {
	PQconninfoOption *options; /* NULL: none */
	PQconninfoOption *defaults; /* of the environment; NULL: none */
	const char *database;
};

/* conninfo: "NAME", "key=value ..." or a URI; NULL: from the environment, as of psql. SONDE_EARG. */
int server_address_parse(struct error *err, const struct libpq *pq, const char *conninfo,
        struct server_address *out);
void server_address_fini(const struct libpq *pq, struct server_address *a);

struct server {
	const struct libpq *pq;
	struct error *err;
	const char *database; /* as in messages */
	PGconn *conn;
	/* rows that are not sent yet, by table */
	struct text rows[EXPORT_TABLES];
	char *targets[EXPORT_TABLES]; /* where rows go, as COPY has it; NULL: none come */
	bool has[EXPORT_TABLES]; /* a row was added */
	size_t open; /* the table of the COPY that is open; EXPORT_TABLES: none */
	unsigned since_flush; /* rows */
};

/*
 * Connects to a database, which messages call `name`. SONDE_EOUTPUT, with the reason in err; or
 * SONDE_EUNSUPPORTED: the server is too old. Then, too, server_close frees what is left.
 */
int server_open(struct server *c, const struct libpq *pq, struct error *err,
        const struct server_address *a, const char *database, const char *name);
void server_close(struct server *c);

/* Runs statements, whose text must end with a NUL. */
int server_run(struct server *c, const char *sql);
/* Runs the statements in a text and empties it. */
int server_run_text(struct server *c, struct text *sql);
/*
 * Runs a statement with up to 8 parameters as text, and sets *value to the first value, or to `missing`
 * if there is no row or it is NULL.
 */
int server_number(struct server *c, const char *sql, const char *const *parameters,
        size_t nparameters, int64_t missing, int64_t *value);
/* Appends a name as SQL has it. False: out of memory. */
bool server_put_name(struct server *c, struct text *out, const char *name);

/* Adds a row to a table for which targets has a name; it is sent later. */
int server_add_row(struct server *c, const struct sonde_export_table *t,
        const struct sonde_export_value *values);
/* Sends all rows. */
int server_flush_rows(struct server *c);

#endif
