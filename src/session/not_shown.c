/* SPDX-License-Identifier: MIT */
/* Finds contents of a recording that this version cannot show. */
#include "core/text.h"
#include "session/inside.h"

#define STACKS_LOOKED_AT 1000u /* samples */

typedef bool applies_fn(struct sonde_session *s, const struct session_event *e);

/* Whether one of the first samples has a copy of its stack: simpleperf unwinds and removes them. */
static bool has_stacks(struct sonde_session *s, uint32_t event)
{
	struct session_worker w;
	struct session_sample sample;
	unsigned looked = 0;
	bool found = false;

	session_worker_init(&w, s);
	for (size_t i = 0; i < session_chunks(s) && !found && looked < STACKS_LOOKED_AT; i++) {
		session_chunk_open(&w, i);
		while (!found && looked < STACKS_LOOKED_AT &&
		        session_worker_next(&w, &sample) > 0) {
			looked += sample.event == event;
			found = sample.event == event && sample.s.user_stack_len != 0;
		}
	}
	session_worker_fini(&w);
	return found;
}

/* Whether the copies of stacks of an event can be unwound: of 64-bit code, at least. */
static bool can_unwind(const struct sonde_session *s, const struct sonde_attr *attr)
{
	return frame_stack_copies(attr) && frame_can_unwind(&s->frames, attr->sample_regs_user);
}

/*
 * Whether the event records user stacks instead of the user part of call chains, but not what is
 * needed to unwind them.
 */
static bool has_user_stacks(struct sonde_session *s, const struct session_event *e)
{
	return (e->attr.sample_type & SONDE_SAMPLE_STACK_USER) != 0 && !can_unwind(s, &e->attr) &&
	       (e->attr.sample_type & SONDE_SAMPLE_CALLCHAIN) != 0 &&
	       (e->attr.flags >> SONDE_FLAG_EXCLUDE_CALLCHAIN_USER & 1) != 0 &&
	       has_stacks(s, (uint32_t)(e - s->events));
}

static const struct {
	unsigned kind; /* enum session_not_shown */
	applies_fn *applies;
	const char *words; /* text between the number of samples and the command that can show
	                      them */
} kinds_of_samples[] = {
        {SESSION_USER_STACKS, has_user_stacks,
                "samples have a copy of the user stack (--call-graph dwarf), but not the stack "
                "pointer and program counter of x86-64 or aarch64 code to unwind it: callers in "
                "user code are missing; to see them try"},
};

static uint64_t samples_with(struct sonde_session *s, applies_fn *applies)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nevents; i++) {
		const struct session_event *e = &s->events[i];

		if (e->count.samples != 0 && applies(s, e)) {
			n += e->count.samples;
		}
	}
	return n;
}

void session_report_not_shown(struct sonde_session *s, unsigned kinds, const char *instead)
{
	for (size_t i = 0; i < sizeof(kinds_of_samples) / sizeof(kinds_of_samples[0]); i++) {
		uint64_t n = (kinds & kinds_of_samples[i].kind) != 0
		                     ? samples_with(s, kinds_of_samples[i].applies)
		                     : 0;

		if (n != 0) {
			diag_report(&s->diags, SONDE_DIAG_NOT_SHOWN, NO_OFFSET, "%llu %s '%s'",
			        (unsigned long long)n, kinds_of_samples[i].words, instead);
		}
	}
	if ((kinds & SESSION_TRACES) != 0 && s->counts.records[RECORD_AUXTRACE] != 0 &&
	        s->aux != NULL && !aux_has_traces(s->aux)) {
		diag_report(&s->diags, SONDE_DIAG_NOT_SHOWN, NO_OFFSET,
		        "traces of this kind are not decoded into samples, which are missing: only "
		        "Intel PT is; to see them use '%s'",
		        instead);
	}
	if ((kinds & SESSION_STAT) != 0 && s->counts.records[RECORD_STAT] != 0) {
		diag_report(&s->diags, SONDE_DIAG_NOT_SHOWN, NO_OFFSET,
		        "counts of 'stat record' are no samples; to see them use 'sonde stat "
		        "report'");
	}
}

/* Texts for the ends of chains that are not complete, after their number. */
static const struct {
	enum unwind_end end;
	const char *words;
} ends_of_chains[] = {
        {UNWIND_END_STACK, "are longer than the copy of their stack ('record --call-graph "
                           "dwarf,SIZE' copies more)"},
        {UNWIND_END_TABLE, "end in code without call frame information, or whose file was not "
                           "found"},
        {UNWIND_END_UNMAPPED, "end where nothing is mapped"},
        {UNWIND_END_DAMAGED, "end in a frame that makes no sense"},
        {UNWIND_END_LIMIT, "have too many frames"},
        {UNWIND_END_MACHINE, "are of 32-bit code, whose stacks are not unwound"},
};

int session_report_unwound(struct sonde_session *s)
{
	uint64_t whole = frame_ends_count(&s->frames, UNWIND_END_OUTERMOST), all = whole;
	struct text text = {0};

	for (size_t i = 0; i < sizeof(ends_of_chains) / sizeof(ends_of_chains[0]); i++) {
		uint64_t n = frame_ends_count(&s->frames, ends_of_chains[i].end);

		all += n;
		if (n != 0) {
			text_printf(&text, "%s%llu %s", text.n != 0 ? ", " : "",
			        (unsigned long long)n, ends_of_chains[i].words);
		}
	}
	text_char(&text, '\0');
	if (text.failed) {
		text_fini(&text);
		return SONDE_ENOMEM;
	}
	if (all == whole && all != 0) {
		diag_report(&s->diags, SONDE_DIAG_NOTE, NO_OFFSET,
		        "all %llu unwound call chains are complete", (unsigned long long)all);
	} else if (all != 0) {
		diag_report(&s->diags, SONDE_DIAG_NOT_SHOWN, NO_OFFSET,
		        "%.1f%% of the unwound call chains are complete, %llu of %llu: %s",
		        100.0 * (double)whole / (double)all, (unsigned long long)whole,
		        (unsigned long long)all, text.p);
	}
	text_fini(&text);
	return 0;
}
