/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/rewriting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LEVEL_MAX    22 /* of zstd */
#define NEEDS_OUTPUT "-o FILE is required; '-' is standard output"
#define LEVEL_PERF   1 /* -z without a number, as in record */

struct convert {
	const char *input, *output, *to, *endian;
	bool plain, force;
	int level; /* -1: as in the input */
	struct sonde_filter keep;
	const char *events, *redact;
	uint64_t one_in;
	bool merge;
	const char *const *others; /* recordings to merge into the first one */
	size_t nothers;
};

static int on_level(const struct option_def *def, const char *arg, bool unset)
{
	struct convert *c = def->target;
	char *end = NULL;
	long level = arg != NULL ? strtol(arg, &end, 10) : LEVEL_PERF;

	if (unset) {
		c->level = 0;
		return 0;
	}
	if (arg != NULL && (*arg == '\0' || *end != '\0' || level < 1 || level > LEVEL_MAX)) {
		(void)fprintf(
		        stderr, "Error: -z takes a level from 1 to %d, not '%s'\n", LEVEL_MAX, arg);
		return -1;
	}
	c->level = (int)level;
	return 0;
}

static int on_redact(const struct option_def *def, const char *arg, bool unset)
{
	struct convert *c = def->target;

	c->redact = unset ? NULL : arg != NULL ? arg : "";
	return 0;
}

/* Returns the index of a word in a list of n words; -1: not found. */
static int word_of(const char *word, const char *const *words, int n)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(word, words[i]) == 0) {
			return i;
		}
	}
	return -1;
}

static bool is_set(const struct sonde_filter *f)
{
	return f->time != NULL || f->pids != NULL || f->comms != NULL || f->cpus != NULL;
}

static int run(const struct convert *c, struct sonde_rewriter_options *o)
{
	struct rewriting_messages messages = {0};
	struct caches caches;
	struct sonde_session_options session = {.size = sizeof(session)};
	const struct sonde_editor_options eo = {.size = sizeof(eo),
	        .session = &session,
	        .keep = is_set(&c->keep) ? &c->keep : NULL,
	        .keep_events = c->events,
	        .one_in = c->one_in,
	        .redact = c->redact,
	        .merge = c->others,
	        .nmerge = c->nothers};
	const struct rewriting r = {.input = c->input,
	        .output = c->output,
	        .force = c->force,
	        .count = true,
	        .several = c->nothers != 0,
	        .messages = &messages};
	struct sonde_editor *editor = sonde_editor_new(&eo);
	int rc;

	caches_set(&caches, &session);
	if (editor == NULL) {
		(void)fprintf(stderr, "Error: %s\n", sonde_status_text(SONDE_ENOMEM));
		return 1;
	}
	rc = rewriting_run(&r, o, editor);
	sonde_editor_free(editor);
	return rc;
}

int cmd_repair(int argc, char **argv)
{
	struct convert c = {.input = "perf.data", .level = -1};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &c.input, "FILE", "input file; perf.data when not given"),
	        OPTION_TEXT('o', "output", &c.output, "FILE", "output file; '-': standard output"),
	        OPTION_SWITCH('f', "force", &c.force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "repair",
	        .usage = "[options] -o FILE [input]",
	        .about = "Writes the undamaged parts of a recording as a valid recording.",
	        .defs = defs,
	        .words = OPTION_ONE_WORD,
	        .anywhere = true,
	};
	struct sonde_rewriter_options o = {.whole = true};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (c.output == NULL) {
		return options_mistake(&command, NEEDS_OUTPUT);
	}
	c.input = rest.argc == 1 ? rest.argv[0] : c.input;
	return run(&c, &o);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino && !S_ISCHR(x.st_mode);
}

static bool is_changed(const struct convert *c)
{
	return is_set(&c->keep) || c->events != NULL || c->redact != NULL || c->one_in > 1;
}

