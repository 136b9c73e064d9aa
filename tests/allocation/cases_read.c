/* SPDX-License-Identifier: MIT */
/* Reading: records, sessions, and all texts that are made of them. */
#include "cases.h"

#include <sonde/preview/doctor.h>
#include <sonde/preview/flamegraph.h>
#include <sonde/preview/inspect.h>
#include <sonde/preview/profile.h>
#include <sonde/preview/report.h>
#include <sonde/preview/script.h>
#include <sonde/preview/session.h>
#include <sonde/preview/stat.h>
#include <sonde/record.h>
#include <sonde/session.h>

#include <stdatomic.h>
#include <string.h>

/* ---- sonde/file.h and sonde/record.h ---- */

static int add_fields(struct outcome *out, struct sonde_fields *fields)
{
	const struct sonde_field *v;

	while (sonde_fields_next(fields, &v) > 0) {
		outcome_number(out, v->number);
	}
	return 0;
}

static int read_records(struct outcome *out, struct sonde_file *f, struct sonde_fields *fields)
{
	const struct sonde_raw_record *r;
	const struct sonde_typed_record *typed;
	int rc;

	while ((rc = sonde_file_next(f, &r)) > 0) {
		outcome_number(out, r->type);
		rc = sonde_file_record_fields(f, r, fields);
		rc = rc >= 0 ? add_fields(out, fields) : rc;
		if (rc >= 0) {
			rc = sonde_file_decode(f, r, &typed);
			rc = rc == SONDE_EUNSUPPORTED ? 0 : rc;
		}
		if (rc < 0) {
			return rc;
		}
	}
	for (unsigned bit = 0; rc >= 0 && bit < 64; bit++) {
		if (sonde_file_feature_fields(f, bit, fields) == 0) {
			add_fields(out, fields);
		}
	}
	return rc;
}

static int read_file(struct outcome *out, const char *path)
{
	struct sonde_file_options o = {.size = sizeof(o), .on_diag = outcome_diag, .diag_arg = out};
	struct sonde_file *f = sonde_file_new(&o);
	struct sonde_fields *fields = sonde_fields_new();
	int rc = f != NULL && fields != NULL ? sonde_file_open(f, path) : SONDE_ENOMEM;

	if (rc < 0 && f != NULL && fields != NULL) {
		outcome_error(out, rc, sonde_file_error(f));
	}
	rc = rc >= 0 ? read_records(out, f, fields) : rc;
	sonde_fields_free(fields);
	sonde_file_free(f);
	return rc;
}

static int case_file(struct outcome *out, const struct input *in)
{
	return read_file(out, in->made);
}

static int case_containers(struct outcome *out, const struct input *in)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && in->containers[i] != NULL; i++) {
		rc = read_file(out, in->containers[i]);
	}
	return rc;
}

/* ---- sessions ---- */

typedef int (*session_fn)(struct outcome *out, struct sonde_session *s);

static int in_session(struct outcome *out, const struct input *in, const char *path,
        struct sonde_session_options o, session_fn fn)
{
	struct sonde_session *s;
	int rc;

	o.size = sizeof(o);
	o.kallsyms = in->kallsyms;
	o.on_diag = outcome_diag;
	o.diag_arg = out;
	s = sonde_session_new(&o);
	rc = s != NULL ? sonde_session_open(s, path) : SONDE_ENOMEM;
	rc = rc >= 0 ? fn(out, s) : rc;
	if (s != NULL) {
		outcome_error(out, rc, sonde_session_error(s));
	}
	sonde_session_free(s);
	return rc;
}

static int each_sample(struct outcome *out, struct sonde_session *s)
{
	const struct sonde_event *e;
	const struct sonde_frame *frame;
	int rc;

	while ((rc = sonde_session_next(s, &e)) > 0) {
		outcome_number(out, e->sample->ip);
		(void)outcome_add(out, e->thread.comm, strlen(e->thread.comm));
		rc = sonde_session_frames(s, e, &frame);
		out->status_only = rc < 0; /* it may be called on several threads */
		for (; rc > 0 && frame != NULL; frame = frame->caller) {
			if (frame->symbol != NULL) {
				(void)outcome_add(out, frame->symbol, strlen(frame->symbol));
			}
		}
		if (rc < 0) {
			return rc;
		}
	}
	return rc;
}

