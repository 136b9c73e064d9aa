/* SPDX-License-Identifier: MIT */
#include "export/server.h"

#include "core/array.h"

#include <endian.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define OLDEST       120000 /* PostgreSQL 12: foreign keys to partitioned tables */
#define ROWS_MAX     ((size_t)1 << 20) /* bytes of rows of a table before they are sent */
#define FLUSH_ROWS   64u
#define OPTIONS_MAX  128u
#define NUMBERS_BASE 10

/* ---- addresses ---- */

static bool is_conninfo(const char *text)
{
	return strchr(text, '=') != NULL || strncmp(text, "postgres://", 11) == 0 ||
	       strncmp(text, "postgresql://", 13) == 0;
}

/* The value of a word, or NULL. */
static const char *option_value(const PQconninfoOption *options, const char *keyword)
{
	for (; options != NULL && options->keyword != NULL; options++) {
		if (strcmp(options->keyword, keyword) == 0) {
			return options->val;
		}
	}
	return NULL;
}

int server_address_parse(
        struct error *err, const struct libpq *pq, const char *conninfo, struct server_address *out)
{
	bool whole = conninfo != NULL && is_conninfo(conninfo);
	char *why = NULL;

	*out = (struct server_address){.options = whole ? pq->parse(conninfo, &why) : NULL};
	if (whole && out->options == NULL) {
		(void)error_set(err, SONDE_EARG, NO_OFFSET, "not an address of a database: %.*s",
		        (int)strcspn(why != NULL ? why : "", "\n"), why != NULL ? why : "");
		pq->free(why);
		return SONDE_EARG;
	}
	out->defaults = pq->defaults();
	out->database =
	        conninfo != NULL && !whole ? conninfo : option_value(out->options, "dbname");
	if (out->database == NULL) {
		out->database = option_value(out->defaults, "dbname");
	}
	if (out->database == NULL || out->database[0] == '\0') {
		out->database = "perf";
	}
	return 0;
}

void server_address_fini(const struct libpq *pq, struct server_address *a)
{
	if (a->options != NULL) {
		pq->info_free(a->options);
	}
	if (a->defaults != NULL) {
		pq->info_free(a->defaults);
	}
}

/* ---- failures ---- */

/* A message of the server in one line. */
static int failed_text(struct server *c, const char *what, const char *message)
{
	struct text line = {0};
	size_t n = strlen(message);
	int rc = SONDE_ENOMEM;

	while (n != 0 && message[n - 1] == '\n') {
		n--;
	}
	for (size_t i = 0; i < n; i++) {
		if (message[i] == '\n') {
			text_str(&line, "; ");
		} else {
			text_char(&line, message[i]);
		}
	}
	text_char(&line, '\0');
	if (!line.failed) {
		rc = error_set(c->err, SONDE_EOUTPUT, NO_OFFSET, "cannot %s database %s: %s", what,
		        c->database, n != 0 ? line.p : "unknown reason");
	}
	text_fini(&line);
	return rc;
}

/* Of the last failure of the connection. */
static int failed(struct server *c, const char *what)
{
	PGresult *r = c->pq->next_result(c->conn); /* has the reason why a COPY ended */
	const char *message = r != NULL ? c->pq->result_error(r) : "";
	int rc = failed_text(c, what, message[0] != '\0' ? message : c->pq->error(c->conn));

	c->pq->clear(r);
	return rc;
}

/* ---- connections and statements ---- */

int server_open(struct server *c, const struct libpq *pq, struct error *err,
        const struct server_address *a, const char *database, const char *name)
{
	const char *keys[OPTIONS_MAX] = {"dbname", "client_encoding", "fallback_application_name"};
	const char *values[OPTIONS_MAX] = {database, "UTF8", "sonde"};
	size_t n = 3;

	*c = (struct server){.pq = pq, .err = err, .database = name, .open = EXPORT_TABLES};
	for (const PQconninfoOption *o = a->options;
	        o != NULL && o->keyword != NULL && n < OPTIONS_MAX - 1; o++) {
		if (o->val != NULL && strcmp(o->keyword, "dbname") != 0 &&
		        strcmp(o->keyword, "client_encoding") != 0) {
			keys[n] = o->keyword;
			values[n++] = o->val;
		}
	}
	c->conn = pq->connect(keys, values, 0);
	if (c->conn == NULL) {
		return error_nomem(err);
	}
	if (pq->status(c->conn) != CONNECTION_OK) {
		return failed_text(c, "connect to", pq->error(c->conn));
	}
	if (pq->version(c->conn) < OLDEST) {
		return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "the server of database %s is too old: it is PostgreSQL %d, and databases "
		        "are written to %d or later",
		        name, pq->version(c->conn) / 10000, OLDEST / 10000);
	}
	return server_run(c, "SET client_min_messages = warning; SET search_path = public");
}

void server_close(struct server *c)
{
	if (c->conn != NULL) {
		c->pq->finish(c->conn);
	}
	c->conn = NULL;
	for (size_t i = 0; i < EXPORT_TABLES; i++) {
		text_fini(&c->rows[i]);
		free(c->targets[i]);
		c->targets[i] = NULL;
	}
}

static int check_result(struct server *c, PGresult *r, const char *what)
{
	ExecStatusType status = c->pq->result_status(r);
	int rc = 0;

	if (r == NULL) {
		return failed(c, what);
	}
	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN) {
		const char *message = c->pq->result_error(r);

		rc = failed_text(c, what, message[0] != '\0' ? message : c->pq->error(c->conn));
	}
	c->pq->clear(r);
	return rc;
}

int server_run(struct server *c, const char *sql)
{
	return check_result(c, c->pq->exec(c->conn, sql), "write");
}

