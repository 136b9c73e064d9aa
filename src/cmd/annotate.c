/* SPDX-License-Identifier: MIT */
/* sonde annotate: the instructions and source lines of functions, with their share of samples. */
#include "cmd/options.h"
#include "cmd/recording.h"

#include <sonde/preview/annotate.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_DAMAGED 1 /* part of the input could not be read */
#define EXIT_FAILED  255 /* nothing was printed */

struct annotate_command {
	struct recording from;
	struct sonde_annotate_options annotate;
	const char *percent_type, *percent_limit, *style, *vmlinux;
	bool source, raw, stdio, skip_missing, no_vmlinux;
	struct terminal_output out;
};

static int print(struct annotate_command *c, struct sonde_session *s)
{
	int rc, status;

	terminal_output_open(&c->out, true);
	rc = sonde_annotate_print(s, &c->annotate, terminal_output_write, &c->out);
	terminal_output_close(&c->out);
	terminal_progress_end(&c->from.progress);
	if (terminal_output_failed(&c->out, &status)) {
		return status;
	}
	if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n", sonde_session_error(s)->text);
		return EXIT_FAILED;
	}
	if (rc == 0 && c->annotate.symbol != NULL) {
		(void)fprintf(stderr,
		        "Error: no code of a function '%s' with samples was found in %s: 'sonde "
		        "report "
		        "-s sym' lists those with samples\n",
		        c->annotate.symbol, c->from.input);
		return EXIT_FAILED;
	}
	if (rc == 0) {
		(void)fprintf(stderr, "Warning: no samples in %s are in functions with code\n",
		        c->from.input);
	}
	return recording_damaged(&c->from, s) ? EXIT_DAMAGED : 0;
}

static int run(struct annotate_command *c)
{
	struct sonde_session *s = recording_open(&c->from);
	int rc = s != NULL ? print(c, s) : RECORDING_FAILED;

	sonde_session_free(s);
	return rc;
}

/* As perf: local or global, period or hits, in any order, joined by '-'. */
static int percent_type(const char *text, enum sonde_annotate_percent *out)
{
	static const struct {
		const char *words[2];
		enum sonde_annotate_percent kind;
	} kinds[] = {
	        {{"local-period", "period-local"}, SONDE_ANNOTATE_LOCAL_PERIOD},
	        {{"local-hits", "hits-local"}, SONDE_ANNOTATE_LOCAL_HITS},
	        {{"global-period", "period-global"}, SONDE_ANNOTATE_GLOBAL_PERIOD},
	        {{"global-hits", "hits-global"}, SONDE_ANNOTATE_GLOBAL_HITS},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(text, kinds[i].words[0]) == 0 || strcmp(text, kinds[i].words[1]) == 0) {
			*out = kinds[i].kind;
			return 0;
		}
	}
	return -1;
}

/* Converts options that are texts. */
static int settle(const struct option_command *command, struct annotate_command *c)
{
	char *end;

	if (c->percent_type != NULL && percent_type(c->percent_type, &c->annotate.percent) < 0) {
		return options_mistake(command,
		        "--percent-type is local-period, local-hits, global-period or global-hits, "
		        "not '%s'",
		        c->percent_type);
	}
	if (c->percent_limit != NULL) {
		c->annotate.min_percent = strtod(c->percent_limit, &end);
		if (end == c->percent_limit || *end != '\0' || !(c->annotate.min_percent >= 0)) {
			return options_mistake(
			        command, "--percent-limit '%s' is no percentage", c->percent_limit);
		}
	}
	if (c->style != NULL && strcmp(c->style, "intel") != 0 && strcmp(c->style, "att") != 0) {
		return options_mistake(command, "-M is intel or att, not '%s'", c->style);
	}
	c->annotate.intel = c->style != NULL && strcmp(c->style, "intel") == 0;
	c->annotate.no_source = !c->source;
	c->annotate.raw = c->raw;
	c->from.session.vmlinux = c->no_vmlinux ? NULL : c->vmlinux;
	return OPTIONS_RUN;
}

