/* SPDX-License-Identifier: MIT */
/* Every function that takes options takes NULL, and refuses options that it cannot read. */
#include "tap.h"

#include <sonde/counter.h>
#include <sonde/preview/annotate.h>
#include <sonde/preview/db.h>
#include <sonde/preview/doctor.h>
#include <sonde/preview/flamegraph.h>
#include <sonde/preview/inspect.h>
#include <sonde/preview/profile.h>
#include <sonde/preview/ptview.h>
#include <sonde/preview/recorder.h>
#include <sonde/preview/report.h>
#include <sonde/preview/rewrite.h>
#include <sonde/preview/script.h>
#include <sonde/preview/session.h>
#include <sonde/preview/stat.h>
#include <sonde/pt.h>
#include <sonde/session.h>
#include <sonde/write.h>

#include <stdlib.h>
#include <unistd.h>

#define EXTRA 8u /* bytes of a member that this version does not know */

static char path[] = "/tmp/sonde-test-options-XXXXXX";
static char other[sizeof(path) + 8];

static int take(void *arg, const char *text, size_t n)
{
	(void)text;
	*(size_t *)arg += n;
	return 0;
}

/* ---- one call of each; options may be NULL ---- */

static bool has(const char *text, const char *part)
{
	return text != NULL && strstr(text, part) != NULL;
}

static int use_writer(const void *options, const char *to)
{
	struct sonde_writer *w = sonde_writer_new(options);
	const struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME};
	const struct sonde_sample s = {.ip = 0x1000, .pid = 1, .tid = 1, .time = 5};
	int rc = sonde_writer_event(w, &attr, NULL, 0, "frames");

	rc = rc >= 0 ? sonde_writer_open(w, to) : rc;
	rc = rc >= 0 ? sonde_writer_sample(w, 0, &s) : rc;
	rc = rc >= 0 ? sonde_writer_close(w) : rc;
	if (rc < 0 && sonde_writer_error(w)->status != rc) {
		rc = -1000;
	}
	sonde_writer_free(w);
	return rc;
}

static int call_writer(const void *options)
{
	return use_writer(options, other);
}

static int call_file(const void *options)
{
	struct sonde_file *f = sonde_file_new(options);
	int rc = sonde_file_open(f, path);

	if (rc < 0 && (sonde_file_error(f)->status != rc || sonde_file_error(f)->text[0] == 0)) {
		rc = -1000;
	}
	sonde_file_free(f);
	return rc;
}

static int call_session(const void *options)
{
	struct sonde_session *s = sonde_session_new(options);
	int rc = sonde_session_open(s, path);

	if (rc < 0 &&
	        (sonde_session_error(s)->status != rc || sonde_session_error(s)->text[0] == 0)) {
		rc = -1000;
	}
	sonde_session_free(s);
	return rc;
}

typedef int (*print_fn)(struct sonde_session *s, const void *options, size_t *bytes);

static int in_session(const void *options, print_fn print)
{
	struct sonde_session *s = sonde_session_new(NULL);
	size_t bytes = 0;
	int rc = sonde_session_open(s, path);

	rc = rc >= 0 ? print(s, options, &bytes) : -1000;
	if (rc < 0 && sonde_session_error(s)->status != rc) {
		rc = -1000;
	}
	sonde_session_free(s);
	return rc >= 0 && bytes == 0 ? -1000 : rc;
}

static int print_report(struct sonde_session *s, const void *options, size_t *bytes)
{
	return sonde_report_print(s, options, take, bytes);
}

static int print_script(struct sonde_session *s, const void *options, size_t *bytes)
{
	return sonde_script_print(s, options, take, bytes);
}

static int print_flamegraph(struct sonde_session *s, const void *options, size_t *bytes)
{
	return sonde_flamegraph_write(s, options, take, bytes);
}

static int print_annotated(struct sonde_session *s, const void *options, size_t *bytes)
{
	int rc = sonde_annotate_print(s, options, take, bytes);

	*bytes += rc >= 0; /* its functions have no code here */
	return rc;
}

static int choose(struct sonde_session *s, const void *options, size_t *bytes)
{
	*bytes = 1; /* it prints nothing */
	return sonde_session_choose(s, options);
}

static int call_choose(const void *options)
{
	return in_session(options, choose);
}

