/* SPDX-License-Identifier: MIT */
/* Output of commands on a terminal: pager, colour, progress. */
#ifndef SONDE_CMD_TERMINAL_H
#define SONDE_CMD_TERMINAL_H

#include <sonde/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whether to colour standard output, by "auto", "always" or "never" (NULL: auto): 1, 0; -1: another
 * word.
 */
int terminal_color(const char *when);

/*
 * Standard output; on a terminal through a pager, the first of: $SONDE_PAGER, $PERF_PAGER, $PAGER,
 * /usr/bin/pager, less; "cat" or "": no pager. LESS=FRSX is set for less unless LESS is set.
 */
struct terminal_output {
	int fd;
	pid_t pager; /* or another command that reads the text; 0: none */
	int error; /* errno of the failed write; 0: none */
};

void terminal_output_open(struct terminal_output *out, bool pager);
/* Opens standard output through a command of the shell; false with errno: straight. */
bool terminal_output_through(struct terminal_output *out, const char *command);
/* A sonde_write_fn; arg is the struct terminal_output. Returns -1 after an error. */
int terminal_output_write(void *arg, const char *text, size_t n);
void terminal_output_close(struct terminal_output *out);
/*
 * Whether a write failed. Then *status is the exit status: 0 if the reader closed the pipe, which
 * is no error; else 1, after printing the error.
 */
bool terminal_output_failed(const struct terminal_output *out, int *status);

/*
 * Sends standard output through the pager if it is a terminal: for `sonde --paginate`. Close with
 * terminal_output_close.
 */
void terminal_paginate(struct terminal_output *out);

/* Prints that standard output cannot be written, with the text of `error`; the exit status: 0 for
 * EPIPE, else 1. */
int terminal_stdout_failed(int error);

/* Flushes standard output. Returns status, or 1 if that fails. */
int terminal_stdout_finish(int status);

/*
 * Returns the exit status of a command that printed the recording `input`, after printing errors.
 * rc: result of the library's printing function; message: its text about a failure.
 */
int terminal_exit(
        const struct terminal_output *out, int rc, const char *input, const char *message);

/*
 * Prints a diagnostic with its offset, as "Warning: ", or as "Note: " if nothing is missing from
 * the output. *shown counts diagnostics, from 0: only the first ones are printed.
 */
void terminal_diag_show(unsigned *shown, const struct sonde_diag *diag);

/*
 * A progress bar on standard error, with the time left of the current step, if standard error is a
 * terminal and work takes over half a second.
 */
struct terminal_progress {
	uint64_t started, step; /* ns: the first call, the first one of the step; 0: none yet */
	uint64_t printed; /* ns: when the bar was printed last; 0: there is none */
	unsigned percent; /* in the bar */
	bool over; /* nothing more is shown */
	const uint64_t *count; /* things that were done, whose rate is shown; NULL: none */
	const char *unit; /* what they are called */
};

/* For on_progress of the library's options; arg is the struct terminal_progress. */
void terminal_progress_show(void *arg, uint64_t done, uint64_t total);
/* Removes the bar, which may come again. */
void terminal_progress_end(struct terminal_progress *p);
/* Removes the bar before text goes to the terminal or its pager; it does not come again. */
void terminal_progress_yield(struct terminal_progress *p, const struct terminal_output *out);

#endif
