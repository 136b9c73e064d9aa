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

int event_add_default(struct event_list *list, struct error *err)
{
	struct event *event = event_list_add(list);

	if (event == NULL || !event_set_name(list, event, "cycles:P")) {
		return error_nomem(err);
	}
	event->attr.type = SONDE_TYPE_HARDWARE;
	record_attr_set_precision(&event->attr, 3);
	event->hardware = true;
	event->most_precise = true;
	event->by_default = true;
	return 0;
}

/* Names a stand-in, or an event for side-band, by its attr, as perf does. */
static bool name_by_attr(struct event_list *list, struct event *event)
{
	const char *name = record_attr_name(&list->arena, &event->attr);

	event->name = name != NULL ? name : event->name;
	return name != NULL;
}

bool event_name_again(struct event_list *list, struct event *event)
{
	return (!event->stand_in && !event->tracking) || name_by_attr(list, event);
}

bool event_use_cpu_clock(struct event_list *list, struct event *event)
{
	event->attr.type = SONDE_TYPE_SOFTWARE;
	event->attr.config = SONDE_SW_CPU_CLOCK;
	event->hardware = false;
	event->stand_in = true;
	return name_by_attr(list, event);
}

bool event_exclude_kernel(struct event_list *list, struct event *event)
{
	struct text name = {0};
	bool ok;

	record_attr_set(&event->attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
	if (!event->by_default) {
		record_attr_set(&event->attr, SONDE_FLAG_EXCLUDE_HV, true);
	}
	if (event->stand_in) {
		return name_by_attr(list, event);
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
