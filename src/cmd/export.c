/* SPDX-License-Identifier: MIT */
/* sonde export: a recording as tables of a database. */
#include "cmd/commands.h"
#include "cmd/recording.h"

#include <sonde/preview/export.h>

#include <stdio.h>
#include <string.h>

#define EXIT_DAMAGED 1 /* part of the input could not be read */
#define EXIT_OUTPUT  1 /* the database cannot be written */

typedef int (*export_fn)(
        struct sonde_session *s, const struct sonde_export_options *options, const char *to);

struct export_command {
	struct recording from;
	const char *to, *output;
	char *const *words; /* after the options */
	export_fn write;
	struct sonde_export_options o;
	struct sonde_export_counts counts;
};

/* The database for messages: without a conninfo, which may have a password. */
static const char *database_name(const struct export_command *x)
{
	if (x->output == NULL) {
		return "the database";
	}
	return x->write == sonde_export_postgresql &&
	                       (strchr(x->output, '=') != NULL || strstr(x->output, "://") != NULL)
	               ? "the database"
	               : x->output;
}

/* What to run after the server or the disk is well again; a conninfo is left out. */
static void show_again(const struct export_command *x)
{
	const char *database = database_name(x);

	(void)fprintf(stderr, "To try again: sonde export --to %s%s -i %s", x->to,
	        x->o.append ? " --append" : "", x->from.input);
	if (database == x->output) {
		(void)fprintf(stderr, " -o %s", database);
	} else if (x->output != NULL) {
		(void)fputs(" -o ...", stderr);
	}
	for (char *const *word = x->words; *word != NULL; word++) {
		(void)fprintf(stderr, " %s", *word);
	}
	(void)fputc('\n', stderr);
}

static int write_database(struct export_command *x, struct sonde_session *s)
{
	int rc;

	x->o.size = sizeof(x->o);
	x->o.force = x->from.force;
	x->o.counts = &x->counts;
	x->o.recording = x->from.input;
	rc = x->write(s, &x->o, x->output);
	terminal_progress_end(&x->from.progress);
	if (rc < 0) {
		(void)fprintf(stderr, "Error: cannot export %s: %s\n", x->from.input,
		        sonde_session_error(s)->text);
		if (rc == SONDE_EOUTPUT) {
			show_again(x);
		}
		return rc == SONDE_ENOMEM ? RECORDING_FAILED : EXIT_OUTPUT;
	}
	(void)fprintf(stderr, "[ sonde export: wrote %llu samples and %llu calls to %s ]\n",
	        (unsigned long long)x->counts.samples, (unsigned long long)x->counts.calls,
	        database_name(x));
	return recording_damaged(&x->from, s) ? EXIT_DAMAGED : 0;
}

static int run(struct export_command *x)
{
	x->from.progress.count = &x->counts.samples;
	x->from.progress.unit = "samples";
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

/* Sets what --to wants. False: it is no kind of database. */
static bool find_kind(struct export_command *x)
{
	static const struct {
		const char *name;
		export_fn write;
		const char *output; /* if there is no -o */
	} kinds[] = {{"sqlite", sonde_export_sqlite, "perf.db"},
	        {"postgresql", sonde_export_postgresql, NULL}};

	for (size_t i = 0; x->to != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(x->to, kinds[i].name) == 0) {
			x->write = kinds[i].write;
			x->output = x->output != NULL ? x->output : kinds[i].output;
			return true;
		}
	}
	return false;
}

int cmd_export(int argc, char **argv)
{
	struct export_command x = {.from = RECORDING};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &x.from.input, "FILE", "the recording (perf.data)"),
	        OPTION_WORD(0, "to", &x.to, "KIND", "sqlite postgresql",
	                "kind of database: sqlite or postgresql"),
	        OPTION_TEXT('o', "output", &x.output, "DB",
	                "the database: a file (perf.db), or for PostgreSQL a name or what libpq "
	                "connects to"),
	        RECORDING_ITRACE(&x.from),
	        RECORDING_DEBUGINFOD(&x.from, false),
	        RECORDING_SYMFS(&x.from.symfs),
	        OPTION_TEXT(
	                0, "kallsyms", &x.from.session.kallsyms, "FILE", "symbols of the kernel"),
	        OPTION_SWITCH(
	                0, "demangle", &x.from.demangle, "store C++ and Rust names (default)"),
	        OPTION_SWITCH(0, "append", &x.o.append,
	                "add to a database of this command, if it exists"),
	        OPTION_SWITCH('f', "force", &x.from.force,
	                "replace a database that exists, and read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "export",
	        .usage = "--to sqlite|postgresql [options] [branches | all] [calls] [callchains]",
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
	if (!find_kind(&x)) {
		return options_mistake(
		        &command, "--to wants a kind of database: sqlite or postgresql");
	}
	if (x.from.input == NULL) {
		return options_mistake(&command, "-i wants a file");
	}
	x.words = rest.argv;
	return parse_words(&x, &command, rest.argv) ? run(&x) : OPTIONS_USAGE;
}
