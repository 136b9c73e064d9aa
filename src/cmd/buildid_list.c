/* SPDX-License-Identifier: MIT */
#include "cmd/commands.h"
#include "cmd/inspect.h"
#include "cmd/options.h"

#include <stdio.h>

struct buildid_list {
	const char *input;
	bool with_hits, kernel, maps, force, json, pager;
	int verbose;
};

/* Prints only the build id, for the running kernel or an ELF file. */
static void print_one(const struct buildid_list *b, const char *hex)
{
	if (b->json) {
		(void)printf("{\"schema\":\"sonde-buildid-list\",\"version\":1,\"build_ids\":[{"
		             "\"build_id\":"
		             "\"%s\",\"name\":null,\"pid\":-1}]}\n",
		        hex);
		return;
	}
	(void)printf("%s\n", hex);
}

static int list(const struct buildid_list *b)
{
	struct sonde_build_ids_options o = {.size = sizeof(o), .with_hits = b->with_hits};
	struct inspect i = {0};
	int rc = SONDE_ENOMEM;

	if (inspect_begin(&i, b->json, b->force, b->pager)) {
		rc = sonde_inspector_build_ids(i.in, b->input, &o, inspect_write, &i);
	}
	return inspect_end(&i, rc, b->input);
}

static int print_maps(const struct buildid_list *b)
{
	struct inspect i = {0};
	int rc = SONDE_ENOMEM;

	if (inspect_begin(&i, false, false, b->pager)) {
		rc = sonde_inspector_kernel_maps(i.in, inspect_write, &i);
	}
	return inspect_end(&i, rc, "the running kernel");
}

int cmd_buildid_list(int argc, char **argv)
{
	struct buildid_list b = {.input = "perf.data", .pager = true};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &b.input, "FILE",
	                "a recording or an ELF file; perf.data when not given"),
	        OPTION_SWITCH('H', "with-hits", &b.with_hits, "only objects that samples hit"),
	        OPTION_SWITCH('k', "kernel", &b.kernel, "of the running kernel"),
	        OPTION_SWITCH('m', "kernel-maps", &b.maps,
	                "with addresses, of the running kernel and its modules"),
	        OPTION_SWITCH('f', "force", &b.force, "read files of other users too"),
	        OPTION_SWITCH(0, "json", &b.json, "as JSON"),
	        OPTION_COUNT('v', "verbose", &b.verbose, "changes nothing"),
	        OPTION_SWITCH(0, "pager", &b.pager, "use a pager on a terminal"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "buildid-list",
	        .usage = "[options]",
	        .about = "Lists the build ids of a recording's objects.",
	        .defs = defs,
	        .words = OPTION_NO_WORDS,
	};
	struct option_rest rest;
	char hex[41];
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (b.maps) {
		return print_maps(&b);
	}
	if (sonde_buildid_of(b.kernel ? NULL : b.input, hex, sizeof(hex)) > 0) {
		print_one(&b, hex);
		return 0;
	}
	if (b.kernel) {
		(void)fprintf(stderr, "Error: the running kernel has no build id in "
		                      "/sys/kernel/notes\n");
		return 1;
	}
	return list(&b);
}
