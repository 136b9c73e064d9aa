/* SPDX-License-Identifier: MIT */
/*
 * The stage that adds the records of other recordings after those of the first one
 * (doc/decisions/0024). Rounds end at the first of these, so their marks are omitted: readers then
 * sort all records by time. Every record has an IDENTIFIER in the output, as events of different
 * recordings may have different fields, and only this one is always at the same offset.
 */
#include "edit/merge.h"

#include "core/array.h"
#include "file/reader.h"
#include "record/layout.h"
#include "record/user_stack.h"

#include <stdlib.h>

#define IDENTIFIER_SIZE sizeof(uint64_t)
#define CLOCKID_END     96u /* size of the first attr that has clockid */

/* ---- ids ---- */

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int compare_ids(const void *a, const void *b)
{
	return compare_u64(
	        &((const struct merge_id *)a)->from, &((const struct merge_id *)b)->from);
}

static bool id_find(const struct merge_input *in, uint64_t from, uint64_t *to)
{
	const struct merge_id key = {.from = from};
	const struct merge_id *found =
	        in->nids != 0 ? bsearch(&key, in->ids, in->nids, sizeof(key), compare_ids) : NULL;

	if (found != NULL) {
		*to = found->to;
	}
	return found != NULL;
}

static bool id_used(const struct edit_merge *m, uint64_t id)
{
	return m->nused != 0 &&
	       bsearch(&id, m->used, m->nused, sizeof(*m->used), compare_u64) != NULL;
}

/* An id that means "with its copy of the stack" keeps the bit which says so. */
static uint64_t id_renumber(struct edit_merge *m, const struct merge_input *in, uint64_t from)
{
	uint64_t base;

	if ((from & RECORD_STACK_COPY_ID) != 0 &&
	        id_find(in, from & ~RECORD_STACK_COPY_ID, &base)) {
		return base | RECORD_STACK_COPY_ID;
	}
	return m->next++;
}

static int used_add(struct edit_merge *m, uint64_t id)
{
	if (!array_reserve(&m->used, &m->used_cap, m->nused + 1, sizeof(*m->used))) {
		return error_nomem(&m->e->error);
	}
	m->used[m->nused++] = id;
	return 0;
}

/* Lists the ids of an input; if one of them is used already, all get new ones. */
static int ids_choose(struct edit_merge *m, struct merge_input *in)
{
	const struct file *f = in->f;
	bool clash = false;
	size_t total = 0;

	for (size_t i = 0; i < f->nevents; i++) {
		total += f->events[i].nids;
	}
	in->ids = arena_alloc(&m->e->arena, (total + 1) * sizeof(*in->ids));
	if (in->ids == NULL) {
		return error_nomem(&m->e->error);
	}
	for (size_t i = 0; i < f->nevents; i++) {
		for (size_t k = 0; k < f->events[i].nids; k++) {
			const uint64_t id = f->events[i].ids[k];

			in->ids[in->nids++] = (struct merge_id){id, id};
			clash |= id_used(m, id);
		}
	}
	if (in->nids != 0) {
		qsort(in->ids, in->nids, sizeof(*in->ids), compare_ids);
	}
	for (size_t i = 0; i < in->nids; i++) {
		if (clash) {
			in->ids[i].to = i > 0 && in->ids[i].from == in->ids[i - 1].from
			                        ? in->ids[i - 1].to
			                        : id_renumber(m, in, in->ids[i].from);
		}
		TRY(used_add(m, in->ids[i].to));
	}
	if (m->nused != 0) {
		qsort(m->used, m->nused, sizeof(*m->used), compare_u64);
	}
	return 0;
}

/* ---- events ---- */

static bool is_grouped(const struct file *f)
{
	return file_has_feature(f, FEATURE_GROUP_DESC);
}

