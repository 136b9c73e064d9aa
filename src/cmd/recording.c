/* SPDX-License-Identifier: MIT */
#include "cmd/recording.h"

#include <sonde/preview/script.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACE_LOG "intel_pt.log"

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

int recording_symfs(const struct option_def *def, const char *arg, bool unset)
{
	struct symfs_list *list = def->target;

	if (unset) {
		*list = (struct symfs_list){0};
		return 0;
	}
	if (list->n == ROOTS_MAX) {
		(void)fprintf(stderr, "Error: --symfs: more than %u directories\n", ROOTS_MAX);
		return -1;
	}
	list->v[list->n++] = arg;
	return 0;
}

void symfs_list_set(const struct symfs_list *list, struct sonde_session_options *o)
{
	o->symfs = list->v[0];
	o->more_symfs = list->n > 1 ? list->v + 1 : NULL;
}

int recording_debuginfod_urls(const char *urls)
{
	/* libdebuginfod reads the variable only; no thread runs yet. */
	if (urls != NULL && setenv("DEBUGINFOD_URLS", urls, 1) != 0) {
		(void)fprintf(stderr, "Error: --debuginfod: out of memory\n");
		return -1;
	}
	return 0;
}

int recording_debuginfod(const struct option_def *def, const char *arg, bool unset)
{
	struct recording *r = def->target;

	r->session.debuginfod = !unset;
	return recording_debuginfod_urls(unset ? NULL : arg);
}

void recording_download_print(const struct sonde_download *d)
{
	const char *what = d->debug_file ? "the debug file of " : "";

	if (d->failure != NULL) {
		(void)fprintf(stderr,
		        "Warning: debuginfod: cannot get %s%s: %s; no more files are asked for\n",
		        what, d->object, d->failure);
	} else if (isatty(STDERR_FILENO)) {
		(void)fprintf(stderr, "\rDownloading %s%s: %" PRIu64 " of %" PRIu64 " KiB\033[K%s",
		        what, d->object, d->done >> 10, d->total >> 10,
		        d->done < d->total ? "" : "\r\033[K");
	}
}

static void on_download(void *arg, const struct sonde_download *d)
{
	struct recording *r = arg;

	terminal_progress_end(&r->progress);
	recording_download_print(d);
}

static int write_log(void *arg, const char *text, size_t n)
{
	return fwrite(text, 1, n, arg) == n ? 0 : -1;
}

/* Writes the log of the decoder of traces, if --itrace asks for it. */
static void write_trace_log(struct sonde_session *s)
{
	enum sonde_trace_log kind = sonde_trace_log(s);
	FILE *f = kind == SONDE_TRACE_LOG_OUTPUT ? stdout : NULL;
	int rc;

	if (kind == SONDE_TRACE_LOG_NONE) {
		return;
	}
	if (kind == SONDE_TRACE_LOG_FILE) {
		f = fopen(TRACE_LOG, "w");
	}
	rc = f != NULL ? sonde_trace_log_write(s, write_log, f) : SONDE_EOUTPUT;
	if (f != NULL && (f != stdout ? fclose(f) : fflush(f)) != 0) {
		rc = SONDE_EOUTPUT;
	}
	if (rc < 0) {
		(void)fprintf(stderr, "Warning: cannot write the log of --itrace=d to %s: %s\n",
		        kind == SONDE_TRACE_LOG_FILE ? TRACE_LOG : "standard output",
		        rc == SONDE_EOUTPUT ? strerror(errno) : sonde_status_text(rc));
	}
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
	o->on_download = on_download;
	o->download_arg = r;
	caches_set(&r->caches, o);
	symfs_list_set(&r->symfs, o);
	s = sonde_session_new(o);
	rc = s != NULL ? sonde_session_open(s, r->input) : SONDE_ENOMEM;
	if (rc >= 0) {
		write_trace_log(s);
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
