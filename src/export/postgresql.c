/* SPDX-License-Identifier: MIT */
/*
 * Rows into a PostgreSQL database, in one transaction. A new database has another name until it is
 * complete, so an export that fails leaves none:
 *
 *	connection to "postgres": lock, CREATE DATABASE "NAME.incomplete"
 *	connection to it:         tables, rows, views, keys; COMMIT
 *	connection to "postgres": ALTER DATABASE "NAME.incomplete" RENAME TO "NAME"
 *
 * Tables that grow with a recording are partitioned by ids, and so by recording: N has the partitions
 * sonde.samples_N and so on, which get their indexes and keys when all rows are there. The schema
 * "sonde" keeps them out of lists of tables.
 */
#include "export/server.h"

#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_SIZE 63u /* bytes of names in PostgreSQL */
#define INCOMPLETE    ".incomplete"
#define REPLACED      ".replaced"
#define PARAMETERS    150000 /* PostgreSQL 15: rights to set parameters */

/* Older minor versions leave superfluous triggers if a partition's keys refer to partitioned tables. */
static const int adopts_from[] = {120021, 130017, 140014, 150009, 160005, 170001};

struct postgresql {
	struct sonde_session *session;
	const struct sonde_export_options *options;
	struct libpq pq;
	struct server_address address;
	struct server admin, server; /* server: the database that is written */
	struct export_start start;
	uint64_t last[EXPORT_TABLES]; /* ids of rows that were added */
	bool had_calls; /* comms.has_calls exists */
	bool keys_first; /* partitions have their foreign keys before rows, see put_keys_first */
};

static struct error *error_of(struct postgresql *p)
{
	return session_error(p->session);
}

/* ---- what a database has ---- */

static int read_last(struct postgresql *p, size_t table)
{
	struct text sql = {0};
	int64_t last = 0;
	int rc = SONDE_ENOMEM;

	text_printf(&sql, "SELECT max(id) FROM %s", export_table_name(table));
	text_char(&sql, '\0');
	if (!sql.failed) {
		rc = server_number(&p->server, sql.p, NULL, 0, 0, &last);
	}
	text_fini(&sql);
	p->start.last[table] = (uint64_t)last;
	return rc;
}

static int find_host(void *arg, const struct sonde_export_value *row, uint64_t *id)
{
	struct postgresql *p = arg;
	const char *texts[] = {row[1].text, row[2].text, row[3].text, row[4].text, NULL};
	struct text cpus = {0};
	int64_t found;
	int rc = SONDE_ENOMEM;

	if (!p->start.exists[EXPORT_HOSTS]) {
		return 0;
	}
	text_printf(&cpus, "%lld", (long long)row[5].number);
	text_char(&cpus, '\0');
	texts[4] = cpus.p;
	if (!cpus.failed) {
		TRY(server_flush_rows(&p->server));
		rc = server_number(&p->server,
		        "SELECT id FROM hosts WHERE hostname = $1 AND os_release = $2 AND arch = "
		        "$3 "
		        "AND cpu_desc = $4 AND nr_cpus = $5",
		        texts, sizeof(texts) / sizeof(texts[0]), 0, &found);
		*id = (uint64_t)found;
	}
	text_fini(&cpus);
	return rc;
}

static int table_exists(struct postgresql *p, size_t table)
{
	const char *name = export_table_name(table);
	int64_t found;

	TRY(server_number(&p->server,
	        "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
	        "WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND c.relname = $1",
	        &name, 1, 0, &found));
	p->start.exists[table] = found != 0;
	return 0;
}

static int column_exists(struct postgresql *p, const char *table, const char *column, bool *exists)
{
	const char *names[] = {table, column};
	int64_t found;

	TRY(server_number(&p->server,
	        "SELECT 1 FROM information_schema.columns WHERE table_schema = 'public' AND "
	        "table_name = $1 AND column_name = $2",
	        names, 2, 0, &found));
	*exists = found != 0;
	return 0;
}

/* Reads what a database has, under a lock that other exports wait for. */
static int read_start(struct postgresql *p)
{
	bool all_columns;

	TRY(table_exists(p, EXPORT_RECORDINGS));
	if (!p->start.exists[EXPORT_RECORDINGS]) {
		return error_set(error_of(p), SONDE_EARG, NO_OFFSET,
		        "database %s was not made by sonde export, as it has no table of "
		        "recordings: --force replaces it",
		        p->server.database);
	}
	TRY(server_run(&p->server, "LOCK TABLE recordings IN SHARE ROW EXCLUSIVE MODE"));
	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		TRY(table_exists(p, t));
		TRY(p->start.exists[t] ? read_last(p, t) : 0);
	}
	TRY(column_exists(p, "comms", "has_calls", &p->had_calls));
	TRY(column_exists(p, "samples", "period", &all_columns));
	return export_check_columns(p->session, p->server.database, p->options, all_columns);
}

