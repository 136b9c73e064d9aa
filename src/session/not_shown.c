/* SPDX-License-Identifier: MIT */
/* Finds what a recording holds that this version cannot show. */
#include "session/session.h"

static bool has_user_stacks(const struct sonde_attr *attr)
{
	return (attr->sample_type & SONDE_SAMPLE_STACK_USER) != 0 &&
	       (attr->sample_type & SONDE_SAMPLE_CALLCHAIN) != 0;
}

static bool has_branches(const struct sonde_attr *attr)
{
	return (attr->sample_type & SONDE_SAMPLE_BRANCH_STACK) != 0;
}

static bool has_trace_fields(const struct sonde_attr *attr)
{
	return attr->type == SONDE_TYPE_TRACEPOINT;
}

static const struct {
	unsigned kind; /* of enum session_not_shown */
	bool (*applies)(const struct sonde_attr *attr);
	const char *words; /* between the number of samples and the command that can show it */
} kinds_of_samples[] = {
        {SESSION_USER_STACKS, has_user_stacks,
                "samples have a copy of the user stack (--call-graph dwarf), which is not unwound "
                "yet: callers in user code are missing; 'sonde record -g' records the callers of "
                "programs with frame pointers; to see those of this recording use"},
        {SESSION_BRANCHES, has_branches,
                "samples have a branch stack (-b or -j), which is not shown yet: rows are of "
                "samples, not of branches; 'sonde dump' lists the branches; to see rows of "
                "branches use"},
        {SESSION_TRACE_FIELDS, has_trace_fields,
                "samples are of tracepoints, whose fields are not shown as text yet; to see them "
                "use"},
};

static uint64_t samples_with(
        const struct sonde_session *s, bool (*applies)(const struct sonde_attr *attr))
{
	uint64_t n = 0;

	for (size_t e = 0; e < s->file.nevents; e++) {
		n += applies(&s->file.events[e].attr) ? s->event_counts[e].samples : 0;
	}
	return n;
}

void session_report_not_shown(struct sonde_session *s, unsigned kinds, const char *instead)
{
	for (size_t i = 0; i < sizeof(kinds_of_samples) / sizeof(kinds_of_samples[0]); i++) {
		uint64_t n = samples_with(s, kinds_of_samples[i].applies);

		if ((kinds & kinds_of_samples[i].kind) != 0 && n != 0) {
			diag_report(&s->diags, SONDE_DIAG_NOT_SHOWN, NO_OFFSET, "%llu %s '%s'",
			        (unsigned long long)n, kinds_of_samples[i].words, instead);
		}
	}
	if ((kinds & SESSION_TRACES) != 0 && s->counts.records[RECORD_AUXTRACE] != 0) {
		diag_report(&s->diags, SONDE_DIAG_NOT_SHOWN, NO_OFFSET,
		        "traces (Intel PT and others) are not decoded into samples yet, which are "
		        "missing; to see them use '%s'",
		        instead);
	}
}
