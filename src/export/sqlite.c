/* SPDX-License-Identifier: MIT */
/*
 * Rows into a SQLite database. It is written under another name without a journal, and renamed when it
 * is complete: an export that fails leaves nothing. Tables with very many rows of numbers go to pages.c;
 * SQLite inserts the others. Rows for a database that exists are all inserted, in one transaction with
 * SQLite's journal.
 */
#include "export/export.h"
#include "export/links.h"
#include "export/pages.h"

#include "core/array.h"
#include "core/fd.h"
#include "core/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct late_row {
	size_t table;
	struct sonde_export_value values[EXPORT_COLUMNS_MAX]; /* numbers */
};

struct sqlite {
	struct sonde_session *session;
	const struct sonde_export_options *options;
	const char *path;
	struct replace replace;
	struct export_links links;
	sqlite3 *db;
	sqlite3_stmt *inserts[EXPORT_TABLES];
	bool has[EXPORT_TABLES]; /* tables with rows */
	struct sonde_export_table tables[EXPORT_TABLES];
	struct pages *pages;
	struct late_row *late; /* rows that pages did not take */
	size_t nlate, late_cap;
	bool appends; /* to a database that exists */
	struct export_start start;
	bool had_calls; /* comms.has_calls exists */
};

/* Whether all columns of a table are numbers, and it may have very many rows. */
static bool is_large(size_t table)
{
	return table == EXPORT_SAMPLES || table == EXPORT_PATHS || table == EXPORT_CALLS;
}

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

/* Sets *value to the first number that a statement with these parameters finds, or to 0. */
static int find_number(struct sqlite *q, const char *sql, const char *const *parameters,
        size_t nparameters, int64_t *value)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(q->db, sql, -1, &s, NULL);

	for (size_t i = 0; i < nparameters && rc == SQLITE_OK; i++) {
		rc = sqlite3_bind_text(s, (int)i + 1, parameters[i], -1, SQLITE_STATIC);
	}
	*value = 0;
	if (rc == SQLITE_OK) {
		rc = sqlite3_step(s);
		*value = rc == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	}
	(void)sqlite3_finalize(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : failed(q, "read");
}

/* Why pages could not be written. */
static int pages_failed(struct sqlite *q, int rc)
{
	return rc == SONDE_ENOMEM ? rc
	                          : error_errno(session_error(q->session), rc,
	                                    errno != 0 ? errno : EIO, "cannot write %s", q->path);
}

