/* SPDX-License-Identifier: MIT */
/*
 * Events of PMUs. As in perf 6.1, `config=` and similar terms are applied first; then each format
 * term is or-ed into its bits, so that a term given twice, or in addition to one from sysfs, gives
 * both values or-ed. For PMUs with default settings (Intel PT) a term replaces its bits.
 */
#include "event/parts.h"

#include <stdlib.h>
#include <string.h>

struct build {
	const struct parse *p;
	struct event_pmu *pmu;
	size_t index; /* of the event in the list */
	struct word terms; /* everything between the slashes */
	bool replace;
	bool config_given;
};

static struct event *event_of(const struct build *b)
{
	return &b->p->list->v[b->index];
}

static uint64_t *config_of(const struct build *b, unsigned which)
{
	struct sonde_attr *a = &event_of(b)->attr;
	uint64_t *configs[PMU_CONFIGS] = {
	        &a->config, &a->config1, &a->config2, &a->config3, &a->config4};

	return configs[which];
}

/* Number of the term config, config1 ..; -1: another term. */
static int which_config(struct word name)
{
	if (name.n < 6 || name.n > 7 || memcmp(name.p, "config", 6) != 0) {
		return -1;
	}
	if (name.n == 6) {
		return 0;
	}
	return name.p[6] >= '1' && name.p[6] < '0' + PMU_CONFIGS ? name.p[6] - '0' : -1;
}

static bool is_core(const struct event_pmu *pmu)
{
	return pmu->core || strcmp(pmu->name, "cpu") == 0;
}

/* cpu/cycles/: a generic event on this PMU's cores. */
static bool take_common_name(const struct build *b, const struct term *term)
{
	const struct record_event_name *name = event_name_find(term->name);
	struct event *event = event_of(b);
	uint64_t config;

	if (!is_core(b->pmu) || term->value.p != NULL) {
		return false;
	}
	if (name != NULL && name->type == SONDE_TYPE_HARDWARE) {
		event->attr.type = SONDE_TYPE_HARDWARE;
		config = name->config;
	} else if (event_cache_parse(term->name, &config)) {
		event->attr.type = SONDE_TYPE_HW_CACHE;
	} else {
		return false;
	}
	if (b->p->list->machine->ncores > 1) {
		config |= (uint64_t)b->pmu->type << 32;
	}
	event->attr.config |= config;
	return true;
}

static void list_formats(const struct event_pmu *pmu, struct text *t)
{
	size_t i;

	for (i = 0; i < pmu->nformats && t->n < 400; i++) {
		text_printf(t, "%s%s (%s)", i == 0 ? "" : ", ", pmu->formats[i].name,
		        pmu->formats[i].text);
	}
	if (i < pmu->nformats) {
		text_str(t, ", ...");
	}
}

static int unknown_term(const struct build *b, const struct term *term)
{
	struct near near = {.word = term->name.p, .size = term->name.n};
	struct text t = {0};
	size_t i;

	(void)event_fail(b->p, term->name, "unknown term '%.*s' for the PMU '%s'",
	        (int)(term->name.n < 64 ? term->name.n : 64), term->name.p, b->pmu->name);
	for (i = 0; i < b->pmu->nformats; i++) {
		near_offer_text(&near, b->pmu->formats[i].name);
	}
	for (i = 0; i < b->pmu->naliases; i++) {
		near_offer_text(&near, b->pmu->aliases[i].name);
	}
	near_hint(&near, b->p->err);
	list_formats(b->pmu, &t);
	if (t.n > 0) {
		(void)event_hint(b->p->err, "its own terms: %.*s", (int)t.n, t.p);
	}
	if (b->pmu->naliases > 0) {
		(void)event_hint(b->p->err, "its events: sonde list '%s/*'", b->pmu->name);
	}
	t.n = 0;
	term_list(&t);
	(void)event_hint(b->p->err, "of every event: config, config1, config2, config3, %.*s",
	        (int)t.n, t.p != NULL ? t.p : "");
	text_fini(&t);
	return SONDE_EARG;
}

static int take_format(const struct build *b, const struct parse *p, const struct term *term,
        const struct pmu_format *format)
{
	uint64_t *config = config_of(b, format->config);
	uint64_t max = pmu_format_max(format);
	uint64_t v = 1;

	if (term->value.p != NULL && !word_number(term->value, &v)) {
		return event_fail(p, term->value, "'%s' wants a number: 0 to %llu (0x%llx)",
		        format->name, (unsigned long long)max, (unsigned long long)max);
	}
	if (v > max) {
		return event_fail(p, term->value,
		        "value too big for '%s' (%s): valid are 0 to %llu (0x%llx)", format->name,
		        format->text, (unsigned long long)max, (unsigned long long)max);
	}
	if (b->replace) {
		*config &= ~format->mask;
	}
	*config |= pmu_deposit(format->mask, v);
	return 1;
}

