/* SPDX-License-Identifier: MIT */
/*
 * The events of a recording: attrs, ids, names.
 *
 * EVENT_DESC feature: u32 nr, u32 attr size, { attr, u32 nr ids, str name, u64 ids } x nr
 * str = u32 length, bytes (with NULs at the end)
 * META_INFO of simpleperf: "event_type_info" holds lines "name,type,config"
 * event types (version 1): { u64 event, char name[64] }, for attrs whose config is that number
 * EVENT_UPDATE record: u64 what (2: name), u64 id, text
 *
 * Source: format document of perf.data.
 */
#include "file/parts.h"

#include "core/array.h"
#include "core/hash.h"
#include "file/feature.h"
#include "record/event_name.h"
#include "trace/set.h"

#include <stdlib.h>

#define NAMED_MAX   4096u /* event types, and events that get their name from one */
#define UPDATE_NAME 2u /* the `what` of an EVENT_UPDATE with a name */
#define NEAR_IDS    4u /* most entries of near_ids for each id */

static int take_ids(struct file *f, struct file_event *e, struct span ids)
{
	uint64_t *list;

	if (e->nids != 0 || ids.n < 8) {
		return 0;
	}
	list = arena_alloc(&f->arena, ids.n);
	if (list == NULL) {
		return error_nomem(&f->error);
	}
	e->nids = ids.n / 8;
	for (size_t i = 0; i < e->nids; i++) {
		list[i] = load_u64(ids.p + i * 8, f->swap);
	}
	e->ids = list;
	return 0;
}

int file_add_event(struct file *f, struct span attr, struct span ids)
{
	struct file_event *e;

	if (!array_reserve(&f->events, &f->events_cap, f->nevents + 1, sizeof(*f->events))) {
		return error_nomem(&f->error);
	}
	e = &f->events[f->nevents];
	*e = (struct file_event){.bytes = attr};
	if (!record_attr_decode(attr, f->swap, &e->attr)) {
		return 0;
	}
	record_plan_make(&e->plan, &e->attr);
	f->nevents++;
	return take_ids(f, e, ids);
}

/* If two events have the same id, the first keeps it. */
static int id_add(struct file *f, uint64_t id, uint32_t event)
{
	uint32_t hash = (uint32_t)hash_u64(id);
	size_t at = hash;
	uint32_t i;

	TRY(index_room(&f->id_index));
	while ((i = index_next(&f->id_index, hash, &at)) != INDEX_NONE) {
		if (f->ids[i].id == id) {
			return 0;
		}
		at++;
	}
	i = (uint32_t)f->id_index.n;
	f->ids[i] = (struct file_id){.id = id, .event = event};
	index_put(&f->id_index, hash, at, i);
	return 0;
}

/* Adds an offset of ids that is not in the list yet. */
static void add_place(struct file_places *places, uint8_t place, size_t event)
{
	for (size_t i = 0; i < places->n; i++) {
		if (places->place[i] == place) {
			return;
		}
	}
	if (places->n < FILE_PLACES) {
		places->place[places->n] = place;
		places->event[places->n++] = (uint32_t)event;
	}
}

/* Makes near_ids, unless the ids are far apart. Id 0 is not in it: such samples are of any event. */
static int near_ids_make(struct file *f)
{
	uint64_t first = UINT64_MAX, last = 0;

	free(f->near_ids);
	f->near_ids = NULL;
	f->nnear = 0;
	for (size_t i = 0; i < f->id_index.n; i++) {
		uint64_t id = f->ids[i].id;

		first = id != 0 && id < first ? id : first;
		last = id > last ? id : last;
	}
	if (last == 0 || last - first >= f->id_index.n * NEAR_IDS) {
		return 0;
	}
	f->near_ids = calloc((size_t)(last - first) + 1, sizeof(*f->near_ids));
	if (f->near_ids == NULL) {
		return SONDE_ENOMEM;
	}
	f->first_id = first;
	f->nnear = (size_t)(last - first) + 1;
	for (size_t i = 0; i < f->id_index.n; i++) {
		if (f->ids[i].id != 0) {
			f->near_ids[f->ids[i].id - first] = f->ids[i].event + 1;
		}
	}
	return 0;
}