static int call_report(const void *options)
{
	return in_session(options, print_report);
}

static int call_script(const void *options)
{
	return in_session(options, print_script);
}

static int call_flamegraph(const void *options)
{
	return in_session(options, print_flamegraph);
}

static int call_annotate(const void *options)
{
	return in_session(options, print_annotated);
}

/* A profile of the file, and a tree of it. */
static int use_profile(const void *options, const void *tree_options)
{
	struct sonde_session *s = sonde_session_new(NULL);
	struct sonde_profile *p = sonde_profile_new(options);
	struct sonde_profile_tree *tree;
	int rc = sonde_session_open(s, path) >= 0 ? sonde_profile_add(p, s) : -1000;

	if (rc >= 0) {
		tree = sonde_profile_tree_new(p, tree_options);
		rc = tree == NULL ? sonde_profile_error(p)->status
		                  : (int)sonde_profile_tree_root(tree)->samples;
		sonde_profile_tree_free(tree);
	}
	if (rc < 0 && sonde_profile_error(p)->status != rc) {
		rc = -1000;
	}
	sonde_profile_free(p);
	sonde_session_free(s);
	return rc;
}

static int call_profile(const void *options)
{
	return use_profile(options, NULL);
}

static int call_profile_tree(const void *options)
{
	return use_profile(NULL, options);
}

/* Frees the handle; returns rc if the handle's error fits. */
static int inspected(struct sonde_inspector *in, int rc)
{
	const struct sonde_error *error = sonde_inspector_error(in);

	if (rc < 0 && (error->status != rc || !has(error->text, "option"))) {
		rc = -1000;
	}
	sonde_inspector_free(in);
	return rc;
}

static int call_inspector(const void *options)
{
	struct sonde_inspector *in = sonde_inspector_new(options);
	size_t bytes = 0;

	return inspected(in, sonde_inspector_events(in, path, NULL, take, &bytes));
}

static int call_check(const void *options)
{
	struct sonde_inspector *in = sonde_inspector_new(NULL);
	size_t bytes = 0;

	return inspected(in, sonde_inspector_check(in, path, options, take, &bytes));
}

static int call_records(const void *options)
{
	struct sonde_inspector *in = sonde_inspector_new(NULL);
	size_t bytes = 0;

	return inspected(in, sonde_inspector_records(in, path, options, take, &bytes));
}

static int call_events(const void *options)
{
	struct sonde_inspector *in = sonde_inspector_new(NULL);
	size_t bytes = 0;

	return inspected(in, sonde_inspector_events(in, path, options, take, &bytes));
}

static int call_header(const void *options)
{
	struct sonde_inspector *in = sonde_inspector_new(NULL);
	size_t bytes = 0;

	return inspected(in, sonde_inspector_header(in, path, options, take, &bytes));
}

static int call_build_ids(const void *options)
{
	struct sonde_inspector *in = sonde_inspector_new(NULL);
	size_t bytes = 0;

	return inspected(in, sonde_inspector_build_ids(in, path, options, take, &bytes));
}

static int call_rewriter(const void *options)
{
	struct sonde_rewriter *rw = sonde_rewriter_new(options);
	int rc = sonde_rewriter_open(rw, path);

	rc = rc >= 0 ? sonde_rewriter_write(rw, other) : rc;
	if (rc < 0 && (sonde_rewriter_error(rw)->status != rc ||
	                      !has(sonde_rewriter_error(rw)->text, "option"))) {
		rc = -1000;
	}
	sonde_rewriter_free(rw);
	return rc;
}

static int call_stage(const void *stage)
{
	struct sonde_rewriter *rw = sonde_rewriter_new(NULL);
	int rc = sonde_rewriter_add(rw, stage);

	sonde_rewriter_free(rw);
	return rc;
}

static int call_list(const void *options)
{
	struct sonde_inspector *in = sonde_inspector_new(NULL);
	size_t bytes = 0;

	return inspected(in, sonde_inspector_list(in, options, take, &bytes));
}

static int call_doctor(const void *options)
{
	struct sonde_doctor *d = sonde_doctor_new(options);
	size_t bytes = 0;
	int rc = sonde_doctor_print(d, true, take, &bytes);

	rc = rc < 0 && !has(sonde_doctor_error(d)->text, "option") ? -1000 : rc;
	sonde_doctor_free(d);
	return rc;
}

