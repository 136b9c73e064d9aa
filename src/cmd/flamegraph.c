/* SPDX-License-Identifier: MIT */
/* sonde flamegraph: a recording as one HTML page. */
#include "cmd/options.h"
#include "cmd/recording.h"
#include "cmd/target.h"

#include <sonde/preview/flamegraph.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_DAMAGED 1 /* part of the input could not be read */
#define EXIT_FAILED  255 /* nothing was written */

struct flamegraph {
	struct recording from;
	const char *output;
	const char *title;
	const char *event;
};

static void say(const char *what, const char *path, const char *why)
{
	(void)fprintf(stderr, "Error: %s %s: %s\n", what, path, why);
}

/* Returns the index of an event given by number or name; SIZE_MAX - 1: no such event. */
static size_t find_event(const struct sonde_session *s, const char *wanted)
{
	size_t n = sonde_session_events(s);
	uint64_t number;
	size_t i;

	if (wanted == NULL) {
		return SONDE_FLAMEGRAPH_FIRST_EVENT;
	}
	for (i = 0; i < n; i++) {
		if (strcmp(sonde_session_event_name(s, i), wanted) == 0) {
			return i;
		}
	}
	return options_number(wanted, &number) && number < n ? (size_t)number : SIZE_MAX - 1;
}

static void list_events(const struct sonde_session *s, const char *wanted)
{
	size_t i;

	(void)fprintf(stderr, "Error: no event '%s' in the recording; it has:\n", wanted);
	for (i = 0; i < sonde_session_events(s); i++) {
		(void)fprintf(stderr, "  %zu  %s\n", i, sonde_session_event_name(s, i));
	}
}

/* Prints that the output cannot be written, with the text of an errno. Returns the exit status. */
static int write_failed(const struct flamegraph *f, int error)
{
	if (strcmp(f->output, "-") == 0) {
		return terminal_stdout_failed(error);
	}
	say("cannot write", f->output, strerror(error));
	return EXIT_FAILED;
}

/* Returns OPTIONS_RUN after writing the whole page, else the exit status. */
static int write_page(struct flamegraph *f, struct sonde_session *s, size_t event)
{
	struct sonde_flamegraph_options o = {.size = sizeof(o), .title = f->title, .event = event};
	struct terminal_output out = {0};
	struct target t;
	int rc = target_open(&t, f->output);
	int closed;

	if (rc < 0) {
		(void)target_close(&t, false);
		return write_failed(f, -rc);
	}
	out.fd = t.fd;
	rc = sonde_flamegraph_write(s, &o, terminal_output_write, &out);
	terminal_progress_end(&f->from.progress);
	closed = target_close(&t, rc >= 0);
	if (out.error != 0) {
		return write_failed(f, out.error);
	}
	if (rc < 0) {
		say("cannot draw", f->from.input, sonde_session_error(s)->text);
		return EXIT_FAILED;
	}
	if (closed < 0) {
		return write_failed(f, -closed);
	}
	if (rc == 0) {
		(void)fprintf(stderr, "Warning: no samples in %s\n", f->from.input);
	}
	return OPTIONS_RUN;
}

static int draw(struct flamegraph *f, struct sonde_session *s)
{
	size_t event = find_event(s, f->event);
	int rc;

	if (event == SIZE_MAX - 1) {
		list_events(s, f->event);
		return EXIT_FAILED;
	}
	rc = write_page(f, s, event);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (strcmp(f->output, "-") != 0) {
		(void)fprintf(stderr, "flame graph written to %s\n", f->output);
	}
	return recording_damaged(&f->from, s) ? EXIT_DAMAGED : 0;
}

static int run(struct flamegraph *f)
{
	struct sonde_session *s = recording_open(&f->from);
	int rc = s != NULL ? draw(f, s) : RECORDING_FAILED;

	sonde_session_free(s);
	return rc;
}

int cmd_flamegraph(int argc, char **argv);

int cmd_flamegraph(int argc, char **argv)
{
	struct flamegraph f = {.from = RECORDING, .output = "flamegraph.html"};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &f.from.input, "FILE", "the recording (perf.data)"),
	        OPTION_TEXT('o', "output", &f.output, "FILE",
	                "output file (flamegraph.html); '-': standard output"),
	        OPTION_TEXT(0, "title", &f.title, "TEXT", "title of the page"),
	        OPTION_TEXT('e', "event", &f.event, "EVENT",
	                "event by name or number (default: the first with samples)"),
	        OPTION_UINT('j', "jobs", &f.from.jobs, "N",
	                "worker threads (default: one for each processor)"),
	        RECORDING_ITRACE(&f.from),
	        RECORDING_DEBUGINFOD(&f.from, false),
	        RECORDING_SYMFS(&f.from.symfs),
	        OPTION_TEXT(
	                0, "kallsyms", &f.from.session.kallsyms, "FILE", "symbols of the kernel"),
	        OPTION_SWITCH(0, "demangle", &f.from.demangle, "show C++ and Rust names (default)"),
	        OPTION_SWITCH('f', "force", &f.from.force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "flamegraph",
	        .usage = "[options]",
	        .about =
	                "Writes a recording as a flame graph: one HTML page that needs no network.",
	        .defs = defs,
	        .anywhere = true,
	};
	struct option_rest rest;
	int rc;

	f.from.session.itrace = f.from.itrace_bare = "gie";
	rc = options_parse(&command, argc, argv, &rest);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc != 0) {
		return options_mistake(
		        &command, "unexpected word '%s'; -i names the recording", rest.argv[0]);
	}
	if (f.from.input == NULL || f.output == NULL) {
		return options_mistake(&command, "-i and -o want a file");
	}
	return run(&f);
}
