/* SPDX-License-Identifier: MIT */
#include "trace/set.h"

#include "core/search.h"

void trace_set_fini(struct trace_set *s)
{
	arena_fini(&s->arena);
}

const struct trace_event *trace_set_find(const struct trace_set *s, uint64_t id)
{
	size_t i = SEARCH_LAST(s->events, s->nevents, format.id, id);

	return s->nevents != 0 && s->events[i].format.id == id ? &s->events[i] : NULL;
}

struct span trace_set_constant(const struct trace_set *s, uint64_t address)
{
	size_t i = SEARCH_LAST(s->constants, s->nconstants, address, address);

	return s->nconstants != 0 && s->constants[i].address == address ? s->constants[i].text
	                                                                : (struct span){NULL, 0};
}

const struct trace_field *trace_event_field(const struct trace_event *e, struct span name)
{
	for (size_t i = 0; i < e->nfields; i++) {
		const struct trace_field *f = &e->fields[i];

		if (span_equal(f->name, name)) {
			return f;
		}
	}
	return NULL;
}