int server_run_text(struct server *c, struct text *sql)
{
	int rc;

	text_char(sql, '\0');
	rc = sql->failed ? SONDE_ENOMEM : server_run(c, sql->p);
	text_fini(sql);
	return rc;
}

int server_number(struct server *c, const char *sql, const char *const *parameters,
        size_t nparameters, int64_t missing, int64_t *value)
{
	PGresult *r =
	        c->pq->exec_params(c->conn, sql, (int)nparameters, NULL, parameters, NULL, NULL, 0);

	*value = missing;
	if (c->pq->result_status(r) == PGRES_TUPLES_OK && c->pq->rows(r) > 0 &&
	        c->pq->value(r, 0, 0)[0] != '\0') {
		*value = strtoll(c->pq->value(r, 0, 0), NULL, NUMBERS_BASE);
	}
	return check_result(c, r, "read");
}

bool server_put_name(struct server *c, struct text *out, const char *name)
{
	char *quoted = c->pq->quote(c->conn, name, strlen(name));

	if (quoted == NULL) {
		return false;
	}
	text_str(out, quoted);
	c->pq->free(quoted);
	return !out->failed;
}

/* ---- rows ---- */

static void put_u16(struct text *t, uint16_t v)
{
	const char b[2] = {(char)(v >> 8), (char)v};

	text_bytes(t, b, sizeof(b));
}

static inline char *store_be32(char *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static void put_u32(struct text *t, uint32_t v)
{
	char b[4];

	(void)store_be32(b, v);
	text_bytes(t, b, sizeof(b));
}

static inline char *store_number(char *p, enum sonde_export_type type, int64_t number)
{
	uint64_t v = htobe64((uint64_t)number);

	if (type == SONDE_EXPORT_BOOLEAN) {
		p = store_be32(p, 1);
		*p++ = (char)(number != 0);
	} else if (type == SONDE_EXPORT_INTEGER) {
		p = store_be32(store_be32(p, 4), (uint32_t)number);
	} else {
		p = store_be32(p, sizeof(v));
		memcpy(p, &v, sizeof(v));
		p += sizeof(v);
	}
	return p;
}

/* Waits until the server took what was put so far, so that at most one piece of rows is in memory. */
static int drain(struct server *c)
{
	int left;

	while ((left = c->pq->flush(c->conn)) > 0) {
		struct pollfd fd = {.fd = c->pq->socket(c->conn), .events = POLLOUT};

		if (poll(&fd, 1, -1) < 0) {
			continue; /* a signal: flush says if the connection is gone */
		}
	}
	return left < 0 ? failed(c, "write") : 0;
}

static int end_copy(struct server *c)
{
	static const char end[2] = {-1, -1};
	PGresult *r;
	int rc;

	if (c->open == EXPORT_TABLES) {
		return 0;
	}
	c->open = EXPORT_TABLES;
	if (c->pq->put(c->conn, end, sizeof(end)) != 1 || c->pq->put_end(c->conn, NULL) != 1) {
		return failed(c, "write");
	}
	rc = check_result(c, c->pq->next_result(c->conn), "write");
	while ((r = c->pq->next_result(c->conn)) != NULL) {
		c->pq->clear(r);
	}
	return rc;
}

static int begin_copy(struct server *c, size_t table)
{
	static const char header[] =
	        "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0"; /* no flags, no extension */
	struct text sql = {0};

	TRY(end_copy(c));
	/* Tables that grow are partitions of this transaction: nobody can see their rows too early. */
	text_printf(&sql, "COPY %s FROM STDIN (FORMAT binary%s)", c->targets[table],
	        export_schema_grows(table) ? ", FREEZE" : "");
	TRY(server_run_text(c, &sql));
	c->open = table;
	return c->pq->put(c->conn, header, sizeof(header)) == 1 ? 0 : failed(c, "write");
}

static int send_rows(struct server *c, size_t table)
{
	struct text *rows = &c->rows[table];

	if (rows->n == 0) {
		return 0;
	}
	if (c->open != table) {
		TRY(begin_copy(c, table));
	}
	TRY(drain(c));
	if (c->pq->put(c->conn, rows->p, (int)rows->n) != 1) {
		return failed(c, "write");
	}
	rows->n = 0;
	return 0;
}

/* Rows that a table's rows refer to are sent before them. */
static int send_with_targets(struct server *c, size_t table)
{
	if (!export_schema_grows(table)) {
		for (size_t t = 0; t < table; t++) {
			TRY(!export_schema_grows(t) ? send_rows(c, t) : 0);
		}
	}
	return send_rows(c, table);
}

int server_add_row(struct server *c, const struct sonde_export_table *t,
        const struct sonde_export_value *values)
{
	struct text *rows = &c->rows[t->number];

	c->has[t->number] = true;
	put_u16(rows, (uint16_t)t->ncolumns);
	for (size_t i = 0; i < t->ncolumns; i++) {
		const enum sonde_export_type type = t->columns[i].type;
		char *p;

		if (type == SONDE_EXPORT_TEXT) {
			put_u32(rows, (uint32_t)values[i].text_size);
			text_bytes(rows, values[i].text, values[i].text_size);
		} else if ((p = text_room(rows, 12)) != NULL) {
			rows->n += (size_t)(store_number(p, type, values[i].number) - p);
		}
	}
	if (rows->failed) {
		return error_nomem(c->err);
	}
	if (rows->n >= ROWS_MAX) {
		return send_with_targets(c, t->number);
	}
	if (c->open != EXPORT_TABLES && ++c->since_flush % FLUSH_ROWS == 0) {
		return c->pq->flush(c->conn) < 0 ? failed(c, "write") : 0;
	}
	return 0;
}

int server_flush_rows(struct server *c)
{
	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		TRY(send_rows(c, t));
	}
	TRY(drain(c));
	return end_copy(c);
}
