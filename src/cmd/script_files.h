/* SPDX-License-Identifier: MIT */
/* A file for the lines of each event: `sonde script --per-event-dump`. */
#ifndef SONDE_CMD_SCRIPT_FILES_H
#define SONDE_CMD_SCRIPT_FILES_H

#include "cmd/terminal.h"

#include <sonde/session.h>

struct script_file;

struct script_files {
	struct script_file *files; /* by event */
	size_t n;
};

/*
 * Creates INPUT.EVENT.dump for each event of the session; events of the same name share a file.
 * False after printing an error; call script_files_close in any case.
 */
bool script_files_open(
        struct script_files *f, const struct sonde_session *session, const char *input);
/* Returns -1 after printing an error. */
int script_files_write(
        struct script_files *f, size_t event, const char *text, size_t n, uint64_t samples);
/* Prints the name and size of each file to `out`. */
void script_files_print(const struct script_files *f, struct terminal_output *out);
void script_files_close(struct script_files *f);

#endif
