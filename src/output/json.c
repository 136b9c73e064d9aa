/* SPDX-License-Identifier: MIT */
#include "output/json.h"

#include "output/dump.h"
#include "output/escape.h"

#include <inttypes.h>

static void put_key(struct json *j, const char *key)
{
	if (j->depth != 0 && j->more[j->depth - 1]) {
		text_char(j->out, ',');
	}
	if (j->depth != 0) {
		j->more[j->depth - 1] = true;
	}
	if (key != NULL) {
		output_escape_json(j->out, key, strlen(key));
		text_char(j->out, ':');
	}
}

static void open_bracket(struct json *j, const char *key, char bracket, char close)
{
	put_key(j, key);
	text_char(j->out, bracket);
	if (j->depth == JSON_DEPTH) { /* no layout is as deep */
		j->out->failed = true;
		return;
	}
	j->more[j->depth] = false;
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
	text_char(j->out, j->close[--j->depth]);
}

void json_begin(struct json *j, const char *kind, unsigned version)
{
	json_object(j, NULL);
	put_key(j, "schema");
	text_printf(j->out, "\"sonde-%s\"", kind);
	json_u64(j, "version", version);
}

void json_end(struct json *j)
{
	while (j->depth != 0) {
		json_close(j);
	}
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
	text_printf(j->out, "%" PRId64, v);
}

void json_bool(struct json *j, const char *key, bool v)
{
	put_key(j, key);
	text_str(j->out, v ? "true" : "false");
}

void json_text(struct json *j, const char *key, const char *s)
{
	put_key(j, key);
	if (s == NULL) {
		text_str(j->out, "null");
		return;
	}
	output_escape_json(j->out, s, strlen(s));
}

void json_bytes(struct json *j, const char *key, struct span bytes)
{
	put_key(j, key);
	dump_json_hex(j->out, bytes);
}

bool json_fields(struct json *j, const char *key, const struct layout_walk *walk)
{
	struct record_walk w = {.walk = *walk};

	put_key(j, key);
	dump_fields_json(j->out, &w, false);
	return !w.bad;
}
