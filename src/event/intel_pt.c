/* SPDX-License-Identifier: MIT */
/*
 * Terms of intel_pt: the defaults and the rules for valid values of perf-intel-pt(1). A hexadecimal
 * number in caps has a bit for each valid value.
 */
#include "event/parts.h"

#include <stdio.h>
#include <string.h>

static struct word word_of(const char *s)
{
	return (struct word){s, strlen(s)};
}

static uint64_t mask_of(const struct event_pmu *pmu, const char *term)
{
	const struct pmu_format *format = pmu_format_find(pmu, word_of(term));

	return format != NULL && format->config == 0 ? format->mask : 0;
}

static bool cap_on(int root, const struct event_pmu *pmu, const char *cap)
{
	uint64_t v;

	return pmu_cap(root, pmu, cap, &v) && v != 0;
}

/* 3, or the next lower value that the caps allow; 0 is always allowed. */
static uint64_t up_to_3(int root, const struct event_pmu *pmu, const char *cap)
{
	uint64_t valid = 0;
	unsigned v = 3;

	(void)pmu_cap(root, pmu, cap, &valid);
	while (v > 0 && (valid >> v & 1) == 0) {
		v--;
	}
	return v;
}

uint64_t intel_pt_default(int root, const struct event_pmu *pmu)
{
	uint64_t config = mask_of(pmu, "tsc");
	uint64_t mtc = mask_of(pmu, "mtc");

	if (cap_on(root, pmu, "mtc") && mtc != 0) {
		config |= mtc;
		config |=
		        pmu_deposit(mask_of(pmu, "mtc_period"), up_to_3(root, pmu, "mtc_periods"));
		if (cap_on(root, pmu, "psb_cyc")) {
			config |= pmu_deposit(
			        mask_of(pmu, "psb_period"), up_to_3(root, pmu, "psb_periods"));
		}
	}
	if (mask_of(pmu, "pt") != 0 && mask_of(pmu, "branch") != 0) {
		config |= mask_of(pmu, "pt") | mask_of(pmu, "branch");
	}
	return config;
}

/* Extracts a field: gathers its bits at the low end. */
static uint64_t gather(uint64_t mask, uint64_t config)
{
	uint64_t v = 0;
	unsigned bit;
	unsigned at = 0;

	for (bit = 0; bit < 64; bit++) {
		if ((mask >> bit & 1) != 0) {
			v |= (config >> bit & 1) << at++;
		}
	}
	return v;
}

/* Formats values as "0-5" or "0,3,6,9": three or more in a row become a range. */
static void say_values(uint64_t valid, char *out, size_t size)
{
	unsigned from, to;
	size_t n = 0;

	out[0] = '\0';
	for (from = 0; from < 64 && n < size; from = to + 1) {
		to = from;
		if ((valid >> from & 1) == 0) {
			continue;
		}
		while (to < 63 && (valid >> (to + 1) & 1) != 0) {
			to++;
		}
		if (to - from == 1) {
			to = from;
		}
		n += (size_t)snprintf(out + n, size - n, to > from ? "%s%u-%u" : "%s%u",
		        n > 0 ? "," : "", from, to);
	}
}

/* Finds the term in the string, to show it in a message. */
static struct word find_term(const struct parse *p, struct word terms, const char *name)
{
	const char *at = terms.p;
	struct term term;

	while (term_next(p, &at, terms.p + terms.n, &term) > 0) {
		if (word_is(term.name, name)) {
			return term.value.p != NULL ? term.value : term.name;
		}
	}
	return terms;
}

static int check_value(const struct parse *p, const struct event_pmu *pmu, uint64_t config,
        struct word terms, const char *const names[2])
{
	uint64_t mask = mask_of(pmu, names[0]);
	uint64_t v = gather(mask, config);
	uint64_t valid = 0;
	char list[128];

	if (mask == 0 || !pmu_cap(p->root, pmu, names[1], &valid) || v == 0 ||
	        (v < 64 && (valid >> v & 1) != 0)) {
		return 0;
	}
	say_values(valid | 1, list, sizeof(list));
	return event_fail(p, find_term(p, terms, names[0]),
	        "Invalid %s for %s. Valid values are: %s", names[0], pmu->name, list);
}

int intel_pt_check(
        const struct parse *p, const struct event_pmu *pmu, struct event *event, struct word terms)
{
	static const char *const values[][2] = {{"psb_period", "psb_periods"},
	        {"mtc_period", "mtc_periods"}, {"cyc_thresh", "cycle_thresholds"}};
	static const char *const needs[][2] = {{"cyc", "psb_cyc"}, {"mtc", "mtc"},
	        {"ptw", "ptwrite"}, {"pwr_evt", "power_event_trace"}, {"event", "event_trace"},
	        {"notnt", "tnt_disable"}};
	uint64_t config = event->attr.config;
	uint64_t have;
	size_t i;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if ((config & mask_of(pmu, needs[i][0])) != 0 &&
		        pmu_cap(p->root, pmu, needs[i][1], &have) && have == 0) {
			return event_fail(p, find_term(p, terms, needs[i][0]),
			        "this processor's %s has no '%s': caps/%s is 0", pmu->name,
			        needs[i][0], needs[i][1]);
		}
	}
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		TRY(check_value(p, pmu, config, terms, values[i]));
	}
	if (find_term(p, terms, "psb_period").p == terms.p) {
		event->unasked = mask_of(pmu, "psb_period");
	}
	return 0;
}
