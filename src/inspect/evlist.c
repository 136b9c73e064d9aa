/* SPDX-License-Identifier: MIT */
#include "core/escape.h"
#include "core/json.h"
#include "file/feature.h"
#include "inspect/dump.h"
#include "inspect/inspector.h"
#include "record/attr_text.h"
#include "trace/format.h"

#include <stdio.h>

/* The formats that the recorder copied from tracefs; n is 0 if there are none. */
static struct span tracing_blob(const struct file *f)
{
	uint64_t position = file_begin(f);
	struct record r;

	if (!f->pipe) {
		return file_feature(f, FEATURE_TRACING_DATA);
	}
	while (file_next(f, &position, &r, NULL) > 0) {
		if (r.type == RECORD_TRACING_DATA) {
			return file_outside(f, &r);
		}
	}
	return (struct span){NULL, 0};
}

static bool is_tracepoint(const struct file_event *e)
{
	return e->attr.type == SONDE_TYPE_TRACEPOINT;
}

static bool has_tracepoints(const struct file *f)
{
	for (size_t i = 0; i < f->nevents; i++) {
		if (is_tracepoint(&f->events[i])) {
			return true;
		}
	}
	return false;
}

static void put_trace_fields(struct text *out, const struct file_event *e, struct span blob)
{
	struct trace_format format;
	struct trace_field field;
	size_t at = 0;
	bool first = true;

	if (!is_tracepoint(e)) {
		text_str(out, "(not a tracepoint)");
		return;
	}
	text_str(out, "trace_fields: ");
	if (!trace_format_find(blob, e->attr.config, &format)) {
		text_str(out, "(the recording does not say)");
		return;
	}
	while (trace_field_next(&format, &at, &field)) {
		if ((field.flags & TRACE_COMMON) == 0) {
			text_str(out, first ? "" : ",");
			text_plain_bytes(out, field.name.p, field.name.n);
			first = false;
		}
	}
}

static void put_event(struct text *out, const struct file_event *e, enum sonde_events_mode mode)
{
	static const struct record_attr_style detail = {": ", ", ", ": ", 0};

	text_plain(out, e->name);
	if (mode == SONDE_EVENTS_DETAIL) {
		record_attr_text(out, &e->attr, &detail);
	} else if (mode == SONDE_EVENTS_FREQ) {
		text_str(out, sonde_attr_has(&e->attr, SONDE_FLAG_FREQ) ? ": sample_freq="
		                                                        : ": sample_period=");
		text_u64(out, e->attr.sample_period, 0, ' ');
	}
}

/* Number of members of the group that event i leads; 0: not a leader. */
static size_t group_size(const struct feature_groups *groups, size_t i, size_t nevents)
{
	for (size_t g = 0; g < groups->n; g++) {
		uint32_t members = groups->items[g].members;

		if (groups->items[g].leader == i && members > 1 && members <= nevents - i) {
			return members;
		}
	}
	return 0;
}

static void put_groups(struct text *out, const struct file *f)
{
	struct feature_groups groups;
	struct arena arena = {0};
	int rc = FEATURE_READ(f, FEATURE_GROUP_DESC, &arena, &groups);
	size_t n;

	out->failed = out->failed || rc == SONDE_ENOMEM;
	if (rc <= 0) {
		groups.n = 0;
	}
	for (size_t i = 0; i < f->nevents; i += n == 0 ? 1 : n) {
		n = group_size(&groups, i, f->nevents);
		if (n != 0) {
			text_char(out, '{');
		}
		text_plain(out, f->events[i].name);
		for (size_t j = 1; j < n; j++) {
			text_char(out, ',');
			text_plain(out, f->events[i + j].name);
		}
		text_str(out, n != 0 ? "}\n" : "\n");
	}
	arena_fini(&arena);
}

static void put_events(
        struct text *out, const struct file *f, enum sonde_events_mode mode, bool trace_fields)
{
	struct span blob = trace_fields ? tracing_blob(f) : (struct span){NULL, 0};

	for (size_t i = 0; i < f->nevents; i++) {
		put_event(out, &f->events[i], mode);
		if (trace_fields) {
			text_str(out, mode == SONDE_EVENTS_NAMES ? ": " : ", ");
			put_trace_fields(out, &f->events[i], blob);
		}
		text_char(out, '\n');
	}
}

static void json_event(struct json *j, const struct file *f, const struct file_event *e)
{
	struct record_walk w = {0};

	json_object(j, NULL);
	json_text(j, "name", e->name);
	layout_walk_init(&w.walk, layout_of_attr(), e->bytes, f->swap, NULL, 0);
	(void)dump_fields_json(j, "attr", &w, false);
	json_array(j, "ids");
	for (size_t i = 0; i < e->nids; i++) {
		json_u64(j, NULL, e->ids[i]);
	}
	json_close(j);
	json_close(j);
}

static void put_json(struct text *out, const struct file *f)
{
	struct json j = {.out = out};
	struct feature_groups groups;
	struct arena arena = {0};

	if (FEATURE_READ(f, FEATURE_GROUP_DESC, &arena, &groups) == SONDE_ENOMEM) {
		out->failed = true;
	}
	json_begin(&j, "evlist", 1);
	json_array(&j, "events");
	for (size_t i = 0; i < f->nevents; i++) {
		json_event(&j, f, &f->events[i]);
	}
	json_close(&j);
	json_array(&j, "groups");
	for (size_t i = 0; i < groups.n; i++) {
		json_object(&j, NULL);
		json_text(&j, "name", groups.items[i].name.s);
		json_u64(&j, "leader", groups.items[i].leader);
		json_u64(&j, "members", groups.items[i].members);
		json_close(&j);
	}
	json_end(&j);
	arena_fini(&arena);
}

static void put(struct text *out, const struct file *f, const void *arg)
{
	const struct sonde_events_options *options = arg;

	if (options->mode == SONDE_EVENTS_GROUPS) {
		put_groups(out, f);
	} else {
		put_events(out, f, options->mode, options->trace_fields);
	}
	if (!options->trace_fields && has_tracepoints(f)) {
		text_str(out, "# Tip: use 'sonde evlist --trace-fields' to show fields for "
		              "tracepoint events\n");
	}
}

static void put_as_json(struct text *out, const struct file *f, const void *arg)
{
	(void)arg;
	put_json(out, f);
}

int sonde_inspector_events(struct sonde_inspector *in, const char *path,
        const struct sonde_events_options *options, sonde_write_fn write, void *arg)
{
	struct sonde_events_options o = {0};

	TRY(inspector_begin(in, &o, sizeof(o), options));
	return inspector_print(in, path, in->options.json ? put_as_json : put, &o, write, arg);
}