/* Whether the user gives a value for this parameter of an event. */
static bool given(const struct build *b, struct word name)
{
	const char *at = b->terms.p;
	struct term term;

	while (term_next(b->p, &at, b->terms.p + b->terms.n, &term) > 0) {
		if (term.name.n == name.n && memcmp(term.name.p, name.p, name.n) == 0) {
			return true;
		}
	}
	return false;
}

/* Applies the terms of a name in sysfs; "?" is a value that the user must give. */
static int take_alias(struct build *b, const struct term *named, const struct pmu_alias *alias)
{
	struct parse inner = *b->p;
	struct event *event = event_of(b);
	const struct pmu_format *format;
	const char *at = alias->terms;
	const char *end = at + strlen(at);
	struct term term;
	uint64_t v;
	int rc;

	inner.text = alias->terms;
	while ((rc = term_next(&inner, &at, end, &term)) > 0) {
		int which = which_config(term.name);

		format = pmu_format_find(b->pmu, term.name);
		if (term.value.p != NULL && word_is(term.value, "?")) {
			if (!given(b, term.name)) {
				return event_fail(b->p, named->name,
				        "'%s' needs a value for '%.*s'", alias->name,
				        (int)term.name.n, term.name.p);
			}
			continue;
		}
		if (which >= 0) {
			TRY(term_number(&inner, &term, 0, UINT64_MAX, &v));
			*config_of(b, (unsigned)which) |= v;
		} else if (format != NULL) {
			TRY(take_format(b, &inner, &term, format));
		} else {
			TRY(term_apply(&inner, event, &term));
		}
	}
	event->unit = alias->unit;
	event->scale = alias->scale;
	return rc;
}

/* Raw: cpu/r1a8/ or cpu/r0x1a8/. */
static bool take_raw(const struct build *b, const struct term *term)
{
	struct word w = term->name;
	uint64_t v;

	if (term->value.p != NULL) {
		return false;
	}
	if (w.n > 3 && memcmp(w.p, "r0x", 3) == 0) {
		if (!word_number((struct word){w.p + 1, w.n - 1}, &v)) {
			return false;
		}
	} else if (!event_raw_parse(w, &v)) {
		return false;
	}
	event_of(b)->attr.config |= v;
	return true;
}

/* "@tmc_etr0": the sink of CoreSight, whose number is in sysfs. */
static void take_sink(const struct build *b, struct word name)
{
	char sink[128];
	uint64_t v;

	if (name.n < sizeof(sink)) {
		memcpy(sink, name.p, name.n);
		sink[name.n] = '\0';
		if (pmu_number(b->p->root, b->pmu, "sinks", sink, &v)) {
			event_of(b)->attr.config2 |= v;
		}
	}
}

/* Applies terms that are not the PMU's: first, so that format terms are or-ed into a config. */
static int take_general(struct build *b, const struct term *term)
{
	struct event *event = event_of(b);
	int which = which_config(term->name);
	const char *old = event->driver_config;
	struct text t = {0};
	uint64_t v;

	if (which >= 0) {
		TRY(term_number(b->p, term, 0, UINT64_MAX, &v));
		*config_of(b, (unsigned)which) = v;
		b->config_given |= which == 0;
		return 1;
	}
	if (term->name.p[0] == '@') {
		take_sink(b, (struct word){term->name.p + 1, term->name.n - 1});
		text_printf(&t, "%s%s%.*s", old != NULL ? old : "", old != NULL ? "," : "",
		        (int)term->name.n, term->name.p);
		event->driver_config = t.failed ? NULL : arena_text(&b->p->list->arena, t.p, t.n);
		text_fini(&t);
		event->terms.set |= EVENT_TERM_DRIVER;
		return event->driver_config != NULL ? 1 : error_nomem(b->p->err);
	}
	which = probe_term(b->p, event, term);
	return which != 0 ? which : term_apply(b->p, event, term);
}

static int take_own(struct build *b, const struct term *term)
{
	const struct pmu_alias *alias = pmu_alias_find(b->pmu, term->name);
	const struct pmu_format *format = pmu_format_find(b->pmu, term->name);

	if (alias != NULL && term->value.p == NULL) {
		return take_alias(b, term, alias);
	}
	if (format != NULL) {
		return take_format(b, b->p, term, format);
	}
	if (take_raw(b, term) || take_common_name(b, term)) {
		return 0;
	}
	return unknown_term(b, term);
}

/* Whether take_general handles the term, so that the second round skips it. */
static bool is_general(const struct build *b, const struct term *term)
{
	struct event scratch = *event_of(b);
	struct error unused = {0};
	struct parse quiet = *b->p;

	if (which_config(term->name) >= 0 || term->name.p[0] == '@') {
		return true;
	}
	quiet.err = &unused;
	return probe_term(&quiet, &scratch, term) != 0 || term_apply(&quiet, &scratch, term) != 0;
}

