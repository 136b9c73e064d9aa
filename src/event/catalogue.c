/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "event/catalogue.h"

#include "core/array.h"
#include "event/parts.h"

#include <stdio.h>
#include <stdlib.h>

void catalogue_fini(struct catalogue *c)
{
	event_list_fini(&c->list);
	free(c->v);
	*c = (struct catalogue){0};
}

static const char *copy(struct catalogue *c, const char *text)
{
	return arena_text(&c->list.arena, text, strlen(text));
}

/* Adds an entry with a copy of its name. False: out of memory. */
static bool add(struct catalogue *c, const struct catalogue_entry *entry)
{
	const char *name = copy(c, entry->name);

	if (name == NULL || !array_reserve(&c->v, &c->cap, c->n + 1, sizeof(*c->v))) {
		return false;
	}
	c->v[c->n] = *entry;
	c->v[c->n].name = name;
	c->n++;
	return true;
}

/*
 * Whether there is a PMU of cores; without one, hardware events have names but cannot be counted.
 */
static bool has_cores(const struct event_machine *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (m->pmus[i].core || strcmp(m->pmus[i].name, "cpu") == 0) {
			return true;
		}
	}
	return false;
}

static bool add_common(struct catalogue *c, enum catalogue_kind kind, bool available)
{
	const uint32_t type =
	        kind == CATALOGUE_HARDWARE ? SONDE_TYPE_HARDWARE : SONDE_TYPE_SOFTWARE;
	const struct record_event_name *names;
	size_t i, n;

	names = record_event_names(&n);
	for (i = 0; i < n; i++) {
		struct catalogue_entry entry = {
		        .name = names[i].name, .kind = kind, .scale = 1, .available = available};

		if (names[i].type != type || names[i].alias_of != NULL) {
			continue;
		}
		if (i + 1 < n && names[i + 1].alias_of != NULL) {
			entry.alias = names[i + 1].name;
		}
		if (!add(c, &entry)) {
			return false;
		}
	}
	return true;
}

static bool add_tools(struct catalogue *c)
{
	for (enum event_tool tool = EVENT_TOOL_NONE + 1; tool < EVENT_TOOLS; tool++) {
		const struct catalogue_entry entry = {.name = event_tool_name(tool),
		        .kind = CATALOGUE_TOOL,
		        .unit = "ns",
		        .scale = 1,
		        .available = true};

		if (!add(c, &entry)) {
			return false;
		}
	}
	return true;
}

static bool add_caches(struct catalogue *c, bool available)
{
	struct catalogue_entry entry = {
	        .kind = CATALOGUE_CACHE, .scale = 1, .available = available};
	char name[32];
	uint64_t config;
	size_t i;

	entry.name = name;
	for (i = 0; event_cache_name(i, name, &config); i++) {
		if (!add(c, &entry)) {
			return false;
		}
	}
	return true;
}

static bool add_pmu(struct catalogue *c, const struct event_pmu *pmu)
{
	char name[600];
	size_t i;

	if (pmu->aux) { /* usable without terms */
		const struct catalogue_entry whole = {.kind = CATALOGUE_PMU,
		        .name = name,
		        .pmu = pmu->name,
		        .cpus = pmu->cpus,
		        .scale = 1,
		        .available = true};

		(void)snprintf(name, sizeof(name), "%s//", pmu->name);
		if (!add(c, &whole)) {
			return false;
		}
	}
	for (i = 0; i < pmu->naliases; i++) {
		const struct pmu_alias *a = &pmu->aliases[i];
		struct catalogue_entry entry = {.kind = CATALOGUE_PMU,
		        .name = name,
		        .alias = a->name,
		        .pmu = pmu->name,
		        .terms = a->terms,
		        .cpus = pmu->cpus,
		        .unit = a->unit,
		        .scale = a->scale,
		        .available = true};

		(void)snprintf(name, sizeof(name), "%s/%s/", pmu->name, a->name);
		/* generic names are not aliases of this PMU's events */
		entry.alias = event_name_find((struct word){a->name, strlen(a->name)}) != NULL
		                      ? NULL
		                      : a->name;
		if (!add(c, &entry)) {
			return false;
		}
	}
	return true;
}

