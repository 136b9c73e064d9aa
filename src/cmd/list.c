/* SPDX-License-Identifier: MIT */
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <sonde/preview/inspect.h>
#include <stdio.h>

static void on_diag(void *arg, const struct sonde_diag *diag)
{
	(void)arg;
	(void)fprintf(stderr, "sonde list: %s\n", diag->detail);
}

static int list(const struct sonde_list_options *o, bool json, bool pager)
{
	struct sonde_inspector_options io = {.size = sizeof(io), .json = json, .on_diag = on_diag};
	struct sonde_inspector *in = sonde_inspector_new(&io);
	struct terminal_output out;
	int rc = SONDE_ENOMEM, status;

	terminal_output_open(&out, pager);
	if (in != NULL) {
		rc = sonde_inspector_list(in, o, terminal_output_write, &out);
	}
	terminal_output_close(&out);
	if (terminal_output_failed(&out, &status)) {
		rc = status;
	} else if (rc < 0) {
		(void)fprintf(stderr, "sonde list: %s\n",
		        in != NULL ? sonde_inspector_error(in)->text : sonde_status_text(rc));
		rc = 255;
	}
	sonde_inspector_free(in);
	return rc;
}

int cmd_list(int argc, char **argv)
{
	struct sonde_list_options o = {.size = sizeof(o)};
	bool json = false, pager = true;
	int verbose = 0;
	const struct option_def defs[] = {
	        OPTION_SWITCH(0, "json", &json, "everything as JSON"),
	        OPTION_SWITCH(
	                0, "details", &o.details, "with description, unit and cpus of each event"),
	        OPTION_COUNT('v', "long-desc", &verbose, "the same as --details"),
	        OPTION_SWITCH(0, "raw-dump", &o.names_only, "names only, in one line"),
	        OPTION_SWITCH(0, "pager", &pager, "use a pager on a terminal"),
	        {.long_name = "root",
	                .kind = OPTION_KIND_TEXT,
	                .arg = OPTION_REQUIRED,
	                .target = &o.root,
	                .arg_name = "DIR",
	                .help = "list events of the machine whose proc and sys are in DIR",
	                .yields = true},
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "list",
	        .usage = "[options] [hw|sw|tool|cache|pmu|raw|breakpoint|tracepoint|sdt|GLOB] ...",
	        .about = "Lists the events that can be recorded and counted.",
	        .defs = defs,
	};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	o.words = (const char *const *)rest.argv;
	o.nwords = (size_t)rest.argc;
	o.details = o.details || verbose > 0;
	return list(&o, json, pager);
}
