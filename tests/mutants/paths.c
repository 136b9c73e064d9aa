/* SPDX-License-Identifier: MIT */
#include "paths.h"

#include <dirent.h>
#include <sonde/file.h>
#include <sonde/preview/flamegraph.h>
#include <sonde/preview/inspect.h>
#include <sonde/preview/profile.h>
#include <sonde/preview/ptview.h>
#include <sonde/preview/report.h>
#include <sonde/preview/rewrite.h>
#include <sonde/preview/script.h>
#include <sonde/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int drop(void *arg, const char *text, size_t n)
{
	uint64_t *sum = arg;

	for (size_t i = 0; i < n; i += 64) { /* detects bad pointers */
		*sum += (uint8_t)text[i];
	}
	return 0;
}

static void fail(const char *what)
{
	(void)fprintf(stderr, "mutants: %s\n", what);
	abort();
}

void paths_remove(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
		}
	}
	if (dir != NULL) {
		(void)closedir(dir);
		(void)rmdir(path);
	} else {
		(void)unlink(path);
	}
}

/* ---- records in file order ---- */

static void walk_file(const struct input *in, int gaps)
{
	struct sonde_file_options o = {.size = sizeof(o), .gaps = gaps};
	struct sonde_file *f = sonde_file_new(&o);
	const struct sonde_raw_record *r;
	uint64_t last = 0,
	         held = 0; /* bytes of the last item; a gap of compressed data may have 0 */
	size_t n;

	if (f == NULL || sonde_file_open(f, in->path) < 0) {
		sonde_file_free(f);
		return;
	}
	while (sonde_file_next(f, &r) > 0) {
		if (r->position < last || (held != 0 && r->position == last) ||
		        sonde_file_record_event(f, r) >= (long)sonde_file_events(f) ||
		        (r->gap == NULL && r->size < 8)) {
			fail("items of a file do not follow each other");
		}
		last = r->position;
		held = r->size;
	}
	for (size_t e = 0; e < sonde_file_events(f); e++) {
		const struct sonde_attr *attr = sonde_file_event_attr(f, e);
		const uint64_t *ids = sonde_file_event_ids(f, e, &n);

		if (sonde_file_event_name(f, e) == NULL || attr == NULL ||
		        (n != 0 && ids == NULL)) {
			fail("an event without name or attr");
		}
		(void)sonde_file_event_bytes(f, e, &n);
	}
	for (unsigned bit = 0; bit < 256; bit++) {
		(void)sonde_file_feature(f, bit, &n);
	}
	sonde_file_free(f);
}

/* ---- sessions ---- */

static struct sonde_session *open_session(const struct input *in, unsigned jobs)
{
	struct sonde_session_options o = {.size = sizeof(o),
	        .jobs = jobs,
	        .symfs = in->symfs != NULL ? in->symfs : "/nonexistent",
	        .kallsyms = "/dev/null",
	        .itrace = in->itrace};
	struct sonde_session *s = sonde_session_new(&o);

	if (s != NULL && sonde_session_open(s, in->path) < 0) {
		sonde_session_free(s);
		return NULL;
	}
	return s;
}

struct sum {
	uint64_t samples;
	uint64_t mix; /* of time, ip and offset; does not depend on the order */
};

static void add(struct sum *sum, const struct sonde_event *e)
{
	sum->samples++;
	sum->mix += (e->sample->time ^ e->sample->ip * 31) + e->offset * 0x9e3779b97f4a7c15u;
}

static int add_mapped(void *arg, unsigned worker, const struct sonde_event *e)
{
	(void)worker;
	add(arg, e);
	return 0;
}

/* Whether an event's samples must be in order of time: not if PEBS wrote them to a trace. */
static bool is_ordered(const struct sonde_session *s, const struct sonde_event *e)
{
	const struct sonde_attr *attr = sonde_session_event_attr(s, e->event);

	return (e->sample->present & SONDE_SAMPLE_TIME) != 0 &&
	       (e->offset != 0 || sonde_attr_has(attr, SONDE_FLAG_AUX_OUTPUT) == 0);
}

