/* SPDX-License-Identifier: MIT */
#include "cmd/commands.h"
#include "cmd/inspect.h"
#include "cmd/options.h"

#include <stdio.h>

int cmd_check(int argc, char **argv)
{
	const char *input = "perf.data";
	bool json = false, force = false;
	struct sonde_check_options o = {.size = sizeof(o)};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &input, "FILE", "input file; perf.data when not given"),
	        OPTION_SWITCH('j', "json", &json, "write a JSON document"),
	        OPTION_UINT('n', "most", &o.most, "N",
	                "list at most N problems; all are counted (default: 100)"),
	        OPTION_SWITCH('f', "force", &force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "check",
	        .usage = "[options] [file]",
	        .about = "Reports damage in a recording, and losses while it was recorded.",
	        .defs = defs,
	        .words = OPTION_ONE_WORD,
	        .anywhere = true,
	};
	struct option_rest rest;
	struct inspect i = {0};
	int rc = options_parse(&command, argc, argv, &rest), status;

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	input = rest.argc == 1 ? rest.argv[0] : input;
	rc = SONDE_ENOMEM;
	if (inspect_begin(&i, json, force, false)) {
		rc = sonde_inspector_check(i.in, input, &o, inspect_write, &i);
	}
	terminal_progress_end(&i.progress);
	terminal_output_close(&i.out);
	if (terminal_output_failed(&i.out, &status)) {
		rc = status;
	} else if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n", sonde_status_text(rc));
		rc = SONDE_CHECK_UNUSABLE;
	}
	sonde_inspector_free(i.in);
	return rc;
}
