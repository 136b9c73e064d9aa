/* SPDX-License-Identifier: MIT */
/* Recording a short program. Skipped where the kernel does not permit it. */
#include "cases.h"
#include "fail.h"

#include <sonde/file.h>
#include <sonde/preview/inspect.h>
#include <sonde/preview/recorder.h>

#include <stdio.h>
#include <stdlib.h>

#define BUILD_ID 2 /* header feature */

static int ignore(void *arg, const char *text, size_t n)
{
	(void)arg;
	(void)text;
	(void)n;
	return 0;
}

/* The recording is whole and has its header features. */
static int add_recording(struct outcome *out, const char *path)
{
	struct sonde_inspector *in;
	struct sonde_file *f;
	int rc;

	(void)fail_end();
	f = sonde_file_new(NULL);
	rc = f != NULL ? sonde_file_open(f, path) : SONDE_ENOMEM;
	if (rc >= 0) {
		outcome_number(out, sonde_file_get_info(f)->streams);
		/* there are build ids when a sample was in the program, which is short */
		outcome_number(out, sonde_file_get_info(f)->feature_bits[0] & ~(1u << BUILD_ID));
		outcome_number(out, sonde_file_events(f));
		in = sonde_inspector_new(NULL);
		outcome_number(out, (uint64_t)sonde_inspector_check(in, path, NULL, ignore, NULL));
		sonde_inspector_free(in);
	}
	sonde_file_free(f);
	return rc;
}

static void remove_output(const struct input *in)
{
	char command[600];

	(void)snprintf(command, sizeof(command), "rm -rf '%s' '%s'.*", in->out, in->out);
	(void)!system(command); /* NOLINT(cert-env33-c): a folder of this test's own */
}

static int record(struct outcome *out, const struct input *in, struct sonde_recorder_options o)
{
	static const char *const events[] = {"cpu-clock:u", "{task-clock:u,page-faults:u}"};
	char *const words[] = {in->program, NULL};
	struct sonde_recorder *r;
	int rc;

	remove_output(in);
	o.size = sizeof(o);
	o.targets.workload = words;
	o.output.command_line = words;
	o.events.strings = events;
	o.events.n = 2;
	o.output.path = in->out;
	o.buffers.pages = 4;
	r = sonde_recorder_new(&o);
	rc = r != NULL ? sonde_recorder_start(r) : SONDE_ENOMEM;
	rc = rc >= 0 ? sonde_recorder_run(r) : rc;
	if (r != NULL) {
		outcome_error(out, rc, sonde_recorder_error(r));
	}
	sonde_recorder_free(r);
	return rc;
}

static int case_record(struct outcome *out, const struct input *in)
{
	int rc = record(out, in, (struct sonde_recorder_options){.chains.frame_pointers = true});

	return rc >= 0 ? add_recording(out, in->out) : rc;
}

static int case_record_threads(struct outcome *out, const struct input *in)
{
	int rc = record(out, in,
	        (struct sonde_recorder_options){.output.threads = "cpu", .output.compress = 1});

	return rc >= 0 ? add_recording(out, in->out) : rc;
}

static int case_record_switch(struct outcome *out, const struct input *in)
{
	return record(out, in,
	        (struct sonde_recorder_options){
	                .switching.on_request = true, .output.async = true});
}

const struct alloc_case record_cases[] = {
        {"record", case_record, false},
        {"record to a folder, compressed", case_record_threads, false},
        {"record to files in turn", case_record_switch, true},
        {NULL, NULL, false},
};
