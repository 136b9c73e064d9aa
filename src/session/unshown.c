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
	bool (*applies)(const struct sonde_attr *attr);
	const char *words; /* followed by the command that can show it */
} unshown[] = {
        {SESSION_USER_STACKS, has_user_stacks,
                "user call chains were recorded as copies of the stack (--call-graph dwarf), which "
                "this version cannot unwind: callers in user code are missing; to see them use"},
        {SESSION_TRACE_FIELDS, has_trace_fields,
                "this version cannot show the fields of tracepoints as text, only their names; to "
                "see them use"},
};

void session_report_unshown(struct sonde_session *s, unsigned kinds, const char *instead)
{
	for (size_t i = 0; i < sizeof(unshown) / sizeof(unshown[0]); i++) {
		bool found = false;

		for (size_t e = 0; e < s->file.nevents && (kinds & unshown[i].kind) != 0; e++) {
			found = found || (s->event_counts[e].samples != 0 &&
			                         unshown[i].applies(&s->file.events[e].attr));
		}
		if (found) {
			diag_report(&s->diags, SONDE_DIAG_UNSHOWN, NO_OFFSET, "%s '%s'",
			        unshown[i].words, instead);
		}
	}
}
