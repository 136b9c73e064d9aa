/* SPDX-License-Identifier: MIT */
/*
 * Checks a recording: container, sections, features, every record's fields and event, order across
 * rounds, and losses that the recording itself reports.
 */
#include "core/json.h"
#include "core/progress.h"
#include "inspect/inspector.h"
#include "record/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 100u /* listed problems by default */

enum problem {
	PROBLEM_SECTION, /* a section is outside of the file, or overlaps another */
	PROBLEM_SKIPPED, /* bytes that are no record */
	PROBLEM_CUT, /* the input ends too early */
	PROBLEM_FEATURE, /* a feature does not match its fields */
	PROBLEM_RECORD, /* a record does not match its fields */
	PROBLEM_EVENT, /* the event of a sample is unknown */
	PROBLEM_ORDER, /* a record is older than a completed round */
	PROBLEMS
};

static const char *const problem_names[PROBLEMS] = {
        "section", "skipped", "cut", "feature", "record", "event", "order"};

struct check {
	struct file file;
	struct diag_sink diags;
	struct sonde_check_options o;
	const struct sonde_inspector_options *options;
	bool as_json;
	struct text out; /* the problems in the order of detection */
	struct json json; /* the array of problems, if JSON is wanted; writes to out */
	uint64_t problems[PROBLEMS], reported;
	uint64_t records, unknown, skipped; /* records; of unknown types; skipped bytes */
	uint64_t newest, before, limit; /* times in ns: newest so far; newest at the last mark;
	                                   end of the completed rounds */
	/* the same times, of samples only; oldest sample since the last mark that is older than
	 * `delivered`, 0: none; their number */
	uint64_t newest_sample, sample_before, delivered, late, misordered;
	uint32_t cpus; /* available cpus of NRCPUS */
	/* losses in the recording: events, their records, samples, throttles, AUX errors */
	uint64_t lost, lost_records, lost_samples, throttled, aux[4], trace_errors;
};

static const char *const aux_names[] = {"truncated", "overwritten", "partial", "collided"};

/* ---- problems ---- */

static void problem_put(struct check *c, enum problem p, uint64_t offset, const char *text)
{
	c->problems[p]++;
	if (c->reported++ >= c->o.most || (c->o.samples && p == PROBLEM_ORDER)) {
		return;
	}
	if (c->as_json) {
		json_line(&c->json);
		json_object(&c->json, NULL);
		json_text(&c->json, "kind", problem_names[p]);
		if (offset != NO_OFFSET) {
			json_u64(&c->json, "offset", offset);
		}
		json_text(&c->json, "text", text);
		json_close(&c->json);
		return;
	}
	text_printf(&c->out, "%-8s ", problem_names[p]);
	if (offset != NO_OFFSET) {
		text_0x(&c->out, offset);
		text_str(&c->out, ": ");
	}
	text_str(&c->out, text);
	text_char(&c->out, '\n');
}