static int case_session(struct outcome *out, const struct input *in)
{
	int rc = in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 1}, each_sample);

	for (size_t i = 0; rc >= 0 && in->containers[i] != NULL; i++) {
		rc = in_session(out, in, in->containers[i],
		        (struct sonde_session_options){.jobs = 1}, each_sample);
	}
	return rc;
}

/* All records, of memory, with a filter; then the lists. */
static int each_record(struct outcome *out, struct sonde_session *s)
{
	const struct sonde_session_choice choice = {.size = sizeof(choice),
	        .kinds = UINT32_MAX,
	        .filter = {.dsos = "/none,[unknown]", .time = "0,"}};
	const struct sonde_thread_life *thread;
	const struct sonde_typed_record *r;
	const struct sonde_event *e;
	size_t at = 0;
	int rc = sonde_session_choose(s, &choice);

	while (rc >= 0 && (rc = sonde_session_next(s, &e)) > 0) {
		outcome_number(out, e->type);
		rc = sonde_session_record(s, e, &r);
	}
	while (rc >= 0 && (rc = sonde_session_next_thread(s, &at, &thread)) > 0) {
		(void)outcome_add(out, thread->comm, strlen(thread->comm));
	}
	return rc;
}

static int case_records(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 1}, each_record);
}

static int count_sample(void *arg, unsigned worker, const struct sonde_event *e)
{
	(void)worker;
	atomic_fetch_add((_Atomic uint64_t *)arg, e->sample->period);
	return 0;
}

static int map_samples(struct outcome *out, struct sonde_session *s)
{
	_Atomic uint64_t sum = 0;
	int rc = sonde_session_map(s, count_sample, &sum);

	outcome_number(out, atomic_load(&sum));
	return rc;
}

static int case_map(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 2}, map_samples);
}

static int report(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o)};

	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report(struct outcome *out, const struct input *in)
{
	return in_session(out, in, in->made, (struct sonde_session_options){.jobs = 1}, report);
}

static int case_report_jobs(struct outcome *out, const struct input *in)
{
	return in_session(out, in, in->made, (struct sonde_session_options){.jobs = 2}, report);
}

static int report_flat(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o)};

	o.no_children = 1;
	o.no_graph = 1;
	o.sort = "pid,cpu,dso,sym";
	o.fields = "overhead,sample,pid,cpu,dso,sym";
	o.threads = 1;
	o.filter.comms = "job0-1,job0-2,job0-3";
	o.filter.time = "0%-90%";
	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_flat(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 1}, report_flat);
}

static int report_folded(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o)};

	o.no_children = 1;
	o.graph_kind = SONDE_REPORT_GRAPH_FOLDED;
	o.separator = ",";
	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_folded(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 1}, report_folded);
}

static int report_levels(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o),
	        .hierarchy = true,
	        .group = SONDE_REPORT_GROUP_ALL,
	        .sort = "comm_nodigit,{dso,sym}",
	        .show_modes = true,
	        .ignore_callees = "main"};

	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_levels(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 2}, report_levels);
}

static int report_callers(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o),
	        .group = SONDE_REPORT_GROUP_ALL,
	        .sort = "sym",
	        .parent = "a|e",
	        .switch_on = sonde_session_event_name(s, 0)};

	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_callers(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 2}, report_callers);
}

static int report_mmaps(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o), .mmaps = true};

	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_mmaps(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 1}, report_mmaps);
}

static int report_json(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o)};

	o.sort = "sym,time,cgroup";
	o.json = true;
	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_json(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 1}, report_json);
}

static int report_branches(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o)};

	o.sort = "dso_from,symbol_from,addr_to,mispredict";
	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_branches(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->branches, (struct sonde_session_options){.jobs = 2}, report_branches);
}

static int report_blocks(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o)};

	o.total_cycles = true;
	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_blocks(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->branches, (struct sonde_session_options){.jobs = 1}, report_blocks);
}

static int report_history(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {
	        .size = sizeof(o), .branch_history = true, .sort = "comm,dso_size,symoff"};

	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_history(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->branches, (struct sonde_session_options){.jobs = 2}, report_history);
}

static int report_branch_lines(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o), .sort = "srcline_to,cgroup_id,addr"};

	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_branch_lines(struct outcome *out, const struct input *in)
{
	return in_session(out, in, in->branches, (struct sonde_session_options){.jobs = 2},
	        report_branch_lines);
}

