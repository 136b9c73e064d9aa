/* SPDX-License-Identifier: MIT */
/*
 * Event strings on a machine whose PMU is part of the input: the string, a format file and the
 * terms of an event, each ended by a NUL. Parsing an event's name gives the same event.
 */
#include "core/span.h"
#include "event/parts.h"

#include <stdlib.h>

/* Reads the next text of the input; the last one needs no NUL. */
static char *take(const uint8_t **data, size_t *size)
{
	size_t n = strnlen((const char *)*data, *size);
	char *text = malloc(n + 1);

	if (text == NULL) {
		abort();
	}
	memcpy(text, *data, n);
	text[n] = '\0';
	n += n < *size;
	*data += n;
	*size -= n;
	return text;
}

static void add_pmu(
        struct event_machine *m, const char *name, const char *format, const char *terms)
{
	struct event_pmu *pmu = &m->pmus[m->n++];

	*pmu = (struct event_pmu){.name = name, .type = 8, .read = true, .core = true, .cpus = "0"};
	pmu->formats = calloc(2, sizeof(*pmu->formats));
	pmu->aliases = calloc(1, sizeof(*pmu->aliases));
	if (pmu->formats == NULL || pmu->aliases == NULL) {
		abort();
	}
	if (pmu_format_decode(format, &pmu->formats[0])) {
		if (pmu_deposit(pmu->formats[0].mask, pmu_format_max(&pmu->formats[0])) !=
		        pmu->formats[0].mask) {
			abort(); /* the largest value sets all bits */
		}
		pmu->formats[0].name = "event";
		pmu->formats[0].text = format;
		pmu->nformats++;
	}
	pmu->aliases[0] = (struct pmu_alias){.name = "some-event", .terms = terms, .scale = 1};
	pmu->naliases = 1;
	m->ncores++;
}

static struct event_machine *machine(const char *format, const char *terms)
{
	struct event_machine *m = calloc(1, sizeof(*m));

	if (m == NULL || (m->pmus = calloc(3, sizeof(*m->pmus))) == NULL) {
		abort();
	}
	add_pmu(m, "cpu_atom", format, terms);
	add_pmu(m, "intel_pt", format, terms);
	add_pmu(m, "uprobe", format, terms);
	return m;
}

static void check(const struct event_list *list, const char *format, const char *terms)
{
	struct event_list again = {.machine = machine(format, terms)};
	struct error err = {0};
	const struct event *e = &list->v[0];

	for (size_t i = 0; i < list->n; i++) {
		if (list->v[i].name == NULL || list->v[i].leader > i ||
		        list->v[list->v[i].leader].leader != list->v[i].leader) {
			abort();
		}
	}
	if (list->n == 1 && e->terms.set == 0 && *e->group_name == '\0' &&
	        event_parse(&again, -1, e->name, &err) == 0 &&
	        again.v[0].attr.config != e->attr.config) {
		abort();
	}
	event_list_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = take(&data, &size);
	char *format = take(&data, &size);
	char *terms = take(&data, &size);
	struct event_list list = {.machine = machine(format, terms)};
	struct error err = {0};

	if (event_parse(&list, -1, text, &err) == 0) {
		check(&list, format, terms);
	} else if (err.text[0] == '\0' || list.n != 0) {
		abort(); /* a failure has a message, and adds nothing */
	}
	event_list_fini(&list);
	free(text);
	free(format);
	free(terms);
	return 0;
}