/* Adds "cpu/event=0..255,umask=0..255/": the terms of a PMU with their ranges. */
static bool add_form(struct catalogue *c, const struct event_pmu *pmu)
{
	struct catalogue_entry entry = {.kind = CATALOGUE_RAW,
	        .pmu = pmu->name,
	        .cpus = pmu->cpus,
	        .scale = 1,
	        .available = true};
	struct text t = {0};
	char name[300];
	size_t i;
	bool ok;

	text_str(&t, probe_terms(pmu->name));
	for (i = 0; i < pmu->nformats; i++) {
		text_printf(&t, "%s%s=0..0x%llx", t.n == 0 ? "" : ",", pmu->formats[i].name,
		        (unsigned long long)pmu_format_max(&pmu->formats[i]));
	}
	(void)snprintf(name, sizeof(name), "%s/%s/", pmu->name, pmu->nformats > 0 ? "TERMS" : "");
	entry.name = name;
	entry.terms = t.n > 0 && !t.failed ? arena_text(&c->list.arena, t.p, t.n) : NULL;
	ok = !t.failed && (t.n == 0 || entry.terms != NULL) && add(c, &entry);
	text_fini(&t);
	return ok;
}

static bool add_pmus(struct catalogue *c, int root, struct event_machine *m, unsigned kinds)
{
	static const char *const no_forms[] = {"software", "tracepoint", "breakpoint"};
	size_t i, k;
	bool ok = true;

	for (i = 0; ok && i < m->n; i++) {
		ok = pmu_read(m, root, &m->pmus[i]) &&
		     ((kinds >> CATALOGUE_PMU & 1) == 0 || add_pmu(c, &m->pmus[i]));
	}
	for (i = 0; ok && (kinds >> CATALOGUE_RAW & 1) != 0 && i < m->n; i++) {
		for (k = 0; k < 3 && strcmp(m->pmus[i].name, no_forms[k]) != 0; k++) {
		}
		ok = k < 3 || add_form(c, &m->pmus[i]);
	}
	return ok;
}

static bool add_forms(struct catalogue *c, unsigned kinds, bool cores)
{
	const struct catalogue_entry raw = {.kind = CATALOGUE_RAW,
	        .name = "rNNN",
	        .terms = "NNN=0..0xffffffffffffffff",
	        .scale = 1,
	        .available = cores};
	const struct catalogue_entry breakpoint = {.kind = CATALOGUE_BREAKPOINT,
	        .name = "mem:ADDR[/LENGTH][:ACCESS]",
	        .terms = "LENGTH=1|2|4|8,ACCESS=r|w|x|rw",
	        .scale = 1,
	        .available = true};

	return ((kinds >> CATALOGUE_RAW & 1) == 0 || add(c, &raw)) &&
	       ((kinds >> CATALOGUE_BREAKPOINT & 1) == 0 || add(c, &breakpoint));
}

struct tracepoints {
	struct catalogue *c;
	unsigned kinds;
};

static bool add_tracepoint(void *arg, const char *system, const char *name)
{
	const struct tracepoints *t = arg;
	struct catalogue_entry entry = {.scale = 1, .available = true};
	char full[600];

	entry.kind = strncmp(system, "sdt_", 4) == 0 ? CATALOGUE_SDT : CATALOGUE_TRACEPOINT;
	(void)snprintf(full, sizeof(full), "%s:%s", system, name);
	entry.name = full;
	return (t->kinds >> entry.kind & 1) == 0 || add(t->c, &entry);
}

bool catalogue_read(struct catalogue *c, int root, unsigned kinds)
{
	struct event_machine *m = pmu_machine(&c->list, root);
	struct tracepoints tracepoints = {c, kinds};
	const unsigned traced = 1u << CATALOGUE_TRACEPOINT | 1u << CATALOGUE_SDT;
	bool cores;
	int rc;

	if (m == NULL) {
		return false;
	}
	cores = has_cores(m);
	if (((kinds >> CATALOGUE_HARDWARE & 1) != 0 && !add_common(c, CATALOGUE_HARDWARE, cores)) ||
	        ((kinds >> CATALOGUE_SOFTWARE & 1) != 0 &&
	                !add_common(c, CATALOGUE_SOFTWARE, true)) ||
	        ((kinds >> CATALOGUE_TOOL & 1) != 0 && !add_tools(c)) ||
	        ((kinds >> CATALOGUE_CACHE & 1) != 0 && !add_caches(c, cores)) ||
	        !add_pmus(c, root, m, kinds) || !add_forms(c, kinds, cores)) {
		return false;
	}
	if ((kinds & traced) == 0) {
		return true;
	}
	rc = tracepoint_each(root, add_tracepoint, &tracepoints);
	c->no_tracefs = rc == 0;
	return rc >= 0;
}
