/* SPDX-License-Identifier: MIT */
/* sonde pt cover: code that the traces of a recording ran, and how often. */
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/pt_view.h"

#include <sonde/preview/ptview.h>

struct cover {
	struct recording from;
	bool json, lcov, lines;
	struct sonde_ptview_cover_options o;
};

static int write_cover(
        struct sonde_session *s, const void *options, sonde_write_fn write, void *arg)
{
	return sonde_ptview_cover_write(s, options, write, arg);
}

static int run(struct cover *c)
{
	c->o.size = sizeof(c->o);
	c->o.no_lines = !c->lines;
	c->o.format = c->lcov   ? SONDE_PTVIEW_COVER_LCOV
	              : c->json ? SONDE_PTVIEW_COVER_JSON
	                        : SONDE_PTVIEW_COVER_TEXT;
	return pt_view_run(&c->from, "count the code of", write_cover, &c->o);
}

int cmd_pt_cover(int argc, char **argv)
{
	struct cover c = {.from = RECORDING, .lines = true};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &c.from.input, "FILE", "the recording (perf.data)"),
	        OPTION_TEXT('d', "dsos", &c.o.objects, "LIST",
	                "only these objects, separated by commas"),
	        OPTION_SWITCH(0, "lines", &c.lines, "list source lines (default)"),
	        OPTION_SWITCH(0, "blocks", &c.o.blocks, "list blocks"),
	        OPTION_SWITCH('a', "all", &c.o.all,
	                "also functions and source files of which nothing ran"),
	        OPTION_SWITCH(0, "lcov", &c.lcov, "print a tracefile of lcov and genhtml"),
	        OPTION_SWITCH(0, "json", &c.json, "print JSON"),
	        RECORDING_SYMFS(&c.from.symfs),
	        OPTION_TEXT(
	                0, "kallsyms", &c.from.session.kallsyms, "FILE", "symbols of the kernel"),
	        OPTION_TEXT('k', "vmlinux", &c.from.session.vmlinux, "FILE",
	                "the kernel, for its symbols and lines"),
	        OPTION_SWITCH(0, "demangle", &c.from.demangle, "show C++ and Rust names (default)"),
	        OPTION_SWITCH('f', "force", &c.from.force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "pt cover",
	        .usage = "[options]",
	        .about = "Shows which code the Intel PT traces of a recording ran, and how often.",
	        .defs = defs,
	        .words = OPTION_NO_WORDS,
	};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (c.from.input == NULL) {
		return options_mistake(&command, "-i wants a file");
	}
	if (c.json && c.lcov) {
		return options_mistake(&command, "--json and --lcov exclude each other");
	}
	return run(&c);
}