/* The attr of an event in the output. */
static bool attr_make(const struct edit_merge *m, const struct file *f,
        const struct file_event *event, struct merge_event *out)
{
	const struct file_event *clock = &m->inputs[0].f->events[0];
	struct sonde_attr attr;

	if (!record_attr_decode(event->bytes, f->swap, &attr)) {
		return false;
	}
	attr.sample_type |= SONDE_SAMPLE_IDENTIFIER;
	attr.clockid = clock->attr.clockid;
	record_attr_set(&attr, SONDE_FLAG_USE_CLOCKID,
	        sonde_attr_has(&clock->attr, SONDE_FLAG_USE_CLOCKID) != 0);
	attr.size = attr.size > sizeof(out->bytes) ? sizeof(out->bytes) : attr.size;
	attr.size = attr.size < CLOCKID_END ? CLOCKID_END : attr.size;
	record_attr_encode_as(&attr, f->swap, out->bytes);
	out->attr = attr;
	out->name = event->name;
	out->grouped = is_grouped(f);
	return true;
}

/* Returns the number of an equal event, or that of a new one. */
static int event_share(struct edit_merge *m, const struct merge_event *event, uint32_t *number)
{
	for (size_t i = 0; i < m->nevents; i++) {
		const struct merge_event *other = &m->events[i];

		if (!event->grouped && !other->grouped && strcmp(event->name, other->name) == 0 &&
		        memcmp(event->bytes, other->bytes, sizeof(event->bytes)) == 0) {
			*number = (uint32_t)i;
			return 0;
		}
	}
	if (!array_reserve(&m->events, &m->events_cap, m->nevents + 1, sizeof(*m->events))) {
		return error_nomem(&m->e->error);
	}
	m->events[m->nevents] = *event;
	*number = (uint32_t)m->nevents++;
	return 0;
}

static int event_id_add(struct edit_merge *m, uint32_t number, uint64_t id)
{
	struct merge_event *event = &m->events[number];

	if (!array_reserve(&event->ids, &event->ids_cap, event->nids + 1, sizeof(*event->ids))) {
		return error_nomem(&m->e->error);
	}
	event->ids[event->nids++] = id;
	return 0;
}

static int event_add(struct edit_merge *m, struct merge_input *in, size_t i)
{
	const struct file_event *event = &in->f->events[i];
	struct merge_event made = {.nids = 0};

	if (!attr_make(m, in->f, event, &made)) {
		return error_set(&m->e->error, SONDE_EFORMAT, NO_OFFSET,
		        "%s: the attr of event %zu cannot be read", in->name, i);
	}
	if (in->handle == NULL) { /* numbers of the first recording stay */
		made.grouped = true;
		TRY(event_share(m, &made, &in->events[i]));
		m->events[in->events[i]].grouped = is_grouped(in->f);
	} else {
		TRY(event_share(m, &made, &in->events[i]));
	}
	for (size_t k = 0; k < event->nids; k++) {
		uint64_t to = event->ids[k];

		(void)id_find(in, to, &to);
		in->fill[i] = k == 0 ? to : in->fill[i];
		TRY(event_id_add(m, in->events[i], to));
	}
	if (event->nids == 0) {
		in->fill[i] = m->next++;
		TRY(used_add(m, in->fill[i]));
		TRY(event_id_add(m, in->events[i], in->fill[i]));
	}
	return 0;
}

static int input_events(struct edit_merge *m, struct merge_input *in)
{
	size_t n = in->f->nevents + 1;

	in->events = arena_zalloc(&m->e->arena, n * sizeof(*in->events));
	in->fill = arena_zalloc(&m->e->arena, n * sizeof(*in->fill));
	if (in->events == NULL || in->fill == NULL) {
		return error_nomem(&m->e->error);
	}
	TRY(ids_choose(m, in));
	for (size_t i = 0; i < in->f->nevents; i++) {
		TRY(event_add(m, in, i));
	}
	return 0;
}

/* ---- what cannot be merged ---- */

static void record_note(struct merge_input *in, uint32_t type)
{
	in->traced |= type == RECORD_AUX || type == RECORD_ITRACE_START ||
	              type == RECORD_AUX_OUTPUT_HW_ID || type == RECORD_AUXTRACE_INFO ||
	              type == RECORD_AUXTRACE;
	in->counted |=
	        type == RECORD_STAT || type == RECORD_STAT_CONFIG || type == RECORD_STAT_ROUND;
}

static int records_note(struct edit_merge *m, struct merge_input *in)
{
	const struct sonde_raw_record *r;
	int rc = 0;

	while (in->handle != NULL && (rc = sonde_file_next(in->handle, &r)) > 0) {
		record_note(in, r->type);
	}
	if (rc < 0) {
		return error_take(&m->e->error, sonde_file_error(in->handle));
	}
	if (in->handle != NULL) {
		sonde_file_rewind(in->handle);
	}
	return 0;
}

