/* SPDX-License-Identifier: MIT */
/*
 * The dump: a line a record,
 *
 *	0x1a8 MMAP2 size=88 misc=0x2(user) event="cpu-clock" pid=1 ... sample_id={ pid=1 ... }
 *
 * with hexadecimal lines below it if bytes are wanted, and for hardware traces the text of perf
 * (aux_text.c); or one JSON document (doc/json.md). Offsets
 * are relative to the record's file; an inflated record has the offset of its compressed record,
 * "+" and its offset in the inflated data.
 */
#include "inspect/dump.h"

#include "core/escape.h"
#include "file/feature.h"
#include "inspect/aux_text.h"
#include "inspect/inspector.h"

#include <sonde/record.h>

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define PIECE (64u << 10) /* bytes of text for one call of the output function */

struct dump {
	struct file file;
	struct diag_sink diags;
	struct sonde_records_options o;
	bool as_json;
	sonde_write_fn write;
	void *arg;
	struct text out;
	struct aux_text traces; /* what perf prints of hardware traces, if wanted */
	struct json json; /* the JSON document, if wanted; writes to out */
	uint8_t wanted[RECORD_TYPE_MAX]; /* by type, if only some are wanted */
	bool some;
	uint32_t cpus;
};

/* ---- which types ---- */

