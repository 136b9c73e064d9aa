/* SPDX-License-Identifier: MIT */
#include "db/db.h"

#include "core/escape.h"
#include "core/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sonde_db *sonde_db_new(void)
{
	return calloc(1, sizeof(struct sonde_db));
}

static void close_db(struct sonde_db *d)
{
	if (d->engine != NULL) {
		d->engine->close(d);
	}
	free(d->name);
	d->engine = NULL;
	d->name = NULL;
}

void sonde_db_free(struct sonde_db *d)
{
	if (d != NULL) {
		close_db(d);
		free(d);
	}
}

const struct sonde_error *sonde_db_error(const struct sonde_db *d)
{
	return error_show(&d->error);
}

/* Whether it is a connection string of libpq, and no file. */
static bool is_server(const char *name)
{
	return access(name, F_OK) != 0 &&
	       (strchr(name, '=') != NULL || strncmp(name, "postgresql://", 13) == 0 ||
	               strncmp(name, "postgres://", 11) == 0);
}

int sonde_db_open(struct sonde_db *d, const char *name)
{
	int rc;

	close_db(d);
	d->name = strdup(name);
	if (d->name == NULL) {
		return error_nomem(&d->error);
	}
	d->engine = is_server(name) ? &db_postgresql : &db_sqlite;
	rc = d->engine->open(d, name);
	if (rc < 0) {
		close_db(d);
	}
	return rc;
}

/* Copies the options of a caller and checks them. */
static int take_options(struct sonde_db *d, const struct sonde_db_options *given,
        struct sonde_db_options *own, const struct db_question **question)
{
	*own = (struct sonde_db_options){0};
	TRY(options_copy(own, sizeof(*own), given, &d->error));
	*question = db_question(own->question);
	if (*question == NULL || (unsigned)own->sort > SONDE_DB_BY_MAX) {
		return error_set(&d->error, SONDE_EARG, NO_OFFSET,
		        "there is no such question, or no such order");
	}
	if ((own->function != NULL) + (own->to != NULL) != (int)(*question)->functions ||
	        (own->function == NULL && own->to != NULL)) {
		return error_set(&d->error, SONDE_EARG, NO_OFFSET,
		        "%u functions have to be named for '%s'", (*question)->functions,
		        (*question)->name);
	}
	return 0;
}

static int check_tables(struct sonde_db *d, const struct db_question *question)
{
	for (size_t i = 0; i < DB_TABLES_MAX && question->tables[i] != NULL; i++) {
		const char *table = question->tables[i];
		int has = d->engine->has_table(d, table);

		TRY(has);
		if (has == 0 && strncmp(table, "call", 4) == 0) {
			return error_set(&d->error, SONDE_EFORMAT, NO_OFFSET,
			        "%s has no table '%s': calls are in databases of recordings with "
			        "traces, from 'sonde export ... calls'",
			        d->name, table);
		}
		if (has == 0) {
			return error_set(&d->error, SONDE_EFORMAT, NO_OFFSET,
			        "%s has no table '%s': it is no database of 'sonde export'",
			        d->name, table);
		}
	}
	return 0;
}

static const struct db_question has_function = {.name = "function"};

static int check_function(struct sonde_db *d, const char *name)
{
	static const char sql[] = "SELECT id FROM symbols WHERE name = $1 LIMIT 1";
	struct db_query q = {.question = &has_function,
	        .params = {{.name = "function", .text = name}},
	        .nparams = 1};
	int rc = SONDE_ENOMEM;

	if (name == NULL) {
		return 0;
	}
	text_bytes(&q.sql, sql, sizeof(sql));
	if (!q.sql.failed) {
		rc = d->engine->begin(d, &q);
		rc = rc >= 0 ? d->engine->next(d) : rc;
		d->engine->end(d);
	}
	db_query_fini(&q);
	if (rc == 0) {
		return error_set(&d->error, SONDE_EARG, NO_OFFSET,
		        "%s has no function '%s': 'sonde db top' lists those that were called",
		        d->name, name);
	}
	return rc < 0 ? rc : 0;
}

static int answer(struct sonde_db *d, const struct sonde_db_options *o,
        const struct db_question *question, sonde_write_fn write, void *arg)
{
	struct db_query q;
	int rc;

	TRY(check_tables(d, question));
	TRY(check_function(d, o->function));
	TRY(check_function(d, o->to));
	rc = db_query_make(&q, o);
	if (rc >= 0) {
		rc = d->engine->begin(d, &q);
		rc = rc >= 0 ? db_print(d, question, o->json, write, arg) : rc;
		d->engine->end(d);
	}
	db_query_fini(&q);
	return rc;
}

int sonde_db_write(
        struct sonde_db *d, const struct sonde_db_options *options, sonde_write_fn write, void *arg)
{
	const struct db_question *question;
	struct sonde_db_options o;
	int rc;

	TRY(take_options(d, options, &o, &question));
	if (d->engine == NULL) {
		return error_set(&d->error, SONDE_EARG, NO_OFFSET,
		        "no database is open: call sonde_db_open first");
	}
	rc = answer(d, &o, question, write, arg);
	return rc < 0 ? error_ensure(&d->error, rc) : rc;
}

/* As a comment; a name may have any bytes. */
static void put_value(struct text *out, size_t number, const struct db_param *p)
{
	text_printf(out, "-- $%zu: ", number);
	if (p->text == NULL) {
		text_printf(out, "%lld", (long long)p->number);
	} else {
		text_plain(out, p->text);
	}
	text_char(out, '\n');
}

int sonde_db_write_sql(
        struct sonde_db *d, const struct sonde_db_options *options, sonde_write_fn write, void *arg)
{
	const struct db_question *question;
	struct sonde_db_options o;
	struct text out = {0};
	struct db_query q;
	int rc;

	TRY(take_options(d, options, &o, &question));
	rc = db_query_make(&q, &o);
	for (size_t i = 0; i < q.nparams; i++) {
		put_value(&out, i + 1, &q.params[i]);
	}
	if (rc >= 0) {
		text_str(&out, q.sql.p);
		text_str(&out, ";\n");
		rc = text_flush(&out, 0, write, arg);
	}
	text_fini(&out);
	db_query_fini(&q);
	return rc < 0 ? error_ensure(&d->error, rc) : 0;
}