int file_index_ids(struct file *f)
{
	size_t total = 0;

	f->sample_places.n = 0;
	f->trailer_places.n = 0;
	for (size_t i = 0; i < f->nevents; i++) {
		total += f->events[i].nids;
		add_place(&f->sample_places, f->events[i].plan.sample_id, i);
		add_place(&f->trailer_places, f->events[i].plan.trailer_id, i);
	}
	free(f->ids);
	index_fini(&f->id_index);
	f->ids = calloc(total + 1, sizeof(*f->ids));
	if (f->ids == NULL) {
		return error_nomem(&f->error);
	}
	for (size_t i = 0; i < f->nevents; i++) {
		for (size_t j = 0; j < f->events[i].nids; j++) {
			if (id_add(f, f->events[i].ids[j], (uint32_t)i) < 0) {
				return error_nomem(&f->error);
			}
		}
	}
	return near_ids_make(f) < 0 ? error_nomem(&f->error) : 0;
}

int file_own_events(struct file *f)
{
	const struct file_event *events = f->events;

	f->arena = (struct arena){0};
	f->id_index = (struct index){0};
	f->ids = NULL;
	f->near_ids = NULL;
	f->events = NULL;
	f->events_cap = 0;
	if (!array_reserve(&f->events, &f->events_cap, f->nevents + 1, sizeof(*events))) {
		return error_nomem(&f->error);
	}
	if (f->nevents != 0) {
		memcpy(f->events, events, f->nevents * sizeof(*events));
	}
	return file_index_ids(f);
}

void file_free_events(struct file *f)
{
	free(f->events);
	free(f->ids);
	free(f->near_ids);
	index_fini(&f->id_index);
	arena_fini(&f->arena);
	f->events = NULL;
	f->ids = NULL;
	f->near_ids = NULL;
	f->nnear = 0;
	f->nevents = 0;
}

int file_set_event(struct file *f, size_t event, const struct file_event *e)
{
	struct file_event own = event < f->nevents ? f->events[event] : (struct file_event){0};
	uint8_t *attr = arena_alloc(&f->arena, e->bytes.n);
	uint64_t *ids = arena_alloc(&f->arena, e->nids * 8 + 1);

	if (e->name != NULL) {
		own.name = arena_text(&f->arena, e->name, strlen(e->name));
	}
	if (attr == NULL || ids == NULL || own.name == NULL ||
	        !array_reserve(&f->events, &f->events_cap, f->nevents + 1, sizeof(own))) {
		return error_nomem(&f->error);
	}
	memcpy(attr, e->bytes.p, e->bytes.n);
	own.bytes = (struct span){attr, e->bytes.n};
	(void)record_attr_decode(own.bytes, f->swap, &own.attr);
	record_plan_make(&own.plan, &own.attr);
	if (e->ids != NULL) {
		memcpy(ids, e->ids, e->nids * 8);
		own.ids = ids;
		own.nids = e->nids;
	}
	f->events[event] = own;
	f->nevents += event == f->nevents;
	return file_index_ids(f);
}

/*
 * Takes fields from EVENT_DESC that the attr section has no room for: perf 6.1 reads attrs of 128
 * bytes.
 */
static void take_newer(struct file *f, struct file_event *e, struct span attr)
{
	struct sonde_attr more;

	if (attr.n <= e->bytes.n || !record_attr_decode(attr, f->swap, &more)) {
		return;
	}
	if (e->bytes.n < 136) {
		e->attr.config3 = more.config3;
	}
	if (e->bytes.n < 144) {
		e->attr.config4 = more.config4;
	}
}

/* Reads one entry of EVENT_DESC; ids that the attr section lacks are taken from it. */
static int name_from_desc(struct file *f, size_t index, uint32_t attr_size, struct cursor *c)
{
	struct span attr = cursor_bytes(c, attr_size);
	uint32_t nids = cursor_u32(c);
	uint32_t len = cursor_u32(c);
	struct span name = cursor_text(c, len);
	struct span ids;
	uint32_t event = (uint32_t)index;
	const struct file_event *e = NULL;

	if (nids > cursor_left(c) / 8) {
		c->bad = true;
		return 0;
	}
	ids = cursor_bytes(c, (size_t)nids * 8);
	if (c->bad) {
		return 0;
	}
	if (ids.n >= 8) {
		e = file_event_by_id(f, load_u64(ids.p, f->swap));
	}
	if (e != NULL) {
		event = (uint32_t)(e - f->events);
	}
	if (event >= f->nevents) {
		return 0;
	}
	take_newer(f, &f->events[event], attr);
	if (f->events[event].name == NULL) {
		f->events[event].name = arena_text(&f->arena, (const char *)name.p, name.n);
	}
	return take_ids(f, &f->events[event], ids);
}