static int report_stats(struct outcome *out, struct sonde_session *s)
{
	struct sonde_report_options o = {.size = sizeof(o)};

	o.stats = 1;
	o.header = SONDE_REPORT_HEADER;
	return sonde_report_print(s, &o, outcome_add, out);
}

static int case_report_stats(struct outcome *out, const struct input *in)
{
	return in_session(out, in, in->made,
	        (struct sonde_session_options){.jobs = 1, .counts_only = 1}, report_stats);
}

static int script(struct outcome *out, struct sonde_session *s)
{
	return sonde_script_print(s, NULL, outcome_add, out);
}

static int case_script(struct outcome *out, const struct input *in)
{
	return in_session(out, in, in->made, (struct sonde_session_options){.jobs = 1}, script);
}

static int case_script_jobs(struct outcome *out, const struct input *in)
{
	return in_session(out, in, in->made, (struct sonde_session_options){.jobs = 2}, script);
}

static int case_script_tracepoints(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->tracepoints, (struct sonde_session_options){.jobs = 2}, script);
}

static int script_jit(struct outcome *out, struct sonde_session *s)
{
	static const char *const fields[] = {"comm,tid,time,ip,sym,dso,srcline,insn"};
	const struct sonde_script_options o = {.size = sizeof(o), .fields = fields, .nfields = 1};

	return sonde_script_print(s, &o, outcome_add, out);
}

static int case_script_jit(struct outcome *out, const struct input *in)
{
	return in_session(out, in, in->jit, (struct sonde_session_options){.jobs = 1}, script_jit);
}

static int script_more(struct outcome *out, struct sonde_session *s)
{
	static const char *const fields[] = {"comm,tid,time,event,ip,sym,symoff,dso"};
	struct sonde_script_options o = {.size = sizeof(o),
	        .fields = fields,
	        .nfields = 1,
	        .show_tasks = 1,
	        .show_mmaps = 1,
	        .header = 1,
	        .filter = {.cpus = "0-3"}};

	return sonde_script_print(s, &o, outcome_add, out);
}

static int script_json(struct outcome *out, struct sonde_session *s)
{
	const struct sonde_script_options o = {.size = sizeof(o), .json = true};

	return sonde_script_print(s, &o, outcome_add, out);
}

static int case_script_json(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 1}, script_json);
}

static int add_event(void *arg, size_t event, const char *text, size_t n, uint64_t samples)
{
	(void)event, (void)samples;
	return outcome_add(arg, text, n);
}

/* Lines that depend on earlier ones, to an output for each event. */
static int script_dumps(struct outcome *out, struct sonde_session *s)
{
	static const char *const fields[] = {"+insn,+insnlen"};
	const struct sonde_script_options o = {.size = sizeof(o),
	        .fields = fields,
	        .nfields = 1,
	        .stop_at = "main",
	        .switch_off = sonde_session_event_name(s, 0),
	        .time_differences = true,
	        .write_event = add_event};

	return sonde_script_print(s, &o, outcome_add, out);
}

static int case_script_dumps(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 2}, script_dumps);
}

static int case_script_more(struct outcome *out, const struct input *in)
{
	return in_session(
	        out, in, in->made, (struct sonde_session_options){.jobs = 1}, script_more);
}

static int flamegraph(struct outcome *out, struct sonde_session *s)
{
	return sonde_flamegraph_write(s, NULL, outcome_add, out);
}

static int case_flamegraph(struct outcome *out, const struct input *in)
{
	return in_session(out, in, in->made, (struct sonde_session_options){.jobs = 1}, flamegraph);
}

/* ---- sonde/preview/profile.h ---- */

static int read_tree(
        struct outcome *out, struct sonde_profile *p, const struct sonde_profile_tree_options *o)
{
	struct sonde_profile_tree *tree = sonde_profile_tree_new(p, o);
	const struct sonde_profile_node *node = tree != NULL ? sonde_profile_tree_root(tree) : NULL;
	int rc = tree != NULL ? 0 : sonde_profile_error(p)->status;

