/* SPDX-License-Identifier: MIT */
/*
 * The PMUs kprobe and uprobe create a probe for the lifetime of the event (perf_event_open(2)):
 *
 *	kprobe	config1: address of the function's name, config2: offset in it
 *	        config1 0, config2: address in the kernel
 *	uprobe	config1: address of the file's name, config2: offset in the file
 */
#include "event/parts.h"

#include <string.h>

static const struct probe_term {
	const char *pmu, *name;
	unsigned config;
	bool text;
} known_terms[] = {
        {"kprobe", "kprobe_func", 1, true},
        {"kprobe", "func", 1, true},
        {"kprobe", "kprobe_addr", 2, false},
        {"kprobe", "probe_offset", 2, false},
        {"uprobe", "uprobe_path", 1, true},
        {"uprobe", "path", 1, true},
        {"uprobe", "probe_offset", 2, false},
        {"uprobe", "offset", 2, false},
};

int probe_term(const struct parse *p, struct event *event, const struct term *term)
{
	const struct probe_term *known = NULL;
	const char *copy;
	uint64_t v;
	size_t i;

	for (i = 0; i < sizeof(known_terms) / sizeof(known_terms[0]); i++) {
		if (event->pmu != NULL && strcmp(event->pmu, known_terms[i].pmu) == 0 &&
		        word_is(term->name, known_terms[i].name)) {
			known = &known_terms[i];
		}
	}
	if (known == NULL) {
		return 0;
	}
	event->default_period = 1; /* every hit: sampling by frequency would omit some */
	if (!known->text) {
		TRY(term_number(p, term, 0, UINT64_MAX, &v));
		event->attr.config2 = v;
		return 1;
	}
	if (term->value.n == 0) {
		return event_fail(p, term->name, "the term '%s' needs a %s", known->name,
		        strcmp(known->pmu, "uprobe") == 0 ? "path" : "name");
	}
	copy = arena_text(&p->list->arena, term->value.p, term->value.n);
	if (copy == NULL) {
		return error_nomem(p->err);
	}
	event->attr.config1 = (uint64_t)(uintptr_t)copy;
	event->text_address = true;
	return 1;
}

const char *probe_terms(const char *pmu)
{
	return strcmp(pmu, "kprobe") == 0   ? "kprobe_func=NAME,kprobe_addr=ADDR,probe_offset=N"
	       : strcmp(pmu, "uprobe") == 0 ? "uprobe_path=FILE,probe_offset=N"
	                                    : "";
}
