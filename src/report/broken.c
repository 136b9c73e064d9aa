/* SPDX-License-Identifier: MIT */
/*
 * A last line of a report with call chains by frame pointers: how many of them are broken, because
 * programs keep no frame pointers. Such a chain has no caller in user space, or its outermost
 * address is in no mapping; a whole one ends in the first function of its thread.
 */
#include "report/report.h"

#include <inttypes.h>

#define CHAINS_LEAST   20u /* fewer prove nothing */
#define BROKEN_PERCENT 25u

/* Whether chains of user space come from frame pointers only. */
static bool by_frame_pointers(const struct report *r)
{
	const struct session_event *events = session_events(r->session);
	size_t n = sonde_session_events(r->session);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct sonde_attr *attr = &events[i].attr;

		if (events[i].made || frame_stack_copies(attr) || frame_call_stacks(attr)) {
			return false;
		}
		any |= (attr->sample_type & SONDE_SAMPLE_CALLCHAIN) != 0 &&
		       !sonde_attr_has(attr, SONDE_FLAG_EXCLUDE_CALLCHAIN_USER);
	}
	return any;
}

static bool is_user(const struct report *r, uint32_t frame)
{
	const struct profile_frame *f = &r->profile.counts.frames[frame];
	enum timeline_object_kind kind;

	if (f->object == PROFILE_NONE) {
		return f->ip >> 63 == 0;
	}
	kind = timeline_object(session_timeline(r->session), f->object)->kind;
	return kind != TIMELINE_KERNEL && kind != TIMELINE_MODULE && kind != TIMELINE_CODE;
}

/*
 * Sets *user: the chain has frames of user space. True: it is broken. Reads the words from the
 * outermost one, which is the last, until a second frame of user space decides.
 */
static bool is_broken(const struct report *r, const struct profile_chain *c, bool *user)
{
	const uint32_t *words;
	uint32_t frames = 0;

	*user = false;
	if (c->n == 0 || c->n >= r->profile.options.max_stack) {
		return false;
	}
	words = r->profile.counts.words + c->first;
	for (uint32_t i = c->n; i-- > 0 && frames < 2;) {
		frames += is_user(r, words[i]);
	}
	*user = frames != 0;
	return frames == 1 ||
	       (frames != 0 && r->profile.counts.frames[words[c->n - 1]].object == PROFILE_NONE);
}

void report_broken_count(struct report *r)
{
	const struct profile_counts *counts = &r->profile.counts;

	r->tips.user = r->tips.broken = 0;
	if (!r->profile.options.graph || r->profile.options.history || !by_frame_pointers(r)) {
		return;
	}
	for (size_t i = 0; i < counts->nchains; i++) {
		const struct profile_chain *c = &counts->chains[i];
		bool user;

		if (c->hidden) {
			continue;
		}
		r->tips.broken += is_broken(r, c, &user) ? c->samples : 0;
		r->tips.user += user ? c->samples : 0;
	}
}

bool report_broken_chains(struct report *r)
{
	uint64_t all = r->tips.user, broken = r->tips.broken;

	if (all < CHAINS_LEAST || broken * 100 < all * BROKEN_PERCENT) {
		return false;
	}
	text_printf(&r->text,
	        "# (Tip: the callers are missing in %" PRIu64 " of %" PRIu64
	        " samples of user code: programs without frame pointers; 'sonde record "
	        "--call-graph "
	        "unwind' records whole chains)\n",
	        broken, all);
	return true;
}
