/* SPDX-License-Identifier: MIT */
/* PostgreSQL databases, through libpq; rows come one by one. */
#include "db/db.h"

#include "export/libpq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OID_INT8 20
#define OID_TEXT 25

struct postgres {
	struct libpq pq;
	PGconn *connection;
	PGresult *row; /* NULL: none */
};

/* Lines of the server become one. */
static int failed(struct sonde_db *d, const char *what, const char *message)
{
	char text[512];
	size_t n = strlen(message);

	n = n < sizeof(text) - 1 ? n : sizeof(text) - 1;
	memcpy(text, message, n);
	while (n != 0 && text[n - 1] == '\n') {
		n--;
	}
	text[n] = '\0';
	for (char *p = text; (p = strchr(p, '\n')) != NULL;) {
		*p = ' ';
	}
	return error_set(&d->error, SONDE_EIO, NO_OFFSET, "cannot %s %s: %s", what, d->name, text);
}

static int postgres_open(struct sonde_db *d, const char *name)
{
	static const char *const keywords[] = {
	        "dbname", "client_encoding", "options", "fallback_application_name", NULL};
	const char *const values[] = {
	        name, "UTF8", "-c default_transaction_read_only=on", "sonde", NULL};
	struct postgres *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		return error_nomem(&d->error);
	}
	d->connection = p;
	if (!libpq_load(&p->pq)) {
		return error_set(&d->error, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "cannot open %s: libpq.so.5 is not installed", name);
	}
	p->connection = p->pq.connect(keywords, values, 1);
	if (p->connection == NULL) {
		return error_nomem(&d->error);
	}
	return p->pq.status(p->connection) == CONNECTION_OK
	               ? 0
	               : failed(d, "open", p->pq.error(p->connection));
}

/* Reads what is left of the answer. */
static void postgres_end(struct sonde_db *d)
{
	struct postgres *p = d->connection;

	do {
		p->pq.clear(p->row);
		p->row = p->pq.next_result(p->connection);
	} while (p->row != NULL);
}

static void postgres_close(struct sonde_db *d)
{
	struct postgres *p = d->connection;

	if (p != NULL && p->connection != NULL) {
		p->pq.clear(p->row);
		p->pq.finish(p->connection);
	}
	free(p);
	d->connection = NULL;
}

static int postgres_begin(struct sonde_db *d, const struct db_query *q)
{
	struct postgres *p = d->connection;
	char numbers[DB_PARAMS_MAX][24];
	const char *values[DB_PARAMS_MAX];
	Oid types[DB_PARAMS_MAX];

	for (size_t i = 0; i < q->nparams; i++) {
		const struct db_param *param = &q->params[i];

		(void)snprintf(numbers[i], sizeof(numbers[i]), "%lld", (long long)param->number);
		types[i] = param->text != NULL ? OID_TEXT : OID_INT8;
		values[i] = param->text != NULL ? param->text : numbers[i];
	}
	if (p->pq.send_params(
	            p->connection, q->sql.p, (int)q->nparams, types, values, NULL, NULL, 0) == 0) {
		return failed(d, "read", p->pq.error(p->connection));
	}
	(void)p->pq.single_row(p->connection);
	return 0;
}

static int postgres_next(struct sonde_db *d)
{
	struct postgres *p = d->connection;

	p->pq.clear(p->row);
	p->row = p->pq.next_result(p->connection);
	if (p->row == NULL || p->pq.result_status(p->row) == PGRES_TUPLES_OK) {
		return 0;
	}
	return p->pq.result_status(p->row) == PGRES_SINGLE_TUPLE
	               ? 1
	               : failed(d, "read", p->pq.result_error(p->row));
}

static int postgres_has_table(struct sonde_db *d, const char *table)
{
	struct db_query q = {.params = {{.name = "table", .text = table}}, .nparams = 1};
	int rc = SONDE_ENOMEM;

	text_str(&q.sql, "SELECT 1 WHERE to_regclass($1) IS NOT NULL");
	text_char(&q.sql, '\0');
	if (!q.sql.failed) {
		rc = postgres_begin(d, &q);
		rc = rc >= 0 ? postgres_next(d) : rc;
		postgres_end(d);
	}
	db_query_fini(&q);
	return rc;
}

static struct db_value postgres_text(struct sonde_db *d, unsigned column)
{
	struct postgres *p = d->connection;

	return (struct db_value){.null = p->pq.is_null(p->row, 0, (int)column) != 0,
	        .text = p->pq.value(p->row, 0, (int)column),
	        .size = (size_t)p->pq.length(p->row, 0, (int)column)};
}

static struct db_value postgres_number(struct sonde_db *d, unsigned column)
{
	struct db_value v = postgres_text(d, column);

	v.number = v.null ? 0 : strtoll(v.text, NULL, 10);
	return v;
}

const struct db_engine db_postgresql = {.open = postgres_open,
        .close = postgres_close,
        .has_table = postgres_has_table,
        .begin = postgres_begin,
        .next = postgres_next,
        .number = postgres_number,
        .text = postgres_text,
        .end = postgres_end};