/* ---- tables and rows ---- */

static int add_table(struct postgresql *p, const struct sonde_export_table *t, struct text *sql)
{
	struct text name = {0};

	if (!p->start.exists[t->number]) {
		export_schema_create(sql, EXPORT_POSTGRESQL, t);
	}
	if (export_schema_grows(t->number)) {
		text_printf(&name, "sonde.%s_%llu", t->name,
		        (unsigned long long)p->start.last[EXPORT_RECORDINGS] + 1);
		text_printf(sql, "CREATE TABLE %.*s (LIKE %s);\n", (int)name.n, name.p, t->name);
	} else {
		text_str(&name, t->name);
		export_schema_columns(&name, t);
	}
	text_char(&name, '\0');
	if (name.failed) {
		text_fini(&name);
		return SONDE_ENOMEM;
	}
	p->server.targets[t->number] = name.p;
	return 0;
}

/*
 * A foreign key that is added to a table with rows costs a join, which is half of the server's work. One
 * of an empty table costs nothing, and its rows go unchecked if the user may switch triggers off: each row
 * refers to rows of the same export. Tables then adopt the keys of their partitions.
 */
static int find_keys_first(struct postgresql *p)
{
	int version = p->pq.version(p->server.conn);
	int64_t may;

	TRY(server_number(&p->server,
	        version >= PARAMETERS ? "SELECT 1 WHERE has_parameter_privilege("
	                                "'session_replication_role', 'SET')"
	                              : "SELECT 1 FROM pg_roles WHERE rolname = current_user AND "
	                                "rolsuper",
	        NULL, 0, 0, &may));
	for (size_t i = 0; i < sizeof(adopts_from) / sizeof(adopts_from[0]); i++) {
		if (version / 10000 == adopts_from[i] / 10000) {
			may = may != 0 && version >= adopts_from[i];
		}
	}
	p->keys_first = may != 0;
	return 0;
}

static void put_keys_first(struct postgresql *p, struct text *sql)
{
	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		if (p->server.targets[t] != NULL && export_schema_grows(t)) {
			export_schema_references(sql, t, p->server.targets[t]);
		}
	}
	text_str(sql, "SET LOCAL session_replication_role = replica;\n");
}

static int on_begin(void *arg, const struct sonde_export_table *tables, size_t n)
{
	struct postgresql *p = arg;
	struct text sql = {0};
	int rc = find_keys_first(p);

	text_str(&sql, "CREATE SCHEMA IF NOT EXISTS sonde;\n");
	for (size_t i = 0; i < n && rc >= 0; i++) {
		rc = tables[i].ncolumns != 0 ? add_table(p, &tables[i], &sql) : 0;
	}
	if (rc < 0) {
		text_fini(&sql);
		return rc;
	}
	if (p->keys_first) {
		put_keys_first(p, &sql);
	}
	return server_run_text(&p->server, &sql);
}

static int on_row(
        void *arg, const struct sonde_export_table *t, const struct sonde_export_value *values)
{
	struct postgresql *p = arg;
	uint64_t id = (uint64_t)values[0].number;

	p->last[t->number] = id > p->last[t->number] ? id : p->last[t->number];
	return server_add_row(&p->server, t, values);
}

/* ---- after the rows ---- */

/* Makes the indexes of a partition, and puts it into its table. Keys to other tables come with that. */
static void put_attach(struct postgresql *p, size_t table, struct text *sql)
{
	const char *partition = p->server.targets[table];
	size_t ids = table >= EXPORT_PTWRITE && table <= EXPORT_PWRX ? EXPORT_SAMPLES : table;

	text_printf(sql, "ALTER TABLE %s ADD PRIMARY KEY (id);\n", partition);
	if (table == EXPORT_CALLS) {
		text_printf(sql,
		        "CREATE INDEX ON %s (parent_call_path_id);\n"
		        "CREATE INDEX ON %s (parent_id);\n",
		        partition, partition);
	}
	text_printf(sql, "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (",
	        export_table_name(table), partition);
	if (p->start.exists[table]) {
		text_printf(sql, "%llu", (unsigned long long)p->start.last[ids] + 1);
	} else {
		text_str(sql, "MINVALUE");
	}
	text_printf(sql, ") TO (%llu);\n", (unsigned long long)p->last[ids] + 1);
}

