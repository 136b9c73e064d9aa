/* SPDX-License-Identifier: MIT */
/* sonde pt diff: where two recordings with Intel PT traces ran different code. */
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/recording.h"

#include <sonde/preview/ptview.h>

#include <stdio.h>
#include <unistd.h>

#define EXIT_DAMAGED 1 /* part of the input could not be read */

struct diff {
	struct recording from[2];
	struct symfs_list symfs;
	const char *kallsyms;
	bool demangle, force, functions;
	struct sonde_ptview_diff_options o;
};

static int print(struct diff *c, struct sonde_session *a, struct sonde_session *b)
{
	struct terminal_output out = {.fd = STDOUT_FILENO};
	int rc = sonde_ptview_diff_write(a, b, &c->o, terminal_output_write, &out);
	const char *text = sonde_session_error(a)->text;
	bool damaged;

	terminal_progress_end(&c->from[0].progress);
	terminal_progress_end(&c->from[1].progress);
	if (out.error != 0) {
		return terminal_stdout_failed(out.error);
	}
	if (rc < 0) {
		(void)fprintf(stderr, "Error: cannot compare %s and %s: %s\n", c->from[0].input,
		        c->from[1].input, text[0] != '\0' ? text : sonde_session_error(b)->text);
		return RECORDING_FAILED;
	}
	damaged = recording_damaged(&c->from[0], a);
	damaged = recording_damaged(&c->from[1], b) || damaged;
	return damaged ? EXIT_DAMAGED : 0;
}

static int run(struct diff *c)
{
	struct sonde_session *s[2] = {NULL, NULL};
	int rc = RECORDING_FAILED;

	c->o.size = sizeof(c->o);
	c->o.no_functions = !c->functions;
	for (unsigned i = 0; i < 2; i++) {
		struct recording *r = &c->from[i];

		r->session.itrace = "be";
		r->symfs = c->symfs;
		r->session.kallsyms = c->kallsyms;
		r->demangle = c->demangle;
		r->force = c->force;
	}
	s[0] = recording_open(&c->from[0]);
	s[1] = s[0] != NULL ? recording_open(&c->from[1]) : NULL;
	if (s[1] != NULL) {
		rc = print(c, s[0], s[1]);
	}
	sonde_session_free(s[0]);
	sonde_session_free(s[1]);
	return rc;
}

int cmd_pt_diff(int argc, char **argv)
{
	struct diff c = {.from = {RECORDING, RECORDING}, .demangle = true, .functions = true};
	const struct option_def defs[] = {
	        OPTION_TEXT('d', "dsos", &c.o.objects, "LIST",
	                "only the flow of these objects, separated by commas"),
	        OPTION_SWITCH(0, "functions", &c.functions,
	                "list functions with different counts (default)"),
	        OPTION_SWITCH(0, "kernel", &c.o.kernel, "compare code of the kernel too"),
	        OPTION_SWITCH(0, "json", &c.o.json, "print JSON"),
	        RECORDING_SYMFS(&c.symfs),
	        OPTION_TEXT(0, "kallsyms", &c.kallsyms, "FILE", "symbols of the kernel"),
	        OPTION_SWITCH(0, "demangle", &c.demangle, "show C++ and Rust names (default)"),
	        OPTION_SWITCH('f', "force", &c.force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "pt diff",
	        .usage = "[options] A B",
	        .anywhere = true,
	        .about = "Shows where two recordings with Intel PT traces ran different code.",
	        .defs = defs,
	};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc != 2) {
		return options_mistake(&command, "name two recordings");
	}
	c.from[0].input = rest.argv[0];
	c.from[1].input = rest.argv[1];
	return run(&c);
}
