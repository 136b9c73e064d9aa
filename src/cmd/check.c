/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <sonde/preview/check.h>
#include <stdio.h>

int cmd_check(int argc, char **argv)
{
	const char *input = "perf.data";
	bool json = false, force = false;
	uint64_t most = 0;
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &input, "FILE", "input file; perf.data when not given"),
	        OPTION_SWITCH('j', "json", &json, "write a JSON document"),
	        OPTION_UINT('n', "most", &most, "N", "problems to tell one by one; 100"),
	        OPTION_SWITCH('f', "force", &force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "check",
	        .usage = "[options] [file]",
	        .about = "Says whether a recording is whole, what is damaged, and what it lost.",
	        .defs = defs,
	        .anywhere = true,
	};
	struct option_rest rest;
	struct sonde_check_options o = {.size = sizeof(o)};
	struct terminal_output out;
	int rc = options_parse(&command, argc, argv, &rest), status;

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc > 1) {
		return options_mistake(&command, "unexpected word '%s'", rest.argv[1]);
	}
	o.json = json;
	o.check_owner = !force;
	o.temp_dir = temp_dir();
	o.most = most;
	terminal_output_open(&out, false);
	rc = sonde_check(rest.argc == 1 ? rest.argv[0] : input, &o, terminal_output_write, &out);
	terminal_output_close(&out);
	if (terminal_output_failed(&out, &status)) {
		return status;
	}
	if (rc == SONDE_ENOMEM) {
		(void)fprintf(stderr, "Error: out of memory\n");
	}
	return rc < 0 ? SONDE_UNUSABLE : rc;
}
