/* SPDX-License-Identifier: MIT */
/* SQLite databases, which may be damaged or hostile: they are only read. */
#include "db/db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fd.h"

static int failed(struct sonde_db *d)
{
	int why = sqlite3_errcode(d->connection);

	if (why == SQLITE_NOTADB) {
		return error_set(&d->error, SONDE_EFORMAT, NO_OFFSET,
		        "%s is no SQLite database: 'sonde export --to sqlite' makes one of a "
		        "recording",
		        d->name);
	}
	return error_set(&d->error,
	        why == SQLITE_NOMEM                         ? SONDE_ENOMEM
	        : why == SQLITE_IOERR || why == SQLITE_BUSY ? SONDE_EIO
	                                                    : SONDE_EFORMAT,
	        NO_OFFSET, "cannot read %s: %s", d->name, sqlite3_errmsg(d->connection));
}

/* SQLite has few words for files that cannot be opened. */
static int check_file(struct sonde_db *d, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int why = errno;

	if (fd < 0) {
		return error_errno(&d->error, status_of_errno(why), why, "cannot open %s", path);
	}
	fd_close(&fd);
	return 0;
}

static int sqlite_open(struct sonde_db *d, const char *path)
{
	sqlite3 *db;
	int rc;

	TRY(check_file(d, path));
	rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
	d->connection = db;
	if (rc != SQLITE_OK) {
		return db != NULL ? failed(d) : error_nomem(&d->error);
	}
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	rc = sqlite3_exec(db, "PRAGMA cell_size_check = ON; SELECT count(*) FROM sqlite_master",
	        NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : failed(d);
}

static void sqlite_end(struct sonde_db *d)
{
	(void)sqlite3_finalize(d->statement);
	d->statement = NULL;
}

static void sqlite_shut(struct sonde_db *d)
{
	sqlite_end(d);
	(void)sqlite3_close(d->connection);
	d->connection = NULL;
}

static int sqlite_next(struct sonde_db *d)
{
	switch (sqlite3_step(d->statement)) {
	case SQLITE_ROW: return 1;
	case SQLITE_DONE: return 0;
	default: return failed(d);
	}
}

static int bind(struct sonde_db *d, const struct db_param *p, size_t number)
{
	char name[8];
	int at, rc;

	(void)snprintf(name, sizeof(name), "$%zu", number);
	at = sqlite3_bind_parameter_index(d->statement, name);
	rc = p->text != NULL ? sqlite3_bind_text(d->statement, at, p->text, -1, SQLITE_STATIC)
	                     : sqlite3_bind_int64(d->statement, at, p->number);
	return rc == SQLITE_OK ? 0 : failed(d);
}

static int sqlite_begin(struct sonde_db *d, const struct db_query *q)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(d->connection, q->sql.p, -1, &statement, NULL) != SQLITE_OK) {
		return failed(d);
	}
	d->statement = statement;
	for (size_t i = 0; i < q->nparams; i++) {
		TRY(bind(d, &q->params[i], i + 1));
	}
	return 0;
}

static int sqlite_has_table(struct sonde_db *d, const char *table)
{
	struct db_query q = {.params = {{.text = table}}, .nparams = 1};
	int rc = SONDE_ENOMEM;

	text_str(&q.sql, "SELECT 1 FROM sqlite_master WHERE name = $1");
	text_char(&q.sql, '\0');
	if (!q.sql.failed) {
		rc = sqlite_begin(d, &q);
		rc = rc >= 0 ? sqlite_next(d) : rc;
		sqlite_end(d);
	}
	db_query_fini(&q);
	return rc;
}

static struct db_value sqlite_number(struct sonde_db *d, unsigned column)
{
	return (struct db_value){
	        .null = sqlite3_column_type(d->statement, (int)column) == SQLITE_NULL,
	        .number = sqlite3_column_int64(d->statement, (int)column)};
}

static struct db_value sqlite_text(struct sonde_db *d, unsigned column)
{
	const unsigned char *text = sqlite3_column_text(d->statement, (int)column);

	return (struct db_value){.null = text == NULL,
	        .text = (const char *)text,
	        .size = text != NULL ? (size_t)sqlite3_column_bytes(d->statement, (int)column) : 0};
}

const struct db_engine db_sqlite = {.open = sqlite_open,
        .close = sqlite_shut,
        .has_table = sqlite_has_table,
        .begin = sqlite_begin,
        .next = sqlite_next,
        .number = sqlite_number,
        .text = sqlite_text,
        .end = sqlite_end};
