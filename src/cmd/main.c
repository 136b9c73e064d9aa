/* SPDX-License-Identifier: MIT */
/*
 * The sonde command: finds and calls the subcommand. Exit status 1: no command, or an unknown one;
 * 129: a command that only perf has, or a mistake in the options before the command.
 */
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/config.h"
#include "cmd/options.h"
#include "cmd/perf_only.h"
#include "cmd/suggest.h"
#include "cmd/terminal.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define BUILD_IDS "--buildid-dir"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
        {"record", cmd_record, "run a command, or watch processes, and record a profile"},
        {"report", cmd_report, "show where the time of a recording went"},
        {"script", cmd_script, "print the samples of a recording in time order"},
        {"annotate", cmd_annotate,
                "print instructions and source lines with their share of samples"},
        {"stat", cmd_stat, "count events of a command, of threads or of the machine"},
        {"list", cmd_list, "list the events that can be recorded and counted"},
        {"evlist", cmd_evlist, "list the events of a recording"},
        {"check", cmd_check, "report damage in a recording, and losses while it was recorded"},
        {"convert", cmd_convert, "write a recording in another form, or a part of it"},
        {"data", cmd_data, "write the samples of a recording as JSON of perf"},
        {"inject", cmd_inject, "add build ids and other information to a recording"},
        {"buildid-list", cmd_buildid_list, "list the build ids of a recording's objects"},
        {"bundle", cmd_bundle, "pack a recording with all that it needs into one file"},
        {"archive", cmd_archive, "pack the objects of a recording for another machine"},
        {"buildid-cache", cmd_buildid_cache,
                "list, add and remove the objects that recordings need later"},
        {"cache", cmd_cache, "list or remove the symbols and source lines kept between runs"},
        {"dump", cmd_dump, "print every record of a recording in file order"},
        {"repair", cmd_repair, "write the undamaged parts of a recording as a valid one"},
        {"export", cmd_export, "write a recording into a database"},
        {"db", cmd_db, "ask such a database for calls, their times, and branches"},
        {"flamegraph", cmd_flamegraph, "write a recording as a self-contained HTML flame graph"},
        {"doctor", cmd_doctor, "check which profiling this machine allows, and how to allow more"},
        {"config", cmd_config, "show and set the defaults of options"},
        {"test", cmd_test, "test what profiling needs on this machine"},
        {"pt", cmd_pt, "read traces of Intel PT"},
        {"version", cmd_version, "show the version of sonde, and what was built in"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0) {
			return &commands[i];
		}
	}
	return NULL;
}

static void print_usage(FILE *out)
{
	(void)fprintf(out, "usage: sonde [--version] [--help] [-p | --no-pager] "
	                   "[--buildid-dir DIR] COMMAND [ARGS]\n\ncommands:\n");
	for (size_t i = 0; i < COMMANDS; i++) {
		(void)fprintf(out, "  %-13s %s\n", commands[i].name, commands[i].help);
	}
	(void)fprintf(out, "\n'sonde COMMAND --help' lists the options of a command.\n");
}

static int unknown_command(const char *name)
{
	const struct command *near = NULL;
	unsigned best = SUGGEST_NEAR;

	if (perf_only_command(name)) {
		return OPTIONS_USAGE;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		unsigned d = suggest_distance(name, strlen(name), commands[i].name);

		if (d < best) {
			best = d;
			near = &commands[i];
		}
	}
	(void)fprintf(
	        stderr, "sonde: '%s' is not a sonde command; 'sonde --help' lists them\n", name);
	if (near != NULL) {
		(void)fprintf(stderr, "\nDid you mean this?\n\t%s\n", near->name);
	}
	return 1;
}

/* Returns the option before a command whose name is nearest to --WORD, or NULL. */
static const char *near_option(const char *word)
{
	static const char *const names[] = {
	        "help", "version", "no-pager", "paginate", "buildid-dir"};
	const char *near = NULL;
	unsigned best = SUGGEST_NEAR;

	for (size_t i = 0; strncmp(word, "--", 2) == 0 && i < sizeof(names) / sizeof(names[0]);
	        i++) {
		unsigned d = suggest_distance(word + 2, strlen(word) - 2, names[i]);

		if (d < best) {
			best = d;
			near = names[i];
		}
	}
	return near;
}

