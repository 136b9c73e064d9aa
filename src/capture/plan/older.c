/* SPDX-License-Identifier: MIT */
/*
 * What a kernel, or a PMU, refuses is removed from a plan, from all events alike. Nothing says in
 * advance what it refuses: opening an event does, see doc/decisions/0015-plans-and-refusals.md.
 */
#include "host/older.h"
#include "capture/plan/plan.h"

#include <errno.h>

/* Removes bits that one event has and the kernel refuses from all events. */
static bool drop(
        struct capture_plan *p, const struct capture_machine *m, const struct host_attr_bits *bits)
{
	struct sonde_attr probe = host_attr_probe(bits, p->events.v[0].attr.size);
	bool found = false;
	size_t k;

	for (k = 0; k < p->events.n; k++) {
		found |= host_attr_has_bits(&p->events.v[k].attr, bits);
	}
	if (!found || bits->counting || capture_probe(m->log, m->kernel, &probe) ||
	        !host_attr_unknown(errno)) {
		return false;
	}
	for (k = 0; k < p->events.n; k++) {
		host_attr_drop_bits(&p->events.v[k].attr, bits);
	}
	capture_say(m->log, bits->asked ? SONDE_RECORDER_WARNING : SONDE_RECORDER_VERBOSE,
	        "this kernel refuses %s: going without", bits->name);
	return true;
}

/* Uses attrs of the size of older kernels. */
static bool shrink(struct capture_plan *p, const struct capture_machine *m)
{
	uint32_t now = 0, before;
	const char *brought;
	bool lost = false;
	size_t k;

	for (k = 0; k < p->events.n; k++) {
		now = p->events.v[k].attr.size > now ? p->events.v[k].attr.size : now;
	}
	before = host_attr_size_before(now, &brought);
	if (before == 0) {
		return false;
	}
	for (k = 0; k < p->events.n; k++) {
		lost |= host_attr_cut(&p->events.v[k].attr, before);
	}
	capture_say(m->log, lost ? SONDE_RECORDER_WARNING : SONDE_RECORDER_VERBOSE,
	        "this kernel refuses attrs of %u bytes: going without %s", now, brought);
	return true;
}

/* Some PMUs cannot distinguish guests and count them too. */
static bool drop_guests(struct capture_plan *p, const struct capture_machine *m, size_t e, int why)
{
	struct event *event = &p->events.v[e];

	if (event->pmu == NULL || host_attr_fallback(m->kernel, &event->attr, HOST_FALLBACK_GUESTS,
	                                  why) == HOST_FALLBACK_NONE) {
		return false;
	}
	capture_say(m->log, SONDE_RECORDER_VERBOSE, "'%s' refuses guest exclusion: going without",
	        event->name);
	return true;
}

/* Excludes the kernel from all events, unless one of them is for the kernel only. */
static bool drop_kernel(struct capture_plan *p, const struct capture_machine *m, int why)
{
	struct event_list *events = &p->events;
	bool any = false;

	if (p->targets == CAPTURE_ALL) {
		return false;
	}
	for (size_t i = 0; i < events->n; i++) {
		struct sonde_attr attr = events->v[i].attr;

		if (sonde_attr_has(&attr, SONDE_FLAG_EXCLUDE_USER)) {
			return false;
		}
		any |= host_attr_fallback(m->kernel, &attr, HOST_FALLBACK_USER_ONLY, why) !=
		       HOST_FALLBACK_NONE;
	}
	for (size_t i = 0; any && i < events->n; i++) {
		if (!sonde_attr_has(&events->v[i].attr, SONDE_FLAG_EXCLUDE_KERNEL)) {
			(void)event_exclude_kernel(events, &events->v[i]);
		}
	}
	p->kernel_excluded |= any;
	return any;
}

/* Splits a weak group (W) that cannot be scheduled into single events. */
static bool break_weak_group(struct capture_plan *p, const struct capture_machine *m, size_t e)
{
	const uint64_t leads = 1ULL << SONDE_FLAG_DISABLED | 1ULL << SONDE_FLAG_ENABLE_ON_EXEC;
	size_t leader = p->events.v[e].leader;
	struct event *event;
	size_t k;

	if (leader == e || !p->events.v[leader].weak) {
		return false;
	}
	capture_say(m->log, SONDE_RECORDER_VERBOSE,
	        "the group of '%s' cannot be counted at the same time: its events go alone",
	        p->events.v[leader].name);
	for (k = 0; k < p->events.n; k++) {
		event = &p->events.v[k];
		if (event->leader == leader) {
			event->leader = k;
			event->members = 1;
			event->attr.flags |= p->events.v[leader].attr.flags & leads;
			event->attr.read_format &= ~(uint64_t)SONDE_READ_GROUP;
		}
	}
	return true;
}

bool capture_plan_older(struct capture_plan *p, const struct capture_machine *m, size_t e, int why)
{
	bool changed = false;
	size_t i;

	if (!host_attr_unknown(why)) {
		return drop_kernel(p, m, why);
	}
	if (break_weak_group(p, m, e)) {
		return true;
	}
	for (i = 0; host_attr_bits_at(i) != NULL; i++) {
		changed |= drop(p, m, host_attr_bits_at(i));
	}
	changed = changed || (why == E2BIG && shrink(p, m));
	return changed || drop_guests(p, m, e, why);
}

void capture_plan_sizes(struct capture_plan *p, bool in_file)
{
	struct sonde_attr *attr;
	size_t k;

	for (k = 0; k < p->events.n; k++) {
		attr = &p->events.v[k].attr;
		attr->size = in_file ? HOST_ATTR_SIZE : host_attr_size(attr);
		if (in_file && p->events.v[k].text_address) {
			attr->config1 = 0;
		}
	}
}
