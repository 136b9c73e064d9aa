/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <sonde/preview/bundle.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE   4096u
#define EXIT_FILE   255 /* the input is missing or cannot be used */
#define EXIT_OUTPUT 1

struct bundling {
	const char *input, *output, *symfs, *kallsyms;
	bool all, sources, parts, force;
	int verbose;
	unsigned shown; /* diagnostics */
	struct terminal_progress progress;
	size_t files, missing;
};

static void on_diag(void *arg, const struct sonde_diag *diag)
{
	struct bundling *b = arg;

	terminal_progress_end(&b->progress);
	terminal_diag_show(&b->shown, diag);
}

static void on_file(void *arg, const struct sonde_bundle_file *file)
{
	struct bundling *b = arg;

	terminal_progress_end(&b->progress);
	if (file->member == NULL) {
		b->missing++;
		(void)fprintf(
		        stderr, "Warning: %s is not in the bundle: %s\n", file->path, file->reason);
		return;
	}
	b->files++;
	if (b->verbose > 0) {
		(void)fprintf(stderr, "%s %s (%llu bytes)\n", file->member, file->path,
		        (unsigned long long)file->size);
	}
}

static int run(struct bundling *b)
{
	struct caches caches;
	struct sonde_session_options session = {.size = sizeof(session),
	        .on_diag = on_diag,
	        .diag_arg = b,
	        .on_progress = terminal_progress_show,
	        .progress_arg = &b->progress,
	        .check_owner = !b->force,
	        .symfs = b->symfs,
	        .kallsyms = b->kallsyms};
	const struct sonde_bundler_options o = {.size = sizeof(o),
	        .session = &session,
	        .all = b->all,
	        .sources = b->sources,
	        .parts = b->parts,
	        .on_file = on_file,
	        .file_arg = b};
	struct sonde_bundler *bundler;
	int rc = SONDE_ENOMEM;

	caches_set(&caches, &session);
	bundler = sonde_bundler_new(&o);
	rc = bundler != NULL ? sonde_bundler_write(bundler, b->input, b->output) : rc;
	terminal_progress_end(&b->progress);
	if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n",
		        bundler != NULL ? sonde_bundler_error(bundler)->text
		                        : sonde_status_text(rc));
	} else if (strcmp(b->output, "-") != 0) {
		(void)fprintf(stderr, "[ sonde: wrote %zu files, %.1f MB, to %s ]\n", b->files,
		        (double)sonde_bundler_size(bundler) / 1e6, b->output);
	}
	sonde_bundler_free(bundler);
	return rc < 0 ? (rc == SONDE_EOUTPUT ? EXIT_OUTPUT : EXIT_FILE) : rc > 0;
}

int cmd_bundle(int argc, char **argv)
{
	struct bundling b = {.input = "perf.data"};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &b.input, "FILE", "input file; perf.data when not given"),
	        OPTION_TEXT('o', "output", &b.output, "FILE",
	                "output file (default: INPUT.bundle); '-': standard output"),
	        OPTION_SWITCH('a', "all", &b.all,
	                "all mapped objects, not only those in which samples are"),
	        OPTION_SWITCH('s', "sources", &b.sources,
	                "also the source files of the functions in which samples are"),
	        OPTION_SWITCH(0, "parts", &b.parts,
	                "of objects only symbols, source lines, unwinding tables and code"),
	        OPTION_TEXT(0, "symfs", &b.symfs, "DIR", "look for objects below this directory"),
	        OPTION_TEXT(0, "kallsyms", &b.kallsyms, "FILE",
	                "symbols of the recorded kernel, in the form of /proc/kallsyms"),
	        OPTION_SWITCH('f', "force", &b.force, "read files of other users too"),
	        OPTION_COUNT('v', "verbose", &b.verbose, "print each file of the bundle"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "bundle",
	        .usage = "[options] [input]",
	        .about = "Writes a recording and the files that it needs into one file, which all "
	                 "commands read on any machine.",
	        .defs = defs,
	        .words = OPTION_ONE_WORD,
	        .anywhere = true,
	};
	char output[PATH_SIZE];
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	b.input = rest.argc == 1 ? rest.argv[0] : b.input;
	if (b.output == NULL) {
		int n = snprintf(output, sizeof(output), "%s.bundle", b.input);

		if (n < 0 || (size_t)n >= sizeof(output) || strcmp(b.input, "-") == 0) {
			return options_mistake(&command, "name the output with -o FILE");
		}
		b.output = output;
	}
	if (strcmp(b.output, "-") == 0 && isatty(STDOUT_FILENO) == 1) {
		return options_mistake(&command, "a bundle is not written to a terminal");
	}
	return run(&b);
}
