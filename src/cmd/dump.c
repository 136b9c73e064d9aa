/* SPDX-License-Identifier: MIT */
#include "cmd/dump.h"
#include "cmd/caches.h"

#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <sonde/preview/dump.h>
#include <stdio.h>

static void on_diag(void *arg, const struct sonde_diag *diag)
{
	terminal_diag_show(arg, diag);
}

static int dump_print(const char *input, struct sonde_dump_options *o)
{
	char message[1024] = "";
	unsigned shown = 0;
	struct terminal_output out;
	int rc;

	o->size = sizeof(*o);
	o->temp_dir = temp_dir();
	o->message = message;
	o->message_size = sizeof(message);
	o->on_diag = on_diag;
	o->diag_arg = &shown;
	terminal_output_open(&out, true);
	rc = sonde_dump_print(input, o, terminal_output_write, &out);
	terminal_output_close(&out);
	return terminal_exit(&out, rc, input, message);
}

int dump_raw(const char *input, bool force)
{
	struct sonde_dump_options o = {.raw = true, .check_owner = !force};

	return dump_print(input, &o);
}

int cmd_dump(int argc, char **argv)
{
	const char *input = options_input(), *types = NULL;
	bool raw = false, json = false, force = false;
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &input, "FILE", "input file; perf.data when not given"),
	        OPTION_TEXT(0, "type", &types, "TYPES",
	                "these record types only, as SAMPLE,MMAP2 or 9,10"),
	        OPTION_SWITCH('D', "raw", &raw, "show the bytes of each record too"),
	        OPTION_SWITCH('j', "json", &json, "write one JSON document"),
	        OPTION_SWITCH('f', "force", &force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "dump",
	        .usage = "[options]",
	        .about = "Prints every record of a recording as it stands in the file.",
	        .defs = defs,
	        .anywhere = true,
	};
	struct option_rest rest;
	struct sonde_dump_options o = {0};
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc > 1) {
		return options_mistake(&command, "unexpected word '%s'", rest.argv[1]);
	}
	o.raw = raw;
	o.json = json;
	o.check_owner = !force;
	o.types = types;
	return dump_print(rest.argc == 1 ? rest.argv[0] : input, &o);
}