/* Times must not go back, and both ways of reading must have the same samples. */
static void walk_session(const struct input *in, int mode)
{
	struct sonde_session *s = open_session(in, 1);
	struct sum walked = {0}, mapped = {0};
	const struct sonde_event *e;
	const struct sonde_frame *where;
	uint64_t last = 0;

	(void)mode;
	if (s == NULL) {
		return;
	}
	while (sonde_session_next(s, &e) > 0) {
		if (is_ordered(s, e)) {
			if (e->sample->time < last) {
				fail("samples are not in order of time");
			}
			last = e->sample->time;
		}
		if (e->event >= sonde_session_events(s) || e->thread.comm == NULL) {
			fail("a sample has no event or thread");
		}
		add(&walked, e);
		(void)sonde_session_resolve(s, e, e->cpumode, e->sample->ip, &where);
		(void)sonde_session_frames(s, e, &where);
	}
	if (sonde_session_map(s, add_mapped, &mapped) == 0 &&
	        (mapped.samples != walked.samples || mapped.mix != walked.mix)) {
		fail("map and next give different samples");
	}
	sonde_session_free(s);
}

static const struct report_form {
	const char *sort;
	bool no_children, no_graph, callee, samples, stats, json;
	enum sonde_report_header header;
} report_forms[] = {
        {0},
        {.sort = "sym,pid", .no_children = true, .samples = true},
        {.sort = "comm,dso", .no_children = true, .no_graph = true},
        {.sort = "cpu,sym", .callee = true, .header = SONDE_REPORT_HEADER},
        {.stats = true},
        {.stats = true, .json = true},
        {.sort = "sym,cpu,cgroup", .json = true},
};

static void report(const struct input *in, int mode)
{
	const struct report_form *form = &report_forms[mode];
	struct sonde_session *s = open_session(in, mode == 0 ? 2 : 1);
	struct sonde_report_options o = {.size = sizeof(o)};
	uint64_t sum = 0;

	if (s == NULL) {
		return;
	}
	o.sort = form->sort;
	o.no_children = form->no_children;
	o.no_graph = form->no_graph;
	o.callee = form->callee;
	o.order_given = form->callee;
	o.show_samples = form->samples;
	o.stats = form->stats;
	o.json = form->json;
	o.header = form->header;
	o.header_full = true;
	(void)sonde_report_print(s, &o, drop, &sum);
	sonde_session_free(s);
}

static void script(const struct input *in, int mode)
{
	static const char *const fields[] = {
	        "comm,pid,tid,cpu,time,event,period,ip,sym,symoff,dso,addr"};
	struct sonde_script_options o = {.size = sizeof(o), .header = mode, .ns = mode};
	struct sonde_session *s = open_session(in, mode != 0 ? 1 : 2);
	uint64_t sum = 0;

	if (s == NULL) {
		return;
	}
	if (mode == 2) {
		o.fields = fields;
		o.nfields = 1;
	}
	(void)sonde_script_print(s, &o, drop, &sum);
	sonde_session_free(s);
}

/* Calls, code that ran, a comparison with itself: of recordings with traces. */
static void views(const struct input *in, int mode)
{
	struct input own = *in;
	struct sonde_ptview_calls_options calls = {.size = sizeof(calls), .json = mode != 0};
	struct sonde_ptview_cover_options cover = {.size = sizeof(cover),
	        .format = (enum sonde_ptview_cover_format)(in->number % 3),
	        .blocks = true,
	        .all = true};
	struct sonde_ptview_diff_options diff = {
	        .size = sizeof(diff), .json = mode != 0, .kernel = in->number % 2 != 0};
	struct sonde_session *a, *b;
	uint64_t sum = 0;

	if (in->itrace == NULL) {
		return;
	}
	own.itrace = "be";
	a = open_session(&own, 1);
	b = a != NULL ? open_session(&own, 1) : NULL;
	if (b != NULL) {
		(void)sonde_ptview_calls_write(a, &calls, drop, &sum);
		(void)sonde_ptview_cover_write(a, &cover, drop, &sum);
		if (sonde_ptview_diff_write(a, b, &diff, drop, &sum) == 0) {
			fail("a recording differs from itself");
		}
	}
	sonde_session_free(a);
	sonde_session_free(b);
}

static void flamegraph(const struct input *in, int mode)
{
	struct sonde_flamegraph_options o = {
	        .size = sizeof(o), .event = SONDE_FLAMEGRAPH_FIRST_EVENT};
	struct sonde_session *s = open_session(in, 1);
	uint64_t sum = 0;

	(void)mode;
	if (s != NULL) {
		(void)sonde_flamegraph_write(s, &o, drop, &sum);
	}
	sonde_session_free(s);
}

