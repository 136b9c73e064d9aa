/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include "core/escape.h"
#include "core/options.h"

#include <stdlib.h>
#include <string.h>

#define TYPE_SYNTH     (UINT32_C(1) << 31) /* events that a decoder of traces makes */
#define DATA_SRC_NONE  0x5080021u /* what perf has for samples without data source */
#define HW_BRANCHES    4u /* PERF_COUNT_HW_BRANCH_INSTRUCTIONS */
#define BRANCH_TYPE    (((1u << 10) - 1) | AUX_FLAG_VM_ENTRY | AUX_FLAG_VM_EXIT)
#define KINDS_TASKS    (1u << RECORD_COMM | 1u << RECORD_FORK)
#define KINDS_SWITCHES (1u << RECORD_SWITCH | 1u << RECORD_SWITCH_CPU_WIDE)
#define SYNTH_KINDS    6u

/* ---- rows ---- */

int export_row(struct export *x, enum export_table table, const struct sonde_export_value *values)
{
	const struct sonde_export_table *t = &x->tables[table];

	x->counts.rows++;
	for (size_t i = 0; i < t->ncolumns; i++) {
		if (t->columns[i].type == SONDE_EXPORT_TEXT && values[i].text == NULL) {
			return SONDE_ENOMEM;
		}
	}
	return x->sink->row != NULL && t->ncolumns != 0 ? x->sink->row(x->sink->arg, t, values) : 0;
}

struct sonde_export_value export_text(struct export *x, unsigned slot, const char *text)
{
	struct text *own = &x->escaped[slot];
	size_t n = text != NULL ? strlen(text) : 0;

	if (text == NULL || escape_is_plain(text, n)) {
		return (struct sonde_export_value){.text = text, .text_size = n};
	}
	own->n = 0;
	escape_utf8(own, text, n);
	text_char(own, '\0');
	return (struct sonde_export_value){
	        .text = own->failed ? NULL : own->p, .text_size = own->n - 1};
}

/* Rows with id 0, to which rows refer that know no better. */
static int unknown_rows(struct export *x)
{
	static const enum export_table tables[] = {EXPORT_EVENTS, EXPORT_MACHINES, EXPORT_THREADS,
	        EXPORT_COMMS, EXPORT_DSOS, EXPORT_SYMBOLS, EXPORT_SAMPLES, EXPORT_PATHS,
	        EXPORT_CALLS};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct sonde_export_value row[EXPORT_COLUMNS_MAX] = {0};
		const struct sonde_export_table *t = &x->tables[tables[i]];

		if (x->start->exists[tables[i]]) {
			continue;
		}
		for (size_t k = 0; k < t->ncolumns; k++) {
			if (t->columns[k].type == SONDE_EXPORT_TEXT) {
				row[k] = export_text(x, 0,
				        strcmp(t->columns[k].name, "build_id") == 0 ? ""
				                                                    : "unknown");
			}
		}
		if (tables[i] == EXPORT_THREADS) {
			row[3].number = row[4].number = -1;
		}
		TRY(t->ncolumns != 0 ? export_row(x, tables[i], row) : 0);
	}
	return 0;
}

static int branch_type_rows(struct export *x)
{
	struct text name = {0};
	int64_t id;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && export_branch_type(i, &name, &id); i++) {
		rc = export_row(x, EXPORT_BRANCH_TYPES,
		        (struct sonde_export_value[]){
		                EXPORT_NUMBER(id), export_text(x, 0, name.failed ? NULL : name.p)});
	}
	text_fini(&name);
	return rc;
}

/* ---- samples ---- */

/* Whether perf finds the code of the address of an event's samples: page faults and branches. */
static bool has_target(const struct sonde_attr *attr)
{
	if ((attr->sample_type & SONDE_SAMPLE_ADDR) == 0) {
		return false;
	}
	if (attr->type == SONDE_TYPE_HARDWARE) {
		return attr->config == HW_BRANCHES && attr->sample_period == 1;
	}
	return attr->type == SONDE_TYPE_SOFTWARE &&
	       (attr->config == SONDE_SW_PAGE_FAULTS || attr->config == SONDE_SW_PAGE_FAULTS_MIN ||
	               attr->config == SONDE_SW_PAGE_FAULTS_MAJ);
}