/* Takes the words besides options: one input, or with --merge several. */
static int inputs_choose(
        struct convert *c, const struct option_command *command, const struct option_rest *rest)
{
	if (!c->merge) {
		c->input = rest->argc > 0 ? rest->argv[0] : c->input;
		return rest->argc > 1 ? options_mistake(command,
		                                "one input is converted; '--merge' takes several")
		                      : OPTIONS_RUN;
	}
	if (rest->argc < 2) {
		return options_mistake(command, "--merge takes two recordings or more");
	}
	if (is_changed(c)) {
		return options_mistake(command,
		        "--merge does not go together with options that choose samples or change "
		        "names: give these for the merged recording");
	}
	c->input = rest->argv[0];
	c->others = (const char *const *)rest->argv + 1;
	c->nothers = (size_t)rest->argc - 1;
	for (size_t i = 0; i < c->nothers; i++) {
		if (is_same_file(c->output, c->others[i])) {
			return options_mistake(command,
			        "%s is one of the inputs; give another name for the output",
			        c->output);
		}
	}
	return OPTIONS_RUN;
}

static const char *const containers[] = {"", "file", "pipe", "directory"};
static const char *const orders[] = {"", "little", "big"};

int cmd_convert(int argc, char **argv)
{
	struct convert c = {.input = "perf.data", .level = -1};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &c.input, "FILE", "input file; perf.data when not given"),
	        OPTION_TEXT('o', "output", &c.output, "FILE", "output file; '-': standard output"),
	        OPTION_WORD(0, "to", &c.to, "KIND", "file pipe directory",
	                "file, pipe or directory (default: as the input; with -o -: pipe)"),
	        OPTION_WORD(0, "endian", &c.endian, "ORDER", "little big",
	                "little or big (default: as the input)"),
	        OPTION_CALL('z', "compress", OPTION_OPTIONAL, on_level, &c, "LEVEL",
	                "compress with zstd, level 1 (fast, the default) to 22"),
	        OPTION_SWITCH(0, "plain", &c.plain, "do not compress"),
	        OPTION_TEXT(0, "cut", &c.keep.time, "SPAN",
	                "keep samples of this time: START,END in seconds, 10%-20%, 10%/2"),
	        OPTION_TEXT(0, "pid", &c.keep.pids, "PIDS", "keep samples of these processes"),
	        OPTION_TEXT(0, "comm", &c.keep.comms, "NAMES",
	                "keep samples of threads of these names"),
	        OPTION_TEXT(0, "cpu", &c.keep.cpus, "LIST", "keep samples on these processors"),
	        OPTION_TEXT(0, "event", &c.events, "NAMES", "keep samples of these events"),
	        OPTION_UINT(0, "sample", &c.one_in, "N",
	                "keep one in N samples, at random, and multiply their periods by N"),
	        OPTION_SWITCH(0, "merge", &c.merge,
	                "write the given recordings as one; the others get the first one's clock"),
	        OPTION_CALL(0, "redact", OPTION_OPTIONAL, on_redact, &c, "KEY",
	                "replace names of threads, files and the host by hashes"),
	        OPTION_SWITCH('f', "force", &c.force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "convert",
	        .usage = "[options] -o FILE [input] | --merge -o FILE input...",
	        .about = "Writes a recording in another form, a part of it, or several as one.",
	        .defs = defs,
	        .anywhere = true,
	};
	struct sonde_rewriter_options o = {0};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest), container, order;

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (c.output == NULL) {
		return options_mistake(&command, NEEDS_OUTPUT);
	}
	container = word_of(c.to != NULL ? c.to : "", containers, 4);
	order = word_of(c.endian != NULL ? c.endian : "", orders, 3);
	if (container < 0 || order < 0) {
		return options_mistake(&command,
		        container < 0 ? "--to takes file, pipe or directory, not '%s'"
		                      : "--endian takes little or big, not '%s'",
		        container < 0 ? c.to : c.endian);
	}
	if (c.plain && c.level > 0) {
		return options_mistake(&command, "--plain and -z do not go together");
	}
	rc = inputs_choose(&c, &command, &rest);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	o.container = (enum sonde_container)container;
	o.order = (enum sonde_byte_order)order;
	o.compress = c.plain || c.level == 0 ? SONDE_REWRITE_PLAIN : c.level < 0 ? 0 : c.level;
	return run(&c, &o);
}