	while (rc >= 0 && node != NULL) {
		outcome_number(out, node->period);
		rc = sonde_profile_tree_open(tree, node);
		while (rc == 0 && node != NULL && node->next == NULL) {
			node = node->parent;
		}
		node = rc > 0 ? node->children : node != NULL ? node->next : NULL;
	}
	sonde_profile_tree_free(tree);
	return rc;
}

static int read_profile(struct outcome *out, struct sonde_profile *p)
{
	struct sonde_profile_tree_options o = {.size = sizeof(o)};
	struct sonde_profile_diff *diff = sonde_profile_diff_new(p, p);
	int rc = diff != NULL ? 0 : sonde_profile_error(p)->status;

	for (size_t i = 0; diff != NULL && i < sonde_profile_diff_pairs(diff); i++) {
		const struct sonde_profile_row *row = sonde_profile_diff_pair(diff, i)->after;

		(void)outcome_add(out, row->texts[0], strlen(row->texts[0]));
		outcome_number(out, row->children);
	}
	sonde_profile_diff_free(diff);
	for (size_t i = 0; rc >= 0 && i < 3; i++) {
		o.row = i != 0 ? sonde_profile_row(p, i - 1) : NULL;
		rc = read_tree(out, p, &o);
	}
	return rc;
}

/* Twice the same session: the second time it is merged with the first. */
static int make_profile(struct outcome *out, struct sonde_profile *p, struct sonde_session *s)
{
	int rc = sonde_profile_add(p, s);

	rc = rc >= 0 ? sonde_profile_add(p, s) : rc;
	rc = rc >= 0 ? read_profile(out, p) : rc;
	return outcome_error(out, rc, sonde_profile_error(p));
}

static int case_profile(struct outcome *out, const struct input *in)
{
	struct sonde_session_options so = {.size = sizeof(so), .jobs = 1, .kallsyms = in->kallsyms};
	struct sonde_profile_options po = {
	        .size = sizeof(po), .sort = "cpu,comm,dso,sym", .children = true};
	struct sonde_session *s = sonde_session_new(&so);
	struct sonde_profile *p = sonde_profile_new(&po);
	int rc = s != NULL && p != NULL ? sonde_session_open(s, in->made) : SONDE_ENOMEM;

	if (rc >= 0) {
		rc = make_profile(out, p, s);
	} else if (s != NULL && p != NULL) {
		outcome_error(out, rc, sonde_session_error(s));
	}
	sonde_profile_free(p);
	sonde_session_free(s);
	return rc;
}

/* ---- texts of files ---- */

typedef int (*inspect_fn)(
        struct outcome *out, const struct input *in, struct sonde_inspector *inspector);

static int inspect_once(struct outcome *out, const struct input *in, bool json, inspect_fn fn)
{
	struct sonde_inspector_options o = {
	        .size = sizeof(o), .json = json, .on_diag = outcome_diag, .diag_arg = out};
	struct sonde_inspector *inspector = sonde_inspector_new(&o);
	int rc = inspector != NULL ? fn(out, in, inspector) : SONDE_ENOMEM;

	if (inspector != NULL) {
		outcome_error(out, rc, sonde_inspector_error(inspector));
	}
	sonde_inspector_free(inspector);
	return rc;
}

/* As text, then as JSON. */
static int inspect(struct outcome *out, const struct input *in, inspect_fn fn)
{
	int rc = inspect_once(out, in, false, fn);

	return rc < 0 ? rc : inspect_once(out, in, true, fn);
}

static int dump(struct outcome *out, const struct input *in, struct sonde_inspector *inspector)
{
	const struct sonde_records_options o = {.size = sizeof(o), .raw = true};

	return sonde_inspector_records(inspector, in->made, &o, outcome_add, out);
}

static int case_dump(struct outcome *out, const struct input *in)
{
	return inspect(out, in, dump);
}

static int check(struct outcome *out, const struct input *in, struct sonde_inspector *inspector)
{
	int rc = sonde_inspector_check(inspector, in->made, NULL, outcome_add, out);

	for (size_t i = 0; rc >= 0 && in->containers[i] != NULL; i++) {
		rc = sonde_inspector_check(inspector, in->containers[i], NULL, outcome_add, out);
	}
	return rc;
}

static int case_check(struct outcome *out, const struct input *in)
{
	return inspect(out, in, check);
}

