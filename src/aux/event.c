/* SPDX-License-Identifier: MIT */
/*
 * The events whose samples are made, with perf's names and attrs (observed: perf inject --itrace,
 * then perf evlist -v).
 */
#include "aux/inside.h"

#include "core/arena.h"
#include "record/event_name.h"

#include <stdio.h>
#include <stdlib.h>

#define TYPE_SYNTH      (UINT32_C(1) << 31)
#define BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define USUAL_SAMPLE    (SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_IDENTIFIER)

#define COPIED                                                                                     \
	(UINT64_C(1) << SONDE_FLAG_EXCLUDE_USER | UINT64_C(1) << SONDE_FLAG_EXCLUDE_KERNEL |       \
	        UINT64_C(1) << SONDE_FLAG_EXCLUDE_HV | UINT64_C(1) << SONDE_FLAG_EXCLUDE_HOST |    \
	        UINT64_C(1) << SONDE_FLAG_EXCLUDE_GUEST)

static const struct {
	const char *name; /* NULL: the name of its attr */
	uint32_t type;
	uint64_t config;
	uint64_t sample;
} kinds[AUX_KINDS] = {
        [AUX_BRANCHES] = {NULL, SONDE_TYPE_HARDWARE, 4, SONDE_SAMPLE_ADDR | SONDE_SAMPLE_PERIOD},
        [AUX_INSTRUCTIONS] = {NULL, SONDE_TYPE_HARDWARE, 1, SONDE_SAMPLE_PERIOD},
        [AUX_CYCLES] = {NULL, SONDE_TYPE_HARDWARE, 0, SONDE_SAMPLE_PERIOD},
        [AUX_TRANSACTIONS] = {"transactions", SONDE_TYPE_HARDWARE, 1, 0},
        [AUX_PTWRITE] = {"ptwrite", TYPE_SYNTH, 0, SONDE_SAMPLE_RAW},
        [AUX_CBR] = {"cbr", TYPE_SYNTH, 5, SONDE_SAMPLE_RAW},
        [AUX_PSB] = {"psb", TYPE_SYNTH, 6, SONDE_SAMPLE_RAW},
        [AUX_MWAIT] = {"mwait", TYPE_SYNTH, 1, SONDE_SAMPLE_RAW},
        [AUX_PWRE] = {"pwre", TYPE_SYNTH, 2, SONDE_SAMPLE_RAW},
        [AUX_EXSTOP] = {"exstop", TYPE_SYNTH, 3, SONDE_SAMPLE_RAW},
        [AUX_PWRX] = {"pwrx", TYPE_SYNTH, 4, SONDE_SAMPLE_RAW},
        [AUX_EVT] = {"evt", TYPE_SYNTH, 7, SONDE_SAMPLE_RAW},
        [AUX_IFLAG] = {"iflag", TYPE_SYNTH, 8, SONDE_SAMPLE_RAW},
};

static bool is_wanted(const struct aux *a, enum aux_kind kind)
{
	const struct itrace *w = &a->setup.itrace;
	bool power = (a->attr->config & 1u << 4) != 0; /* the term pwr_evt */

	switch (kind) {
	case AUX_BRANCHES: return w->branches;
	case AUX_INSTRUCTIONS: return w->instructions;
	case AUX_CYCLES: return w->cycles;
	case AUX_TRANSACTIONS: return w->transactions;
	case AUX_PTWRITE: return w->ptwrites;
	case AUX_CBR:
	case AUX_PSB: return w->power;
	case AUX_MWAIT:
	case AUX_PWRE:
	case AUX_EXSTOP:
	case AUX_PWRX: return w->power && power;
	case AUX_EVT:
	case AUX_IFLAG: return w->events && a->event_trace;
	case AUX_KINDS:
	default: return false;
	}
}

static int name_event(struct aux *a, enum aux_kind kind, struct aux_event *e)
{
	struct arena arena = {0};
	const char *name = kinds[kind].name;

	if (name == NULL) {
		name = record_attr_name(&arena, &e->attr);
	}
	if (name != NULL) {
		(void)snprintf(a->names[kind], sizeof(a->names[kind]), "%s", name);
		e->name = a->names[kind];
	}
	arena_fini(&arena);
	return name != NULL ? 0 : SONDE_ENOMEM;
}

static int add_event(struct aux *a, enum aux_kind kind)
{
	struct aux_event *e = &a->events[a->nevents];

	e->attr = (struct sonde_attr){.size = a->attr->size,
	        .type = kinds[kind].type,
	        .config = kinds[kind].config,
	        .sample_period = kind == AUX_INSTRUCTIONS || kind == AUX_CYCLES ? a->period : 1,
	        .read_format = a->attr->read_format,
	        .flags = (a->attr->flags & COPIED) | UINT64_C(1) << SONDE_FLAG_SAMPLE_ID_ALL,
	        .sample_type = USUAL_SAMPLE | kinds[kind].sample};
	e->attr.sample_type |= a->timeless ? 0 : SONDE_SAMPLE_TIME;
	if (a->info.per_cpu_mmaps != 0) {
		e->attr.sample_type |= SONDE_SAMPLE_CPU;
	}
	if (kind != AUX_BRANCHES && a->setup.itrace.chain != 0) {
		e->attr.sample_type |= SONDE_SAMPLE_CALLCHAIN;
	}
	if (a->setup.itrace.last != 0) { /* a branch has itself, for reports of branches */
		e->attr.sample_type |= SONDE_SAMPLE_BRANCH_STACK;
		e->attr.branch_sample_type |= BRANCH_HW_INDEX;
	}
	e->recorded = AUX_MADE_EVENT;
	record_plan_make(&e->plan, &e->attr);
	TRY(name_event(a, kind, e));
	a->event_of[kind] = (uint32_t)a->nevents++;
	return 0;
}

/* Adds the events of the recording whose samples are in the trace. */
static void add_outputs(struct aux *a)
{
	const struct aux_setup *s = &a->setup;

	a->outputs = a->nevents;
	for (size_t i = 0; i < s->nattrs && s->itrace.outputs; i++) {
		if (sonde_attr_has(&s->attrs[i], SONDE_FLAG_AUX_OUTPUT)) {
			struct aux_event *e = &a->events[a->nevents++];

			*e = (struct aux_event){
			        .attr = s->attrs[i], .recorded = (uint32_t)i, .id = s->ids[i]};
			record_plan_make(&e->plan, &e->attr);
		}
	}
}

int aux_events_make(struct aux *a)
{
	a->events = calloc(AUX_KINDS + a->setup.nattrs, sizeof(*a->events));
	if (a->events == NULL) {
		return SONDE_ENOMEM;
	}
	for (unsigned kind = 0; kind < AUX_KINDS; kind++) {
		a->event_of[kind] = AUX_NO_EVENT;
		if (is_wanted(a, (enum aux_kind)kind)) {
			TRY(add_event(a, (enum aux_kind)kind));
		}
	}
	add_outputs(a);
	return 0;
}