static void problem(struct check *c, enum problem p, uint64_t offset, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
static void problem(struct check *c, enum problem p, uint64_t offset, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	problem_put(c, p, offset, text);
}

/* Diagnostics of the reader. */
static void on_diag(void *arg, const struct sonde_diag *diag)
{
	struct check *c = arg;

	if (diag->kind == SONDE_DIAG_TRUNCATED) {
		problem_put(c, PROBLEM_CUT, diag->offset, diag->detail);
	} else if (diag->kind == SONDE_DIAG_DAMAGED) {
		problem_put(c, PROBLEM_SKIPPED, diag->offset, diag->detail);
	}
}

/* ---- sections ---- */

struct section {
	uint64_t start, end; /* bytes from the file's start */
	char name[40];
};

static int section_order(const void *a, const void *b)
{
	const struct section *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void section_add(
        struct section *s, size_t *n, uint64_t start, uint64_t size, const char *name)
{
	if (size != 0) {
		s[*n] = (struct section){.start = start, .end = start + size};
		(void)snprintf(s[*n].name, sizeof(s[*n].name), "%s", name);
		++*n;
	}
}

/* Sections of a seekable file must not overlap. */
static void check_sections(struct check *c)
{
	const struct file *f = &c->file;
	struct section s[FEATURE_BITS + 4];
	size_t n = 0;

	if (f->pipe || f->bytes.n < FILE_HEADER_SIZE) {
		return;
	}
	section_add(s, &n, 0, f->header_size, "header");
	section_add(s, &n, load_u64(f->bytes.p + 24, f->swap), load_u64(f->bytes.p + 32, f->swap),
	        "attrs");
	section_add(s, &n, f->data.offset, f->data.size, "data");
	for (unsigned i = 0; i < FEATURE_BITS; i++) {
		const struct layout *l = layout_of_feature(i);

		section_add(s, &n, f->features[i].offset, f->features[i].size,
		        l != NULL ? l->name : "a feature");
	}
	qsort(s, n, sizeof(*s), section_order);
	for (size_t i = 1; i < n; i++) {
		if (s[i].start < s[i - 1].end) {
			problem(c, PROBLEM_SECTION, s[i].start, "%s begins inside of %s", s[i].name,
			        s[i - 1].name);
		}
	}
}

static void check_features(struct check *c)
{
	const struct file *f = &c->file;

	for (unsigned i = 1; i < FEATURE_BITS; i++) {
		const struct layout *l = layout_of_feature(i);
		struct layout_walk walk;
		struct layout_value v;

		if (l == NULL || !file_has_feature(f, (enum abi_feature)i)) {
			continue;
		}
		layout_walk_init(&walk, l, file_feature(f, (enum abi_feature)i), f->swap, NULL, 0);
		walk.slots[SLOT_CPUS] = c->cpus;
		while (layout_next(&walk, &v) != LAYOUT_END) {
		}
		if (walk.bad) {
			problem(c, PROBLEM_FEATURE, f->features[i].offset,
			        "%s is too short for its contents", l->name);
		}
	}
}

/* ---- records ---- */

static void count_loss(struct check *c, const struct record *r)
{
	struct cursor b = cursor_make(r->body, c->file.swap);
	uint64_t first = cursor_u64(&b), second = cursor_u64(&b), third = cursor_u64(&b);

	switch (r->type) {
	case RECORD_LOST:
		c->lost += second;
		c->lost_records++;
		break;
	case RECORD_LOST_SAMPLES: c->lost_samples += first; break;
	case RECORD_THROTTLE: c->throttled++; break;
	case RECORD_AUXTRACE_ERROR: c->trace_errors++; break;
	case RECORD_AUX:
		for (unsigned i = 0; i < 4; i++) {
			c->aux[i] += third >> i & 1;
		}
		break;
	default: break;
	}
}

/*
 * A reader that trusts the marks prints, at each of them, what is not newer than the mark before the
 * last. What comes too late is printed first at the next mark, after newer samples.
 */
static void finish_round(struct check *c)
{
	if (c->late != 0) {
		if (c->o.samples && c->misordered < c->o.most) {
			text_printf(&c->out,
			        "Samples misordered, previous: %" PRIu64 " this: %" PRIu64 "\n",
			        c->delivered, c->late);
		}
		c->misordered++;
		c->late = 0;
	}
	c->delivered = c->sample_before;
	c->sample_before = c->newest_sample;
}

static void check_sample_order(struct check *c, uint64_t time)
{
	if (time < c->delivered && (c->late == 0 || time < c->late)) {
		c->late = time;
	}
	c->newest_sample = time > c->newest_sample ? time : c->newest_sample;
}

static void check_order(
        struct check *c, const struct record *r, const struct file_event *e, uint64_t offset)
{
	struct record_trailer trailer = {0};
	uint64_t time = 0;

	if (r->type == RECORD_FINISHED_ROUND) {
		c->limit = c->before;
		c->before = c->newest;
		finish_round(c);
		return;
	}
	if (e == NULL || r->type >= RECORD_USER_START) {
		return;
	}
	if (r->type != RECORD_SAMPLE) {
		(void)record_trailer_decode(&e->plan, r->body, c->file.swap, &trailer);
		time = trailer.time;
	} else if (e->plan.time != RECORD_NOT_THERE && r->body.n >= e->plan.time + 8u) {
		time = load_u64(r->body.p + e->plan.time, c->file.swap);
	}
	if (time != 0 && time < c->limit) {
		problem(c, PROBLEM_ORDER, offset,
		        "a record of type %u is %llu ns older than the round that was finished "
		        "before it",
		        r->type, (unsigned long long)(c->limit - time));
	}
	if (r->type == RECORD_SAMPLE && time != 0) {
		check_sample_order(c, time);
	}
	c->newest = time > c->newest ? time : c->newest;
}

static void check_record(struct check *c, const struct record *r)
{
	const struct file_event *e = NULL;
	uint64_t offset = file_place(&c->file, r->offset).offset;
	struct record_walk w;
	struct layout_value v;

	c->records++;
	if (layout_of_record(r->type) == NULL) {
		c->unknown++;
		return;
	}
	if (r->type < RECORD_USER_START) {
		e = r->type == RECORD_SAMPLE ? file_sample_event(&c->file, r)
		                             : file_record_event(&c->file, r);
	}
	if (e == NULL && r->type == RECORD_SAMPLE) {
		problem(c, PROBLEM_EVENT, offset, "a sample belongs to no event of the recording");
		return;
	}
	record_walk_init(&w, r, c->file.swap, e != NULL ? &e->plan : NULL, c->cpus);
	while (record_walk_next(&w, &v) != LAYOUT_END) {
	}
	if (w.bad) {
		problem(c, PROBLEM_RECORD, offset, "%s of %zu bytes is too short for its fields",
		        record_type_name(r->type), r->body.n + RECORD_HEADER_SIZE);
		return;
	}
	count_loss(c, r);
	check_order(c, r, e, offset);
}

static void check_records(struct check *c)
{
	uint64_t position = file_begin(&c->file);
	struct file_gap gap;
	struct record r;
	enum file_step step;
	struct progress progress = progress_begin(
	        c->options->on_progress, c->options->progress_arg, file_end(&c->file));

	while ((step = file_step(&c->file, &position, &r, &gap)) != FILE_END) {
		progress_at(&progress, position);
		if (gap.text[0] != '\0') {
			file_gap_report(&c->file, &gap, &c->diags);
		}
		if (step == FILE_GAP) {
			c->skipped += gap.size;
		} else {
			check_record(c, &r);
		}
	}
	if (gap.text[0] != '\0') {
		file_gap_report(&c->file, &gap, &c->diags);
	}
	finish_round(c);
}

/* ---- results ---- */

static const char *const verdicts[] = {"whole", "damaged but usable", "unusable"};

static const char *container_of(const struct file *f)
{
	return f->directory ? "directory" : f->pipe ? "stream" : "seekable file";
}

static void text_loss(struct text *t, const char *what, uint64_t n)
{
	if (n != 0) {
		text_str(t, "lost     ");
		text_u64(t, n, 0, ' ');
		text_char(t, ' ');
		text_str(t, what);
		text_char(t, '\n');
	}
}

static void text_count(struct text *t, uint64_t n, const char *what)
{
	if (n != 0) {
		text_str(t, ", ");
		text_u64(t, n, 0, ' ');
		text_str(t, what);
	}
}

static void say_losses(struct check *c)
{
	struct text *t = &c->out;

	text_loss(t, "events in LOST records", c->lost);
	text_loss(t, "samples in LOST_SAMPLES records", c->lost_samples);
	text_loss(t, "times throttled: samples are missing after each", c->throttled);
	for (unsigned i = 0; i < 4; i++) {
		char what[64];

		(void)snprintf(what, sizeof(what), "times trace data was %s", aux_names[i]);
		text_loss(t, what, c->aux[i]);
	}
	text_loss(t, "errors of trace decoding recorded", c->trace_errors);
}

static void say_samples(struct check *c)
{
	say_losses(c);
	text_printf(&c->out, "Misordered timestamps: %" PRIu64 "\n", c->misordered);
}

static void say_text(struct check *c, const char *path, enum sonde_check_verdict verdict)
{
	struct text *t = &c->out;

	if (c->reported > c->o.most) {
		text_printf(
		        t, "... and %llu more\n", (unsigned long long)(c->reported - c->o.most));
	}
	if (verdict != SONDE_CHECK_UNUSABLE) {
		say_losses(c);
		text_printf(t, "%s: %s, %s-endian, %zu events, %llu records", path,
		        container_of(&c->file), c->file.swap != HOST_BIG_ENDIAN ? "big" : "little",
		        c->file.nevents, (unsigned long long)c->records);
		text_count(t, c->unknown, " of unknown types");
		text_count(t, c->skipped, " bytes skipped");
		text_str(t, c->file.interrupted ? ", recording was interrupted\n" : "\n");
	}
	text_printf(t, "%s: %s\n", path, verdicts[verdict]);
}

static void say_json(struct check *c, const char *path, enum sonde_check_verdict verdict)
{
	struct text problems;
	struct json j = {.out = &c->out};

	json_close(&c->json);
	problems = c->out;
	c->out = (struct text){.failed = problems.failed};
	json_begin(&j, "check", 1);
	json_text(&j, "file", path);
	json_text(&j, "verdict", verdicts[verdict]);
	json_text(&j, "container",
	        verdict == SONDE_CHECK_UNUSABLE ? "unknown" : container_of(&c->file));
	json_u64(&j, "events", c->file.nevents);
	json_u64(&j, "records", c->records);
	json_u64(&j, "unknown_records", c->unknown);
	json_u64(&j, "skipped_bytes", c->skipped);
	json_bool(&j, "interrupted", c->file.interrupted);
	json_object(&j, "lost");
	json_u64(&j, "events", c->lost);
	json_u64(&j, "samples", c->lost_samples);
	json_u64(&j, "throttled", c->throttled);
	for (unsigned i = 0; i < 4; i++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "aux_%s", aux_names[i]);
		json_u64(&j, key, c->aux[i]);
	}
	json_u64(&j, "trace_errors", c->trace_errors);
	json_close(&j);
	json_object(&j, "counts");
	for (unsigned i = 0; i < PROBLEMS; i++) {
		json_u64(&j, problem_names[i], c->problems[i]);
	}
	json_close(&j);
	json_raw(&j, "problems", problems.p, problems.n);
	json_end(&j);
	text_fini(&problems);
}

/* Returns an enum sonde_check_verdict, or SONDE_ENOMEM. */
static int check_all(struct check *c, const char *path)
{
	struct span s;

	if (file_open(&c->file, path) < 0 || file_inflate(&c->file) < 0) {
		TRY(error_status(&c->file.error) == SONDE_ENOMEM ? SONDE_ENOMEM : 0);
		problem_put(
		        c, PROBLEM_SECTION, error_show(&c->file.error)->offset, c->file.error.text);
		return SONDE_CHECK_UNUSABLE;
	}
	s = file_feature(&c->file, FEATURE_NRCPUS);
	c->cpus = s.n >= 4 ? load_u32(s.p, c->file.swap) : 0;
	check_sections(c);
	check_features(c);
	check_records(c);
	return c->reported != 0 || c->file.interrupted ? SONDE_CHECK_USABLE : SONDE_CHECK_WHOLE;
}

int sonde_inspector_check(struct sonde_inspector *in, const char *path,
        const struct sonde_check_options *options, sonde_write_fn write, void *arg)
{
	struct check *c = calloc(1, sizeof(*c));
	int verdict, rc;

	if (c == NULL) {
		return error_nomem(&in->error);
	}
	rc = inspector_begin(in, &c->o, sizeof(c->o), options);
	if (rc < 0) {
		free(c);
		return rc;
	}
	c->o.most = c->o.most != 0 ? c->o.most : MOST;
	inspector_file_init(in, &c->file, &c->diags);
	c->diags.fn = on_diag;
	c->diags.arg = c;
	c->options = &in->options;
	c->as_json = in->options.json;
	c->json.out = &c->out;
	if (c->as_json) {
		json_array(&c->json, NULL);
	}
	verdict = check_all(c, path);
	if (verdict >= 0 && c->as_json) {
		say_json(c, path, (enum sonde_check_verdict)verdict);
	} else if (verdict >= 0 && verdict != SONDE_CHECK_UNUSABLE && c->o.samples) {
		say_samples(c);
	} else if (verdict >= 0) {
		say_text(c, path, (enum sonde_check_verdict)verdict);
	}
	c->out.failed = c->out.failed || verdict < 0;
	rc = inspector_write(in, &c->out, write, arg);
	file_close(&c->file);
	free(c);
	return rc < 0 ? rc : verdict;
}
