/* SPDX-License-Identifier: MIT */
/*
 * Prints a recording to standard output, for commands with one function of sonde/preview/inspect.h:
 *
 *	if (inspect_begin(&i, json, force, pager)) {
 *		rc = sonde_inspector_...(i.in, input, &o, terminal_output_write, &i.out);
 *	}
 *	return inspect_end(&i, rc, input);
 */
#ifndef SONDE_CMD_INSPECT_H
#define SONDE_CMD_INSPECT_H

#include "cmd/terminal.h"

#include <sonde/preview/inspect.h>

struct inspect {
	struct sonde_inspector *in;
	struct terminal_output out;
	unsigned shown; /* diagnostics */
	struct terminal_progress progress;
	bool no_notes; /* do not show notes about the whole file, which have no consequences */
};

/* *i is zero-initialised. Opens standard output; force: accepts files of other users. False: out of memory. */
bool inspect_begin(struct inspect *i, bool json, bool force, bool pager);

/* A sonde_write_fn for functions that report their progress; arg is the struct inspect. */
int inspect_write(void *arg, const char *text, size_t n);

/* Prints the error of a negative rc, frees the handle, and returns the exit status. */
int inspect_end(struct inspect *i, int rc, const char *input);

#endif
