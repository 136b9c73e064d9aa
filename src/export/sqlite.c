/* SPDX-License-Identifier: MIT */
/*
 * Rows into a SQLite database. It is written under another name without a journal, and renamed when it
 * is complete: an export that fails leaves nothing.
 */
#include "export/export.h"

#include "core/fd.h"
#include "core/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sqlite {
	struct sonde_session *session;
	const struct sonde_export_options *options;
	const char *path;
	struct replace replace;
	sqlite3 *db;
	sqlite3_stmt *inserts[EXPORT_TABLES];
	bool has[EXPORT_TABLES]; /* tables with rows */
};

static int failed(struct sqlite *q, const char *what)
{
	return error_set(session_error(q->session), SONDE_EOUTPUT, NO_OFFSET, "cannot %s %s: %s",
	        what, q->path, sqlite3_errmsg(q->db));
}

static int execute(struct sqlite *q, const char *what, const char *sql)
{
	return sqlite3_exec(q->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(q, what);
}

/* Runs statements and frees their text. */
static int execute_text(struct sqlite *q, const char *what, struct text *sql)
{
	int rc = SONDE_ENOMEM;

	text_char(sql, '\0');
	if (!sql->failed) {
		rc = execute(q, what, sql->p);
	}
	text_fini(sql);
	return rc;
}

static int prepare_insert(struct sqlite *q, const struct sonde_export_table *t)
{
	struct text sql = {0};
	int rc = SQLITE_NOMEM;

	text_printf(&sql, "INSERT INTO %s VALUES (?", t->name);
	for (size_t i = 1; i < t->ncolumns; i++) {
		text_str(&sql, ", ?");
	}
	text_str(&sql, ")");
	if (!sql.failed) {
		rc = sqlite3_prepare_v2(q->db, sql.p, (int)sql.n, &q->inserts[t->number], NULL);
	}
	text_fini(&sql);
	return rc == SQLITE_OK ? 0 : failed(q, "write");
}

static int on_begin(void *arg, const struct sonde_export_table *tables, size_t n)
{
	struct sqlite *q = arg;
	struct text sql = {0};

	for (size_t i = 0; i < n; i++) {
		if (tables[i].ncolumns != 0) {
			export_schema_create(&sql, EXPORT_SQLITE, &tables[i]);
		}
	}
	TRY(execute_text(q, "create", &sql));
	for (size_t i = 0; i < n; i++) {
		TRY(tables[i].ncolumns != 0 ? prepare_insert(q, &tables[i]) : 0);
	}
	return 0;
}

static int on_row(
        void *arg, const struct sonde_export_table *t, const struct sonde_export_value *values)
{
	struct sqlite *q = arg;
	sqlite3_stmt *insert = q->inserts[t->number];
	int rc = SQLITE_OK;

	q->has[t->number] = true;
	for (size_t i = 0; i < t->ncolumns && rc == SQLITE_OK; i++) {
		int at = (int)i + 1;

		rc = t->columns[i].type == SONDE_EXPORT_TEXT
		             ? sqlite3_bind_text64(insert, at, values[i].text, values[i].text_size,
		                       SQLITE_STATIC, SQLITE_UTF8)
		             : sqlite3_bind_int64(insert, at, values[i].number);
	}
	if (rc == SQLITE_OK) {
		rc = sqlite3_step(insert) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
	}
	if (rc != SQLITE_OK) {
		return failed(q, "write");
	}
	(void)sqlite3_reset(insert);
	return 0;
}

/* Drops tables without rows, and makes views and indexes. */
static int finish(struct sqlite *q)
{
	bool kept[EXPORT_TABLES];
	bool power = export_schema_kept(q->has, kept);
	struct text sql = {0};

	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		bool exists = q->inserts[t] != NULL;

		(void)sqlite3_finalize(q->inserts[t]);
		q->inserts[t] = NULL;
		if (exists && !kept[t]) {
			text_printf(&sql, "DROP TABLE %s;\n", export_table_name(t));
		} else if (exists) {
			export_schema_view(&sql, EXPORT_SQLITE, t);
		}
	}
	if (power) {
		export_schema_power_view(&sql, EXPORT_SQLITE);
	}
	if (q->options->calls) {
		export_schema_calls(&sql);
	}
	text_str(&sql, "COMMIT;\n");
	return execute_text(q, "write", &sql);
}

/* Creates an empty file for the database. */
static int make_empty(struct sqlite *q)
{
	int fd = replace_open(&q->replace, q->path, 0666);

	if (fd < 0) {
		return error_errno(session_error(q->session), SONDE_EOUTPUT, errno,
		        "cannot create %s", q->path);
	}
	fd_close(&fd);
	return 0;
}

static int open_database(struct sqlite *q)
{
	const char *file;

	TRY(make_empty(q));
	file = q->replace.temporary != NULL ? q->replace.temporary : q->path;
	if (sqlite3_open_v2(file, &q->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
		return failed(q, "create");
	}
	return execute(q, "create",
	        "PRAGMA page_size = 8192;\nPRAGMA journal_mode = OFF;\nPRAGMA synchronous = OFF;\n"
	        "PRAGMA locking_mode = EXCLUSIVE;\nPRAGMA cache_size = -32768;\nBEGIN;\n");
}

static int write_database(struct sqlite *q)
{
	const struct sonde_export_sink sink = {
	        .size = sizeof(sink), .arg = q, .begin = on_begin, .row = on_row};

	TRY(open_database(q));
	TRY(export_run(q->session, q->options, &sink, NULL));
	return finish(q);
}

static int put_in_place(struct sqlite *q)
{
	if (!replace_commit(&q->replace)) {
		return error_errno(session_error(q->session), SONDE_EOUTPUT, errno,
		        "cannot write %s", q->path);
	}
	return 0;
}

static void sqlite_fini(struct sqlite *q)
{
	for (size_t i = 0; i < EXPORT_TABLES; i++) {
		(void)sqlite3_finalize(q->inserts[i]);
	}
	replace_abandon(&q->replace);
}

int sonde_export_sqlite(
        struct sonde_session *s, const struct sonde_export_options *options, const char *path)
{
	struct sonde_export_options o;
	struct sqlite q = {.session = s, .options = &o, .path = path};
	struct stat there;
	int rc;

	TRY(export_options(s, options, &o));
	if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) { /* it would be replaced */
		return error_set(session_error(s), SONDE_EARG, NO_OFFSET,
		        "%s is not a regular file: a database cannot be written there", path);
	}
	if (!o.force && access(path, F_OK) == 0) {
		return error_set(session_error(s), SONDE_EARG, NO_OFFSET,
		        "%s exists: --force replaces it", path);
	}
	rc = write_database(&q);
	if (rc >= 0 && sqlite3_close(q.db) != SQLITE_OK) {
		rc = failed(&q, "write");
	} else if (rc < 0) {
		(void)error_ensure(session_error(s), rc);
	}
	if (rc >= 0) {
		rc = put_in_place(&q);
	}
	sqlite_fini(&q);
	return rc;
}