/* NULL would record the machine, so nothing is started then. */
static int call_record(const void *options)
{
	struct sonde_recorder *r = sonde_recorder_new(options);
	int rc = r != NULL ? 0 : SONDE_ENOMEM;

	if (options != NULL) {
		rc = sonde_recorder_start(r);
		rc = has(sonde_recorder_error(r)->text, "option") ? rc : -1000;
	}
	sonde_recorder_free(r);
	return rc;
}

static int call_stat(const void *options)
{
	struct sonde_stat *s = sonde_stat_new(options);
	size_t bytes = 0;
	int rc = 0;

	if (options != NULL) { /* NULL counts the machine until it is stopped */
		rc = sonde_stat_run(s, take, &bytes);
		rc = has(sonde_stat_error(s)->text, "option") ? rc : -1000;
	}
	sonde_stat_free(s);
	return rc;
}

static int call_stat_report(const void *options)
{
	struct sonde_stat *s = sonde_stat_new(options);
	size_t bytes = 0;
	int rc = sonde_stat_report(s, path, take, &bytes);

	rc = rc == SONDE_EFORMAT && has(sonde_stat_error(s)->text, "no counts") ? 0 : rc;
	sonde_stat_free(s);
	return rc;
}

static int call_counter(const void *options)
{
	struct sonde_counter *c = sonde_counter_new(options);
	int rc = sonde_counter_open(c, "task-clock:u");

	if (options != NULL && !has(sonde_counter_error(c)->text, "option")) {
		rc = -1000;
	}
	sonde_counter_free(c);
	return rc == SONDE_EPERM || rc == SONDE_EUNSUPPORTED ? 0 : rc;
}

/* A flow has no place for an error: NULL stands for it. */
static int call_pt_flow(const void *options)
{
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
	struct sonde_pt_flow *flow = sonde_pt_flow_new(graph, "", 0, options);
	int rc = flow != NULL ? 0 : SONDE_EARG;

	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	return rc;
}

static int call_db(const void *options)
{
	struct sonde_db *d = sonde_db_new();
	size_t bytes = 0;
	int rc = sonde_db_write_sql(d, options, take, &bytes);

	if (rc < 0 &&
	        (sonde_db_error(d)->status != rc || !has(sonde_db_error(d)->text, "option"))) {
		rc = -1000;
	}
	sonde_db_free(d);
	return rc >= 0 && bytes == 0 ? -1000 : rc;
}

static const struct {
	const char *name;
	int (*call)(const void *options);
	size_t size;
} calls[] = {
        {"sonde_writer_new", call_writer, sizeof(struct sonde_writer_options)},
        {"sonde_file_new", call_file, sizeof(struct sonde_file_options)},
        {"sonde_session_new", call_session, sizeof(struct sonde_session_options)},
        {"sonde_report_print", call_report, sizeof(struct sonde_report_options)},
        {"sonde_script_print", call_script, sizeof(struct sonde_script_options)},
        {"sonde_session_choose", call_choose, sizeof(struct sonde_session_choice)},
        {"sonde_flamegraph_write", call_flamegraph, sizeof(struct sonde_flamegraph_options)},
        {"sonde_annotate_print", call_annotate, sizeof(struct sonde_annotate_options)},
        {"sonde_db_write_sql", call_db, sizeof(struct sonde_db_options)},
        {"sonde_profile_new", call_profile, sizeof(struct sonde_profile_options)},
        {"sonde_profile_tree_new", call_profile_tree, sizeof(struct sonde_profile_tree_options)},
        {"sonde_inspector_new", call_inspector, sizeof(struct sonde_inspector_options)},
        {"sonde_inspector_check", call_check, sizeof(struct sonde_check_options)},
        {"sonde_inspector_records", call_records, sizeof(struct sonde_records_options)},
        {"sonde_inspector_events", call_events, sizeof(struct sonde_events_options)},
        {"sonde_inspector_header", call_header, sizeof(struct sonde_header_options)},
        {"sonde_inspector_build_ids", call_build_ids, sizeof(struct sonde_build_ids_options)},
        {"sonde_rewriter_new", call_rewriter, sizeof(struct sonde_rewriter_options)},
        {"sonde_rewriter_add", call_stage, sizeof(struct sonde_rewriter_stage)},
        {"sonde_inspector_list", call_list, sizeof(struct sonde_list_options)},
        {"sonde_doctor_new", call_doctor, sizeof(struct sonde_doctor_options)},
        {"sonde_recorder_new", call_record, sizeof(struct sonde_recorder_options)},
        {"sonde_stat_new", call_stat, sizeof(struct sonde_stat_options)},
        {"sonde_stat_report", call_stat_report, sizeof(struct sonde_stat_options)},
        {"sonde_counter_new", call_counter, sizeof(struct sonde_counter_options)},
        {"sonde_pt_flow_new", call_pt_flow, sizeof(struct sonde_pt_flow_options)},
};

