/* SPDX-License-Identifier: MIT */
/* An output function that returns any negative number makes the caller return SONDE_EOUTPUT. */
#include "tap.h"

#include <sonde/preview/buildid.h>
#include <sonde/preview/check.h>
#include <sonde/preview/doctor.h>
#include <sonde/preview/dump.h>
#include <sonde/preview/evlist.h>
#include <sonde/preview/flamegraph.h>
#include <sonde/preview/header.h>
#include <sonde/preview/list.h>
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

static void print_session(const char *path, void *arg)
{
	struct sonde_report_options report;
	struct sonde_session *s = sonde_session_new(NULL);

	ok(s != NULL && sonde_session_open(s, path) >= 0, "the recording is opened");
	sonde_report_options_init(&report);
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

static void print_file(const char *path, void *arg)
{
	char text[256] = "";
	const char *why = sonde_status_text(SONDE_EOUTPUT);
	struct sonde_buildid_options ids = {
	        .size = sizeof(ids), .message = text, .message_size = sizeof(text)};
	struct sonde_dump_options dump = {
	        .size = sizeof(dump), .message = text, .message_size = sizeof(text)};
	struct sonde_evlist_options events = {
	        .size = sizeof(events), .message = text, .message_size = sizeof(text)};
	struct sonde_header_options header = {
	        .size = sizeof(header), .message = text, .message_size = sizeof(text)};
	struct sonde_check_options check = {.size = sizeof(check)};

	eq_u64(sonde_buildid_print(path, &ids, refuse, arg), SONDE_EOUTPUT,
	        "build ids: SONDE_EOUTPUT");
	eq_str(text, why, "build ids: its message");
	text[0] = '\0';
	eq_u64(sonde_dump_print(path, &dump, refuse, arg), SONDE_EOUTPUT, "dump: SONDE_EOUTPUT");
	eq_str(text, why, "dump: its message");
	text[0] = '\0';
	eq_u64(sonde_evlist_print(path, &events, refuse, arg), SONDE_EOUTPUT,
	        "event list: SONDE_EOUTPUT");
	eq_str(text, why, "event list: its message");
	text[0] = '\0';
	eq_u64(sonde_header_print(path, &header, refuse, arg), SONDE_EOUTPUT,
	        "header: SONDE_EOUTPUT");
	eq_str(text, why, "header: its message");
	eq_u64(sonde_check(path, &check, refuse, arg), SONDE_EOUTPUT, "check: SONDE_EOUTPUT");
}

static void print_machine(void *arg)
{
	const char *words[] = {"sw"};
	struct sonde_list_options list = {.size = sizeof(list), .words = words, .nwords = 1};
	struct sonde_doctor_options doctor = {.size = sizeof(doctor)};

	eq_u64(sonde_list_print(&list, refuse, arg), SONDE_EOUTPUT, "list: SONDE_EOUTPUT");
	eq_u64(sonde_doctor_print(&doctor, false, refuse, arg), SONDE_EOUTPUT,
	        "doctor: SONDE_EOUTPUT");
}

int main(void)
{
	char path[] = "/tmp/sonde-output-XXXXXX";
	int fd = mkstemp(path);

	ok(fd >= 0 && make_recording(path), "a recording is made");
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		int result = results[i];

		print_session(path, &result);
		print_file(path, &result);
		print_machine(&result);
	}
	(void)unlink(path);
	(void)close(fd);
	return tap_done();
}