/* Writes the row of the table of an event such as ptwrite or cbr; id: of its sample. */
static int synth_row(struct export *x, uint64_t config, const struct sonde_sample *s, uint64_t id)
{
	static const enum export_table tables[SYNTH_KINDS] = {
	        EXPORT_PTWRITE, EXPORT_MWAIT, EXPORT_PWRE, EXPORT_EXSTOP, EXPORT_PWRX, EXPORT_CBR};
	struct cursor c = cursor_make((struct span){s->raw, s->raw_len}, session_swap(x->session));
	uint32_t word = cursor_u32(&c);
	uint64_t v = config == 5 ? cursor_u32(&c) : config == 3 ? 0 : cursor_u64(&c);
	uint32_t ratio = word & 0xff, usual = word >> 16 & 0xff;
	struct sonde_export_value row[4] = {EXPORT_NUMBER(id)};

	if (config >= SYNTH_KINDS || c.bad) {
		return 0;
	}
	switch (config) {
	case 0:
		row[1].number = (int64_t)v;
		row[2].number = word & 1;
		break;
	case 1:
		row[1].number = (int64_t)(v & 0xff);
		row[2].number = (int64_t)(v >> 32 & 3);
		break;
	case 2:
		row[1].number = (int64_t)(v >> 12 & 15);
		row[2].number = (int64_t)(v >> 8 & 15);
		row[3].number = (int64_t)(v >> 7 & 1);
		break;
	case 3: row[1].number = word & 1; break;
	case 4:
		row[1].number = (int64_t)(v & 15);
		row[2].number = (int64_t)(v >> 4 & 15);
		row[3].number = (int64_t)(v >> 8 & 15);
		break;
	default:
		row[1].number = ratio;
		row[2].number = (int64_t)((v + 500) / 1000); /* kHz to MHz */
		row[3].number = usual != 0 ? (1000 * ratio / usual + 5) / 10 : 0;
		break;
	}
	return export_row(x, tables[config], row);
}

static int sample_row(struct export *x, const struct session_sample *s, const struct export_ids *i)
{
	const struct sonde_sample *d = &s->s;
	const struct aux_extra *extra = s->extra;
	bool parts = (d->present & SONDE_SAMPLE_WEIGHT_STRUCT) != 0;
	bool timed = extra != NULL || (d->present & SONDE_SAMPLE_TIME) != 0;
	uint32_t flags = extra != NULL ? extra->flags : 0;
	struct sonde_export_value row[EXPORT_COLUMNS_MAX] = {EXPORT_NUMBER(i->id),
	        EXPORT_NUMBER(i->event), EXPORT_NUMBER(i->who.machine),
	        EXPORT_NUMBER(i->who.thread), EXPORT_NUMBER(i->who.comm),
	        EXPORT_NUMBER(i->from.object), EXPORT_NUMBER(i->from.symbol),
	        EXPORT_NUMBER(i->from.offset), EXPORT_NUMBER(d->ip),
	        EXPORT_NUMBER(timed ? d->time : EXPORT_NO_TIME), EXPORT_NUMBER((int32_t)d->cpu),
	        EXPORT_NUMBER(i->to.object), EXPORT_NUMBER(i->to.symbol),
	        EXPORT_NUMBER(i->to.offset), EXPORT_NUMBER(d->addr)};
	size_t n = 15;

	if (timed) {
		x->last_time = x->first_time == EXPORT_NO_TIME || d->time > x->last_time
		                       ? d->time
		                       : x->last_time;
		x->first_time = d->time < x->first_time ? d->time : x->first_time;
	}
	if (!x->options.branches) {
		row[n++].number = (int64_t)d->period;
		row[n++].number = parts ? (int64_t)(d->weight & UINT32_MAX) : (int64_t)d->weight;
		row[n++].number = (int64_t)d->transaction;
		row[n++].number = (d->present & SONDE_SAMPLE_DATA_SRC) != 0 ? (int64_t)d->data_src
		                  : extra == NULL                           ? DATA_SRC_NONE
		                                                            : 0;
	}
	row[n++].number = flags & BRANCH_TYPE;
	row[n++].number = (flags & AUX_FLAG_IN_TX) != 0;
	row[n++].number = (int64_t)i->path;
	row[n++].number = extra != NULL ? (int64_t)extra->insns : 0;
	row[n++].number = extra != NULL ? (int64_t)extra->cycles : 0;
	row[n++].number = flags;
	return export_row(x, EXPORT_SAMPLES, row);
}

