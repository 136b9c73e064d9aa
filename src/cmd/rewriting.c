/* SPDX-License-Identifier: MIT */
#include "cmd/rewriting.h"

#include "cmd/caches.h"

#include <stdio.h>
#include <string.h>

#define EXIT_FILE   255 /* the input is missing or cannot be used */
#define EXIT_OUTPUT 1 /* standard output cannot be written */

void rewriting_diag(void *arg, const struct sonde_diag *diag)
{
	struct rewriting_messages *m = arg;

	terminal_progress_end(&m->progress);
	terminal_diag_show(&m->shown, diag);
}

static int failed(struct sonde_rewriter *rw, int rc)
{
	(void)fprintf(stderr, "Error: %s\n",
	        rw != NULL ? sonde_rewriter_error(rw)->text : sonde_status_text(rc));
	sonde_rewriter_free(rw);
	return rc == SONDE_EOUTPUT ? EXIT_OUTPUT : EXIT_FILE;
}

int rewriting_run(
        const struct rewriting *r, struct sonde_rewriter_options *o, struct sonde_editor *editor)
{
	struct sonde_rewriter *rw;
	struct rewriting_messages *m = r->messages;
	int rc;

	o->size = sizeof(*o);
	o->check_owner = !r->force;
	o->temp_dir = temp_dir();
	o->on_diag = rewriting_diag;
	o->diag_arg = m;
	o->on_progress = terminal_progress_show;
	o->progress_arg = &m->progress;
	rw = sonde_rewriter_new(o);
	rc = rw != NULL ? sonde_rewriter_open(rw, r->input) : SONDE_ENOMEM;
	if (rc >= 0 && editor != NULL) {
		rc = sonde_editor_add(editor, rw);
	}
	if (rc >= 0) {
		rc = sonde_rewriter_write(rw, r->output);
	}
	terminal_progress_end(&m->progress);
	if (rc < 0) {
		return failed(rw, rc);
	}
	if (r->count && strcmp(r->output, "-") != 0) {
		(void)fprintf(stderr, "[ sonde: wrote %llu records to %s ]\n",
		        (unsigned long long)sonde_rewriter_written(rw), r->output);
	}
	if (rc > 0) {
		(void)fprintf(stderr,
		        "Warning: part of %s was not read (see above) and is not in the output\n",
		        r->several ? "the inputs" : r->input);
	}
	sonde_rewriter_free(rw);
	return rc > 0;
}
