/* SPDX-License-Identifier: MIT */
#include "cmd/pt_view.h"

#include <stdio.h>
#include <unistd.h>

#define EXIT_DAMAGED 1 /* part of the input could not be read */

static int print(struct recording *from, struct sonde_session *s, const char *failure,
        pt_view_write *write, const void *options)
{
	struct terminal_output out = {.fd = STDOUT_FILENO};
	int rc = write(s, options, terminal_output_write, &out);

	terminal_progress_end(&from->progress);
	if (out.error != 0) {
		return terminal_stdout_failed(out.error);
	}
	if (rc < 0) {
		(void)fprintf(stderr, "Error: cannot %s %s: %s\n", failure, from->input,
		        sonde_session_error(s)->text);
		return RECORDING_FAILED;
	}
	if (rc == 0) {
		(void)fprintf(stderr, "Warning: no branches in the traces of %s\n", from->input);
	}
	return recording_damaged(from, s) ? EXIT_DAMAGED : 0;
}

int pt_view_run(
        struct recording *from, const char *failure, pt_view_write *write, const void *options)
{
	struct sonde_session *s;
	int rc;

	from->session.itrace = "be";
	s = recording_open(from);
	rc = s != NULL ? print(from, s, failure, write, options) : RECORDING_FAILED;
	sonde_session_free(s);
	return rc;
}
