/* SPDX-License-Identifier: MIT */
/* An output function that returns any negative number makes the caller return SONDE_EOUTPUT. */
#include "tap.h"

#include <sonde/preview/doctor.h>
#include <sonde/preview/flamegraph.h>
#include <sonde/preview/inspect.h>
#include <sonde/preview/report.h>
#include <sonde/preview/script.h>
#include <sonde/write.h>

#include <stdlib.h>
#include <unistd.h>

static const int results[] = {-1, -2, -77};

static int refuse(void *arg, const char *text, size_t n)
{
	(void)text;
	(void)n;
	return *(const int *)arg;
}

static bool make_recording(const char *path)
{
	struct sonde_attr attr = {.type = 1,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME};
	struct sonde_sample s = {.ip = 0x1000, .pid = 7, .tid = 7, .time = 10};
	struct sonde_writer *w = sonde_writer_new(NULL);
	bool good = w != NULL && sonde_writer_event(w, &attr, NULL, 0, "cpu-clock") >= 0 &&
	            sonde_writer_open(w, path) >= 0 && sonde_writer_comm(w, 7, 7, "it", 1) >= 0;

	for (int i = 0; good && i < 4; i++) {
		good = sonde_writer_sample(w, 0, &s) >= 0;
	}
	good = good && sonde_writer_close(w) >= 0;
	sonde_writer_free(w);
	return good;
}

/* A recording of `stat record` with one count. */
static bool make_counts(const char *path)
{
	const uint64_t id = 5;
	const struct {
		uint32_t type;
		uint16_t misc, size;
		uint64_t id;
		int32_t cpu, thread;
		uint64_t value, enabled, running;
	} count = {76, 0, sizeof(count), id, -1, -1, 1000, 10, 10};
	const struct {
		uint32_t type;
		uint16_t misc, size;
		uint64_t kind, time;
	} round = {77, 0, sizeof(round), 1, 10};
	struct sonde_attr attr = {.type = 1, .sample_type = SONDE_SAMPLE_IDENTIFIER};
	struct sonde_writer *w = sonde_writer_new(NULL);
	bool good = w != NULL && sonde_writer_event(w, &attr, &id, 1, "cpu-clock") >= 0 &&
	            sonde_writer_open(w, path) >= 0 &&
	            sonde_writer_record(w, 0, &count, sizeof(count), NULL, 0) >= 0 &&
	            sonde_writer_record(w, 0, &round, sizeof(round), NULL, 0) >= 0 &&
	            sonde_writer_close(w) >= 0;

	sonde_writer_free(w);
	return good;
}

static void print_counts(const char *path, void *arg)
{
	struct sonde_session *s = sonde_session_new(NULL);

	ok(s != NULL && sonde_session_open(s, path) >= 0, "the counts are opened");
	eq_u64(sonde_script_print(s, NULL, refuse, arg), SONDE_EOUTPUT,
	        "script of counts: SONDE_EOUTPUT");
	sonde_session_free(s);
}

static void print_session(const char *path, void *arg)
{
	struct sonde_report_options report = {.size = sizeof(report)};
	struct sonde_session *s = sonde_session_new(NULL);

	ok(s != NULL && sonde_session_open(s, path) >= 0, "the recording is opened");
	eq_u64(sonde_report_print(s, &report, refuse, arg), SONDE_EOUTPUT, "report: SONDE_EOUTPUT");
	eq_str(sonde_session_error(s)->text, sonde_status_text(SONDE_EOUTPUT),
	        "report: the session's error text");
	eq_u64(sonde_script_print(s, NULL, refuse, arg), SONDE_EOUTPUT, "script: SONDE_EOUTPUT");
	eq_str(sonde_session_error(s)->text, sonde_status_text(SONDE_EOUTPUT),
	        "script: the session's error text");
	eq_u64(sonde_flamegraph_write(s, NULL, refuse, arg), SONDE_EOUTPUT,
	        "flame graph: SONDE_EOUTPUT");
	eq_str(sonde_session_error(s)->text, sonde_status_text(SONDE_EOUTPUT),
	        "flame graph: the session's error text");
	sonde_session_free(s);
}

static void is_output_failure(const struct sonde_error *error, int rc, const char *what)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "%s: SONDE_EOUTPUT", what);
	eq_u64(rc, SONDE_EOUTPUT, text);
	(void)snprintf(text, sizeof(text), "%s: the error's text", what);
	eq_str(error->text, sonde_status_text(SONDE_EOUTPUT), text);
}

static void is_refused(struct sonde_inspector *in, int rc, const char *what)
{
	is_output_failure(sonde_inspector_error(in), rc, what);
}

static void inspect(const char *path, void *arg)
{
	const char *words[] = {"sw"};
	struct sonde_list_options list = {.size = sizeof(list), .words = words, .nwords = 1};
	struct sonde_inspector *in = sonde_inspector_new(NULL);

	is_refused(in, sonde_inspector_build_ids(in, path, NULL, refuse, arg), "build ids");
	is_refused(in, sonde_inspector_records(in, path, NULL, refuse, arg), "dump");
	is_refused(in, sonde_inspector_events(in, path, NULL, refuse, arg), "event list");
	is_refused(in, sonde_inspector_header(in, path, NULL, refuse, arg), "header");
	is_refused(in, sonde_inspector_check(in, path, NULL, refuse, arg), "check");
	is_refused(in, sonde_inspector_list(in, &list, refuse, arg), "list");
	eq_u64(sonde_inspector_header(in, "/none", NULL, refuse, arg), SONDE_ENOENT,
	        "a missing file: SONDE_ENOENT");
	ok(strstr(sonde_inspector_error(in)->text, "/none") != NULL,
	        "a missing file: the error's text has its path");
	sonde_inspector_free(in);
}

static void diagnose(void *arg)
{
	struct sonde_doctor *d = sonde_doctor_new(NULL);
	int rc = sonde_doctor_print(d, false, refuse, arg);

	is_output_failure(sonde_doctor_error(d), rc, "doctor");
	sonde_doctor_free(d);
}

int main(void)
{
	char path[] = "/tmp/sonde-output-XXXXXX", counts[] = "/tmp/sonde-output-XXXXXX";
	int fd = mkstemp(path), counts_fd = mkstemp(counts);

	ok(fd >= 0 && make_recording(path), "a recording is made");
	ok(counts_fd >= 0 && make_counts(counts), "a recording of counts is made");
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		int result = results[i];

		print_session(path, &result);
		print_counts(counts, &result);
		inspect(path, &result);
		diagnose(&result);
	}
	(void)unlink(path);
	(void)unlink(counts);
	(void)close(fd);
	(void)close(counts_fd);
	return tap_done();
}
