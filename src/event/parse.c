/* SPDX-License-Identifier: MIT */
/* The grammar of event.h: groups, events, and terms and modifiers after them. */
#include "event/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRING_MOST 65536 /* bytes of a string */

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\n");
}

/* The parts of one event. */
struct item {
	struct word all; /* the whole event, for its name */
	struct word base; /* a name, a PMU, or the system of a tracepoint */
	struct word second; /* the name of a tracepoint; p NULL: none */
	struct word terms; /* p NULL: none */
	struct word modifiers;
};

static struct word word_at(const char *p)
{
	struct word w = {p, strcspn(p, ",{}:/")};

	return word_trim(w);
}

/* Whether a PMU or a tracepoint cannot have this name. */
static bool is_common(struct word w)
{
	uint64_t v;

	return event_name_find(w) != NULL || event_tool_find(w) != EVENT_TOOL_NONE ||
	       event_cache_parse(w, &v) || event_raw_parse(w, &v);
}

static int unknown_event(const struct parse *p, struct word w)
{
	struct near near = {.word = w.p, .size = w.n};
	struct event_machine *m = p->list->machine;
	const struct record_event_name *names;
	char cache[32];
	char caches[64][32];
	uint64_t v;
	size_t i, k, n;

	(void)event_fail(p, w, "unknown event '%.*s'", (int)(w.n < 64 ? w.n : 64), w.p);
	names = record_event_names(&n);
	for (i = 0; i < n; i++) {
		near_offer_text(&near, names[i].name);
	}
	for (enum event_tool tool = EVENT_TOOL_NONE + 1; tool < EVENT_TOOLS; tool++) {
		near_offer_text(&near, event_tool_name(tool));
	}
	for (i = 0; i < 64 && event_cache_name(i, cache, &v); i++) {
		memcpy(caches[i], cache, sizeof(cache));
		near_offer_text(&near, caches[i]);
	}
	for (i = 0; m != NULL && i < m->n; i++) {
		for (k = 0; k < m->pmus[i].naliases; k++) {
			near_offer_text(&near, m->pmus[i].aliases[k].name);
		}
	}
	near_hint(&near, p->err);
	for (i = 0; m != NULL && i < m->n; i++) {
		if (word_is(w, m->pmus[i].name)) {
			(void)event_hint(p->err, "'%s' is a PMU: its events are %s/TERMS/",
			        m->pmus[i].name, m->pmus[i].name);
		}
	}
	return event_hint(p->err,
	        "valid are names such as cpu-clock, page-faults, cycles, L1-dcache-loads "
	        "(sonde list), rNNN in hex, PMU/TERMS/, SYSTEM:TRACEPOINT, "
	        "mem:ADDR[/LENGTH][:rwx]");
}

static int add_common(const struct parse *p, struct word w)
{
	const struct record_event_name *name = event_name_find(w);
	enum event_tool tool = event_tool_find(w);
	struct event *event;
	uint64_t config;
	uint32_t type;
	int rc;

	if (name != NULL) {
		type = name->type;
		config = name->config;
	} else if (tool != EVENT_TOOL_NONE) {
		type = SONDE_TYPE_SOFTWARE;
		config = SONDE_SW_DUMMY;
	} else if (event_raw_parse(w, &config)) {
		type = SONDE_TYPE_RAW;
	} else {
		(void)event_cache_parse(w, &config);
		type = SONDE_TYPE_HW_CACHE;
	}
	rc = type != SONDE_TYPE_SOFTWARE ? pmu_core_events(p, type, config) : 0;
	if (rc != 0) {
		return rc < 0 ? rc : 0;
	}
	event = event_list_add(p->list);
	if (event == NULL) {
		return error_nomem(p->err);
	}
	event->attr.type = type;
	event->attr.config = config;
	event->hardware = type == SONDE_TYPE_HARDWARE;
	event->clock = type == SONDE_TYPE_SOFTWARE && config <= SONDE_SW_TASK_CLOCK;
	event->name = NULL;
	if (tool != EVENT_TOOL_NONE) {
		event->tool = tool;
		event->unit = "ns";
		event->scale = 1;
	}
	if (type == SONDE_TYPE_SOFTWARE && config == SONDE_SW_BPF_OUTPUT) {
		event->attr.sample_type = SONDE_SAMPLE_RAW | SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU |
		                          SONDE_SAMPLE_PERIOD;
		event->default_period = 1;
	}
	return 0;
}

/* config, config1, config2: replaces the number that the name defines. 0: another term. */
static int take_config(const struct parse *p, struct event *event, const struct term *term)
{
	static const char *const names[] = {"config", "config1", "config2"};
	uint64_t *const values[] = {
	        &event->attr.config, &event->attr.config1, &event->attr.config2};
	size_t i;

	for (i = 0; i < 3 && !word_is(term->name, names[i]); i++) {
	}
	if (i == 3) {
		return 0;
	}
	TRY(term_number(p, term, 0, UINT64_MAX, values[i]));
	event->clock = event->attr.type == SONDE_TYPE_SOFTWARE &&
	               event->attr.config <= SONDE_SW_TASK_CLOCK;
	return 1;
}

