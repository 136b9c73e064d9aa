/* SPDX-License-Identifier: MIT */
#include "cmd/dump.h"

#include "cmd/commands.h"
#include "cmd/inspect.h"
#include "cmd/options.h"

static int dump_print(
        const char *input, const struct sonde_records_options *o, bool json, bool force)
{
	struct inspect i = {0};
	int rc = SONDE_ENOMEM;

	if (inspect_begin(&i, json, force, true)) {
		rc = sonde_inspector_records(i.in, input, o, terminal_output_write, &i.out);
	}
	return inspect_end(&i, rc, input);
}

int dump_raw(const char *input, bool force, bool packets)
{
	const struct sonde_records_options o = {
	        .size = sizeof(o), .raw = true, .traces = true, .packets = packets};

	return dump_print(input, &o, false, force);
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
	        .about = "Prints every record of a recording in file order.",
	        .defs = defs,
	        .words = OPTION_ONE_WORD,
	        .anywhere = true,
	};
	struct option_rest rest;
	struct sonde_records_options o = {.size = sizeof(o)};
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	o.raw = raw;
	o.types = types;
	return dump_print(rest.argc == 1 ? rest.argv[0] : input, &o, json, force);
}
