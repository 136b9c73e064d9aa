/* SPDX-License-Identifier: MIT */
#include "core/array.h"
#include "event/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void event_list_fini(struct event_list *list)
{
	free(list->v);
	arena_fini(&list->arena);
	pmu_machine_free(list->machine);
	*list = (struct event_list){0};
}

struct event *event_list_add(struct event_list *list)
{
	struct event *event;

	if (!array_reserve(&list->v, &list->cap, list->n + 1, sizeof(*list->v))) {
		return NULL;
	}
	event = &list->v[list->n];
	*event = (struct event){
	        .name = "", .group_name = "", .leader = list->n, .members = 1, .scale = 1};
	list->n++;
	return event;
}

bool event_set_name(struct event_list *list, struct event *event, const char *name)
{
	const char *copy = arena_text(&list->arena, name, strlen(name));

	event->name = copy != NULL ? copy : event->name;
	return copy != NULL;
}

static void set_flag(struct sonde_attr *attr, enum sonde_attr_flag flag)
{
	attr->flags |= 1ULL << flag;
}

static bool has(const struct event *event, enum sonde_attr_flag flag)
{
	return sonde_attr_has(&event->attr, flag) != 0;
}

static unsigned precision(const struct event *event)
{
	return (unsigned)(event->attr.flags >> SONDE_FLAG_PRECISE_IP & 3);
}

int event_add_default(struct event_list *list, struct error *err)
{
	struct event *event = event_list_add(list);

	if (event == NULL || !event_set_name(list, event, "cycles:P")) {
		return error_nomem(err);
	}
	event->attr.type = SONDE_TYPE_HARDWARE;
	event->attr.flags = 3ULL << SONDE_FLAG_PRECISE_IP;
	event->hardware = true;
	event->most_precise = true;
	event->by_default = true;
	return 0;
}

/*
 * The name that perf 6.1 derives from the attr of a stand-in: k, u, h if something is excluded, a p
 * for each level of precision, G and H if they are not the default, which is host only, or both
 * with other letters.
 */
static bool name_stand_in(struct event_list *list, struct event *event)
{
	char letters[16];
	char name[32];
	size_t n = 0;
	unsigned i;
	bool host = !has(event, SONDE_FLAG_EXCLUDE_HOST);
	bool guest = !has(event, SONDE_FLAG_EXCLUDE_GUEST);

	if (has(event, SONDE_FLAG_EXCLUDE_USER) || has(event, SONDE_FLAG_EXCLUDE_KERNEL) ||
	        has(event, SONDE_FLAG_EXCLUDE_HV)) {
		if (!has(event, SONDE_FLAG_EXCLUDE_KERNEL)) {
			letters[n++] = 'k';
		}
		if (!has(event, SONDE_FLAG_EXCLUDE_USER)) {
			letters[n++] = 'u';
		}
		if (!has(event, SONDE_FLAG_EXCLUDE_HV)) {
			letters[n++] = 'h';
		}
	}
	for (i = precision(event); i > 0; i--) {
		letters[n++] = 'p';
	}
	if (n > 0 ? !guest : guest) {
		if (host) {
			letters[n++] = 'H';
		}
		if (guest) {
			letters[n++] = 'G';
		}
	} else if (!host) {
		letters[n++] = 'G';
	}
	(void)snprintf(name, sizeof(name), "%s%s%.*s", event->tracking ? "dummy" : "cpu-clock",
	        n > 0 ? ":" : "", (int)n, letters);
	return event_set_name(list, event, name);
}

bool event_name_again(struct event_list *list, struct event *event)
{
	return (!event->stand_in && !event->tracking) || name_stand_in(list, event);
}

bool event_use_cpu_clock(struct event_list *list, struct event *event)
{
	event->attr.type = SONDE_TYPE_SOFTWARE;
	event->attr.config = SONDE_SW_CPU_CLOCK;
	event->hardware = false;
	event->stand_in = true;
	return name_stand_in(list, event);
}

bool event_exclude_kernel(struct event_list *list, struct event *event)
{
	struct text name = {0};
	bool ok;

	set_flag(&event->attr, SONDE_FLAG_EXCLUDE_KERNEL);
	if (!event->by_default) {
		set_flag(&event->attr, SONDE_FLAG_EXCLUDE_HV);
	}
	if (event->stand_in) {
		return name_stand_in(list, event);
	}
	text_str(&name, event->name);
	/* after a PMU's terms, modifiers follow without a colon */
	text_str(&name,
	        strchr(event->name, ':') != NULL || strchr(event->name, '/') != NULL ? "u" : ":u");
	text_char(&name, '\0');
	ok = !name.failed && event_set_name(list, event, name.p);
	text_fini(&name);
	return ok;
}

int event_set_filter(struct event_list *list, const char *filter, struct error *err)
{
	struct text all = {0};
	struct event *event;
	size_t i;

	for (i = list->last; i < list->n; i++) {
		event = &list->v[i];
		if (event->attr.type != SONDE_TYPE_TRACEPOINT && !event->aux) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "a filter must follow -e with a tracepoint, or with a PMU "
			        "that "
			        "traces such as intel_pt: '%s' accepts none",
			        event->name);
		}
	}
	if (list->last == list->n) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "a filter must follow the -e that it applies to");
	}
	for (i = list->last; i < list->n; i++) {
		event = &list->v[i];
		all.n = 0;
		if (event->filter != NULL && event->aux) {
			text_printf(&all, "%s,%s", event->filter, filter);
		} else if (event->filter != NULL) {
			text_printf(&all, "(%s) && (%s)", event->filter, filter);
		} else {
			text_str(&all, filter);
		}
		event->filter = all.failed ? NULL : arena_text(&list->arena, all.p, all.n);
		if (event->filter == NULL) {
			text_fini(&all);
			return error_nomem(err);
		}
	}
	text_fini(&all);
	return 0;
}
