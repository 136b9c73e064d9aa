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
	event = &list->v[list->n];
	memset(event, 0, sizeof(*event));
	event->leader = list->n++;
	event->members = 1;
	return event;
}

static void set_flag(struct sonde_attr *attr, enum sonde_attr_flag flag, bool on)
{
	attr->flags = (attr->flags & ~(1ULL << flag)) | (uint64_t)on << flag;
}

static bool has(const struct event *event, enum sonde_attr_flag flag)
{
	return sonde_attr_has(&event->attr, flag) != 0;
}

static unsigned precision(const struct event *event)
{
	return (unsigned)(event->attr.flags >> SONDE_FLAG_PRECISE_IP & 3);
}

/* How often each letter may stand in one list. */
static const struct modifier {
	char letter;
	unsigned char most;
} modifiers[] = {{'u', 1}, {'k', 1}, {'h', 1}, {'G', 1}, {'H', 1}, {'I', 1}, {'p', 3}, {'P', 1},
        {'D', 1}, {'e', 1}, {'S', 1}};

#define MODIFIERS (sizeof(modifiers) / sizeof(modifiers[0]))

/* False when the list has a letter that is none, or one too often. */
static bool count_modifiers(const char *s, size_t n, unsigned count[128])
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < MODIFIERS && modifiers[k].letter != s[i]; k++) {
		}
		if (k == MODIFIERS || ++count[(unsigned char)s[i]] > modifiers[k].most) {
			return false;
		}
	}
	return true;
}

/* User, kernel and hypervisor: the first that is named leaves the others out. */
static void apply_levels(struct event *event, const unsigned count[128])
{
	static const enum sonde_attr_flag flags[] = {
	        SONDE_FLAG_EXCLUDE_USER, SONDE_FLAG_EXCLUDE_KERNEL, SONDE_FLAG_EXCLUDE_HV};
	bool some = has(event, flags[0]) || has(event, flags[1]) || has(event, flags[2]);
	size_t i;

	if (count['u'] + count['k'] + count['h'] == 0) {
		return;
	}
	for (i = 0; i < 3; i++) {
		if (count[(unsigned char)"ukh"[i]] > 0 || !some) {
			set_flag(&event->attr, flags[i], count[(unsigned char)"ukh"[i]] == 0);
		}
	}
}

/*
 * Applies a list to an event that may have modifiers already: those of a group come on top of its
 * events' own. Guests, as perf 6.1 does it: left out by u and p, or as G and H say.
 */