/* What a table gets after its rows. */
static void put_table_end(struct postgresql *p, size_t table, bool kept, struct text *sql)
{
	bool is_new = !p->start.exists[table];

	if (export_schema_grows(table) && p->server.has[table]) {
		put_attach(p, table, sql);
	} else if (export_schema_grows(table)) {
		text_printf(sql, "DROP TABLE %s;\n", p->server.targets[table]);
	}
	if (is_new && !kept) {
		text_printf(sql, "DROP TABLE %s;\n", export_table_name(table));
	} else if (is_new) {
		if (table == EXPORT_CALLS) {
			export_schema_call_indexes(sql);
		}
		export_schema_view(sql, EXPORT_POSTGRESQL, table);
	}
}

static int run_step(struct postgresql *p, struct text *sql, size_t step)
{
	session_progress(p->session, step, (uint64_t)EXPORT_TABLES * 2);
	return sql->n != 0 ? server_run_text(&p->server, sql) : 0;
}

/* Puts partitions into their tables, drops tables without rows, and makes views, indexes and keys. */
static int finish(struct postgresql *p)
{
	bool has[EXPORT_TABLES], kept[EXPORT_TABLES], unused[EXPORT_TABLES];
	bool power, power_before = export_schema_kept(p->start.exists, unused);
	struct text sql = {0};

	TRY(server_flush_rows(&p->server));
	TRY(p->keys_first ? server_run(&p->server, "SET LOCAL session_replication_role = origin")
	                  : 0);
	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		has[t] = p->server.has[t] || p->start.exists[t];
	}
	power = export_schema_kept(has, kept);
	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		if (p->server.targets[t] != NULL) {
			put_table_end(p, t, kept[t], &sql);
		}
		TRY(run_step(p, &sql, t));
	}
	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		if (p->server.targets[t] != NULL && kept[t] && !p->start.exists[t]) {
			export_schema_references(&sql, t, export_table_name(t));
		}
		TRY(run_step(p, &sql, EXPORT_TABLES + t));
	}
	if (power && !power_before) {
		export_schema_power_view(&sql, EXPORT_POSTGRESQL);
	}
	if (p->options->calls) {
		text_str(&sql, p->had_calls ? "" : "ALTER TABLE comms ADD has_calls boolean;\n");
		export_schema_has_calls(
		        &sql, p->had_calls ? (int64_t)p->start.last[EXPORT_COMMS] : -1);
	}
	text_str(&sql, "COMMIT");
	return server_run_text(&p->server, &sql);
}

/* Writes everything, in one transaction, into the database of the connection. */
static int write_rows(struct postgresql *p, bool exists)
{
	const struct sonde_export_sink sink = {
	        .size = sizeof(sink), .arg = p, .begin = on_begin, .row = on_row};

	p->start = (struct export_start){.find_host = find_host, .arg = p};
	TRY(server_run(&p->server, "BEGIN"));
	TRY(exists ? read_start(p) : 0);
	TRY(export_run(p->session, p->options, &sink, &p->start));
	return finish(p);
}

/* ---- databases ---- */

/* Appends the quoted name of the database with this suffix. */
static int put_database(struct postgresql *p, struct text *sql, const char *suffix)
{
	struct text name = {0};
	size_t n = strlen(p->address.database), room = NAME_MAX_SIZE - strlen(suffix);
	bool done;

	text_bytes(&name, p->address.database, n < room ? n : room);
	text_str(&name, suffix);
	text_char(&name, '\0');
	done = !name.failed && server_put_name(&p->admin, sql, name.p);
	text_fini(&name);
	return done ? 0 : SONDE_ENOMEM;
}

/* Runs a statement about the database with this suffix. */
static int run_about(
        struct postgresql *p, const char *before, const char *suffix, const char *after)
{
	struct text sql = {0};
	int rc;

	text_str(&sql, before);
	rc = put_database(p, &sql, suffix);
	text_str(&sql, after);
	if (rc < 0) {
		text_fini(&sql);
		return rc;
	}
	return server_run_text(&p->admin, &sql);
}

static int put_rename(struct postgresql *p, struct text *sql, const char *from, const char *to)
{
	text_str(sql, "ALTER DATABASE ");
	TRY(put_database(p, sql, from));
	text_str(sql, " RENAME TO ");
	TRY(put_database(p, sql, to));
	text_str(sql, ";");
	return 0;
}

/* The new database gets its name; replace: the one that had it gets another, or neither does. */
static int rename_databases(struct postgresql *p, bool replace)
{
	struct text sql = {0};
	int rc = replace ? put_rename(p, &sql, "", REPLACED) : 0;

	rc = rc < 0 ? rc : put_rename(p, &sql, INCOMPLETE, "");
	if (rc < 0) {
		text_fini(&sql);
		return rc;
	}
	return server_run_text(&p->admin, &sql); /* statements of one text are one transaction */
}