int cmd_annotate(int argc, char **argv);

int cmd_annotate(int argc, char **argv)
{
	struct annotate_command c = {.from = RECORDING,
	        .annotate = {.size = sizeof(c.annotate)},
	        .source = true,
	        .stdio = true,
	        .skip_missing = true};
	struct sonde_annotate_options *o = &c.annotate;
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &c.from.input, "FILE", "the recording (perf.data)"),
	        OPTION_TEXT('s', "symbol", &o->symbol, "NAME", "the function; also a word"),
	        OPTION_TEXT(
	                'd', "dsos", &o->filter.dsos, "LIST", "only functions of these objects"),
	        OPTION_TEXT(
	                'C', "cpu", &o->filter.cpus, "LIST", "only samples on these processors"),
	        OPTION_HEADING("Output"),
	        OPTION_SWITCH('l', "print-line", &o->print_line,
	                "print file and line of instructions, and a summary by line"),
	        OPTION_SWITCH('P', "full-paths", &o->full_paths, "print whole paths"),
	        OPTION_SWITCH(0, "source", &c.source, "print source lines (default)"),
	        OPTION_SWITCH(0, "asm-raw", &c.raw, "print the bytes of instructions"),
	        OPTION_TEXT('M', "disassembler-style", &c.style, "STYLE",
	                "syntax of instructions: att (default) or intel"),
	        OPTION_SWITCH('n', "show-nr-samples", &o->show_samples, "print numbers of samples"),
	        OPTION_SWITCH(0, "show-total-period", &o->show_period, "print sums of periods"),
	        OPTION_TEXT(0, "percent-type", &c.percent_type, "TYPE",
	                "local-period (default), local-hits, global-period or global-hits"),
	        OPTION_TEXT(0, "percent-limit", &c.percent_limit, "PERCENT",
	                "leave out functions with a smaller share of all samples"),
	        OPTION_SWITCH(0, "group", &o->group,
	                "print all events side by side (default: those of a group)"),
	        OPTION_SWITCH(0, "json", &o->json, "print JSON"),
	        OPTION_SWITCH(0, "stdio", &c.stdio, "print text, as always"),
	        OPTION_SWITCH(0, "skip-missing", &c.skip_missing,
	                "leave out functions without code, as always"),
	        OPTION_HEADING("Symbols"),
	        RECORDING_SYMFS(&c.from.symfs),
	        OPTION_TEXT('k', "vmlinux", &c.vmlinux, "FILE", "ELF file of the kernel"),
	        OPTION_SWITCH(0, "ignore-vmlinux", &c.no_vmlinux, "do not use the file of -k"),
	        OPTION_SWITCH(0, "demangle", &c.from.demangle, "show C++ and Rust names (default)"),
	        OPTION_SWITCH(0, "demangle-kernel", &c.from.session.demangle_kernel,
	                "also names of the kernel"),
	        OPTION_HEADING("Reading"),
	        RECORDING_ITRACE(&c.from),
	        OPTION_UINT('j', "jobs", &c.from.jobs, "N",
	                "worker threads (default: one for each processor)"),
	        OPTION_SWITCH('f', "force", &c.from.force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "annotate",
	        .usage = "[options] [FUNCTION]",
	        .about =
	                "Prints functions instruction by instruction, with the share of samples at "
	                "each and the source lines.",
	        .defs = defs,
	        .anywhere = true,
	};
	struct option_rest rest;
	int rc;

	c.from.session.itrace = c.from.itrace_bare = "ig";
	rc = options_parse(&command, argc, argv, &rest);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc > 1 || (rest.argc == 1 && o->symbol != NULL)) {
		return options_mistake(&command, "one function at a time");
	}
	if (rest.argc == 1) {
		o->symbol = rest.argv[0];
	}
	if (c.from.input == NULL) {
		return options_mistake(&command, "-i wants a file");
	}
	rc = settle(&command, &c);
	return rc == OPTIONS_RUN ? run(&c) : rc;
}
