/* SPDX-License-Identifier: MIT */
#include "core/json.h"

#include "core/escape.h"

#include <inttypes.h>
#include <stdarg.h>

static void put_string(struct json *j, const char *s, size_t n)
{
	escape_json(j->out, s, n, !j->as_perf);
}

static void put_line(struct json *j)
{
	if (j->tabs && j->out->n != 0) {
		text_char(j->out, '\n');
		text_fill(j->out, '\t', j->depth);
	}
	if (j->on_new_line) {
		text_char(j->out, '\n');
		j->on_new_line = false;
	}
}

/* Writes everything before a value. */
static inline void put_key(struct json *j, const char *key)
{
	if (j->comma) {
		text_char(j->out, ',');
		if (j->as_perf) {
			text_char(j->out, ' ');
		}
	}
	j->comma = true;
	put_line(j);
	if (key == NULL) {
		return;
	}
	put_string(j, key, strlen(key));
	if (j->as_perf) {
		text_str(j->out, " : ");
	} else {
		text_char(j->out, ':');
		text_fill(j->out, ' ', j->tabs);
	}
}

static void open_bracket(struct json *j, const char *key, char bracket, char close)
{
	put_key(j, key);
	text_char(j->out, bracket);
	if (j->depth == JSON_DEPTH) { /* deeper than any layout */
		j->out->failed = true;
		return;
	}
	j->comma = false;
	j->close[j->depth++] = close;
}

void json_object(struct json *j, const char *key)
{
	open_bracket(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	open_bracket(j, key, '[', ']');
}

void json_close(struct json *j)
{
	j->depth--;
	put_line(j);
	text_char(j->out, j->close[j->depth]);
	j->comma = true;
}

void json_line(struct json *j)
{
	j->on_new_line = true;
}

void json_begin(struct json *j, const char *kind, unsigned version)
{
	json_object(j, NULL);
	json_printf(j, "schema", "\"sonde-%s\"", kind);
	json_u64(j, "version", version);
}

void json_end(struct json *j)
{
	while (j->depth != 0) {
		json_close(j);
	}
	j->comma = false;
	text_char(j->out, '\n');
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
	put_key(j, key);
	text_u64(j->out, v, 0, ' ');
}

void json_s64(struct json *j, const char *key, int64_t v)
{
	put_key(j, key);
	if (v < 0) {
		text_char(j->out, '-');
	}
	text_u64(j->out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 0, ' ');
}

void json_bool(struct json *j, const char *key, bool v)
{
	put_key(j, key);
	text_str(j->out, v ? "true" : "false");
}

void json_text(struct json *j, const char *key, const char *s)
{
	if (s == NULL) {
		json_raw(j, key, "null", 4);
		return;
	}
	json_string(j, key, s, strlen(s));
}

void json_string(struct json *j, const char *key, const char *s, size_t n)
{
	put_key(j, key);
	put_string(j, s, n);
}

void json_hex(struct json *j, const char *key, struct span bytes)
{
	put_key(j, key);
	text_char(j->out, '"');
	text_hex_bytes(j->out, bytes.p, bytes.n);
	text_char(j->out, '"');
}

void json_printf(struct json *j, const char *key, const char *fmt, ...)
{
	va_list ap;

	put_key(j, key);
	va_start(ap, fmt);
	text_vprintf(j->out, fmt, ap);
	va_end(ap);
}

void json_raw(struct json *j, const char *key, const char *s, size_t n)
{
	put_key(j, key);
	text_bytes(j->out, s, n);
}
