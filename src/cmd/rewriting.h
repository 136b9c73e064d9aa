/* SPDX-License-Identifier: MIT */
/* Rewriting of a recording, with messages for the user: for convert, repair and inject. */
#ifndef SONDE_CMD_REWRITING_H
#define SONDE_CMD_REWRITING_H

#include "cmd/terminal.h"

#include <sonde/preview/edit.h>

/* What the user sees of a rewriting. Empty when zero-initialised. */
struct rewriting_messages {
	unsigned shown; /* diagnostics */
	struct terminal_progress progress;
};

/* A sonde_diag_fn; arg is a struct rewriting_messages. */
void rewriting_diag(void *arg, const struct sonde_diag *diag);

struct rewriting {
	const char *input, *output; /* "-": standard input, standard output */
	bool force; /* read files of other users too */
	bool count; /* print the number of written records */
	bool several; /* the editor adds other inputs */
	struct rewriting_messages *messages;
};

/*
 * Opens the input, adds the stages of the editor unless it is NULL, and writes the output. Sets the
 * members of *o that are for messages and files. Returns the exit status.
 */
int rewriting_run(
        const struct rewriting *r, struct sonde_rewriter_options *o, struct sonde_editor *editor);

#endif