static int evlist(struct outcome *out, const struct input *in, struct sonde_inspector *inspector)
{
	const struct sonde_events_options o = {
	        .size = sizeof(o), .mode = SONDE_EVENTS_DETAIL, .trace_fields = true};

	return sonde_inspector_events(inspector, in->made, &o, outcome_add, out);
}

static int case_evlist(struct outcome *out, const struct input *in)
{
	return inspect(out, in, evlist);
}

static int header(struct outcome *out, const struct input *in, struct sonde_inspector *inspector)
{
	const struct sonde_header_options o = {.size = sizeof(o), .full = true};

	return sonde_inspector_header(inspector, in->counts, &o, outcome_add, out);
}

static int case_header(struct outcome *out, const struct input *in)
{
	return inspect(out, in, header);
}

static int build_ids(struct outcome *out, const struct input *in, struct sonde_inspector *inspector)
{
	struct sonde_build_ids_options o = {.size = sizeof(o)};
	int rc = sonde_inspector_build_ids(inspector, in->counts, &o, outcome_add, out);

	o.with_hits = true;
	return rc < 0 ? rc : sonde_inspector_build_ids(inspector, in->made, &o, outcome_add, out);
}

static int case_buildid(struct outcome *out, const struct input *in)
{
	return inspect(out, in, build_ids);
}

static int case_stat_report(struct outcome *out, const struct input *in)
{
	struct sonde_stat_options o = {.size = sizeof(o), .by = SONDE_STAT_BY_RECORDED};
	struct sonde_stat *s = sonde_stat_new(&o);
	int rc = s != NULL ? sonde_stat_report(s, in->counts, outcome_add, out) : SONDE_ENOMEM;

	if (s != NULL) {
		outcome_error(out, rc, sonde_stat_error(s));
	}
	sonde_stat_free(s);
	return rc;
}

static int list(struct outcome *out, const struct input *in, struct sonde_inspector *inspector)
{
	static const char *const words[] = {"hw", "sw", "cache"};
	const struct sonde_list_options o = {
	        .size = sizeof(o), .details = true, .words = words, .nwords = 3};

	(void)in;
	return sonde_inspector_list(inspector, &o, outcome_add, out);
}

static int case_list(struct outcome *out, const struct input *in)
{
	return inspect(out, in, list);
}

static int case_doctor(struct outcome *out, const struct input *in)
{
	struct sonde_doctor *d = sonde_doctor_new(NULL);
	int rc = d != NULL ? sonde_doctor_print(d, true, outcome_add, out) : SONDE_ENOMEM;

	(void)in;
	if (d != NULL) {
		outcome_error(out, rc, sonde_doctor_error(d));
	}
	sonde_doctor_free(d);
	return rc;
}

const struct alloc_case read_cases[] = {
        {"records and their fields", case_file, false},
        {"records of other containers", case_containers, false},
        {"samples of a session", case_session, false},
        {"all records in order, with a filter", case_records, false},
        {"samples on two threads", case_map, false},
        {"report", case_report, false},
        {"report on two threads", case_report_jobs, false},
        {"report without call graphs", case_report_flat, false},
        {"report of folded call chains", case_report_folded, false},
        {"report in levels, groups", case_report_levels, false},
        {"report by callers", case_report_callers, false},
        {"report of mappings", case_report_mmaps, false},
        {"report --json", case_report_json, false},
        {"report of branches", case_report_branches, false},
        {"report of branches in call graphs", case_report_history, false},
        {"report of lines of branches", case_report_branch_lines, false},
        {"report --total-cycles", case_report_blocks, false},
        {"report --stats", case_report_stats, false},
        {"script", case_script, false},
        {"script on two threads", case_script_jobs, false},
        {"script of tracepoints", case_script_tracepoints, false},
        {"script with side-band and header", case_script_more, false},
        {"script --json", case_script_json, false},
        {"script of each event on two threads", case_script_dumps, false},
        {"script of JIT-compiled code", case_script_jit, false},
        {"flamegraph", case_flamegraph, false},
        {"profile", case_profile, false},
        {"dump", case_dump, false},
        {"check", case_check, false},
        {"evlist", case_evlist, false},
        {"header", case_header, false},
        {"buildid-list", case_buildid, false},
        {"stat report", case_stat_report, false},
        {"list", case_list, false},
        {"doctor", case_doctor, true},
        {NULL, NULL, false},
};
