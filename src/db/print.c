/* SPDX-License-Identifier: MIT */
/* Rows of an answer as text and as JSON; text of a database is always escaped. */
#include "db/db.h"

#include "core/escape.h"
#include "core/json.h"

#define PIECE ((size_t)64 * 1024) /* size of a piece of output, in bytes */
#define NS    1000000000u
#define DEPTH 64u /* levels that text indents */

struct printer {
	struct sonde_db *db;
	const struct db_column *columns;
	struct text out;
	struct json json; /* writes to out */
	int64_t depth; /* of this row */
};

static bool is_text(const struct db_column *c)
{
	return c->kind == DB_TEXT || c->kind == DB_FUNCTION || c->kind == DB_OBJECT;
}

static struct db_value value(struct printer *p, unsigned column)
{
	const struct db_engine *e = p->db->engine;

	return is_text(&p->columns[column]) ? e->text(p->db, column) : e->number(p->db, column);
}

static void put_title(struct printer *p)
{
	text_char(&p->out, '#');
	for (const struct db_column *c = p->columns; c->name != NULL; c++) {
		int width = c->width;

		if (c == p->columns) { /* without the '#' */
			width--;
		} else if (c->title != NULL) {
			text_str(&p->out, is_text(c) ? "  " : " ");
		}
		if (c->title != NULL) {
			text_padded(&p->out, c->title, width);
		}
	}
	text_char(&p->out, '\n');
}

static void put_number(struct text *out, int64_t number, int width)
{
	char digits[24];
	size_t n = sizeof(digits);
	uint64_t v = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

	digits[--n] = '\0';
	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v != 0);
	if (number < 0) {
		digits[--n] = '-';
	}
	text_padded(out, digits + n, width);
}

static void put_time(struct text *out, int64_t ns)
{
	uint64_t v = ns > 0 ? (uint64_t)ns : 0;

	text_u64(out, v / NS, 6, ' ');
	text_char(out, '.');
	text_u64(out, v % NS, 9, '0');
}

static void put_name(struct printer *p, const struct db_value *v, int width)
{
	size_t from = p->out.n;

	text_plain_bytes(&p->out, v->text, v->size);
	while (width < 0 && p->out.n - from < (size_t)-width && !p->out.failed) {
		text_char(&p->out, ' ');
	}
}

static void put_column(struct printer *p, unsigned column)
{
	const struct db_column *c = &p->columns[column];
	struct db_value v = value(p, column);

	if (column != 0 && c->title != NULL) {
		text_str(&p->out, is_text(c) ? "  " : " ");
	}
	if (c->kind == DB_DEPTH) {
		p->depth = v.number;
		return;
	}
	if (c->kind == DB_FUNCTION) {
		text_fill(&p->out, ' ', 2 * (size_t)(p->depth < DEPTH ? p->depth : DEPTH));
	}
	if (v.null) {
		text_padded(&p->out, c->kind == DB_FUNCTION ? "[unknown]" : "-", c->width);
		return;
	}
	switch (c->kind) {
	case DB_TIME: put_time(&p->out, v.number); break;
	case DB_OFFSET:
		text_fill(&p->out, ' ', c->width != 0);
		text_str(&p->out, "+");
		text_0x(&p->out, (uint64_t)v.number);
		break;
	case DB_TEXT:
	case DB_FUNCTION: put_name(p, &v, c->width); break;
	case DB_OBJECT:
		text_str(&p->out, " (");
		put_name(p, &v, 0);
		text_char(&p->out, ')');
		break;
	case DB_DEPTH:
	case DB_NUMBER:
	default: put_number(&p->out, v.number, c->width); break;
	}
}

static void put_row(struct printer *p)
{
	p->depth = 0;
	for (unsigned i = 0; i < DB_COLUMNS_MAX && p->columns[i].name != NULL; i++) {
		put_column(p, i);
	}
	text_char(&p->out, '\n');
}

static void json_row(struct printer *p)
{
	struct json *j = &p->json;

	json_line(j);
	json_object(j, NULL);
	for (unsigned i = 0; i < DB_COLUMNS_MAX && p->columns[i].name != NULL; i++) {
		struct db_value v = value(p, i);

		if (v.null) {
			json_text(j, p->columns[i].name, NULL);
		} else if (is_text(&p->columns[i])) {
			json_string(j, p->columns[i].name, v.text, v.size);
		} else {
			json_s64(j, p->columns[i].name, v.number);
		}
	}
	json_close(j);
}

static int put_rows(struct printer *p, bool json, sonde_write_fn write, void *arg)
{
	int rc, rows = 0;

	while ((rc = p->db->engine->next(p->db)) > 0) {
		rows = 1;
		if (json) {
			json_row(p);
		} else {
			put_row(p);
		}
		TRY(text_flush(&p->out, PIECE, write, arg));
	}
	return rc < 0 ? rc : rows;
}

int db_print(struct sonde_db *d, const struct db_question *question, bool json,
        sonde_write_fn write, void *arg)
{
	struct printer p = {.db = d, .columns = question->columns};
	int rc, last;

	p.json.out = &p.out;
	if (json) {
		json_begin(&p.json, "db", 1);
		json_text(&p.json, "question", question->name);
		json_array(&p.json, "rows");
	} else {
		put_title(&p);
	}
	rc = put_rows(&p, json, write, arg);
	if (rc >= 0 && json) {
		json_end(&p.json);
	}
	if (rc >= 0) {
		last = text_flush(&p.out, 0, write, arg);
		rc = last < 0 ? last : rc;
	}
	text_fini(&p.out);
	return rc;
}
