/* SPDX-License-Identifier: MIT */
/*
 * Questions about an exported recording:
 *
 *	options -> question.c   SQL with bound parameters, the same text on all engines
 *	        -> an engine    sqlite.c, postgresql.c: rows
 *	        -> print.c      text or JSON
 */
#ifndef SONDE_DB_H
#define SONDE_DB_H

#include "core/status.h"
#include "core/text.h"

#include <sonde/preview/db.h>

#define DB_PARAMS_MAX  12u
#define DB_COLUMNS_MAX 12u
#define DB_TABLES_MAX  6u

enum db_kind {
	DB_NUMBER,
	DB_TIME, /* ns; text: seconds */
	DB_DEPTH, /* text: indents the function that follows */
	DB_TEXT,
	DB_FUNCTION,
	DB_OBJECT, /* text: in brackets after its function */
	DB_OFFSET /* text: "+0x10" after its function */
};

struct db_column { /* of an answer */
	const char *name; /* in JSON */
	const char *title; /* in text; NULL: none */
	enum db_kind kind;
	int width; /* in text; 0: as long as it is */
};

struct db_question {
	const char *name;
	const char *sql; /* {names} are filters and parameters, see question.c */
	const char *tables[DB_TABLES_MAX]; /* that it reads; up to a NULL */
	struct db_column columns[DB_COLUMNS_MAX]; /* up to one without a name */
	unsigned functions; /* that the caller names */
};

struct db_param {
	const char *name; /* in templates of SQL */
	const char *text; /* NULL: a number */
	int64_t number;
};

struct db_query {
	const struct db_question *question;
	struct text sql; /* NUL-terminated */
	struct db_param params[DB_PARAMS_MAX]; /* $1, $2, ... */
	size_t nparams;
};

struct db_value {
	bool null;
	int64_t number; /* of a text: 0, or the number that it is */
	const char *text; /* valid until the next row; NULL: out of memory, unless null is set */
	size_t size; /* bytes */
};

struct db_engine {
	/* Sets the error. 0 or a status. */
	int (*open)(struct sonde_db *d, const char *name);
	void (*close)(struct sonde_db *d);
	int (*has_table)(struct sonde_db *d, const char *table); /* 1, 0, or a status */
	int (*begin)(struct sonde_db *d, const struct db_query *q);
	int (*next)(struct sonde_db *d); /* 1: a row, 0: no more, or a status */
	struct db_value (*number)(struct sonde_db *d, unsigned column);
	struct db_value (*text)(struct sonde_db *d, unsigned column);
	void (*end)(struct sonde_db *d); /* of a query; also without one */
};

struct sonde_db {
	struct error error;
	const struct db_engine *engine; /* NULL: not open */
	void *connection, *statement; /* of the engine */
	char *name;
};

extern const struct db_engine db_sqlite, db_postgresql;

/* Makes the SQL of a question. options: whole, and right. 0 or SONDE_ENOMEM. */
int db_query_make(struct db_query *q, const struct sonde_db_options *options);
void db_query_fini(struct db_query *q);
/* NULL: there is no such question. */
const struct db_question *db_question(enum sonde_db_question question);

/* Prints the rows of a query that has begun. 1, 0: there are none, or a status. */
int db_print(struct sonde_db *d, const struct db_question *question, bool json,
        sonde_write_fn write, void *arg);

#endif
