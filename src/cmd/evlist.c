/* SPDX-License-Identifier: MIT */
#include "cmd/commands.h"
#include "cmd/inspect.h"
#include "cmd/options.h"

struct evlist {
	const char *input;
	bool freq, groups, force, json, trace_fields;
	int detail;
};

int cmd_evlist(int argc, char **argv)
{
	struct evlist e = {.input = options_input()};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &e.input, "FILE", "input file; perf.data when not given"),
	        OPTION_SWITCH('F', "freq", &e.freq, "show the frequency or period"),
	        OPTION_COUNT(
	                'v', "verbose", &e.detail, "show all fields of the attr that are not 0"),
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
	        .words = OPTION_NO_WORDS,
	};
	struct option_rest rest;
	struct sonde_events_options o = {.size = sizeof(o)};
	struct inspect i = {0};
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (e.groups && (e.freq || e.detail != 0)) {
		return options_mistake(
		        &command, "--group goes together with neither --freq nor --verbose");
	}
	o.trace_fields = e.trace_fields;
	o.mode = e.detail != 0 ? SONDE_EVENTS_DETAIL
	         : e.freq      ? SONDE_EVENTS_FREQ
	         : e.groups    ? SONDE_EVENTS_GROUPS
	                       : SONDE_EVENTS_NAMES;
	rc = SONDE_ENOMEM;
	if (inspect_begin(&i, e.json, e.force, false)) {
		rc = sonde_inspector_events(i.in, e.input, &o, terminal_output_write, &i.out);
	}
	return inspect_end(&i, rc, e.input);
}
