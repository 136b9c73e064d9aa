/* SPDX-License-Identifier: MIT */
/* What commands do on a terminal: pager, colour, progress. */
#ifndef SONDE_CMD_TERMINAL_H
#define SONDE_CMD_TERMINAL_H

#include <sonde/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* "auto", "always", "never" (NULL: auto): whether to colour standard output; -1: none of these
 * words. */
int terminal_color(const char *when);

/*
 * Standard output, or a pager when it is a terminal: $SONDE_PAGER, $PERF_PAGER, $PAGER,
 * /usr/bin/pager, less; "cat" or nothing: none. less gets LESS=FRSX unless LESS is set.
 */
struct terminal_output {
	int fd;
	pid_t pager; /* 0: none */
	int error; /* errno of the write that failed; 0: none did */
};

void terminal_output_open(struct terminal_output *out, bool pager);
/* The library's output function: arg is the struct terminal_output. -1 after an error. */
int terminal_output_write(void *arg, const char *text, size_t n);
void terminal_output_close(struct terminal_output *out);
/*
 * Whether a write failed. Then *status is the exit status: 0 where the reader went away, which is no
 * error, or else 1, after printing why.
 */
bool terminal_output_failed(const struct terminal_output *out, int *status);

/* Prints that standard output takes no more, by errno. Returns the exit status: 0 for EPIPE, or 1. */
int terminal_stdout_failed(int error);

/* Writes what stdio still holds of standard output; status, or 1 when that fails. */
int terminal_stdout_finish(int status);

/*
 * The exit status of a command that printed the recording `input`, and the words that go with it:
 * rc as the library's printing functions return it, message their words about a failure.
 */
int terminal_exit(
        const struct terminal_output *out, int rc, const char *input, const char *message);

/*
 * Prints a diagnostic as "Warning: " or, where nothing is missing, "Note: ", with its place. *shown
 * counts them (begin with 0): a file that is damaged in many places does not flood the terminal.
 */
void terminal_diag_show(unsigned *shown, const struct sonde_diag *diag);

/* A progress bar on standard error, when that is a terminal and work takes over half a second. */
struct terminal_progress {
	const char *what;
	uint64_t started; /* ns; 0: not yet */
	unsigned shown; /* percent + 1; 0: nothing is on the screen */
};

/* For sonde_session_options.on_progress; arg is the struct terminal_progress. */
void terminal_progress_show(void *arg, uint64_t done, uint64_t total);
void terminal_progress_end(struct terminal_progress *p);

#endif
