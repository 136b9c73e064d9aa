/* SPDX-License-Identifier: MIT */
#include "event/event.h"

#include "core/array.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name {
	const char *name;
	uint32_t type;
	uint32_t config;
};

static const struct name names[] = {
        {"cpu-clock", SONDE_TYPE_SOFTWARE, SONDE_SW_CPU_CLOCK},
        {"task-clock", SONDE_TYPE_SOFTWARE, SONDE_SW_TASK_CLOCK},
        {"page-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_PAGE_FAULTS},
        {"faults", SONDE_TYPE_SOFTWARE, SONDE_SW_PAGE_FAULTS},
        {"minor-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_PAGE_FAULTS_MIN},
        {"major-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_PAGE_FAULTS_MAJ},
        {"context-switches", SONDE_TYPE_SOFTWARE, SONDE_SW_CONTEXT_SWITCHES},
        {"cs", SONDE_TYPE_SOFTWARE, SONDE_SW_CONTEXT_SWITCHES},
        {"cpu-migrations", SONDE_TYPE_SOFTWARE, SONDE_SW_CPU_MIGRATIONS},
        {"migrations", SONDE_TYPE_SOFTWARE, SONDE_SW_CPU_MIGRATIONS},
        {"alignment-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_ALIGNMENT_FAULTS},
        {"emulation-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_EMULATION_FAULTS},
        {"cgroup-switches", SONDE_TYPE_SOFTWARE, SONDE_SW_CGROUP_SWITCHES},
        {"dummy", SONDE_TYPE_SOFTWARE, SONDE_SW_DUMMY},
        {"cycles", SONDE_TYPE_HARDWARE, 0},
        {"cpu-cycles", SONDE_TYPE_HARDWARE, 0},
        {"instructions", SONDE_TYPE_HARDWARE, 1},
        {"cache-references", SONDE_TYPE_HARDWARE, 2},
        {"cache-misses", SONDE_TYPE_HARDWARE, 3},
        {"branches", SONDE_TYPE_HARDWARE, 4},
        {"branch-instructions", SONDE_TYPE_HARDWARE, 4},
        {"branch-misses", SONDE_TYPE_HARDWARE, 5},
        {"bus-cycles", SONDE_TYPE_HARDWARE, 6},
        {"stalled-cycles-frontend", SONDE_TYPE_HARDWARE, 7},
        {"stalled-cycles-backend", SONDE_TYPE_HARDWARE, 8},
        {"ref-cycles", SONDE_TYPE_HARDWARE, 9},
};

#define NAMES (sizeof(names) / sizeof(names[0]))

void event_list_fini(struct event_list *list)
{
	free(list->v);
	*list = (struct event_list){0};
}

struct event *event_list_add(struct event_list *list)
{
	struct event *event;

	if (!array_reserve(&list->v, &list->cap, list->n + 1, sizeof(*list->v))) {
		return NULL;
	}
	event = &list->v[list->n++];
	memset(event, 0, sizeof(*event));
	return event;
}

static void set_flag(struct sonde_attr *attr, enum sonde_attr_flag flag)
{
	attr->flags |= 1ULL << flag;
}

static int parse_modifiers(struct event *event, const char *s, size_t n)
{
	bool user = false, kernel = false, hv = false;
	unsigned precise = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		user |= s[i] == 'u';
		kernel |= s[i] == 'k';
		hv |= s[i] == 'h';
		precise += s[i] == 'p';
		if (strchr("ukhp", s[i]) == NULL) {
			return -1;
		}
	}
	if (precise > 3) {
		return -1;
	}
	if (user || kernel || hv) {
		event->attr.flags |= (uint64_t)!user << SONDE_FLAG_EXCLUDE_USER |
		                     (uint64_t)!kernel << SONDE_FLAG_EXCLUDE_KERNEL |
		                     (uint64_t)!hv << SONDE_FLAG_EXCLUDE_HV;
	}
	if (user || (!kernel && !hv)) {
		set_flag(&event->attr, SONDE_FLAG_EXCLUDE_GUEST);
	}
	event->attr.flags |= (uint64_t)precise << SONDE_FLAG_PRECISE_IP;
	return 0;
}

static int unknown_event(struct error *err, const char *word, size_t n)
{
	struct text list = {0};
	size_t i;
	int rc;

	for (i = 0; i < NAMES; i++) {
		text_str(&list, i == 0 ? "" : ", ");
		text_str(&list, names[i].name);
	}
	rc = error_set(err, SONDE_EARG, NO_OFFSET, "unknown event '%.*s'; valid are: %.*s", (int)n,
	        word, (int)list.n, list.p != NULL ? list.p : "");
	text_fini(&list);
	return rc;
}

static int parse_one(struct event_list *list, const char *word, size_t n, struct error *err)
{
	const char *colon = memchr(word, ':', n);
	size_t base = colon != NULL ? (size_t)(colon - word) : n;
	struct event *event;
	size_t i;

	for (i = 0; i < NAMES; i++) {
		if (strlen(names[i].name) == base && memcmp(names[i].name, word, base) == 0) {
			break;
		}
	}
	if (i == NAMES || n >= EVENT_NAME_MAX) {
		return unknown_event(err, word, base);
	}
	event = event_list_add(list);
	if (event == NULL) {
		return error_nomem(err);
	}
	event->attr.type = names[i].type;
	event->attr.config = names[i].config;
	event->hardware = names[i].type == SONDE_TYPE_HARDWARE;
	event->clock = !event->hardware && names[i].config <= SONDE_SW_TASK_CLOCK;
	if (parse_modifiers(
	            event, colon != NULL ? colon + 1 : "", colon != NULL ? n - base - 1 : 0) < 0) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "bad modifier in event '%.*s'; valid are u (user), k (kernel), h "
		        "(hypervisor), p, pp, ppp (precise)",
		        (int)n, word);
	}
	memcpy(event->name, word, n);
	return 0;
}

int event_parse(struct event_list *list, const char *text, struct error *err)
{
	const char *p = text;
	size_t n;

	for (;;) {
		n = strcspn(p, ",");
		TRY(parse_one(list, p, n, err));
		if (p[n] == '\0') {
			return 0;
		}
		p += n + 1;
	}
}

int event_add_default(struct event_list *list, struct error *err)
{
	struct event *event = event_list_add(list);

	if (event == NULL) {
		return error_nomem(err);
	}
	event->attr.type = SONDE_TYPE_HARDWARE;
	event->attr.flags = 3ULL << SONDE_FLAG_PRECISE_IP;
	event->hardware = true;
	(void)snprintf(event->name, sizeof(event->name), "cycles:P");
	return 0;
}

void event_use_cpu_clock(struct event *event)
{
	const char *colon = strchr(event->name, ':');
	char tail[EVENT_NAME_MAX] = "";

	if (colon != NULL) {
		(void)snprintf(tail, sizeof(tail), "%s", strcmp(colon, ":P") == 0 ? ":ppp" : colon);
	}
	event->attr.type = SONDE_TYPE_SOFTWARE;
	event->attr.config = SONDE_SW_CPU_CLOCK;
	event->hardware = false;
	(void)snprintf(
	        event->name, sizeof(event->name), "cpu-clock%.*s", EVENT_NAME_MAX - 12, tail);
}