static int take_terms(struct build *b)
{
	const char *end = b->terms.p + b->terms.n;
	const char *at = b->terms.p;
	struct event *event = event_of(b);
	struct term term;
	int rc;

	while ((rc = term_next(b->p, &at, end, &term)) > 0) {
		TRY(take_general(b, &term));
	}
	TRY(rc);
	if (strcmp(b->pmu->name, "intel_pt") == 0 && !b->config_given) {
		event->attr.config = intel_pt_default(b->p->root, b->pmu);
		b->replace = true;
	}
	at = b->terms.p;
	while (term_next(b->p, &at, end, &term) > 0) {
		if (!is_general(b, &term)) {
			TRY(take_own(b, &term));
		}
	}
	return strcmp(b->pmu->name, "intel_pt") == 0 ? intel_pt_check(b->p, b->pmu, event, b->terms)
	                                             : 0;
}

/* Adds an event of one PMU; the list is unchanged after a failure. */
static int add(const struct parse *p, struct event_pmu *pmu, struct word terms, size_t instance)
{
	struct build b = {.p = p, .pmu = pmu, .terms = terms};
	struct event *event;
	int rc;

	if (!pmu_read(p->list->machine, p->root, pmu)) {
		return error_nomem(p->err);
	}
	event = event_list_add(p->list);
	if (event == NULL) {
		return error_nomem(p->err);
	}
	b.index = p->list->n - 1;
	event->attr.type = pmu->type;
	event->pmu = pmu->name;
	event->cpus = pmu->cpus;
	event->uncore = pmu->uncore;
	event->aux = pmu->aux;
	event->instance = instance;
	event->name = NULL; /* the whole string, unless a term sets the name */
	rc = take_terms(&b);
	if (rc < 0) {
		p->list->n--;
	}
	return rc < 0 ? rc : 0;
}

static int unknown_pmu(const struct parse *p, const struct event_machine *m, struct word name)
{
	struct near near = {.word = name.p, .size = name.n};
	struct text t = {0};
	size_t i;

	(void)event_fail(p, name, "there is no PMU '%.*s' on this machine",
	        (int)(name.n < 64 ? name.n : 64), name.p);
	for (i = 0; i < m->n; i++) {
		near_offer_text(&near, m->pmus[i].name);
		if (t.n < 400) {
			text_printf(&t, "%s%s", i == 0 ? "" : ", ", m->pmus[i].name);
		} else if (i + 1 == m->n) {
			text_str(&t, ", ...");
		}
	}
	near_hint(&near, p->err);
	if (m->n > 0) {
		(void)event_hint(p->err, "there are: %.*s", (int)t.n, t.p != NULL ? t.p : "");
	}
	text_fini(&t);
	return SONDE_EARG;
}

int pmu_event_parse(const struct parse *p, struct word name, struct word terms)
{
	struct event_machine *m = pmu_machine(p->list, p->root);
	bool exact = false;
	size_t found = 0, added = 0;
	size_t i;
	int rc = 0;

	if (m == NULL) {
		return error_nomem(p->err);
	}
	for (i = 0; i < m->n; i++) {
		exact |= pmu_matches(&m->pmus[i], name, true);
	}
	for (i = 0; i < m->n; i++) {
		if (!pmu_matches(&m->pmus[i], name, exact)) {
			continue;
		}
		found++;
		rc = add(p, &m->pmus[i], terms, added);
		if (rc == SONDE_ENOMEM) {
			return rc;
		}
		added += rc == 0;
	}
	if (found == 0) {
		return unknown_pmu(p, m, name);
	}
	return added > 0 ? 0 : rc;
}

int pmu_alias_parse(const struct parse *p, struct word name)
{
	struct event_machine *m = pmu_machine(p->list, p->root);
	size_t added = 0;
	size_t i;

	if (m == NULL) {
		return error_nomem(p->err);
	}
	for (i = 0; i < m->n; i++) {
		if (!pmu_read(m, p->root, &m->pmus[i])) {
			return error_nomem(p->err);
		}
		if (pmu_alias_find(&m->pmus[i], name) != NULL) {
			TRY(add(p, &m->pmus[i], name, added));
			added++;
		}
	}
	return added > 0;
}

int pmu_core_events(const struct parse *p, uint32_t type, uint64_t config)
{
	struct event_machine *m = pmu_machine(p->list, p->root);
	const struct event_pmu *pmu;
	struct event *event;
	size_t i;
	int added = 0;

	if (m == NULL) {
		return error_nomem(p->err);
	}
	for (i = 0; m->ncores > 1 && i < m->n; i++) {
		pmu = &m->pmus[i];
		if (!pmu->core) {
			continue;
		}
		event = event_list_add(p->list);
		if (event == NULL) {
			return error_nomem(p->err);
		}
		event->attr.type = type == SONDE_TYPE_RAW ? pmu->type : type;
		event->attr.config =
		        type == SONDE_TYPE_RAW ? config : config | (uint64_t)pmu->type << 32;
		event->pmu = pmu->name;
		event->cpus = pmu->cpus;
		event->instance = (size_t)added++;
		event->name = NULL;
	}
	return added;
}