static int prepare_insert(struct sqlite *q, const struct sonde_export_table *t)
{
	struct text sql = {0};
	int rc = SQLITE_NOMEM;

	text_printf(&sql, "INSERT INTO %s", t->name);
	export_schema_columns(&sql, t);
	text_str(&sql, " VALUES (?");
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

/* Sets *root to the number of the root page of a table or index; 0: there is none. */
static int find_root(struct sqlite *q, const char *name, uint32_t *root)
{
	int64_t found;

	TRY(find_number(q, "SELECT rootpage FROM sqlite_master WHERE name = ?", &name, 1, &found));
	*root = (uint32_t)found;
	return 0;
}

/* Has the indexes of calls made with their rows. */
static int add_indexes(struct sqlite *q)
{
	static const struct {
		const char *name, *column;
	} indexes[PAGES_INDEXES] = {{"pcpid_idx", "parent_call_path_id"}, {"pid_idx", "parent_id"}};
	const struct sonde_export_table *t = &q->tables[EXPORT_CALLS];

	for (size_t i = 0; i < PAGES_INDEXES && t->ncolumns != 0; i++) {
		uint32_t root;
		size_t column = 0;

		TRY(find_root(q, indexes[i].name, &root));
		while (strcmp(t->columns[column].name, indexes[i].column) != 0) {
			column++;
		}
		export_pages_index(q->pages, EXPORT_CALLS, column, root);
	}
	return 0;
}

static int on_begin(void *arg, const struct sonde_export_table *tables, size_t n)
{
	struct sqlite *q = arg;
	struct text sql = {0};

	memcpy(q->tables, tables, n * sizeof(*tables));
	for (size_t i = 0; i < n; i++) {
		if (tables[i].ncolumns != 0 && !q->start.exists[i]) {
			export_schema_create(&sql, EXPORT_SQLITE, &tables[i]);
		}
	}
	if (q->pages != NULL && tables[EXPORT_CALLS].ncolumns != 0) {
		export_schema_call_indexes(&sql);
	}
	TRY(execute_text(q, "create", &sql));
	TRY(q->pages != NULL ? add_indexes(q) : 0);
	for (size_t i = 0; i < n; i++) {
		TRY(tables[i].ncolumns != 0 ? prepare_insert(q, &tables[i]) : 0);
	}
	return 0;
}

static int insert_row(struct sqlite *q, const struct sonde_export_table *t,
        const struct sonde_export_value *values)
{
	sqlite3_stmt *insert = q->inserts[t->number];
	int rc = SQLITE_OK;

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

static int keep_late_row(struct sqlite *q, const struct sonde_export_table *t,
        const struct sonde_export_value *values)
{
	if (!array_reserve(&q->late, &q->late_cap, q->nlate + 1, sizeof(*q->late))) {
		return SONDE_ENOMEM;
	}
	q->late[q->nlate].table = t->number;
	memcpy(q->late[q->nlate++].values, values, t->ncolumns * sizeof(*values));
	return 0;
}

static int on_row(
        void *arg, const struct sonde_export_table *t, const struct sonde_export_value *values)
{
	struct sqlite *q = arg;
	int rc;

	q->has[t->number] = true;
	if (q->pages == NULL || !is_large(t->number)) {
		return insert_row(q, t, values);
	}
	rc = export_pages_add(q->pages, t, values);
	if (rc == 1) {
		return keep_late_row(q, t, values);
	}
	return rc < 0 ? pages_failed(q, rc) : 0;
}

static void finalize_inserts(struct sqlite *q)
{
	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		(void)sqlite3_finalize(q->inserts[t]);
		q->inserts[t] = NULL;
	}
}

/* Where the database is until it is complete. */
static const char *unfinished(const struct sqlite *q, char *room)
{
	const char *path = replace_path(&q->replace, room);

	return path != NULL ? path : q->path;
}

static int open_connection(struct sqlite *q)
{
	char room[REPLACE_PATH_MAX];

	if (sqlite3_open_v2(unfinished(q, room), &q->db,
	            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
	            q->replace.nameless ? export_links_register(&q->links) : NULL) != SQLITE_OK) {
		return failed(q, "create");
	}
	return execute(q, "create",
	        "PRAGMA page_size = 8192;\nPRAGMA journal_mode = OFF;\nPRAGMA synchronous = OFF;\n"
	        "PRAGMA locking_mode = EXCLUSIVE;\nPRAGMA cache_size = -32768;\nBEGIN;\n");
}

static int append_pages(struct sqlite *q, const uint32_t *roots)
{
	char room[REPLACE_PATH_MAX];
	int fd = open(unfinished(q, room), O_RDWR | O_CLOEXEC);
	int rc = SONDE_EOUTPUT;

	if (fd >= 0) {
		rc = export_pages_append(q->pages, fd, roots);
	}
	rc = rc < 0 ? pages_failed(q, rc) : 0;
	fd_close(&fd);
	return rc;
}

/* Adds the rows of large tables, while no connection has the database open. */
static int add_pages(struct sqlite *q)
{
	uint32_t roots[EXPORT_TABLES] = {0};

	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		TRY(is_large(t) ? find_root(q, export_table_name(t), &roots[t]) : 0);
	}
	finalize_inserts(q);
	TRY(execute(q, "write", "COMMIT"));
	if (sqlite3_close(q->db) != SQLITE_OK) {
		return failed(q, "write");
	}
	q->db = NULL;
	TRY(append_pages(q, roots));
	return open_connection(q);
}

static int add_late_rows(struct sqlite *q)
{
	for (size_t i = 0; i < q->nlate; i++) {
		const struct late_row *row = &q->late[i];

		if (q->inserts[row->table] == NULL) {
			TRY(prepare_insert(q, &q->tables[row->table]));
		}
		TRY(insert_row(q, &q->tables[row->table], row->values));
	}
	finalize_inserts(q);
	return 0;
}