static int replace_database(struct postgresql *p)
{
	TRY(run_about(p, "DROP DATABASE IF EXISTS ", REPLACED, ""));
	TRY(rename_databases(p, true));
	return run_about(p, "DROP DATABASE ", REPLACED, "");
}

static int open_incomplete(struct postgresql *p)
{
	struct text name = {0};
	size_t room = NAME_MAX_SIZE - strlen(INCOMPLETE), n = strlen(p->address.database);
	int rc = SONDE_ENOMEM;

	text_bytes(&name, p->address.database, n < room ? n : room);
	text_str(&name, INCOMPLETE);
	text_char(&name, '\0');
	if (!name.failed) {
		rc = server_open(
		        &p->server, &p->pq, error_of(p), &p->address, name.p, p->address.database);
	}
	text_fini(&name);
	return rc;
}

/* After a failure. If the server is gone, the next export of this name removes the rest. */
static void drop_incomplete(struct postgresql *p)
{
	struct error unused = {0};

	p->admin.err = &unused;
	(void)run_about(p, "DROP DATABASE IF EXISTS ", INCOMPLETE, "");
	p->admin.err = error_of(p);
}

static int create_database(struct postgresql *p, bool replace)
{
	int rc;

	TRY(run_about(p, "DROP DATABASE IF EXISTS ", INCOMPLETE, ""));
	TRY(run_about(p, "CREATE DATABASE ", INCOMPLETE,
	        " TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"));
	rc = open_incomplete(p);
	if (rc >= 0) {
		rc = write_rows(p, false);
	}
	server_close(&p->server);
	if (rc >= 0) {
		rc = replace ? replace_database(p) : rename_databases(p, false);
	}
	if (rc < 0) {
		drop_incomplete(p);
	}
	return rc;
}

/* Exports to one database wait for each other from here on. */
static int open_admin(struct postgresql *p, bool *exists)
{
	const char *name = p->address.database;
	struct text sql = {0};
	int64_t found;

	TRY(server_open(&p->admin, &p->pq, error_of(p), &p->address, "postgres", name));
	text_printf(
	        &sql, "SELECT pg_advisory_lock(%lld)", (long long)hash_bytes(name, strlen(name)));
	TRY(server_run_text(&p->admin, &sql));
	TRY(server_number(
	        &p->admin, "SELECT 1 FROM pg_database WHERE datname = $1", &name, 1, 0, &found));
	*exists = found != 0;
	return 0;
}

static int open_existing(struct postgresql *p)
{
	return server_open(&p->server, &p->pq, error_of(p), &p->address, p->address.database,
	        p->address.database);
}

static int write_database(struct postgresql *p)
{
	bool exists;
	int rc;

	if (p->options->append) { /* whose user may have no rights on others than this database */
		rc = open_existing(p);
		if (rc >= 0) {
			return write_rows(p, true);
		}
		server_close(&p->server);
		TRY(rc == SONDE_EOUTPUT ? 0 : rc);
	}
	TRY(open_admin(p, &exists));
	if (exists && p->options->append) {
		TRY(open_existing(p));
		return write_rows(p, true);
	}
	if (exists && !p->options->force) {
		return error_set(error_of(p), SONDE_EARG, NO_OFFSET,
		        "database %s exists: --append adds to it, --force replaces it",
		        p->address.database);
	}
	return create_database(p, exists);
}

int sonde_export_postgresql(
        struct sonde_session *s, const struct sonde_export_options *options, const char *conninfo)
{
	struct sonde_export_options o;
	struct postgresql p = {.session = s, .options = &o};
	int rc;

	TRY(export_options(s, options, &o));
	if (!libpq_load(&p.pq)) {
		return error_set(session_error(s), SONDE_EUNSUPPORTED, NO_OFFSET,
		        "libpq, the library of PostgreSQL, is not installed");
	}
	TRY(server_address_parse(session_error(s), &p.pq, conninfo, &p.address));
	if (strlen(p.address.database) > NAME_MAX_SIZE) {
		rc = error_set(session_error(s), SONDE_EARG, NO_OFFSET,
		        "the name of database %s is longer than %u bytes", p.address.database,
		        NAME_MAX_SIZE);
	} else {
		rc = write_database(&p);
	}
	server_close(&p.server);
	server_close(&p.admin);
	server_address_fini(&p.pq, &p.address);
	if (rc == SONDE_EOUTPUT) {
		(void)error_append(session_error(s), "; nothing was kept");
	}
	return rc < 0 ? error_ensure(session_error(s), rc) : 0;
}