static int on_sample(struct export *x, const struct session_sample *s)
{
	const struct session_event *e = &session_events(x->session)[s->event];
	bool targeted = has_target(&e->attr);
	struct export_ids ids = {0};

	TRY(export_event(x, s->event, &ids.event));
	TRY(export_who(x, s->s.pid, s->s.tid, &ids.who));
	ids.id = export_id(x, EXPORT_SAMPLES);
	x->counts.samples++;
	TRY(export_place(x, s->view, s->cpumode, s->s.ip, &ids.from));
	if (x->options.callchains) {
		TRY(export_chain(x, s, &ids.path));
	}
	if (targeted) {
		uint32_t mode = frame_mode_of(&x->frames, s->view, s->cpumode, s->s.addr);

		TRY(export_place(x, s->view, mode, s->s.addr, &ids.to));
		if (x->calls != NULL && s->extra != NULL) { /* only traces have all calls */
			TRY(export_calls_add(x, s, &ids));
		}
	}
	TRY(sample_row(x, s, &ids));
	return e->attr.type == TYPE_SYNTH ? synth_row(x, e->attr.config, &s->s, ids.id) : 0;
}

/* ---- context switches ---- */

/* The time of a record that is no sample, or EXPORT_NO_TIME. */
static uint64_t record_time(const struct export *x, const struct session_sample *s)
{
	const struct session_event *e = &session_events(x->session)[s->event];

	return e->plan.trailer_time != RECORD_NOT_THERE ? s->s.time : EXPORT_NO_TIME;
}

static int on_switch(struct export *x, const struct record *r, const struct session_sample *s)
{
	struct cursor c = cursor_make(r->body, session_swap(x->session));
	bool out = (r->misc & MISC_SWITCH_OUT) != 0;
	bool preempted = out && (r->misc & MISC_SWITCH_OUT_PREEMPT) != 0;
	struct export_who who, other = {0};
	uint32_t pid, tid;

	TRY(export_who(x, s->s.pid, s->s.tid, &who));
	if (r->type == RECORD_SWITCH_CPU_WIDE) {
		pid = cursor_u32(&c);
		tid = cursor_u32(&c);
		TRY(c.bad || !export_task_exists(x, pid, tid) ? 0
		                                              : export_who(x, pid, tid, &other));
	}
	return export_row(x, EXPORT_SWITCHES,
	        (struct sonde_export_value[]){EXPORT_NUMBER(export_id(x, EXPORT_SWITCHES)),
	                EXPORT_NUMBER(who.machine), EXPORT_NUMBER(record_time(x, s)),
	                EXPORT_NUMBER((int32_t)s->s.cpu),
	                EXPORT_NUMBER(out ? who.thread : other.thread),
	                EXPORT_NUMBER(out ? who.comm : other.comm),
	                EXPORT_NUMBER(out ? other.thread : who.thread),
	                EXPORT_NUMBER(out ? other.comm : who.comm),
	                EXPORT_NUMBER((out ? 1 : 0) | (preempted ? 2 : 0))});
}

static int on_record(struct export *x, const struct record *r, const struct session_sample *s)
{
	switch (r->type) {
	case RECORD_SAMPLE: return on_sample(x, s);
	case RECORD_COMM:
	case RECORD_FORK: return export_tasks_add(x, r, record_time(x, s));
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE: return on_switch(x, r, s);
	default: return 0;
	}
}

/* ---- the whole recording ---- */