/* Drops new tables without rows; makes their views and indexes. */
static void put_tables_end(struct sqlite *q, const bool *written, struct text *sql)
{
	bool has[EXPORT_TABLES], kept[EXPORT_TABLES], unused[EXPORT_TABLES];
	bool power_before = export_schema_kept(q->start.exists, unused), power;

	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		has[t] = q->has[t] || q->start.exists[t];
	}
	power = export_schema_kept(has, kept);
	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		bool is_new = written[t] && !q->start.exists[t];

		if (is_new && !kept[t]) {
			text_printf(sql, "DROP TABLE %s;\n", export_table_name(t));
		} else if (is_new) {
			export_schema_view(sql, EXPORT_SQLITE, t);
		}
	}
	if (power && !power_before) {
		export_schema_power_view(sql, EXPORT_SQLITE);
	}
	if (q->appends && written[EXPORT_CALLS] && !q->start.exists[EXPORT_CALLS]) {
		export_schema_call_indexes(sql);
	}
	if (q->options->calls) {
		text_str(sql, q->had_calls ? "" : "ALTER TABLE comms ADD has_calls boolean;\n");
		export_schema_has_calls(
		        sql, q->had_calls ? (int64_t)q->start.last[EXPORT_COMMS] : -1);
	}
}

static int finish(struct sqlite *q)
{
	bool written[EXPORT_TABLES];
	struct text sql = {0};

	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		written[t] = q->inserts[t] != NULL;
	}
	TRY(q->appends ? 0 : add_pages(q));
	TRY(add_late_rows(q));
	put_tables_end(q, written, &sql);
	text_str(&sql, "COMMIT;\n");
	return execute_text(q, "write", &sql);
}

/* ---- databases that exist ---- */

static int find_host(void *arg, const struct sonde_export_value *row, uint64_t *id)
{
	struct sqlite *q = arg;
	const char *texts[] = {row[1].text, row[2].text, row[3].text, row[4].text, NULL};
	struct text cpus = {0};
	int64_t found = 0;
	int rc = SONDE_ENOMEM;

	text_printf(&cpus, "%lld", (long long)row[5].number);
	text_char(&cpus, '\0');
	texts[4] = cpus.p;
	if (!cpus.failed) {
		rc = find_number(q,
		        "SELECT id FROM hosts WHERE hostname = ? AND os_release = ? AND arch = ? "
		        "AND cpu_desc = ? AND nr_cpus = CAST(? AS integer)",
		        texts, sizeof(texts) / sizeof(texts[0]), &found);
	}
	text_fini(&cpus);
	*id = (uint64_t)found;
	return rc;
}

static int read_table(struct sqlite *q, size_t table)
{
	const char *name = export_table_name(table);
	struct text sql = {0};
	int64_t found;
	int rc = SONDE_ENOMEM;

	TRY(find_number(q, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", &name,
	        1, &found));
	q->start.exists[table] = found != 0;
	if (found == 0) {
		return 0;
	}
	text_printf(&sql, "SELECT max(id) FROM %s", name);
	text_char(&sql, '\0');
	if (!sql.failed) {
		rc = find_number(q, sql.p, NULL, 0, &found);
	}
	text_fini(&sql);
	q->start.last[table] = (uint64_t)found;
	return rc;
}

static int read_start(struct sqlite *q)
{
	int64_t all_columns, has_calls;

	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		TRY(read_table(q, t));
	}
	if (!q->start.exists[EXPORT_RECORDINGS] || !q->start.exists[EXPORT_HOSTS]) {
		return error_set(session_error(q->session), SONDE_EARG, NO_OFFSET,
		        "%s was not made by sonde export, as it has no table of recordings: "
		        "--force replaces it",
		        q->path);
	}
	TRY(find_number(q, "SELECT 1 FROM pragma_table_info('comms') WHERE name = 'has_calls'",
	        NULL, 0, &has_calls));
	TRY(find_number(q, "SELECT 1 FROM pragma_table_info('samples') WHERE name = 'period'", NULL,
	        0, &all_columns));
	q->had_calls = has_calls != 0;
	q->start.find_host = find_host;
	q->start.arg = q;
	return export_check_columns(q->session, q->path, q->options, all_columns != 0);
}