static int type_of(const char *word, size_t n)
{
	unsigned number = 0;

	for (uint32_t t = 0; t < RECORD_TYPE_MAX; t++) {
		const char *name = record_type_name(t);

		if (name != NULL && strlen(name) == n && strncasecmp(name, word, n) == 0) {
			return (int)t;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (word[i] < '0' || word[i] > '9' || number >= RECORD_TYPE_MAX) {
			return -1;
		}
		number = number * 10 + (unsigned)(word[i] - '0');
	}
	return n != 0 && number < RECORD_TYPE_MAX ? (int)number : -1;
}

static int types_parse(struct dump *d)
{
	const char *p = d->o.types;

	while (p != NULL && *p != '\0') {
		size_t n = strcspn(p, ",");
		int type = type_of(p, n);

		if (type < 0) {
			return error_set(&d->file.error, SONDE_EARG, NO_OFFSET,
			        "'%.*s' is no record type; give names as 'sonde report --stats' "
			        "prints them, such as SAMPLE or MMAP2, or numbers up to %d",
			        (int)n, p, RECORD_TYPE_MAX - 1);
		}
		d->wanted[type] = 1;
		d->some = true;
		p += n + (p[n] == ',');
	}
	return 0;
}

/* ---- one record ---- */

static const struct file_event *event_of(const struct file *f, const struct record *r)
{
	if (r->type == RECORD_SAMPLE) {
		return file_sample_event(f, r);
	}
	return r->type < RECORD_USER_START ? file_record_event(f, r) : NULL;
}

static const char *type_name(uint32_t type, char unknown[32])
{
	const char *name = record_type_name(type);

	if (name == NULL) {
		(void)snprintf(unknown, 32, "UNKNOWN_%u", type);
	}
	return name != NULL ? name : unknown;
}

static void dump_text(struct dump *d, const struct record *r, const struct file_place *place,
        const struct file_event *e)
{
	struct text *out = &d->out;
	struct span outside = file_outside(&d->file, r);
	struct record_walk w;
	char unknown[32];
	const char *name;

	if (d->file.nstreams > 1) {
		text_str(out, place->stream->name);
		text_char(out, ':');
	}
	text_0x(out, place->offset);
	if (place->inflated) {
		text_char(out, '+');
		text_0x(out, place->inside);
	}
	text_char(out, ' ');
	text_str(out, type_name(r->type, unknown));
	text_str(out, " size=");
	text_u64(out, r->body.n + RECORD_HEADER_SIZE, 0, ' ');
	text_str(out, " misc=");
	text_0x(out, r->misc);
	if (r->misc != 0) {
		text_char(out, '(');
		for (unsigned i = 0; (name = sonde_record_misc_name(r->type, r->misc, i)) != NULL;
		        i++) {
			text_str(out, i != 0 ? "," : "");
			text_str(out, name);
		}
		text_char(out, ')');
	}
	if (e != NULL) {
		text_str(out, " event=\"");
		text_plain(out, e->name);
		text_char(out, '"');
	}
	record_walk_init(&w, r, d->file.swap, e != NULL ? &e->plan : NULL, d->cpus);
	dump_fields_text(out, &w);
	if (outside.n != 0) {
		text_str(out, " payload=<");
		text_u64(out, outside.n, 0, ' ');
		text_str(out, " bytes>");
	}
	text_char(out, '\n');
	if (d->o.raw) {
		dump_hex(out, (struct span){r->body.p - RECORD_HEADER_SIZE,
		                      r->body.n + RECORD_HEADER_SIZE});
		text_char(out, '\n');
	}
}

static void dump_json(struct dump *d, const struct record *r, const struct file_place *place,
        const struct file_event *e)
{
	struct json *j = &d->json;
	struct span outside = file_outside(&d->file, r);
	struct record_walk w;
	char unknown[32];
	const char *name;

	json_line(j);
	json_object(j, NULL);
	if (d->file.nstreams > 1) {
		json_text(j, "file", place->stream->name);
	}
	json_u64(j, "offset", place->offset);
	if (place->inflated) {
		json_u64(j, "inside", place->inside);
	}
	json_u64(j, "type", r->type);
	json_text(j, "type_is", type_name(r->type, unknown));
	json_u64(j, "size", r->body.n + RECORD_HEADER_SIZE);
	json_u64(j, "misc", r->misc);
	json_array(j, "misc_is");
	for (unsigned i = 0; (name = sonde_record_misc_name(r->type, r->misc, i)) != NULL; i++) {
		json_text(j, NULL, name);
	}
	json_close(j);
	if (e != NULL) {
		json_text(j, "event", e->name);
	}
	record_walk_init(&w, r, d->file.swap, e != NULL ? &e->plan : NULL, d->cpus);
	(void)dump_fields_json(j, "fields", &w, d->o.raw != 0);
	if (outside.n != 0) {
		json_u64(j, "payload_size", outside.n);
	}
	if (d->o.raw) {
		json_hex(j, "raw",
		        (struct span){
		                r->body.p - RECORD_HEADER_SIZE, r->body.n + RECORD_HEADER_SIZE});
	}
	json_close(j);
}

/* ---- all of them ---- */

static int flush(struct dump *d, size_t above)
{
	return error_plain(&d->file.error, text_flush(&d->out, above, d->write, d->arg));
}

static int dump_records(struct dump *d)
{
	uint64_t position = file_begin(&d->file);
	struct record r;

	while (file_next(&d->file, &position, &r, &d->diags) > 0) {
		struct file_place place;
		const struct file_event *e;

		if (d->some && (r.type >= RECORD_TYPE_MAX || !d->wanted[r.type])) {
			continue;
		}
		place = file_place(&d->file, r.offset);
		e = event_of(&d->file, &r);
		if (d->as_json) {
			dump_json(d, &r, &place, e);
		} else {
			dump_text(d, &r, &place, e);
			if (d->o.traces) {
				TRY(error_plain(&d->file.error,
				        aux_text_record(&d->traces, &r, &place, e)));
			}
		}
		TRY(flush(d, PIECE));
	}
	return 0;
}

static int dump_all(struct dump *d, const char *path)
{
	TRY(types_parse(d));
	TRY(file_open(&d->file, path));
	TRY(file_inflate(&d->file));
	d->cpus = file_cpus(&d->file);
	if (d->as_json) {
		json_begin(&d->json, "dump", 1);
		json_text(
		        &d->json, "byte_order", d->file.swap != HOST_BIG_ENDIAN ? "big" : "little");
		json_array(&d->json, "records");
	}
	TRY(dump_records(d));
	if (d->as_json) {
		json_line(&d->json);
		json_end(&d->json);
	}
	return flush(d, 0);
}

int sonde_inspector_records(struct sonde_inspector *in, const char *path,
        const struct sonde_records_options *options, sonde_write_fn write, void *arg)
{
	struct dump *d = calloc(1, sizeof(*d));
	int rc;

	if (d == NULL) {
		return error_nomem(&in->error);
	}
	rc = inspector_begin(in, &d->o, sizeof(d->o), options);
	inspector_file_init(in, &d->file, &d->diags);
	d->as_json = in->options.json;
	d->json.out = &d->out;
	d->write = write;
	d->arg = arg;
	d->traces = (struct aux_text){.file = &d->file,
	        .out = &d->out,
	        .write = write,
	        .arg = arg,
	        .want_packets = d->o.packets};
	rc = rc < 0 ? rc : inspector_failed(in, dump_all(d, path), &d->file.error);
	rc = rc < 0 ? rc : inspector_part_missing(&d->diags);
	text_fini(&d->out);
	aux_text_fini(&d->traces);
	file_close(&d->file);
	free(d);
	return rc;
}