static int refuse(struct edit_merge *m, const struct merge_input *in, const char *why)
{
	return error_set(
	        &m->e->error, SONDE_EFORMAT, NO_OFFSET, "%s cannot be merged: %s", in->name, why);
}

/* Whether the records of an event that are no samples end with its ids and time. */
static bool has_trailer(const struct file *f, size_t event)
{
	return sonde_attr_has(&f->events[event].attr, SONDE_FLAG_SAMPLE_ID_ALL) != 0;
}

static int input_check(struct edit_merge *m, const struct merge_input *in)
{
	const struct file *first = m->inputs[0].f, *f = in->f;
	bool traced = in->traced || file_has_feature(f, FEATURE_AUXTRACE);

	for (size_t i = 0; i < f->nevents; i++) {
		traced |= (f->events[i].attr.sample_type & SONDE_SAMPLE_AUX) != 0;
	}
	if (traced) {
		return refuse(m, in,
		        "it has hardware traces, whose times and positions would have to be "
		        "changed; 'sonde inject --itrace' replaces them by samples");
	}
	if (in->counted || file_has_feature(f, FEATURE_STAT)) {
		return refuse(m, in, "it has the counts of 'stat', not samples");
	}
	if (f->nevents == 0) {
		return refuse(m, in, "it describes no event");
	}
	if (f->swap != first->swap) {
		return refuse(m, in,
		        "it has another byte order than the first recording; 'sonde convert "
		        "--endian' changes that");
	}
	for (size_t i = 0; i < f->nevents; i++) {
		if (has_trailer(f, i) != has_trailer(first, 0)) {
			return refuse(m, in,
			        "its records have times and the other ones have none, or the "
			        "other way round (sample_id_all)");
		}
	}
	return 0;
}

/* ---- opening ---- */

static int input_open(struct edit_merge *m, struct merge_input *in, const char *path)
{
	const struct file *first = m->inputs[0].f;
	const struct sonde_file_options o = {.size = sizeof(o),
	        .on_diag = first->diags->fn,
	        .diag_arg = first->diags->arg,
	        .temp_dir = first->temp_dir};

	in->name = path;
	in->handle = sonde_file_new(&o);
	if (in->handle == NULL) {
		return error_nomem(&m->e->error);
	}
	reader_file(in->handle)->check_owner = first->check_owner;
	if (sonde_file_open(in->handle, path) < 0) {
		return error_take(&m->e->error, sonde_file_error(in->handle));
	}
	in->f = reader_file(in->handle);
	return records_note(m, in);
}

/* The first id above those of all inputs. */
static uint64_t ids_end(const struct edit_merge *m)
{
	uint64_t end = 1;

	for (size_t i = 0; i < m->ninputs; i++) {
		const struct file *f = m->inputs[i].f;

		for (size_t k = 0; k < f->nevents; k++) {
			for (size_t n = 0; n < f->events[k].nids; n++) {
				uint64_t id = f->events[k].ids[n] & ~RECORD_STACK_COPY_ID;

				end = id >= end ? id + 1 : end;
			}
		}
	}
	return end;
}

static int events_set(struct edit_merge *m, struct sonde_rewriter *rw)
{
	for (size_t i = 0; i < m->nevents; i++) {
		const struct merge_event *event = &m->events[i];
		const struct sonde_rewriter_event set = {.size = sizeof(set),
		        .attr = event->bytes,
		        .attr_size = event->attr.size,
		        .ids = event->ids,
		        .nids = event->nids,
		        .name = event->name};

		TRY(sonde_rewriter_set_event(rw, i, &set));
	}
	return 0;
}

static int inputs_open(struct edit_merge *m)
{
	const struct sonde_editor_options *o = &m->e->o;

	for (size_t i = 1; i < m->ninputs; i++) {
		TRY(input_open(m, &m->inputs[i], o->merge[i - 1]));
	}
	for (size_t i = 0; i < m->ninputs; i++) {
		TRY(input_check(m, &m->inputs[i]));
	}
	m->next = ids_end(m);
	for (size_t i = 0; i < m->ninputs; i++) {
		TRY(merge_clock(m, &m->inputs[i]));
		TRY(input_events(m, &m->inputs[i]));
	}
	return 0;
}

