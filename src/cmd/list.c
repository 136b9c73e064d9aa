/* SPDX-License-Identifier: MIT */
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <sonde/preview/list.h>
#include <stdio.h>

struct list {
	bool json, raw_dump, details;
	int verbose;
};

int cmd_list(int argc, char **argv)
{
	struct list l = {0};
	char message[1024] = "";
	struct sonde_list_options o = {
	        .size = sizeof(o), .message = message, .message_size = sizeof(message)};
	const struct option_def defs[] = {
	        OPTION_SWITCH(0, "json", &l.json, "everything as JSON"),
	        OPTION_SWITCH(0, "details", &l.details, "what each stands for, its unit and cpus"),
	        OPTION_COUNT('v', "long-desc", &l.verbose, "the same as --details"),
	        OPTION_SWITCH(0, "raw-dump", &l.raw_dump, "names only, in one line"),
	        OPTION_TEXT(
	                0, "root", &o.root, "DIR", "list the machine whose proc and sys are there"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "list",
	        .usage = "[options] [hw|sw|tool|cache|pmu|raw|breakpoint|tracepoint|sdt|GLOB] ...",
	        .about = "Lists the events that can be recorded and counted.",
	        .defs = defs,
	};
	struct option_rest rest;
	struct terminal_output out;
	int rc = options_parse(&command, argc, argv, &rest), status;

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	o.words = (const char *const *)rest.argv;
	o.nwords = (size_t)rest.argc;
	o.details = l.details || l.verbose > 0;
	o.form = l.json ? SONDE_LIST_JSON : l.raw_dump ? SONDE_LIST_NAMES : SONDE_LIST_TEXT;
	terminal_output_open(&out, false);
	rc = sonde_list_print(&o, terminal_output_write, &out);
	terminal_output_close(&out);
	if (terminal_output_failed(&out, &status)) {
		return status;
	}
	if (rc < 0) {
		(void)fprintf(stderr, "sonde list: cannot look at '%s': %s\n",
		        o.root != NULL ? o.root : "/", sonde_status_text(rc));
		return 255;
	}
	if (message[0] != '\0') {
		(void)fprintf(stderr, "sonde list: %s\n", message);
	}
	return rc;
}
