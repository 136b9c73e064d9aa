/* SPDX-License-Identifier: MIT */
#include "cmd/inspect.h"

#include "cmd/caches.h"

static void on_diag(void *arg, const struct sonde_diag *diag)
{
	struct inspect *i = arg;

	terminal_progress_end(&i->progress);
	if (!i->no_notes || diag->kind != SONDE_DIAG_NOTE || diag->offset != UINT64_MAX) {
		terminal_diag_show(&i->shown, diag);
	}
}

bool inspect_begin(struct inspect *i, bool json, bool force, bool pager)
{
	struct sonde_inspector_options o = {.size = sizeof(o),
	        .json = json,
	        .check_owner = !force,
	        .on_diag = on_diag,
	        .diag_arg = i,
	        .temp_dir = temp_dir(),
	        .on_progress = terminal_progress_show,
	        .progress_arg = &i->progress};

	i->in = sonde_inspector_new(&o);
	terminal_output_open(&i->out, pager);
	return i->in != NULL;
}

int inspect_write(void *arg, const char *text, size_t n)
{
	struct inspect *i = arg;

	terminal_progress_yield(&i->progress, &i->out);
	return terminal_output_write(&i->out, text, n);
}

int inspect_end(struct inspect *i, int rc, const char *input)
{
	const char *why = i->in != NULL ? sonde_inspector_error(i->in)->text
	                                : sonde_status_text(SONDE_ENOMEM);

	terminal_progress_end(&i->progress);
	terminal_output_close(&i->out);
	rc = terminal_exit(&i->out, rc, input, why);
	sonde_inspector_free(i->in);
	return rc;
}
