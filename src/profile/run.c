/* SPDX-License-Identifier: MIT */
/* Makes a profile: the steps in their order. */
#include "profile/profile.h"

#include <stdlib.h>

/*
 * Whether the row's symbol, of branches that of the target, does not contain symbol_part: 1, 0, or
 * SONDE_ENOMEM.
 */
static int row_lacks(const struct profile *p, const struct profile_row *r)
{
	bool known = profile_row_symbol(r) != NULL;
	const char *name;

	if (p->options.branches && p->options.keys.chosen[FIELD_SYMBOL_TO]) {
		const struct profile_location *to = profile_row_location(p, r, FIELD_SYMBOL_TO);

		known = to->symbol != NULL;
		name = known ? profile_symbol(p, to->object, to->symbol) : NULL;
	} else {
		name = profile_row_name(p, r);
	}
	if (!known) {
		return 1;
	}
	return name != NULL ? strstr(name, p->options.symbol_part) == NULL : SONDE_ENOMEM;
}

/* Hides rows whose symbol does not contain symbol_part, and sums the totals of the other rows. */
static int rows_hide(struct profile *p)
{
	const struct profile_options *o = &p->options;

	for (size_t e = 0; e < sonde_session_events(p->session); e++) {
		p->shown_totals[e] = o->relative ? 0 : p->totals[e];
		p->shown_samples[e] = o->relative ? 0 : p->samples[e];
	}
	if (o->symbol_part == NULL && !o->relative) {
		return 0;
	}
	for (size_t i = 0; i < p->nrows; i++) {
		struct profile_row *r = &p->rows[i];

		if (o->symbol_part != NULL && !r->hidden) {
			int lacks = row_lacks(p, r);

			TRY(lacks);
			r->hidden = lacks > 0;
		}
		if (o->relative && !r->hidden) {
			p->shown_totals[r->event] += r->period;
			p->shown_samples[r->event] += r->samples;
		}
	}
	return 0;
}

/* Sums the latencies of the rows that are not hidden, or of all. */
static int latencies_sum(struct profile *p)
{
	if (!p->options.latency) {
		return 0;
	}
	p->latencies = calloc(sonde_session_events(p->session) + 1, sizeof(*p->latencies));
	for (size_t i = 0; i < p->nrows && p->latencies != NULL; i++) {
		bool counts = !p->options.relative || !p->rows[i].hidden;

		p->latencies[p->rows[i].event] +=
		        counts ? p->modes[i * PROFILE_MODES + FIELD_MODE_LATENCY] : 0;
	}
	return p->latencies != NULL ? 0 : SONDE_ENOMEM;
}

static int names_make(struct profile *p)
{
	const struct timeline *t = session_timeline(p->session);
	size_t n = timeline_objects(t);

	p->dso = calloc(n + 1, sizeof(*p->dso));
	if (p->dso == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct timeline_object *o = timeline_object(t, (uint32_t)i);
		const char *name = timeline_text(t, p->options.verbose ? o->name : o->short_name);

		p->dso[i] = intern_add(&p->names, name, strlen(name));
		if (p->dso[i] == INTERN_NONE) {
			return SONDE_ENOMEM;
		}
	}
	p->unknown = intern_add(&p->names, "[unknown]", 9);
	return p->unknown == INTERN_NONE ? SONDE_ENOMEM : 0;
}

void profile_init(struct profile *p, struct sonde_session *s, const struct profile_options *o)
{
	memset(p, 0, sizeof(*p));
	p->session = s;
	p->options = *o;
}

int profile_traces_init(struct profile *p, bool raw)
{
	if (p->traces.of_event != NULL) {
		return 0;
	}
	TRY(field_traces_init(&p->traces, p->session));
	return field_trace_keys_init(&p->trace_keys, &p->traces, p->session, raw);
}

/* Prepares for keys that are texts of tracepoints. */
static int texts_prepare(struct profile *p)
{
	static const char all[] = "trace_fields";
	size_t chosen = 0;

	p->source.texts = &p->texts;
	TRY(profile_traces_init(p, false));
	field_traces_report(&p->traces, p->session);
	for (size_t i = 0; i < sonde_session_events(p->session); i++) {
		chosen += p->trace_keys.of_event[i].n;
	}
	return chosen == 0 && p->options.keys.chosen[FIELD_TRACE_FIELDS]
	               ? field_trace_keys_choose(&p->trace_keys, all, strlen(all))
	               : 0;
}

int profile_run(struct profile *p)
{
	size_t events = sonde_session_events(p->session);

	p->totals = calloc(events + 1, sizeof(*p->totals));
	p->samples = calloc(events + 1, sizeof(*p->samples));
	p->shown_totals = calloc(events + 1, sizeof(*p->totals));
	p->shown_samples = calloc(events + 1, sizeof(*p->samples));
	if (p->totals == NULL || p->samples == NULL || p->shown_totals == NULL ||
	        p->shown_samples == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(field_source_init(&p->source, p->session));
	p->source.comm_of_sample = p->options.named;
	p->source.ns = p->options.ns;
	if (p->options.keys.chosen[FIELD_COMM_NODIGIT]) {
		TRY(field_plain_names_make(&p->source));
	}
	if (p->options.time_quantum != 0) {
		p->source.time_quantum = p->options.time_quantum;
	}
	if (p->options.keys.texts) {
		TRY(texts_prepare(p));
	}
	if (p->options.latency || p->options.keys.chosen[FIELD_PARALLELISM]) {
		TRY(profile_parallelism_make(p));
	}
	if (p->options.keys.chosen[FIELD_CGROUP_ID]) {
		TRY(profile_namespaces_make(p));
	}
	TRY(names_make(p));
	TRY(profile_collect(p));
	TRY(profile_locations_rank(p));
	TRY(profile_sources_read(p));
	if (p->options.inlined) {
		TRY(profile_inline(p));
	}
	TRY(profile_graph_words_make(p));
	TRY(profile_places_make(p));
	TRY(profile_fold(p));
	TRY(rows_hide(p));
	TRY(latencies_sum(p));
	if (p->options.graph) {
		TRY(profile_graph_prepare(p));
	}
	profile_parts_free(p);
	return 0;
}

void profile_fini(struct profile *p)
{
	profile_workers_free(p);
	profile_parts_free(p);
	profile_switches_free(p->switches);
	free(p->parents);
	free(p->parent_of);
	profile_sources_free(p);
	field_source_fini(&p->source);
	field_texts_fini(&p->texts);
	field_trace_keys_fini(&p->trace_keys);
	field_traces_fini(&p->traces);
	profile_counts_fini(&p->counts);
	free(p->shown);
	intern_fini(&p->names);
	free(p->dso);
	free(p->totals);
	free(p->samples);
	free(p->shown_totals);
	free(p->shown_samples);
	free(p->latencies);
	profile_namespaces_free(p);
	free(p->steps.steps);
	free(p->rows_of);
	free(p->rows);
	free(p->modes);
	free(p->graphs);
	free(p->refs);
}
