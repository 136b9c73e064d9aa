/* SPDX-License-Identifier: MIT */
#include "inspect/of_file.h"

#include <stdio.h>

int inspect_misuse(const struct error *why, char *message, size_t message_size)
{
	if (message != NULL) {
		(void)snprintf(message, message_size, "%s", why->text);
	}
	return error_status(why);
}

int inspect_of_file(const struct inspect_of_file *job, sonde_write_fn write, void *arg)
{
	struct diag_sink diags = {.fn = job->on_diag, .arg = job->diag_arg};
	struct file f = {
	        .diags = &diags, .check_owner = job->check_owner, .temp_dir = job->temp_dir};
	struct text out = {0};
	int rc = file_open(&f, job->path);

	if (rc >= 0) {
		job->put(&out, &f, job->options);
		rc = out.failed ? SONDE_ENOMEM : status_of_output(write(arg, out.p, out.n));
		(void)error_plain(&f.error, rc);
	}
	if (rc < 0 && job->message != NULL) {
		(void)snprintf(job->message, job->message_size, "%s", f.error.text);
	}
	if (rc >= 0 && diags.counts[SONDE_DIAG_TRUNCATED] + diags.counts[SONDE_DIAG_DAMAGED] != 0) {
		rc = 1;
	}
	text_fini(&out);
	file_close(&f);
	return rc;
}
