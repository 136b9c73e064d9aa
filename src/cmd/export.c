/* SPDX-License-Identifier: MIT */
/* sonde export: a recording as tables of a database. */
#include "cmd/commands.h"
#include "cmd/recording.h"

#include <sonde/preview/export.h>

#include <stdio.h>
#include <string.h>

#define EXIT_DAMAGED 1 /* part of the input could not be read */
#define EXIT_OUTPUT  1 /* the database cannot be written */

struct export_command {
	struct recording from;
	const char *to, *output;
	struct sonde_export_options o;
	struct sonde_export_counts counts;
};

static int write_database(struct export_command *x, struct sonde_session *s)
{
	int rc;

	x->o.size = sizeof(x->o);
	x->o.force = x->from.force;
	x->o.counts = &x->counts;
	rc = sonde_export_sqlite(s, &x->o, x->output);
	terminal_progress_end(&x->from.progress);
	if (rc < 0) {
		(void)fprintf(stderr, "Error: cannot export %s: %s\n", x->from.input,
		        sonde_session_error(s)->text);
		return rc == SONDE_ENOMEM ? RECORDING_FAILED : EXIT_OUTPUT;
	}
	(void)fprintf(stderr, "[ sonde export: wrote %llu samples and %llu calls to %s ]\n",
	        (unsigned long long)x->counts.samples, (unsigned long long)x->counts.calls,
	        x->output);
	return recording_damaged(&x->from, s) ? EXIT_DAMAGED : 0;
}

static int run(struct export_command *x)
{
	struct sonde_session *s = recording_open(&x->from);
	int rc = s != NULL ? write_database(x, s) : RECORDING_FAILED;

	sonde_session_free(s);
	return rc;
}

/* The words after the options, as those of perf's scripts. False after printing the mistake. */
static bool parse_words(
        struct export_command *x, const struct option_command *command, char *const *words)
{
	for (; *words != NULL; words++) {
		if (strcmp(*words, "branches") == 0) {
			x->o.branches = true;
		} else if (strcmp(*words, "all") == 0) {
			x->o.branches = false;
		} else if (strcmp(*words, "calls") == 0) {
			x->o.calls = true;
		} else if (strcmp(*words, "callchains") == 0) {
			x->o.callchains = true;
		} else {
			(void)options_mistake(command,
			        "unexpected word '%s': branches, all, calls and callchains are "
			        "known",
			        *words);
			return false;
		}
	}
	return true;
}

int cmd_export(int argc, char **argv)
{
	struct export_command x = {.from = RECORDING, .output = "perf.db"};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &x.from.input, "FILE", "the recording (perf.data)"),
	        OPTION_WORD(0, "to", &x.to, "KIND", "sqlite", "kind of database: sqlite"),
	        OPTION_TEXT('o', "output", &x.output, "FILE", "the database (perf.db)"),
	        RECORDING_ITRACE(&x.from),
	        RECORDING_DEBUGINFOD(&x.from),
	        RECORDING_SYMFS(&x.from.symfs),
	        OPTION_TEXT(
	                0, "kallsyms", &x.from.session.kallsyms, "FILE", "symbols of the kernel"),
	        OPTION_SWITCH(
	                0, "demangle", &x.from.demangle, "store C++ and Rust names (default)"),
	        OPTION_SWITCH('f', "force", &x.from.force,
	                "replace a database that exists, and read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "export",
	        .usage = "--to sqlite [options] [branches | all] [calls] [callchains]",
	        .about = "Writes a recording into a database.",
	        .defs = defs,
	        .anywhere = true,
	};
	struct option_rest rest;
	int rc;

	x.from.session.itrace = x.from.itrace_bare = "bep";
	rc = options_parse(&command, argc, argv, &rest);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (x.to == NULL || strcmp(x.to, "sqlite") != 0) {
		return options_mistake(&command, "--to wants a kind of database: sqlite");
	}
	if (x.from.input == NULL || x.output == NULL) {
		return options_mistake(&command, "-i and -o want a file");
	}
	return parse_words(&x, &command, rest.argv) ? run(&x) : OPTIONS_USAGE;
}
