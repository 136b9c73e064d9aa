/* SPDX-License-Identifier: MIT */
/* Finds what a recording holds that this version cannot show. */
#include "session/session.h"

static bool has_user_stacks(const struct sonde_attr *attr)
{
	return (attr->sample_type & SONDE_SAMPLE_STACK_USER) != 0 &&
	       (attr->sample_type & SONDE_SAMPLE_CALLCHAIN) != 0;
}

static bool has_trace_fields(const struct sonde_attr *attr)
{
	return attr->type == SONDE_TYPE_TRACEPOINT;
}

static const struct {
	unsigned kind; /* enum session_unshown */
	bool (*applies)(const struct sonde_attr *attr); /* NULL: AUXTRACE records do */
	const char *words; /* followed by the command that can show it */
} unshown[] = {
        {SESSION_USER_STACKS, has_user_stacks,
                "user call chains were recorded as copies of the stack (--call-graph dwarf), which "
                "this version cannot unwind: callers in user code are missing; to see them use"},
        {SESSION_TRACE_FIELDS, has_trace_fields,
                "this version cannot show the fields of tracepoints as text, only their names; to "
                "see them use"},
        {SESSION_TRACES, NULL,
                "this version does not decode traces (Intel PT and others) into samples, which are "
                "missing; to see them use"},
};

static bool has_kind(const struct sonde_session *s, size_t i)
{
	bool found = false;

	if (unshown[i].kind == SESSION_TRACES) {
		return s->counts.records[RECORD_AUXTRACE] != 0;
	}
	for (size_t e = 0; e < s->file.nevents; e++) {
		found = found || (s->event_counts[e].samples != 0 &&
		                         unshown[i].applies(&s->file.events[e].attr));
	}
	return found;
}

void session_report_unshown(struct sonde_session *s, unsigned kinds, const char *instead)
{
	for (size_t i = 0; i < sizeof(unshown) / sizeof(unshown[0]); i++) {
		if ((kinds & unshown[i].kind) != 0 && has_kind(s, i)) {
			diag_report(&s->diags, SONDE_DIAG_UNSHOWN, NO_OFFSET, "%s '%s'",
			        unshown[i].words, instead);
		}
	}
}
