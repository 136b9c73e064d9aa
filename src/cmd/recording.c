/* SPDX-License-Identifier: MIT */
#include "cmd/recording.h"

#include <limits.h>
#include <stdio.h>

static void on_diag(void *arg, const struct sonde_diag *d)
{
	struct recording *r = arg;

	if (d->kind == SONDE_DIAG_NOTE && d->offset == UINT64_MAX && !r->notes) {
		return;
	}
	terminal_progress_end(&r->progress);
	terminal_diag_show(&r->shown, d);
}

int recording_itrace(const struct option_def *def, const char *arg, bool unset)
{
	struct recording *r = def->target;

	if (unset) {
		r->session.itrace = NULL;
	} else {
		r->session.itrace = arg != NULL ? arg : r->itrace_bare;
	}
	return 0;
}

struct sonde_session *recording_open(struct recording *r)
{
	struct sonde_session_options *o = &r->session;
	struct sonde_session *s;
	int rc;

	o->jobs = r->jobs < UINT_MAX ? (unsigned)r->jobs : UINT_MAX;
	o->on_diag = on_diag;
	o->diag_arg = r;
	o->no_demangle = !r->demangle;
	o->check_owner = !r->force;
	o->on_progress = terminal_progress_show;
	o->progress_arg = &r->progress;
	caches_set(&r->caches, o);
	s = sonde_session_new(o);
	rc = s != NULL ? sonde_session_open(s, r->input) : SONDE_ENOMEM;
	if (rc >= 0) {
		return s;
	}
	(void)fprintf(stderr, "Error: %s\n",
	        s != NULL ? sonde_session_error(s)->text : sonde_status_text(rc));
	sonde_session_free(s);
	return NULL;
}

bool recording_damaged(const struct recording *r, const struct sonde_session *s)
{
	if (sonde_session_diags(s, SONDE_DIAG_TRUNCATED) == 0 &&
	        sonde_session_diags(s, SONDE_DIAG_DAMAGED) == 0) {
		return false;
	}
	(void)fprintf(stderr,
	        "Warning: part of %s was not read (see above); what is shown is not all\n",
	        r->input);
	return true;
}