/* Opens all nodes of a tree, and closes them again. */
static uint64_t tree_sum(struct sonde_profile *p, const struct sonde_profile_tree_options *o)
{
	struct sonde_profile_tree *tree = sonde_profile_tree_new(p, o);
	const struct sonde_profile_node *node = tree != NULL ? sonde_profile_tree_root(tree) : NULL;
	uint64_t sum = 0;

	while (node != NULL) {
		sum += node->self_samples;
		if (sonde_profile_tree_open(tree, node) > 0) {
			node = node->children;
			continue;
		}
		while (node != NULL && node->next == NULL) {
			node = node->parent;
			if (node != NULL) {
				sonde_profile_tree_close(tree, node);
			}
		}
		node = node != NULL ? node->next : NULL;
	}
	sonde_profile_tree_free(tree);
	return sum;
}

static void profile(const struct input *in, int mode)
{
	struct sonde_profile_options o = {.size = sizeof(o),
	        .sort = "tid,cpu,time,dso,sym",
	        .children = true,
	        .by_address = mode != 0};
	struct sonde_profile_tree_options t = {.size = sizeof(t)};
	struct sonde_profile *p = sonde_profile_new(&o);
	struct sonde_session *s = open_session(in, 1);
	uint64_t sum = 0;

	if (s != NULL && p != NULL && sonde_profile_add(p, s) >= 0) {
		for (; t.event < sonde_profile_events(p); t.event++) {
			sum += tree_sum(p, &t);
		}
		for (size_t i = 0; i < 3 && i < sonde_profile_rows(p); i++) {
			t.row = sonde_profile_row(p, i);
			t.order = i != 1 ? SONDE_PROFILE_CALLEE : SONDE_PROFILE_CALLER;
			sum += tree_sum(p, &t);
		}
	}
	(void)drop(&sum, "", 0);
	sonde_profile_free(p);
	sonde_session_free(s);
}

/* ---- functions that take a path ---- */

static struct sonde_inspector *inspector(bool json)
{
	struct sonde_inspector_options o = {.size = sizeof(o), .json = json};

	return sonde_inspector_new(&o);
}

static void evlist(const struct input *in, int mode)
{
	struct sonde_inspector *i = inspector(mode == SONDE_EVENTS_DETAIL && in->number % 2 == 0);
	struct sonde_events_options o = {.size = sizeof(o),
	        .mode = (enum sonde_events_mode)mode,
	        .trace_fields = mode == SONDE_EVENTS_NAMES};
	uint64_t sum = 0;

	(void)sonde_inspector_events(i, in->path, &o, drop, &sum);
	sonde_inspector_free(i);
}

static void header(const struct input *in, int json)
{
	struct sonde_inspector *i = inspector(json);
	struct sonde_header_options o = {.size = sizeof(o), .full = true};
	uint64_t sum = 0;

	(void)sonde_inspector_header(i, in->path, &o, drop, &sum);
	sonde_inspector_free(i);
}

static void build_ids(const struct input *in, int with_hits)
{
	struct sonde_inspector *i = inspector(in->number % 2 == 0);
	struct sonde_build_ids_options o = {.size = sizeof(o), .with_hits = with_hits};
	uint64_t sum = 0;

	(void)sonde_inspector_build_ids(i, in->path, &o, drop, &sum);
	sonde_inspector_free(i);
}

static void dump(const struct input *in, int mode)
{
	struct sonde_inspector *i = inspector(mode & 1);
	struct sonde_records_options o = {.size = sizeof(o), .raw = mode >> 1};
	uint64_t sum = 0;

	(void)sonde_inspector_records(i, in->path, &o, drop, &sum);
	sonde_inspector_free(i);
}

static void check(const struct input *in, int json)
{
	struct sonde_inspector *i = inspector(json);
	uint64_t sum = 0;
	int rc = sonde_inspector_check(i, in->path, NULL, drop, &sum);

	sonde_inspector_free(i);
	if (rc < 0 || rc > SONDE_CHECK_UNUSABLE) {
		fail("check gives no verdict");
	}
}

/* ---- rewriting ---- */

static void show_diag(void *arg, const struct sonde_diag *d)
{
	(void)arg;
	(void)fprintf(stderr, "%d at %#llx: %s\n", (int)d->kind, (unsigned long long)d->offset,
	        d->detail);
}

static uint64_t damages(const struct sonde_file *f)
{
	return sonde_file_diags(f, SONDE_DIAG_DAMAGED) + sonde_file_diags(f, SONDE_DIAG_TRUNCATED);
}

/* A hash of the number of events and of their ids in order. */
static uint64_t ids_of(const struct sonde_file *f)
{
	uint64_t sum = 0;

	for (size_t e = 0; e < sonde_file_events(f); e++) {
		size_t n;
		const uint64_t *ids = sonde_file_event_ids(f, e, &n);

		for (size_t i = 0; i < n; i++) {
			sum = sum * 31 + ids[i];
		}
		sum = sum * 31 + n + 1;
	}
	return sum;
}