static int read_event_names(struct file *f)
{
	struct span bytes = file_feature(f, FEATURE_EVENT_DESC);
	struct cursor c = cursor_make(bytes, f->swap);
	uint32_t nr = cursor_u32(&c);
	uint32_t attr_size = cursor_u32(&c);

	for (uint32_t i = 0; i < nr && !c.bad && bytes.n != 0; i++) {
		TRY(name_from_desc(f, i, attr_size, &c));
	}
	if (c.bad && bytes.n != 0) {
		f->names_cut = true;
		diag_report(f->diags, SONDE_DIAG_DAMAGED, f->features[FEATURE_EVENT_DESC].offset,
		        "the names of the events are cut off");
	}
	return bytes.n != 0 ? file_index_ids(f) : 0;
}

/*
 * Names of version 1 and of old pipes are matched by config alone. They are not used if the attr
 * itself identifies the event: a recorder that could not open "cycles" used cpu-clock and kept the
 * name.
 */
static bool needs_name(const struct file_event *e)
{
	return e->name == NULL &&
	       (e->attr.type == SONDE_TYPE_TRACEPOINT || e->attr.type > SONDE_TYPE_HW_CACHE);
}

static void name_by_type(struct file *f, struct span entry)
{
	struct cursor c = cursor_make(entry, f->swap);
	uint64_t id = cursor_u64(&c);
	struct span name = cursor_text(&c, cursor_left(&c));

	for (size_t i = 0; i < f->nevents && i < NAMED_MAX && name.n != 0; i++) {
		struct file_event *e = &f->events[i];

		if (needs_name(e) && e->attr.config == id) {
			e->name = arena_text(&f->arena, (const char *)name.p, name.n);
		}
	}
}

static void name_by_update(struct file *f, struct span body)
{
	struct cursor c = cursor_make(body, f->swap);
	uint64_t what = cursor_u64(&c);
	const struct file_event *e = file_event_by_id(f, cursor_u64(&c));
	struct span name = cursor_text(&c, cursor_left(&c));

	if (what == UPDATE_NAME && e != NULL && e->name == NULL && name.n != 0) {
		f->events[e - f->events].name = arena_text(&f->arena, (const char *)name.p, name.n);
	}
}

/* Reads one line of simpleperf's event_type_info: name,type,config. */
static void name_from_info(struct file *f, const char *line, size_t n)
{
	char text[256];
	unsigned long type;
	unsigned long long config;
	char *comma;
	char *end;

	if (n >= sizeof(text)) {
		return;
	}
	memcpy(text, line, n);
	text[n] = '\0';
	comma = strchr(text, ',');
	if (comma == NULL) {
		return;
	}
	type = strtoul(comma + 1, &end, 10);
	config = *end == ',' ? strtoull(end + 1, NULL, 10) : 0;
	for (size_t i = 0; i < f->nevents && i < NAMED_MAX && *end == ','; i++) {
		struct file_event *e = &f->events[i];

		if (needs_name(e) && e->attr.type == type && e->attr.config == config) {
			e->name = arena_text(&f->arena, text, (size_t)(comma - text));
		}
	}
}

/* simpleperf stores names in META_INFO. */
static int read_meta_info(struct file *f)
{
	struct arena arena = {0};
	struct feature_pairs pairs;
	int rc = FEATURE_READ(f, FEATURE_SIMPLEPERF_META_INFO, &arena, &pairs);

	for (size_t i = 0; i < pairs.n; i++) {
		const char *p = pairs.items[i].value.s;
		size_t lines = 0;

		if (strcmp(pairs.items[i].name.s, "event_type_info") != 0) {
			continue;
		}
		while (*p != '\0' && lines++ < NAMED_MAX) {
			size_t n = strcspn(p, "\n");

			name_from_info(f, p, n);
			p += n + (p[n] == '\n');
		}
	}
	arena_fini(&arena);
	return rc == SONDE_ENOMEM ? rc : 0;
}

static bool is_unnamed_tracepoint(const struct file_event *e)
{
	return e->name == NULL && e->attr.type == SONDE_TYPE_TRACEPOINT;
}

/* "sched:sched_switch"; NULL: out of memory. */
static char *tracepoint_name(struct file *f, const struct trace_format *format)
{
	struct text t = {0};
	char *name;

	text_bytes(&t, (const char *)format->system.p, format->system.n);
	text_char(&t, ':');
	text_bytes(&t, (const char *)format->name.p, format->name.n);
	name = t.failed ? NULL : arena_text(&f->arena, t.p, t.n);
	text_fini(&t);
	return name;
}

