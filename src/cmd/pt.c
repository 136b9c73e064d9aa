/* SPDX-License-Identifier: MIT */
/* sonde pt: traces of Intel PT. Finds and calls the subcommand. */
#include "cmd/commands.h"

#include <stdio.h>
#include <string.h>

static const struct part {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} parts[] = {
        {"calls", cmd_pt_calls, "list the calls of a recording and times of functions"},
        {"cover", cmd_pt_cover, "show which functions, blocks and lines of a recording ran"},
        {"diff", cmd_pt_diff, "show where two recordings ran different code"},
        {"dump", cmd_pt_dump, "list the packets of a trace"},
        {"flow", cmd_pt_flow, "list the instructions that a trace went through"},
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* Prints the options of all subcommands, as one man page describes them. */
static int help(void)
{
	char flag[] = "--help";

	(void)printf("Usage: sonde pt PART [options]\n");
	for (size_t i = 0; i < PARTS; i++) {
		(void)printf("  %-8s %s\n", parts[i].name, parts[i].help);
	}
	for (size_t i = 0; i < PARTS; i++) {
		char name[16];
		char *args[] = {name, flag, NULL};

		(void)snprintf(name, sizeof(name), "%s", parts[i].name);
		(void)printf("\n");
		(void)parts[i].run(2, args);
	}
	return 0;
}

int cmd_pt(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		return help();
	}
	for (size_t i = 0; argc > 1 && i < PARTS; i++) {
		if (strcmp(argv[1], parts[i].name) == 0) {
			return parts[i].run(argc - 1, argv + 1);
		}
	}
	if (argc < 2) {
		(void)fprintf(stderr, "sonde pt: name a command; 'sonde pt --help' lists them\n");
	} else {
		(void)fprintf(stderr,
		        "sonde pt: there is no command '%s'; 'sonde pt --help' lists them\n",
		        argv[1]);
	}
	return 129;
}
