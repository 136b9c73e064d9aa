/* SPDX-License-Identifier: MIT */
/*
 * A recording as rows of tables: its samples, and the threads, objects, symbols and call paths that
 * they refer to by id. The tables are those of perf's export-to-sqlite.py, see doc/export.md. Rows
 * go to a sink of the caller or into a database. Preview: may change in any release.
 *
 *	static int on_row(void *arg, const struct sonde_export_table *t,
 *	        const struct sonde_export_value *values)
 *	{
 *		... t->name, t->columns[i].name, values[i].number or values[i].text ...
 *		return 0;
 *	}
 *
 *	struct sonde_export_sink sink = {.size = sizeof(sink), .row = on_row};
 *	int rc = sonde_export_rows(session, NULL, &sink);
 */
#ifndef SONDE_PREVIEW_EXPORT_H
#define SONDE_PREVIEW_EXPORT_H

#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_export_type {
	SONDE_EXPORT_BIGINT, /* 64 bits; addresses of the kernel are negative */
	SONDE_EXPORT_INTEGER, /* 32 bits */
	SONDE_EXPORT_BOOLEAN, /* 0 or 1 */
	SONDE_EXPORT_TEXT /* UTF-8; bytes that are not are written as \xNN */
};

struct sonde_export_column {
	const char *name;
	enum sonde_export_type type;
};

/* A table. The first column of each is its id. */
struct sonde_export_table {
	const char *name;
	const struct sonde_export_column *columns;
	size_t ncolumns;
	size_t number; /* index in the list of tables */
};

struct sonde_export_value {
	int64_t number; /* of all types but TEXT */
	const char *text; /* NUL-terminated; NULL: of other types */
	size_t text_size; /* bytes without the NUL */
};

struct sonde_export_counts {
	uint64_t samples, calls;
	uint64_t rows; /* of all tables */
};

/* What a sink is called for; NULL: nothing. Functions return 0, or a negative status, which ends the
 * export. */
struct sonde_export_sink {
	size_t size; /* sizeof(struct sonde_export_sink) of the caller */
	void *arg; /* passed to each call */
	/* Called once, before the first row, with all tables that can have rows. */
	int (*begin)(void *arg, const struct sonde_export_table *tables, size_t n);
	/*
	 * Called for each row; values are [table->ncolumns], in the order of its columns, and valid
	 * during the call. Rows come in the order of time; a row comes after those that it refers
	 * to, except that a call can come before its parent. Row 0 of a table is "unknown".
	 */
	int (*row)(void *arg, const struct sonde_export_table *table,
	        const struct sonde_export_value *values);
};

struct sonde_export_options {
	size_t size; /* sizeof(struct sonde_export_options) of the caller */
	bool branches; /* samples have only the columns that branches have */
	bool calls; /* calls and their call paths, from branches of traces */
	bool callchains; /* call paths of the call chains of samples */
	bool force; /* replace a database that exists */
	struct sonde_export_counts *counts; /* set to what was written; NULL: not wanted */
	const char *recording; /* its path, for the table of recordings; NULL: none */
	bool append; /* add to a database that exists, of either kind; force has no effect */
};

/*
 * Passes all rows of an open session to a sink. Samples of traces are those that `itrace` of the
 * session's options selects. options may be NULL. 0; SONDE_EARG: the session is not open; SONDE_ENOMEM;
 * or the negative result of a function of the sink. sonde_session_error has the text.
 */
SONDE_API int sonde_export_rows(struct sonde_session *s, const struct sonde_export_options *options,
        const struct sonde_export_sink *sink);

/*
 * Writes a SQLite database, which appears at `path` when it is complete; or appends to one in a
 * transaction. 0; SONDE_EARG: the file exists, and neither force nor append is set, it is no regular
 * file, or append is set and it is no database of this function; SONDE_EUNSUPPORTED: built without
 * SQLite; SONDE_EOUTPUT: it cannot be written; else as sonde_export_rows.
 */
SONDE_API int sonde_export_sqlite(
        struct sonde_session *s, const struct sonde_export_options *options, const char *path);

/*
 * Writes a PostgreSQL database, through libpq. conninfo is the name of a database, or words "key=value"
 * or a URI as libpq has them; NULL: the database PGDATABASE, or "perf". The server, user and password
 * that it lacks are those of the environment, as for psql. A new database appears when it is complete;
 * into one that exists all is written in one transaction. Exports to one database wait for each other.
 * 0; SONDE_EARG: conninfo is wrong, or the database exists and neither append nor force is set, or
 * append is and it is no database of this function; SONDE_EUNSUPPORTED: built without libpq, it is not
 * installed, or the server is older than PostgreSQL 12; SONDE_EOUTPUT: the server cannot be reached or
 * refused something, and nothing was kept; else as sonde_export_rows.
 */
SONDE_API int sonde_export_postgresql(
        struct sonde_session *s, const struct sonde_export_options *options, const char *conninfo);

#ifdef __cplusplus
}
#endif

#endif