/* For the caller's progress function, too. */
static void show_counts(const struct export *x)
{
	if (x->options.counts != NULL) {
		*x->options.counts = x->counts;
	}
}

static int read_window(struct export *x, struct session_worker *w, size_t window)
{
	struct session_sample s;
	struct record r;
	int rc;

	show_counts(x);
	session_progress(x->session, window, session_windows(x->session));
	TRY(session_window_open(w, window));
	while ((rc = session_worker_next_any(w, &r, &s)) > 0) {
		TRY(on_record(x, &r, &s));
	}
	return rc;
}

static int read_all(struct export *x)
{
	struct session_worker worker;
	int rc = 0;

	session_worker_init(&worker, x->session);
	worker.kinds = KINDS_TASKS | KINDS_SWITCHES;
	for (size_t i = 0; i < session_windows(x->session) && rc >= 0; i++) {
		rc = read_window(x, &worker, i);
		session_forget(x->session);
	}
	session_worker_fini(&worker);
	if (rc >= 0 && x->calls != NULL) {
		rc = export_calls_end(x);
	}
	return rc >= 0 ? export_recording(x) : rc;
}

static int write_rows(struct export *x)
{
	if (x->sink->begin != NULL) {
		TRY(x->sink->begin(x->sink->arg, x->tables, EXPORT_TABLES));
	}
	TRY(unknown_rows(x));
	TRY(!x->start->exists[EXPORT_BRANCH_TYPES] ? branch_type_rows(x) : 0);
	return read_all(x);
}

static void export_fini(struct export *x)
{
	export_tasks_fini(x);
	export_names_fini(x);
	export_calls_free(x->calls);
	frame_reader_fini(&x->frames);
	for (size_t i = 0; i < EXPORT_TEXTS; i++) {
		text_fini(&x->escaped[i]);
	}
	free(x);
}

int export_run(struct sonde_session *s, const struct sonde_export_options *options,
        const struct sonde_export_sink *sink, const struct export_start *start)
{
	static const struct export_start empty;
	struct export *x = calloc(1, sizeof(*x));
	int rc;

	if (x == NULL) {
		return SONDE_ENOMEM;
	}
	x->session = s;
	x->options = *options;
	x->sink = sink;
	export_schema_tables(options, x->tables);
	x->start = start != NULL ? start : &empty;
	memcpy(x->bases, x->start->last, sizeof(x->bases));
	memcpy(x->ids, x->start->last, sizeof(x->ids));
	x->first_time = x->last_time = EXPORT_NO_TIME;
	rc = export_names_init(x);
	if (rc >= 0) {
		rc = frame_reader_init(&x->frames, session_frames(s));
	}
	if (rc >= 0 && options->calls) {
		x->calls = export_calls_new();
		rc = x->calls != NULL ? 0 : SONDE_ENOMEM;
	}
	if (rc >= 0) {
		rc = write_rows(x);
	}
	show_counts(x);
	export_fini(x);
	return rc < 0 ? error_ensure(session_error(s), rc) : 0;
}

int export_options(struct sonde_session *s, const struct sonde_export_options *given,
        struct sonde_export_options *own)
{
	TRY(session_ready(s));
	*own = (struct sonde_export_options){0};
	return options_copy(own, sizeof(*own), given, session_error(s));
}

int export_check_columns(struct sonde_session *s, const char *database,
        const struct sonde_export_options *options, bool all_columns)
{
	if (all_columns != options->branches) {
		return 0;
	}
	return error_set(session_error(s), SONDE_EARG, NO_OFFSET,
	        "samples of database %s have %s: --append wants the word '%s'", database,
	        all_columns ? "all columns" : "only the columns of branches",
	        all_columns ? "all" : "branches");
}

int sonde_export_rows(struct sonde_session *s, const struct sonde_export_options *options,
        const struct sonde_export_sink *sink)
{
	struct sonde_export_options o;
	struct sonde_export_sink own = {0};

	TRY(export_options(s, options, &o));
	TRY(options_copy(&own, sizeof(own), sink, session_error(s)));
	return export_run(s, &o, &own, NULL);
}