static int look(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_merge *m = arg;

	(void)rw;
	record_note(&m->inputs[0], r->type);
	return 0;
}

static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct edit_merge *m = arg;

	m->inputs[0].f = reader_file(sonde_rewriter_file(rw));
	m->inputs[0].name = m->inputs[0].f->path;
	TRY(edit_failed(m->e, rw, inputs_open(m)));
	TRY(edit_failed(m->e, rw, merge_features(m, rw)));
	return events_set(m, rw);
}

/* ---- records ---- */

/* Whether a number called "id" in the body of such a record is that of an event. */
static bool has_event_ids(uint32_t type)
{
	return type == RECORD_SAMPLE || type == RECORD_LOST || type == RECORD_READ ||
	       type == RECORD_THROTTLE || type == RECORD_UNTHROTTLE || type == RECORD_ID_INDEX ||
	       type == RECORD_EVENT_UPDATE;
}

static bool is_id_name(const char *name)
{
	return strcmp(name, "id") == 0 || strcmp(name, "identifier") == 0 ||
	       strcmp(name, "stream_id") == 0;
}

/* Returns the number for the output; `fill`: in place of an id that is 0. */
static uint64_t number_map(const struct merge_input *in, const struct layout_value *v,
        uint32_t type, bool in_trailer, uint64_t fill)
{
	uint64_t n = v->number;

	if (type < RECORD_USER_START && strcmp(v->field->name, "time") == 0) {
		return n == 0 || n == UINT64_MAX ? n : n + in->shift;
	}
	if (is_id_name(v->field->name) && (in_trailer || has_event_ids(type)) &&
	        !id_find(in, n, &n) && n == 0 && in_trailer && in->handle != NULL) {
		return fill;
	}
	return n;
}

/* Writes the record with the output's ids and times to `out`. */
static void numbers_change(const struct merge_input *in, const struct record *view,
        const struct record_plan *plan, uint64_t fill, uint8_t *out)
{
	struct record_walk walk;
	struct layout_value v;
	enum layout_event event;

	record_walk_init(&walk, view, in->f->swap, plan, file_cpus(in->f));
	while ((event = record_walk_next(&walk, &v)) != LAYOUT_END) {
		if (event == LAYOUT_VALUE && v.field != NULL && v.field->kind == LAYOUT_U64 &&
		        !v.array && v.bytes.n == sizeof(uint64_t)) {
			store_u64(out + (v.bytes.p - view->body.p),
			        number_map(in, &v, view->type, walk.part != WALK_BODY, fill),
			        in->f->swap);
		}
	}
}

/* The id that a record has in one of its other fields, in the output; else `fill`. */
static uint64_t identifier_of(const struct merge_input *in, const struct record *view,
        const struct record_plan *plan, uint64_t fill)
{
	bool swap = in->f->swap;
	struct record_trailer trailer;
	uint64_t id = 0;

	if (view->type != RECORD_SAMPLE) {
		id = record_trailer_decode(plan, view->body, swap, &trailer) ? trailer.id : 0;
	} else if (plan->id != RECORD_NOT_THERE && view->body.n >= (size_t)plan->id + 8) {
		id = load_u64(view->body.p + plan->id, swap);
	}
	return id_find(in, id, &id) ? id : fill;
}

/* Whether the record must get an IDENTIFIER. */
static bool lacks_identifier(
        const struct record *view, const struct record_plan *plan, bool trailer)
{
	return plan != NULL && view->type < RECORD_USER_START &&
	       (view->type == RECORD_SAMPLE || trailer) &&
	       (plan->sample_type & SONDE_SAMPLE_IDENTIFIER) == 0;
}

static const struct file_event *event_of(const struct file *f, const struct record *view)
{
	return view->type >= RECORD_USER_START ? NULL
	       : view->type == RECORD_SAMPLE   ? file_sample_event(f, view)
	                                       : file_record_event(f, view);
}