/* Exports to one database wait for each other. */
static int open_existing(struct sqlite *q)
{
	if (sqlite3_open_v2(q->path, &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	        SQLITE_OK) {
		return failed(q, "open");
	}
	(void)sqlite3_busy_timeout(q->db, INT_MAX);
	TRY(execute(q, "write", "PRAGMA cache_size = -32768;\nBEGIN IMMEDIATE;\n"));
	return read_start(q);
}

/* ---- new databases ---- */

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

/* For the pages of large tables: a file beside the database, without a name, or among temporary files. */
static int make_scratch(struct sqlite *q, int *fd)
{
	char elsewhere[] = P_tmpdir "/sonde-XXXXXX";
	struct text name = {0};

	text_printf(&name, "%s.pages-XXXXXX", q->path);
	text_char(&name, '\0');
	if (name.failed) {
		return SONDE_ENOMEM;
	}
	*fd = mkstemp(name.p);
	if (*fd >= 0) {
		(void)unlink(name.p);
	} else {
		*fd = mkstemp(elsewhere);
		(void)(*fd >= 0 && unlink(elsewhere));
	}
	text_fini(&name);
	return *fd >= 0 ? 0 : pages_failed(q, SONDE_EOUTPUT);
}

static int make_pages(struct sqlite *q)
{
	int scratch = -1, runs = -1;
	int rc = make_scratch(q, &scratch);

	rc = rc < 0 ? rc : make_scratch(q, &runs);
	q->pages = rc >= 0 ? export_pages_new(scratch, runs) : NULL;
	if (q->pages == NULL) {
		fd_close(&scratch);
		fd_close(&runs);
		return rc < 0 ? rc : SONDE_ENOMEM;
	}
	return 0;
}

static int open_database(struct sqlite *q)
{
	TRY(make_empty(q));
	TRY(make_pages(q));
	return open_connection(q);
}

static int write_database(struct sqlite *q)
{
	const struct sonde_export_sink sink = {
	        .size = sizeof(sink), .arg = q, .begin = on_begin, .row = on_row};

	TRY(q->appends ? open_existing(q) : open_database(q));
	TRY(export_run(q->session, q->options, &sink, &q->start));
	return finish(q);
}

static int refuse_existing(struct sqlite *q)
{
	return error_set(session_error(q->session), SONDE_EARG, NO_OFFSET,
	        "%s exists: --append adds to it, --force replaces it", q->path);
}

/* 1: --append is to add to a database that has appeared since. */
static int put_in_place(struct sqlite *q)
{
	const struct sonde_export_options *o = q->options;

	if (q->appends ||
	        (o->force ? replace_commit(&q->replace) : replace_commit_new(&q->replace))) {
		return 0;
	}
	if (errno == EEXIST) {
		return o->append ? 1 : refuse_existing(q);
	}
	return error_errno(
	        session_error(q->session), SONDE_EOUTPUT, errno, "cannot write %s", q->path);
}

static void sqlite_fini(struct sqlite *q)
{
	finalize_inserts(q);
	(void)sqlite3_close(q->db); /* NULL after a complete export */
	export_links_unregister(&q->links);
	export_pages_free(q->pages);
	free(q->late);
	replace_abandon(&q->replace);
}

/* Writes the database, or adds to the one that exists. 1: as put_in_place. */
static int export_to(struct sonde_session *s, const struct sonde_export_options *options,
        const char *path, bool appends)
{
	struct sqlite q = {.session = s, .options = options, .path = path, .appends = appends};
	int rc = write_database(&q);

	if (rc < 0) {
		(void)error_ensure(session_error(s), rc);
	} else if (sqlite3_close(q.db) != SQLITE_OK) {
		rc = failed(&q, "write");
	} else {
		q.db = NULL;
	}
	if (rc >= 0) {
		rc = put_in_place(&q);
	}
	sqlite_fini(&q);
	return rc;
}

int sonde_export_sqlite(
        struct sonde_session *s, const struct sonde_export_options *options, const char *path)
{
	struct sonde_export_options o;
	struct stat there;
	int rc;

	TRY(export_options(s, options, &o));
	if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) { /* it would be replaced */
		return error_set(session_error(s), SONDE_EARG, NO_OFFSET,
		        "%s is not a regular file: a database cannot be written there", path);
	}
	if (!o.append && !o.force && access(path, F_OK) == 0) {
		return refuse_existing(&(struct sqlite){.session = s, .path = path});
	}
	rc = export_to(s, &o, path, o.append && access(path, F_OK) == 0);
	return rc > 0 ? export_to(s, &o, path, true) : rc;
}