/* word: an option before the command, with its dashes */
static int unknown_option(const char *word)
{
	const char *near = near_option(word);
	const struct option_def *def = perf_only_options("");
	size_t n = strcspn(word, "=");
	char written[64];

	for (; def->kind != OPTION_KIND_END; def++) {
		if (def->short_name != 0 && word[1] == def->short_name && word[2] == '\0') {
			return perf_only_option("", def, word);
		}
		if (n == strlen(def->long_name) + 2 && strncmp(word, "--", 2) == 0 &&
		        strncmp(word + 2, def->long_name, n - 2) == 0) {
			(void)snprintf(written, sizeof(written), "%.*s", (int)n, word);
			return perf_only_option("", def, written);
		}
	}
	if (strcmp(word, BUILD_IDS) == 0) {
		(void)fprintf(stderr, "sonde: " BUILD_IDS " needs the path of a folder\n");
		return OPTIONS_USAGE;
	}
	(void)fprintf(stderr, "sonde: unknown option %s%s%s; 'sonde --help' lists the commands\n",
	        word, near != NULL ? ": did you mean --" : "", near != NULL ? near : "");
	return OPTIONS_USAGE;
}

static int help(int argc, char **argv)
{
	char flag[] = "--help";
	char *args[] = {NULL, flag, NULL};
	const struct command *c;

	if (argc < 2) {
		print_usage(stdout);
		return 0;
	}
	c = find(argv[1]);
	if (c == NULL) {
		return unknown_command(argv[1]);
	}
	args[0] = argv[1];
	return c->run(2, args);
}

/*
 * Opens /dev/null for standard descriptors that the user closed, so that no other file gets their
 * number.
 */
static void hold_standard_files(void)
{
	static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY}; /* 0 and 1: reads, writes fail */

	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) < 0) {
			(void)open("/dev/null", modes[fd] | O_CLOEXEC);
		}
	}
}

static int run(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		print_usage(stderr);
		return 1;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0) {
		version_print();
		return 0;
	}
	if (strcmp(argv[1], "-vv") == 0) {
		version_print_build_options();
		return 0;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	        strcmp(argv[1], "help") == 0) {
		return help(argc - 1, argv + 1);
	}
	if (argv[1][0] == '-') {
		return unknown_option(argv[1]);
	}
	c = find(argv[1]);
	if (c == NULL) {
		return unknown_command(argv[1]);
	}
	return c->run(argc - 1, argv + 1);
}

/* Options before the command. */
struct first_options {
	bool paginate; /* use a pager for any command */
	const char *build_ids; /* argument of --buildid-dir; NULL: none */
};

/* Removes them from the words. */
static struct first_options take_first_options(int *argc, char ***argv)
{
	struct first_options o = {0};
	const size_t dir = strlen(BUILD_IDS);

	for (; *argc > 1; ++*argv, --*argc) {
		const char *word = (*argv)[1];

		if (strcmp(word, "-p") == 0 || strcmp(word, "--paginate") == 0) {
			o.paginate = true;
		} else if (strcmp(word, "--no-pager") == 0) {
			o.paginate = false;
			(void)setenv("SONDE_PAGER", "cat", 1);
		} else if (strncmp(word, BUILD_IDS "=", dir + 1) == 0) {
			o.build_ids = word + dir + 1;
		} else if (strcmp(word, BUILD_IDS) == 0 && *argc > 2) {
			++*argv, --*argc;
			o.build_ids = (*argv)[1];
		} else {
			break;
		}
	}
	return o;
}

/* The last value of perf's variable buildid.dir; NULL: none. */
static const char *configured_build_ids(const struct config *config)
{
	const char *found = NULL;

	for (size_t i = 0; i < config->n; i++) {
		if (strcasecmp(config->entries[i].key, "buildid.dir") == 0) {
			found = config->entries[i].value;
		}
	}
	return found;
}

/*
 * Large blocks are mappings of their own: they grow without being copied, and go back to the system
 * at once. By default the limit rises when such a block is freed, and the heap then grows and shrinks
 * by as much: the same memory is asked for again and again.
 */
static void set_up_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int main(int argc, char **argv)
{
	struct first_options first = take_first_options(&argc, &argv);
	bool configures = argc > 1 && strcmp(argv[1], "config") == 0;
	struct terminal_output pager = {0};
	struct config config = {0};
	int status;

	set_up_memory();
	hold_standard_files();
	if (first.paginate) {
		terminal_paginate(&pager);
	}
	if (argc > 1 && !configures && find(argv[1]) != NULL) {
		(void)config_read(&config);
		options_use_config(&config);
	}
	caches_use_build_ids(
	        first.build_ids != NULL ? first.build_ids : configured_build_ids(&config));
	status = terminal_stdout_finish(run(argc, argv));
	terminal_output_close(&pager);
	config_fini(&config);
	return status;
}
