/* SPDX-License-Identifier: MIT */
/* sonde pt calls: calls of a recording with Intel PT traces, and times by function. */
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/pt_view.h"

#include <sonde/preview/ptview.h>

#include <stdlib.h>
#include <string.h>

struct calls {
	struct recording from;
	const char *between;
	char *names; /* a copy of `between`, cut in two */
	uint64_t outliers;
	bool json, tree;
	struct sonde_ptview_calls_options o;
};

/* Cuts "A,B" at the first comma that is not inside brackets, as of C++ templates. */
static bool cut_names(struct calls *c)
{
	int open = 0;

	c->names = strdup(c->between);
	for (char *p = c->names; p != NULL && *p != '\0'; p++) {
		open += *p == '<' || *p == '(';
		open -= *p == '>' || *p == ')';
		if (*p == ',' && open == 0) {
			*p = '\0';
			c->o.from = c->names;
			c->o.to = p + 1;
			return *c->o.from != '\0' && *c->o.to != '\0';
		}
	}
	return false;
}

static int write_calls(
        struct sonde_session *s, const void *options, sonde_write_fn write, void *arg)
{
	return sonde_ptview_calls_write(s, options, write, arg);
}

static int run(struct calls *c)
{
	c->o.size = sizeof(c->o);
	c->o.json = c->json;
	c->o.no_tree = !c->tree;
	c->o.outliers = c->outliers < UINT32_MAX ? (uint32_t)c->outliers : UINT32_MAX;
	return pt_view_run(&c->from, "follow calls of", write_calls, &c->o);
}

int cmd_pt_calls(int argc, char **argv)
{
	struct calls c = {.from = RECORDING, .outliers = 10, .tree = true};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &c.from.input, "FILE", "the recording (perf.data)"),
	        OPTION_TEXT(0, "between", &c.between, "A,B",
	                "times from each entry of function A to the next one of B"),
	        OPTION_UINT(0, "outliers", &c.outliers, "N", "print at most N outliers (10)"),
	        OPTION_SWITCH(0, "tree", &c.tree, "print the tree of calls (default)"),
	        OPTION_SWITCH(0, "json", &c.json, "print JSON"),
	        RECORDING_SYMFS(&c.from.symfs),
	        OPTION_TEXT(
	                0, "kallsyms", &c.from.session.kallsyms, "FILE", "symbols of the kernel"),
	        OPTION_SWITCH(0, "demangle", &c.from.demangle, "show C++ and Rust names (default)"),
	        OPTION_SWITCH('f', "force", &c.from.force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "pt calls",
	        .usage = "[options]",
	        .about = "Prints the calls of a recording with Intel PT traces, with their times.",
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
	if (c.between != NULL && !cut_names(&c)) {
		free(c.names);
		return options_mistake(&command, "--between wants two functions: A,B");
	}
	rc = run(&c);
	free(c.names);
	return rc;
}
