/* SPDX-License-Identifier: MIT */
/* Recordings with Intel PT: call chains and branches of their own samples, calls, cover, diff. */
#include "cases.h"

#include <sonde/preview/ptview.h>
#include <sonde/preview/script.h>
#include <sonde/session.h>

typedef int (*traced_fn)(struct outcome *out, struct sonde_session *s, const struct input *in);

static int open_traced(const struct input *in, const char *letters, struct sonde_session **s)
{
	const struct sonde_session_options o = {.size = sizeof(o),
	        .jobs = 1,
	        .symfs = in->symfs,
	        .kallsyms = in->kallsyms,
	        .itrace = letters};

	*s = sonde_session_new(&o);
	return *s != NULL ? sonde_session_open(*s, in->traced) : SONDE_ENOMEM;
}

static int in_traced(struct outcome *out, const struct input *in, const char *letters, traced_fn fn)
{
	struct sonde_session *s;
	int rc = open_traced(in, letters, &s);

	rc = rc >= 0 ? fn(out, s, in) : rc;
	if (s != NULL) {
		outcome_error(out, rc, sonde_session_error(s));
	}
	sonde_session_free(s);
	return rc;
}

static int script(struct outcome *out, struct sonde_session *s, const struct input *in)
{
	static const char *const fields[] = {"comm,tid,time,event,ip,sym,brstack"};
	const struct sonde_script_options o = {.size = sizeof(o), .fields = fields, .nfields = 1};

	(void)in;
	return sonde_script_print(s, &o, outcome_add, out);
}

static int case_own_samples(struct outcome *out, const struct input *in)
{
	return in_traced(out, in, "GL", script);
}

static int case_by_time(struct outcome *out, const struct input *in)
{
	return in_traced(out, in, "i1usgle", script);
}

static int calls(struct outcome *out, struct sonde_session *s, const struct input *in)
{
	const struct sonde_ptview_calls_options o = {.size = sizeof(o)};

	(void)in;
	return sonde_ptview_calls_write(s, &o, outcome_add, out);
}

static int case_calls(struct outcome *out, const struct input *in)
{
	return in_traced(out, in, "be", calls);
}

static int cover(struct outcome *out, struct sonde_session *s, const struct input *in)
{
	const struct sonde_ptview_cover_options o = {
	        .size = sizeof(o), .blocks = true, .all = true};

	(void)in;
	return sonde_ptview_cover_write(s, &o, outcome_add, out);
}

static int case_cover(struct outcome *out, const struct input *in)
{
	return in_traced(out, in, "be", cover);
}

/* The text of a failure is in the handle of the recording that could not be opened. */
static int diff(struct outcome *out, struct sonde_session *a, const struct input *in)
{
	const struct sonde_ptview_diff_options o = {.size = sizeof(o)};
	struct sonde_session *b;
	int rc = open_traced(in, "be", &b);

	out->status_only = true;
	rc = rc >= 0 ? sonde_ptview_diff_write(a, b, &o, outcome_add, out) : rc;
	sonde_session_free(b);
	return rc;
}

static int case_diff(struct outcome *out, const struct input *in)
{
	return in_traced(out, in, "be", diff);
}

const struct alloc_case traces_cases[] = {
        {"script with chains and branches of the recording's samples", case_own_samples, false},
        {"script of instructions by time with chains and branches", case_by_time, false},
        {"pt calls", case_calls, false},
        {"pt cover", case_cover, false},
        {"pt diff", case_diff, false},
        {NULL, NULL, false},
};