static bool apply_modifiers(struct event *event, const char *s, size_t n)
{
	unsigned count[128] = {0};
	unsigned precise;

	if (!count_modifiers(s, n, count)) {
		return false;
	}
	apply_levels(event, count);
	if (count['G'] + count['H'] > 0) {
		set_flag(&event->attr, SONDE_FLAG_EXCLUDE_HOST, count['H'] == 0);
		set_flag(&event->attr, SONDE_FLAG_EXCLUDE_GUEST, count['G'] == 0);
	} else if (count['u'] + count['p'] > 0) {
		set_flag(&event->attr, SONDE_FLAG_EXCLUDE_GUEST, true);
	}
	precise = count['P'] > 0 ? 3 : precision(event) + count['p'];
	if (precise > 3) {
		return false;
	}
	event->attr.flags &= ~(3ULL << SONDE_FLAG_PRECISE_IP);
	event->attr.flags |= (uint64_t)precise << SONDE_FLAG_PRECISE_IP;
	event->most_precise |= count['P'] > 0;
	event->leader_samples |= count['S'] > 0;
	if (count['I'] > 0) {
		set_flag(&event->attr, SONDE_FLAG_EXCLUDE_IDLE, true);
	}
	if (count['D'] > 0) {
		set_flag(&event->attr, SONDE_FLAG_PINNED, true);
	}
	if (count['e'] > 0) {
		set_flag(&event->attr, SONDE_FLAG_EXCLUSIVE, true);
	}
	return true;
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

static int bad_modifier(struct error *err, const char *word, size_t n)
{
	return error_set(err, SONDE_EARG, NO_OFFSET,
	        "bad modifier in event '%.*s'; valid are u (user), k (kernel), h (hypervisor), "
	        "G (guest), H (host), I (not when idle), p, pp, ppp, P (precise), D (pinned), "
	        "e (exclusive), S (the leader of a group samples)",
	        (int)n, word);
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
	set_flag(&event->attr, SONDE_FLAG_EXCLUDE_GUEST, colon == NULL);
	if (colon != NULL && !apply_modifiers(event, colon + 1, n - base - 1)) {
		return bad_modifier(err, word, n);
	}
	memcpy(event->name, word, n);
	return 0;
}

/* text: from the group's name on; *used: its bytes with the modifiers behind it. */
static int parse_group(struct event_list *list, const char *text, size_t *used, struct error *err)
{
	size_t name = strcspn(text, "{");
	const char *p = text + name;
	size_t first = list->n;
	size_t n, i;

	if (name >= EVENT_NAME_MAX) {
		return unknown_event(err, text, name);
	}
	do {
		n = strcspn(++p, ",{}");
		TRY(parse_one(list, p, n, err));
		list->v[list->n - 1].leader = first;
		list->v[list->n - 1].members = 0;
		p += n;
	} while (*p == ',');
	if (*p != '}') {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "the group '%.*s' does not end with '}'", (int)(p - text), text);
	}
	p++;
	n = *p == ':' ? strcspn(p + 1, ",") : 0;
	for (i = first; i < list->n; i++) {
		if (n > 0 && !apply_modifiers(&list->v[i], p + 1, n)) {
			return bad_modifier(err, text, (size_t)(p - text) + 1 + n);
		}
	}
	p += *p == ':' ? 1 + n : 0;
	if (*p != ',' && *p != '\0') {
		return unknown_event(err, p, strcspn(p, ","));
	}
	list->v[first].members = list->n - first;
	memcpy(list->v[first].group_name, text, name);
	*used = (size_t)(p - text);
	return 0;
}

int event_parse(struct event_list *list, const char *text, struct error *err)
{
	const char *p = text;
	size_t n;

	for (;;) {
		n = strcspn(p, ",{");
		if (p[n] == '{') {
			TRY(parse_group(list, p, &n, err));
		} else {
			TRY(parse_one(list, p, n, err));
		}
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
	event->most_precise = true;
	event->by_default = true;
	(void)snprintf(event->name, sizeof(event->name), "cycles:P");
	return 0;
}

/*
 * The name that perf 6.1 makes from the attr of a stand-in: k, u, h for what is counted when
 * something is left out, a p for each step of precision, and G and H where they are not what goes
 * without saying: no guests, but both behind other letters.
 */
static void name_stand_in(struct event *event)
{
	char letters[16];
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
	(void)snprintf(event->name, sizeof(event->name), "cpu-clock%s%.*s", n > 0 ? ":" : "",
	        (int)n, letters);
}

void event_use_cpu_clock(struct event *event)
{
	event->attr.type = SONDE_TYPE_SOFTWARE;
	event->attr.config = SONDE_SW_CPU_CLOCK;
	event->hardware = false;
	event->stand_in = true;
	name_stand_in(event);
}

void event_exclude_kernel(struct event *event)
{
	size_t n = strlen(event->name);

	set_flag(&event->attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
	if (!event->by_default) {
		set_flag(&event->attr, SONDE_FLAG_EXCLUDE_HV, true);
	}
	if (event->stand_in) {
		name_stand_in(event);
	} else {
		(void)snprintf(event->name + n, sizeof(event->name) - n, "%s",
		        strchr(event->name, ':') == NULL ? ":u" : "u");
	}
}
