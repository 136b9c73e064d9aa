/* SPDX-License-Identifier: MIT */
/* Event strings of software PT: "intel_pt/" [TERM {"," TERM}] "/" ["u"], TERM = NAME ["=" NUMBER]. */
#include "core/span.h"
#include "softpt/softpt.h"

#include <stdlib.h>
#include <string.h>

#define PMU "intel_pt/"

struct term {
	const char *name;
	uint32_t mask; /* 0: what it asks for needs the hardware */
	unsigned most;
};

static const struct term terms[] = {
        {"pt", SOFTPT_PT, 1},
        {"cyc", SOFTPT_CYC, 1},
        {"mtc", SOFTPT_MTC, 1},
        {"tsc", SOFTPT_TSC, 1},
        {"noretcomp", SOFTPT_NORETCOMP, 1},
        {"branch", SOFTPT_BRANCH, 1},
        {"mtc_period", SOFTPT_MTC_PERIOD, 15},
        {"cyc_thresh", SOFTPT_CYC_THRESH, 15},
        {"psb_period", SOFTPT_PSB_PERIOD, 15},
        {"pwr_evt", 0, 0},
        {"fup_on_ptw", 0, 0},
        {"ptw", 0, 0},
        {"event", 0, 0},
        {"notnt", 0, 0},
        {"aux-output", 0, 0},
        {"aux-sample-size", 0, 0},
};

static int set_term(const char *p, size_t n, uint64_t *config, struct error *err)
{
	const char *equals = memchr(p, '=', n);
	size_t i, name = equals != NULL ? (size_t)(equals - p) : n;
	const struct term *term = NULL;
	uint64_t value = 1;
	char *end = NULL;

	for (i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		term = bytes_are(p, name, terms[i].name) ? &terms[i] : term;
	}
	if (term == NULL) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "intel_pt has no term '%.*s'; --soft-pt knows tsc, mtc, mtc_period, cyc, "
		        "cyc_thresh, noretcomp, psb_period, pt and branch",
		        (int)name, p);
	}
	if (equals != NULL) {
		value = strtoull(equals + 1, &end, 0);
	}
	if (end != NULL && (end == equals + 1 || end != p + n)) {
		return error_set(err, SONDE_EARG, NO_OFFSET, "the value of '%.*s' is not a number",
		        (int)n, p);
	}
	if (term->mask == 0) {
		return value == 0 ? 0
		                  : error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		                            "%s needs the hardware: --soft-pt records branches "
		                            "and their time",
		                            term->name);
	}
	if (value > term->most) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "Invalid %s %llu. Valid values are: 0-%u", term->name,
		        (unsigned long long)value, term->most);
	}
	*config &= ~(uint64_t)term->mask;
	*config |= value << __builtin_ctz(term->mask);
	return 0;
}

static unsigned field(uint64_t config, uint32_t mask)
{
	return (unsigned)((config & mask) >> __builtin_ctz(mask));
}

static int check_modifiers(const char *p, struct error *err)
{
	p += *p == ':';
	if (strchr(p, 'k') != NULL || strchr(p, 'h') != NULL || strchr(p, 'G') != NULL) {
		return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "--soft-pt traces user code only: use intel_pt//u; the kernel's code needs "
		        "a processor with Intel PT, without --soft-pt");
	}
	return p[strspn(p, "uHpP")] == '\0'
	               ? 0
	               : error_set(err, SONDE_EARG, NO_OFFSET,
	                         "--soft-pt records intel_pt with the modifier u, not '%s'", p);
}

int softpt_parse_event(
        const char *text, uint64_t *config, struct flow_terms *flow, struct error *err)
{
	const char *p = text, *end, *stop;
	size_t n;

	if (strncmp(p, PMU, sizeof(PMU) - 1) != 0 ||
	        (end = strchr(p + sizeof(PMU) - 1, '/')) == NULL) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "--soft-pt records the event intel_pt//u, not '%s'", text);
	}
	*config = SOFTPT_PT | SOFTPT_BRANCH | SOFTPT_TSC | SOFTPT_MTC | 3u << 14 | 3u << 24;
	for (p += sizeof(PMU) - 1; p < end; p = stop + (stop < end)) {
		n = strcspn(p, ",/");
		stop = p + n;
		if (n > 0) {
			TRY(set_term(p, n, config, err));
		}
	}
	TRY(check_modifiers(end + 1, err));
	if ((*config & SOFTPT_PT) == 0 || (*config & SOFTPT_BRANCH) == 0) {
		return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "--soft-pt records branches: neither pt=0 nor branch=0");
	}
	*flow = (struct flow_terms){.tsc = (*config & SOFTPT_TSC) != 0,
	        .mtc = (*config & SOFTPT_MTC) != 0,
	        .cyc = (*config & SOFTPT_CYC) != 0,
	        .noretcomp = (*config & SOFTPT_NORETCOMP) != 0,
	        .mtc_period = field(*config, SOFTPT_MTC_PERIOD),
	        .cyc_threshold = field(*config, SOFTPT_CYC_THRESH),
	        .psb_period = field(*config, SOFTPT_PSB_PERIOD)};
	return 0;
}