/* Names tracepoints that have no name yet, from the formats that the recorder copied. */
static int name_tracepoints(struct file *f)
{
	uint64_t *ids = malloc((f->nevents + 1) * sizeof(*ids));
	struct trace_set set = {.nevents = 0};
	size_t n = 0;
	int rc;

	for (size_t i = 0; ids != NULL && i < f->nevents; i++) {
		if (is_unnamed_tracepoint(&f->events[i])) {
			ids[n++] = f->events[i].attr.config;
		}
	}
	rc = ids == NULL ? SONDE_ENOMEM
	                 : trace_set_init(&set, file_feature(f, FEATURE_TRACING_DATA), ids, n);
	for (size_t i = 0; rc >= 0 && n != 0 && i < f->nevents; i++) {
		struct file_event *e = &f->events[i];
		const struct trace_event *found =
		        is_unnamed_tracepoint(e) ? trace_set_find(&set, e->attr.config) : NULL;

		if (found != NULL) {
			e->name = tracepoint_name(f, &found->format);
		}
	}
	trace_set_fini(&set);
	free(ids);
	return rc < 0 ? error_nomem(&f->error) : 0;
}

int file_name_events(struct file *f)
{
	TRY(read_event_names(f));
	for (size_t i = 0; i < NAMED_MAX && (i + 1) * EVENT_TYPE_SIZE <= f->event_types.n; i++) {
		name_by_type(
		        f, (struct span){f->event_types.p + i * EVENT_TYPE_SIZE, EVENT_TYPE_SIZE});
	}
	for (size_t i = 0; i < f->nnamings; i++) {
		if (f->namings[i].type == RECORD_EVENT_UPDATE) {
			name_by_update(f, f->namings[i].body);
		} else if (i < NAMED_MAX) {
			name_by_type(f, f->namings[i].body);
		}
	}
	TRY(read_meta_info(f));
	TRY(name_tracepoints(f));
	for (size_t i = 0; i < f->nevents; i++) {
		if (f->events[i].name == NULL) {
			f->events[i].name = record_attr_name(&f->arena, &f->events[i].attr);
		}
		if (f->events[i].name == NULL) {
			return error_nomem(&f->error);
		}
	}
	return 0;
}

const struct file_event *file_event_by_id(const struct file *f, uint64_t id)
{
	uint32_t hash = (uint32_t)hash_u64(id);
	size_t at = hash;
	uint32_t i;

	if (f->id_index.n == 0) {
		return NULL;
	}
	while ((i = index_next(&f->id_index, hash, &at)) != INDEX_NONE) {
		if (f->ids[i].id == id) {
			return &f->events[f->ids[i].event];
		}
		at++;
	}
	return NULL;
}

static const struct file_event *event_of_id(const struct file *f, uint64_t id)
{
	return id == 0 || f->id_index.n == 0 ? &f->events[0] : file_event_by_id(f, id);
}

/* Offset of the id in a record of this event. */
static uint8_t place_of(const struct file_event *e, bool sample)
{
	return sample ? e->plan.sample_id : e->plan.trailer_id;
}

/*
 * Reads the id at an offset of a record: from the start of the body in samples, from its end in
 * others.
 */
static bool id_at(
        const struct file *f, const struct record *r, bool sample, uint8_t place, uint64_t *id)
{
	size_t need = sample ? (size_t)place + 8 : place;

	if (r->body.n < need) {
		return false;
	}
	*id = load_u64(r->body.p + (sample ? place : r->body.n - place), f->swap);
	return true;
}

/*
 * For events whose records have the id at different offsets: an id counts only if it belongs to an
 * event with this offset. A record without an id belongs to the event that records none.
 */
static const struct file_event *event_by_place(
        const struct file *f, const struct record *r, bool sample)
{
	const struct file_places *places = sample ? &f->sample_places : &f->trailer_places;
	const struct file_event *without = NULL;

	for (size_t i = 0; i < places->n; i++) {
		const struct file_event *e;
		uint64_t id;

		if (places->place[i] == RECORD_NOT_THERE) {
			without = &f->events[places->event[i]];
			continue;
		}
		if (!id_at(f, r, sample, places->place[i], &id)) {
			continue;
		}
		e = file_event_by_id(f, id);
		if (e != NULL && place_of(e, sample) == places->place[i]) {
			return e;
		}
	}
	return without;
}

static const struct file_event *event_of(const struct file *f, const struct record *r, bool sample)
{
	uint8_t place;
	uint64_t id;

	if (f->nevents == 0) {
		return NULL;
	}
	if ((sample ? f->sample_places.n : f->trailer_places.n) > 1) {
		return event_by_place(f, r, sample);
	}
	place = place_of(&f->events[0], sample);
	if (f->nevents == 1 || place == RECORD_NOT_THERE) {
		return &f->events[0];
	}
	return id_at(f, r, sample, place, &id) ? event_of_id(f, id) : NULL;
}

const struct file_event *file_sample_event(const struct file *f, const struct record *r)
{
	return event_of(f, r, true);
}

const struct file_event *file_record_event(const struct file *f, const struct record *r)
{
	return event_of(f, r, false);
}