/*
 * The output must be readable to its end and have the same events. `whole`: it must not be damaged,
 * as it was written by a repair, or from a recording without damage.
 */
static void read_back(const struct input *in, int whole)
{
	struct sonde_file *from = sonde_file_new(NULL);

	struct sonde_file_options o = {.size = sizeof(o), .on_diag = show_diag};
	struct sonde_file *f = sonde_file_new(&o);
	const struct sonde_raw_record *r;

	if (f == NULL || sonde_file_open(f, in->output) < 0) {
		(void)fprintf(stderr, "%s\n", f != NULL ? sonde_file_error(f)->text : "no memory");
		fail("a rewritten recording cannot be opened");
	}
	if (from == NULL || sonde_file_open(from, in->path) < 0 || ids_of(f) != ids_of(from)) {
		fail("a rewritten recording has other events or ids");
	}
	sonde_file_free(from);
	while (sonde_file_next(f, &r) > 0) {
	}
	if ((whole && damages(f) != 0) || sonde_file_get_info(f)->interrupted) {
		fail("a rewritten recording is damaged");
	}
	sonde_file_free(f);
}

static void convert(const struct input *in, int mode)
{
	struct sonde_rewriter_options o = {.size = sizeof(o),
	        .container = (enum sonde_container)(mode & 3),
	        .order = (mode & 3) == 0 ? SONDE_ORDER_HOST
	                 : mode & 4      ? SONDE_ORDER_BIG
	                                 : SONDE_ORDER_LITTLE,
	        .compress = (mode & 3) == 0       ? 0
	                    : in->number % 3 == 0 ? 1
	                                          : SONDE_REWRITE_PLAIN,
	        .whole = (mode & 3) == 0};
	struct sonde_rewriter *rw = sonde_rewriter_new(&o);
	int rc = rw != NULL ? sonde_rewriter_open(rw, in->path) : SONDE_ENOMEM;

	rc = rc < 0 ? rc : sonde_rewriter_write(rw, in->output);
	sonde_rewriter_free(rw);
	if (rc >= 0) {
		read_back(in, o.whole || rc == 0);
	}
	paths_remove(in->output);
}

#define TO(container, order) ((int)SONDE_CONTAINER_##container | ((order) ? 4 : 0))

const struct path paths[] = {
        {"file", walk_file, 0},
        {"file with gaps", walk_file, 1},
        {"session", walk_session, 0},
        {"report", report, 0},
        {"report -s sym,pid", report, 1},
        {"report -s comm,dso -g none", report, 2},
        {"report --header -g callee", report, 3},
        {"report --stats", report, 4},
        {"report --stats --json", report, 5},
        {"report -s sym,cpu,cgroup --json", report, 6},
        {"script", script, 0},
        {"script --header", script, 1},
        {"script -F", script, 2},
        {"flamegraph", flamegraph, 0},
        {"pt calls, cover, diff", views, 0},
        {"pt calls, cover, diff --json", views, 1},
        {"profile", profile, 0},
        {"profile by address", profile, 1},
        {"evlist --trace-fields", evlist, SONDE_EVENTS_NAMES},
        {"evlist -F", evlist, SONDE_EVENTS_FREQ},
        {"evlist -v", evlist, SONDE_EVENTS_DETAIL},
        {"evlist -g", evlist, SONDE_EVENTS_GROUPS},
        {"header", header, 0},
        {"header --json", header, 1},
        {"buildid-list", build_ids, 0},
        {"buildid-list -H", build_ids, 1},
        {"dump", dump, 0},
        {"dump --json", dump, 1},
        {"dump --raw", dump, 2},
        {"dump --json --raw", dump, 3},
        {"check", check, 0},
        {"check --json", check, 1},
        {"repair", convert, 0},
        {"convert --to file --endian little", convert, TO(FILE, 0)},
        {"convert --to file --endian big", convert, TO(FILE, 1)},
        {"convert --to pipe --endian little", convert, TO(PIPE, 0)},
        {"convert --to pipe --endian big", convert, TO(PIPE, 1)},
        {"convert --to directory --endian little", convert, TO(DIRECTORY, 0)},
        {"convert --to directory --endian big", convert, TO(DIRECTORY, 1)},
};
const size_t paths_n = sizeof(paths) / sizeof(paths[0]);