/* Applies the terms of an event that does not belong to a PMU. */
static int apply_terms(const struct parse *p, struct event *event, struct word terms)
{
	const char *at = terms.p;
	struct text t = {0};
	struct near near;
	struct term term;
	int rc, known;

	while ((rc = term_next(p, &at, terms.p + terms.n, &term)) > 0) {
		known = term_apply(p, event, &term);
		known = known == 0 ? take_config(p, event, &term) : known;
		TRY(known);
		if (known != 0) {
			continue;
		}
		near = (struct near){.word = term.name.p, .size = term.name.n};
		(void)event_fail(p, term.name, "unknown term '%.*s'",
		        (int)(term.name.n < 64 ? term.name.n : 64), term.name.p);
		near_offer_text(&near, "period");
		near_offer_text(&near, "call-graph");
		near_hint(&near, p->err);
		term_list(&t);
		rc = event_hint(p->err, "valid are: config, config1, config2, %.*s", (int)t.n,
		        t.p != NULL ? t.p : "");
		text_fini(&t);
		return rc;
	}
	return rc;
}

static int name_event(const struct parse *p, struct event *event, struct word name)
{
	if (event->name == NULL) {
		event->name = arena_text(&p->list->arena, name.p, name.n);
	}
	return event->name != NULL ? 0 : error_nomem(p->err);
}

/* Applies terms, modifiers and name to all events of one word. */
static int finish(const struct parse *p, const struct item *item, size_t first, bool pmu)
{
	struct event *event;
	size_t i;

	for (i = first; i < p->list->n; i++) {
		event = &p->list->v[i];
		if (item->terms.p != NULL && !pmu) {
			TRY(apply_terms(p, event, item->terms));
		}
		if (item->modifiers.n == 0) {
			record_attr_set(&event->attr, SONDE_FLAG_EXCLUDE_GUEST, true);
		} else {
			TRY(event_modify(p, event, item->modifiers, false));
		}
		TRY(name_event(p, event, item->all));
	}
	p->list->last = first;
	return 0;
}

/* Parses "/terms/" and modifiers after the name. s: at "/", ":" or the end of the event. */
static int parse_tail(const struct parse *p, const char **at, struct item *item)
{
	const char *s = *at;
	const char *close;
	bool slash = *s == '/';

	if (slash) {
		close = term_close(s + 1);
		if (close == NULL) {
			return event_fail(p, (struct word){s, 1},
			        "the terms of '%.*s' do not end with '/'", (int)item->base.n,
			        item->base.p);
		}
		item->terms = (struct word){s + 1, (size_t)(close - s - 1)};
		s = close + 1;
	}
	item->modifiers = (struct word){s, 0};
	if (*s == ':' || slash) {
		s += *s == ':';
		item->modifiers = word_trim((struct word){s, strcspn(s, ",{}")});
		s += strcspn(s, ",{}");
	}
	*at = s;
	return 0;
}

static int parse_breakpoint(const struct parse *p, const char **at, struct item *item)
{
	const char *begin = *at;
	size_t first = p->list->n;

	TRY(breakpoint_parse(p, at));
	if (**at == ':') {
		item->base = (struct word){begin, 3};
		TRY(parse_tail(p, at, item));
	}
	item->all = word_trim((struct word){begin, (size_t)(*at - begin)});
	*at = skip_blanks(*at);
	return finish(p, item, first, false);
}

/* Parses a name of libpfm4, which may contain colons; advances *at past it. 1: added. */
static int parse_pfm(const struct parse *p, const char **at, const struct item *item)
{
	const char *begin = item->base.p;
	size_t n = strcspn(begin, ",{}");
	struct word all = word_trim((struct word){begin, n});
	size_t first = p->list->n;

	if (memchr(all.p, '/', all.n) != NULL) {
		return 0;
	}
	TRY(pfm_parse(p, all));
	if (p->list->n == first) {
		return 0;
	}
	*at = begin + n;
	p->list->last = first;
	TRY(name_event(p, &p->list->v[first], all));
	return 1;
}

/* Parses SYSTEM:NAME from the colon; advances *at past the name. 1: added. */
static int parse_tracepoint(const struct parse *p, const char **at, struct item *item)
{
	item->second = word_at(*at + 1);
	TRY(tracepoint_parse(p, item->base, item->second));
	*at = skip_blanks(item->second.p + item->second.n);
	return 1;
}

/* An event of sysfs, a tracepoint, or a name of libpfm4: reads sysfs only if necessary. */
static int parse_other(const struct parse *p, const char **at, struct item *item)
{
	const char *begin = item->base.p;
	const char *s = *at;
	size_t first = p->list->n;
	bool colon = *s == ':' && !event_is_modifiers(word_at(s + 1));
	int rc = 0;

	if (colon && tracepoint_has_system(p->root, item->base)) {
		rc = parse_tracepoint(p, &s, item);
	} else {
		rc = pmu_alias_parse(p, item->base);
		if (rc == 0) {
			rc = parse_pfm(p, at, item);
			if (rc > 0) {
				return 0;
			}
		}
		if (rc == 0 && *s == ':') {
			rc = parse_tracepoint(p, &s, item);
		}
	}
	TRY(rc);
	if (rc == 0) {
		return unknown_event(p, item->base);
	}
	TRY(parse_tail(p, &s, item));
	item->all = word_trim((struct word){begin, (size_t)(s - begin)});
	*at = s;
	return finish(p, item, first, false);
}

