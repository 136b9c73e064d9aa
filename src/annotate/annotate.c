/* SPDX-License-Identifier: MIT */
/* Samples by address -> functions -> their instructions, event after event. */
#include "annotate/inside.h"

#include "core/array.h"
#include "core/options.h"
#include "record/feature.h"

#include <stdlib.h>

int annotate_flush(struct annotate *a, size_t n)
{
	int rc;

	if (a->out.failed) {
		return SONDE_ENOMEM;
	}
	if (a->out.n < n || a->out.n == 0) {
		return 0;
	}
	rc = status_of_output(a->write(a->arg, a->out.p, a->out.n));
	a->out.n = 0;
	return rc;
}

/* Whether the option -s selects a function: 1, 0, SONDE_ENOMEM. */
static int is_wanted(const struct annotate *a, const struct annotate_function *f)
{
	const char *name = annotate_name(a, f);

	if (name == NULL) {
		return SONDE_ENOMEM;
	}
	return a->options.symbol == NULL || strcmp(name, a->options.symbol) == 0;
}

/* Makes functions of the places of the table, which are sorted. */
static int find_functions(struct annotate *a)
{
	const struct frame_resolver *r = session_frames(a->session);
	const struct annotate_table *t = &a->table;

	for (size_t i = 0; i < t->n;) {
		const struct annotate_place *p = &t->places[i];
		const struct symbol_table *table = frame_symbols(r, p->object);
		struct annotate_function f = {.object = p->object, .first = i};
		int wanted;

		if (table == NULL) {
			return SONDE_ENOMEM;
		}
		f.symbol = symbol_table_find(table, p->address);
		do {
			i++;
			f.n++;
		} while (f.symbol != NULL && i < t->n && t->places[i].object == f.object &&
		         t->places[i].address < f.symbol->end);
		if (f.symbol == NULL) {
			continue;
		}
		wanted = is_wanted(a, &f);
		TRY(wanted);
		if (wanted == 0) {
			continue;
		}
		if (!array_reserve(
		            &a->functions, &a->functions_cap, a->nfunctions + 1, sizeof(f))) {
			return SONDE_ENOMEM;
		}
		a->functions[a->nfunctions++] = f;
	}
	return 0;
}

struct ranked { /* a function in a section */
	const struct annotate_function *function;
	uint64_t period;
};

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->period != y->period) {
		return x->period > y->period ? -1 : 1;
	}
	return x->function < y->function ? -1 : x->function > y->function;
}

static void sum_up(struct annotate *a, const struct annotate_function *f)
{
	memset(a->sums, 0, 2 * a->nevents * sizeof(*a->sums));
	for (size_t i = 0; i < f->n; i++) {
		annotate_add(a, &a->table.places[f->first + i], a->sums);
	}
}

/* Whether a function has samples of the section, and a large enough share of them all. */
static bool is_large(const struct annotate *a)
{
	uint64_t samples = 0, whole = a->table.totals[a->events[0]].period;

	for (size_t i = 0; i < a->nevents; i++) {
		samples += a->sums[i].samples;
	}
	return samples != 0 &&
	       (a->options.min_percent <= 0 || whole == 0 ||
	               100.0 * (double)a->sums[0].period / (double)whole >= a->options.min_percent);
}

/* Prints the functions of the events a->events. */
static int put_section(struct annotate *a)
{
	struct ranked *ranked = calloc(a->nfunctions + 1, sizeof(*ranked));
	size_t n = 0;
	int rc = 0;

	if (ranked == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < a->nfunctions; i++) {
		sum_up(a, &a->functions[i]);
		if (is_large(a)) {
			ranked[n++] = (struct ranked){&a->functions[i], a->sums[0].period};
		}
	}
	qsort(ranked, n, sizeof(*ranked), ranked_compare);
	for (size_t i = 0; i < n && rc >= 0; i++) {
		sum_up(a, ranked[i].function);
		rc = a->options.json ? annotate_json(a, ranked[i].function)
		                     : annotate_text(a, ranked[i].function);
	}
	free(ranked);
	return rc;
}

/* Finds the events after `first` that belong to one section with it, by a group of the header. */
static size_t members_of(
        const struct annotate *a, const struct feature_groups *groups, size_t first)
{
	size_t n = sonde_session_events(a->session);

	if (a->options.group) {
		return n - first;
	}
	for (size_t i = 0; i < groups->n; i++) {
		if (groups->items[i].leader == first && groups->items[i].members > 1 &&
		        groups->items[i].members <= n - first) {
			return groups->items[i].members;
		}
	}
	return 1;
}

static int put_sections(struct annotate *a)
{
	size_t n = sonde_session_events(a->session);
	struct feature_groups groups = {0};
	struct arena arena = {0};
	int rc = SESSION_FEATURE(a->session, FEATURE_GROUP_DESC, &arena, &groups);

	rc = rc == SONDE_ENOMEM ? rc : 0;
	a->events = calloc(n + 1, sizeof(*a->events));
	a->sums = calloc(2 * n + 1, sizeof(*a->sums));
	if (a->events == NULL || a->sums == NULL) {
		rc = SONDE_ENOMEM;
	}
	for (size_t e = 0; e < n && rc >= 0; e += a->nevents) {
		a->nevents = members_of(a, &groups, e);
		for (size_t i = 0; i < a->nevents; i++) {
			a->events[i] = (uint32_t)(e + i);
		}
		rc = put_section(a);
	}
	arena_fini(&arena);
	return rc;
}

static int run(struct annotate *a)
{
	if (!frame_insn_text_supported()) {
		return error_set(session_error(a->session), SONDE_EUNSUPPORTED, NO_OFFSET,
		        "this build cannot disassemble: it was made without Zydis");
	}
	TRY(pick_init(&a->pick, a->session, &a->options.filter));
	a->code = frame_code_new(session_frames(a->session));
	a->source = frame_source_new(session_frames(a->session)->options.bundle);
	if (a->code == NULL || a->source == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(annotate_count(a->session, &a->pick, &a->table));
	TRY(find_functions(a));
	a->json.out = &a->out;
	if (a->options.json) {
		json_begin(&a->json, "annotate", 1);
		json_array(&a->json, "functions");
	}
	TRY(put_sections(a));
	if (a->options.json) {
		json_end(&a->json);
	}
	TRY(annotate_flush(a, 1));
	return a->any;
}

int sonde_annotate_print(struct sonde_session *s, const struct sonde_annotate_options *options,
        sonde_write_fn write, void *arg)
{
	struct annotate a = {.session = s, .write = write, .arg = arg};
	int rc;

	TRY(session_ready(s));
	TRY(options_copy(&a.options, sizeof(a.options), options, session_error(s)));
	if (a.options.percent > SONDE_ANNOTATE_GLOBAL_HITS) {
		return error_set(session_error(s), SONDE_EARG, NO_OFFSET,
		        "there is no kind of percentage %d", (int)a.options.percent);
	}
	rc = run(&a);
	(void)error_plain(session_error(s), rc);
	pick_fini(&a.pick);
	annotate_table_fini(&a.table);
	frame_code_free(a.code);
	frame_disassembler_free(a.disassembler);
	frame_source_free(a.source);
	free(a.functions);
	free(a.events);
	free(a.sums);
	text_fini(&a.out);
	text_fini(&a.insn_text);
	return rc;
}