static void test_call(size_t i)
{
	char what[128];
	unsigned char *newer = calloc(1, calls[i].size + EXTRA);
	size_t size = calls[i].size + EXTRA;
	int rc = calls[i].call(NULL);

	(void)snprintf(what, sizeof(what), "%s: options may be NULL", calls[i].name);
	ok(rc >= 0, what);
	(void)snprintf(what, sizeof(what), "%s: options without a size are refused", calls[i].name);
	ok(calls[i].call(newer) == SONDE_EARG, what);
	memcpy(newer, &size, sizeof(size));
	newer[size - 1] = 1;
	(void)snprintf(
	        what, sizeof(what), "%s: an unknown member that is set is refused", calls[i].name);
	ok(calls[i].call(newer) == SONDE_EARG, what);
	free(newer);
}

static int count_sample(void *arg, unsigned worker, const struct sonde_event *e)
{
	(void)arg;
	(void)worker;
	(void)e;
	return 0;
}

static void test_not_open(void)
{
	struct sonde_session *s = sonde_session_new(NULL);
	struct sonde_profile *p = sonde_profile_new(NULL);
	const struct sonde_event *e;
	size_t bytes = 0;

	ok(sonde_session_next(s, &e) == SONDE_EARG &&
	                has(sonde_session_error(s)->text, "sonde_session_open"),
	        "sonde_session_next of a session that is not open is refused, with words");
	ok(sonde_session_map(s, count_sample, NULL) == SONDE_EARG, "and sonde_session_map");
	ok(sonde_report_print(s, NULL, take, &bytes) == SONDE_EARG, "and sonde_report_print");
	ok(sonde_script_print(s, NULL, take, &bytes) == SONDE_EARG, "and sonde_script_print");
	ok(sonde_flamegraph_write(s, NULL, take, &bytes) == SONDE_EARG,
	        "and sonde_flamegraph_write");
	ok(sonde_ptview_calls_write(s, NULL, take, &bytes) == SONDE_EARG,
	        "and sonde_ptview_calls_write");
	ok(sonde_ptview_cover_write(s, NULL, take, &bytes) == SONDE_EARG,
	        "and sonde_ptview_cover_write");
	ok(sonde_ptview_diff_write(s, s, NULL, take, &bytes) == SONDE_EARG,
	        "and sonde_ptview_diff_write");
	ok(sonde_profile_add(p, s) == SONDE_EARG &&
	                has(sonde_profile_error(p)->text, "sonde_session_open"),
	        "and sonde_profile_add, with words");
	sonde_profile_free(p);
	ok(sonde_session_open(s, "/nonexistent") == SONDE_ENOENT, "a file that does not exist");
	ok(sonde_session_next(s, &e) == SONDE_EARG, "a session that failed to open is not open");
	eq_u64(bytes, 0, "nothing was printed");
	sonde_session_free(s);
}

static void test_file_not_open(void)
{
	struct sonde_file *f = sonde_file_new(NULL);
	const struct sonde_raw_record *r;

	ok(sonde_file_next(f, &r) == SONDE_EARG, "sonde_file_next of a file that is not open");
	sonde_file_free(f);
}

int main(void)
{
	int fd = mkstemp(path);

	(void)snprintf(other, sizeof(other), "%s.other", path);
	if (fd < 0 || close(fd) != 0 || use_writer(NULL, path) < 0) {
		perror(path);
		return 1;
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		test_call(i);
	}
	test_not_open();
	test_file_not_open();
	(void)unlink(path);
	(void)unlink(other);
	return tap_done();
}