/* *at: after blanks; advances to the ",", "}" or end after the event. */
static int parse_event(const struct parse *p, const char **at)
{
	const char *begin = *at;
	const char *s;
	struct item item = {.base = word_at(begin)};
	size_t first = p->list->n;
	bool pmu;

	if (strncmp(begin, "mem:", 4) == 0 && begin[4] >= '0' && begin[4] <= '9') {
		return parse_breakpoint(p, at, &item);
	}
	s = skip_blanks(item.base.p + item.base.n);
	if (item.base.n == 0) {
		return event_fail(p, (struct word){begin, 1}, "an event is missing here");
	}
	pmu = *s == '/' && !is_common(item.base);
	if (!pmu && !is_common(item.base)) {
		*at = s;
		return parse_other(p, at, &item);
	}
	TRY(parse_tail(p, &s, &item));
	if (pmu) {
		TRY(pmu_event_parse(p, item.base, item.terms));
	} else {
		TRY(add_common(p, item.base));
	}
	item.all = word_trim((struct word){begin, (size_t)(s - begin)});
	*at = s;
	return finish(p, &item, first, pmu);
}

/*
 * Splits a group whose events match several PMUs into a group for each PMU: counters of different
 * PMUs cannot be scheduled together.
 */
static int split_group(struct event_list *list, size_t first, struct error *err)
{
	size_t n = list->n - first;
	struct event *sorted = calloc(n, sizeof(*sorted));
	size_t instance, most = 0;
	size_t i, k = 0, leader = first;

	if (sorted == NULL) {
		return error_nomem(err);
	}
	for (i = first; i < list->n; i++) {
		most = list->v[i].instance > most ? list->v[i].instance : most;
	}
	for (instance = 0; instance <= most; instance++) {
		leader = first + k;
		for (i = first; i < list->n; i++) {
			if (list->v[i].instance == instance) {
				sorted[k] = list->v[i];
				sorted[k].leader = leader;
				sorted[k].members = 0;
				k++;
			}
		}
		if (first + k > leader) {
			sorted[leader - first].members = first + k - leader;
		}
	}
	memcpy(list->v + first, sorted, n * sizeof(*sorted));
	free(sorted);
	return 0;
}

/* *at: at the group's name or "{"; advances past the group and its modifiers. */
static int parse_group(const struct parse *p, const char **at)
{
	struct event_list *list = p->list;
	const char *s = *at;
	struct word name = {s, strcspn(s, "{")};
	struct word letters;
	const char *group_name;
	size_t first = list->n;
	size_t i;

	s += name.n;
	name = word_trim(name);
	do {
		s = skip_blanks(s + 1);
		TRY(parse_event(p, &s));
	} while (*s == ',');
	if (*s != '}') {
		return event_fail(p, (struct word){*at, (size_t)(s - *at)},
		        "the group '%.*s' does not end with '}'",
		        (int)(s - *at < 64 ? s - *at : 64), *at);
	}
	s = skip_blanks(s + 1);
	letters = (struct word){s + 1, *s == ':' ? strcspn(s + 1, ",{}") : 0};
	s += *s == ':' ? 1 + letters.n : 0;
	for (i = first; letters.n > 0 && i < list->n; i++) {
		TRY(event_modify(p, &list->v[i], letters, i > first));
	}
	group_name = arena_text(&list->arena, name.p, name.n);
	if (group_name == NULL) {
		return error_nomem(p->err);
	}
	TRY(split_group(list, first, p->err));
	for (i = first; i < list->n; i++) {
		list->v[i].group_name = list->v[i].members > 0 ? group_name : "";
	}
	*at = s;
	return 0;
}

static int parse_string(const struct parse *p)
{
	const char *s = p->text;
	bool group;

	for (;;) {
		s = skip_blanks(s);
		group = s[strcspn(s, ",{}:/ ")] == '{';
		TRY(group ? parse_group(p, &s) : parse_event(p, &s));
		s = skip_blanks(s);
		if (*s == '\0') {
			return 0;
		}
		if (*s != ',') {
			return event_fail(p, (struct word){s, 1}, "a ',' is missing before '%.*s'",
			        (int)strcspn(s, ","), s);
		}
		s++;
	}
}

int event_parse(struct event_list *list, int root, const char *text, struct error *err)
{
	struct parse p = {.list = list, .err = err, .text = text, .root = root};
	size_t first = list->n;
	int rc;

	if (strnlen(text, STRING_MOST) == STRING_MOST) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "an event string of more than %d bytes", STRING_MOST);
	}
	list->last = first;
	rc = parse_string(&p);
	if (rc < 0) {
		list->n = first;
	}
	return rc;
}
