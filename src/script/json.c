/* SPDX-License-Identifier: MIT */
/* Records that are no samples as JSON objects, one a line (doc/json.md). */
#include "core/json.h"
#include "abi/abi.h"
#include "inspect/dump.h"
#include "record/feature.h"
#include "script/script.h"

#include <sonde/record.h>

#define PIECE (1u << 16) /* bytes written at once */

static void put_type(struct json *j, uint32_t type)
{
	const char *name = record_type_name(type);

	if (name != NULL) {
		json_text(j, "type", name);
	} else {
		json_printf(j, "type", "\"UNKNOWN_%u\"", type);
	}
}

static void put_fields(struct json *j, const struct script *s, const struct record *r,
        const struct record_plan *plan)
{
	struct record_walk w;
	const char *bit;

	json_u64(j, "misc", r->misc);
	json_array(j, "misc_is");
	for (unsigned i = 0; (bit = sonde_record_misc_name(r->type, r->misc, i)) != NULL; i++) {
		json_text(j, NULL, bit);
	}
	json_close(j);
	record_walk_init(&w, r, session_swap(s->session), plan, s->cpus);
	(void)dump_fields_json(j, "fields", &w, false);
	json_close(j);
	text_char(j->out, '\n');
}

void script_json_record(struct text *out, const struct script *s, const struct record *r,
        const struct session_sample *sample)
{
	const struct session_event *e = &session_events(s->session)[sample->event];
	struct json j = {.out = out};
	struct text name = {0};

	json_object(&j, NULL);
	put_type(&j, r->type);
	if (r->type >= RECORD_USER_START) {
		put_fields(&j, s, r, NULL);
		return;
	}
	json_text(&j, "comm", script_record_comm(s, r, sample, &name));
	out->failed = out->failed || name.failed;
	text_fini(&name);
	json_s64(&j, "pid", (int32_t)sample->s.pid);
	json_s64(&j, "tid", (int32_t)sample->s.tid);
	json_s64(&j, "cpu", (int32_t)sample->s.cpu);
	if (e->plan.time != RECORD_NOT_THERE) {
		json_u64(&j, "time", sample->s.time);
	} else {
		json_text(&j, "time", NULL);
	}
	json_text(&j, "event", e->name);
	put_fields(&j, s, r, &e->plan);
}

static void put_head(struct text *out, const struct script *s)
{
	const struct session_counts *counts = session_counts(s->session);
	struct json j = {.out = out};

	json_begin(&j, "script", 1);
	json_text(&j, "byte_order", session_swap(s->session) != HOST_BIG_ENDIAN ? "big" : "little");
	json_array(&j, "events");
	for (size_t i = 0; i < sonde_session_events(s->session); i++) {
		json_text(&j, NULL, session_events(s->session)[i].name);
	}
	json_close(&j);
	json_u64(&j, "lost", counts->lost);
	json_end(&j);
}

/* Prints the records of the recorder, which have no times, in the order of the file. */
static int put_untimed(const struct script *s, struct text *out)
{
	uint64_t position = 0;
	struct record r;
	int rc = 0;

	while (rc >= 0 && session_file_record_next(s->session, &position, &r) > 0) {
		if (r.type >= SESSION_KINDS) {
			struct json j = {.out = out};

			json_object(&j, NULL);
			put_type(&j, r.type);
			put_fields(&j, s, &r, NULL);
			rc = text_flush(out, PIECE, s->write, s->arg);
		}
	}
	return rc;
}

int script_json_begin(struct script *s, bool untimed)
{
	struct text out = {0};
	struct feature_cpus cpus;
	int rc;

	if (SESSION_FEATURE(s->session, FEATURE_NRCPUS, &s->arena, &cpus) > 0) {
		s->cpus = cpus.available;
	}
	put_head(&out, s);
	rc = untimed ? put_untimed(s, &out) : 0;
	rc = rc >= 0 ? text_flush(&out, 0, s->write, s->arg) : rc;
	text_fini(&out);
	return rc;
}
