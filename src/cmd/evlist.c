/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <sonde/preview/evlist.h>
#include <stdio.h>

struct evlist {
	const char *input;
	bool freq, groups, force, json, trace_fields;
	int detail;
};

static void on_diag(void *arg, const struct sonde_diag *diag)
{
	terminal_diag_show(arg, diag);
}

int cmd_evlist(int argc, char **argv)
{
	struct evlist e = {.input = options_input()};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &e.input, "FILE", "input file; perf.data when not given"),
	        OPTION_SWITCH('F', "freq", &e.freq, "show the frequency or period"),
	        OPTION_COUNT('v', "verbose", &e.detail,
	                "show everything that the event was opened with"),
	        OPTION_SWITCH('g', "group", &e.groups, "show groups of events as {a,b}"),
	        OPTION_SWITCH(0, "trace-fields", &e.trace_fields, "show the fields of tracepoints"),
	        OPTION_SWITCH(0, "json", &e.json, "everything as JSON"),
	        OPTION_SWITCH('f', "force", &e.force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "evlist",
	        .usage = "[options]",
	        .about = "Lists the events of a recording.",
	        .defs = defs,
	};
	struct option_rest rest;
	char message[1024] = "";
	unsigned shown = 0;
	struct sonde_evlist_options o = {.size = sizeof(o),
	        .message = message,
	        .message_size = sizeof(message),
	        .on_diag = on_diag,
	        .diag_arg = &shown,
	        .temp_dir = temp_dir()};
	struct terminal_output out;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc != 0) {
		return options_mistake(&command, "unexpected word '%s'", rest.argv[0]);
	}
	if (e.groups && (e.freq || e.detail != 0)) {
		return options_mistake(
		        &command, "--group goes together with neither --freq nor --verbose");
	}
	o.check_owner = !e.force;
	o.json = e.json;
	o.trace_fields = e.trace_fields;
	o.mode = e.detail != 0 ? SONDE_EVLIST_DETAIL
	         : e.freq      ? SONDE_EVLIST_FREQ
	         : e.groups    ? SONDE_EVLIST_GROUPS
	                       : SONDE_EVLIST_NAMES;
	terminal_output_open(&out, false);
	rc = sonde_evlist_print(e.input, &o, terminal_output_write, &out);
	terminal_output_close(&out);
	return terminal_exit(&out, rc, e.input, message);
}