static int record_add(struct edit_merge *m, struct sonde_rewriter *rw, const struct merge_input *in,
        const struct sonde_raw_record *r)
{
	const struct record view = edit_view(r);
	const struct file_event *event = event_of(in->f, &view);
	const struct record_plan *plan = event != NULL ? &event->plan : NULL;
	uint64_t fill = event != NULL ? in->fill[event - in->f->events] : 0;
	bool more = lacks_identifier(&view, plan, has_trailer(in->f, 0));
	struct sonde_raw_record made = *r;
	uint8_t *body = m->e->room + RECORD_HEADER_SIZE;

	if (in->handle == NULL && !more) {
		return sonde_rewriter_put(rw, r);
	}
	if (r->size + IDENTIFIER_SIZE > UINT16_MAX && more) {
		diag_report(m->inputs[0].f->diags, SONDE_DIAG_DAMAGED, r->offset,
		        "%s: a record has no room for an IDENTIFIER and is left out", in->name);
		return 0;
	}
	made.size += more ? IDENTIFIER_SIZE : 0;
	made.bytes = m->e->room;
	made.stream = in->handle == NULL ? r->stream : 0;
	memcpy(m->e->room, r->bytes, RECORD_HEADER_SIZE);
	store_u16(m->e->room + 6, (uint16_t)made.size, in->f->swap);
	if (more) {
		store_u64(view.type == RECORD_SAMPLE ? body : body + view.body.n,
		        identifier_of(in, &view, plan, fill), in->f->swap);
		body += view.type == RECORD_SAMPLE ? IDENTIFIER_SIZE : 0;
	}
	memcpy(body, view.body.p, view.body.n);
	numbers_change(in, &view, plan, fill, body);
	return sonde_rewriter_put(rw, &made);
}

/* Records about the recording as a whole, which only the first one keeps. */
static bool is_of_first(uint32_t type)
{
	return type == RECORD_TIME_CONV || type == RECORD_FINISHED_INIT ||
	       type == RECORD_HEADER_ATTR || type == RECORD_HEADER_EVENT_TYPE ||
	       type == RECORD_TRACING_DATA || type == RECORD_HEADER_FEATURE ||
	       type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_merge *m = arg;

	return r->type == RECORD_FINISHED_ROUND ? 0 : record_add(m, rw, &m->inputs[0], r);
}

static int input_add(struct edit_merge *m, struct sonde_rewriter *rw, struct merge_input *in)
{
	const struct sonde_raw_record *r;
	int rc;

	while ((rc = sonde_file_next(in->handle, &r)) > 0) {
		if (r->type != RECORD_FINISHED_ROUND && !is_of_first(r->type)) {
			TRY(record_add(m, rw, in, r));
		}
	}
	if (rc < 0) {
		return edit_failed(
		        m->e, rw, error_take(&m->e->error, sonde_file_error(in->handle)));
	}
	if (sonde_file_diags(in->handle, SONDE_DIAG_TRUNCATED) != 0 ||
	        sonde_file_diags(in->handle, SONDE_DIAG_DAMAGED) != 0) {
		diag_report(m->inputs[0].f->diags, SONDE_DIAG_DAMAGED, NO_OFFSET,
		        "part of %s was not read and is not in the output", in->name);
	}
	return 0;
}

static int end(void *arg, struct sonde_rewriter *rw)
{
	struct edit_merge *m = arg;

	for (size_t i = 1; i < m->ninputs; i++) {
		TRY(input_add(m, rw, &m->inputs[i]));
	}
	return 0;
}

/* ---- the stage ---- */

int edit_merge_stage(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .look = look, .begin = begin, .record = record, .end = end};
	struct edit_merge *m = calloc(1, sizeof(*m));

	if (m == NULL) {
		return error_nomem(&e->error);
	}
	e->merge = m;
	m->e = e;
	m->inputs = arena_zalloc(&e->arena, (e->o.nmerge + 1) * sizeof(*m->inputs));
	if (m->inputs == NULL) {
		return error_nomem(&e->error);
	}
	m->ninputs = e->o.nmerge + 1;
	stage.arg = m;
	return sonde_rewriter_add(rw, &stage);
}

void edit_merge_fini(struct sonde_editor *e)
{
	struct edit_merge *m = e->merge;

	if (m == NULL) {
		return;
	}
	for (size_t i = 0; i < m->ninputs; i++) {
		sonde_file_free(m->inputs[i].handle);
	}
	for (size_t i = 0; i < m->nevents; i++) {
		free(m->events[i].ids);
	}
	text_fini(&m->words);
	free(m->events);
	free(m->used);
	free(m);
}
