/* SPDX-License-Identifier: MIT */
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <sonde/base.h>
#include <sonde/preview/build.h>

#include <stdio.h>

#define GREEN "\033[32m"
#define RED   "\033[31m"
#define OFF   "\033[m"

void version_print(void)
{
	(void)printf("sonde version %s\n", sonde_version());
}

/* In perf's layout. */
void version_print_build_options(void)
{
	const struct sonde_build_option *o;
	bool color = terminal_color(NULL) > 0;

	version_print();
	for (size_t i = 0; (o = sonde_build_option_at(i)) != NULL; i++) {
		(void)printf("%22s: [ %s%s%s ]  # %s%s%s\n", o->name,
		        !color       ? ""
		        : o->present ? GREEN
		                     : RED,
		        o->present ? "on " : "OFF", color ? OFF : "", o->version,
		        *o->version != '\0' ? ", " : "", o->use);
	}
}

int cmd_version(int argc, char **argv)
{
	bool build_options = false;
	int verbose = 0;
	const struct option_def defs[] = {
	        OPTION_SWITCH(0, "build-options", &build_options,
	                "show which libraries were built in, and their versions"),
	        OPTION_COUNT('v', "verbose", &verbose, "the same, also as -vv"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "version",
	        .usage = "[options]",
	        .about = "Shows the version of sonde.",
	        .defs = defs,
	        .words = OPTION_NO_WORDS,
	};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (build_options || verbose > 0) {
		version_print_build_options();
	} else {
		version_print();
	}
	return 0;
}
