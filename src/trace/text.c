/* SPDX-License-Identifier: MIT */
#include "trace/text.h"

#include "core/status.h"
#include "trace/library.h"
#include "trace/program.h"
#include "trace/value.h"

#include <stdlib.h>

#define REACH 8u /* bytes of an element of an array, at most */
#define NULS  64u /* after a copy of data: the library reads texts up to a NUL */

struct trace_text {
	const struct trace_set *set;
	struct trace_library *library; /* NULL: this build has none */
	struct trace_text_options options;
	bool *handled; /* by event of the set: a plugin prints it */
	struct text copy; /* of a sample's data */
};

bool trace_text_has_library(void)
{
	return trace_library_present();
}

int trace_text_new(
        struct trace_text **out, const struct trace_set *s, const struct trace_text_options *o)
{
	struct trace_text *t = calloc(1, sizeof(*t));

	*out = t;
	if (t == NULL) {
		return SONDE_ENOMEM;
	}
	t->set = s;
	t->options = *o;
	t->handled = calloc(s->nevents + 1, sizeof(*t->handled));
	if (t->handled == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(trace_library_new(&t->library, s, o));
	for (size_t i = 0; t->library != NULL && i < s->nevents; i++) {
		t->handled[i] = trace_library_handles(t->library, &s->events[i]);
	}
	return 0;
}

void trace_text_free(struct trace_text *t)
{
	if (t != NULL) {
		trace_library_free(t->library);
		text_fini(&t->copy);
		free(t->handled);
		free(t);
	}
}

static void put_by_library(struct trace_text *t, const struct trace_event *e, struct span data,
        uint32_t cpu, struct text *out)
{
	t->copy.n = 0;
	text_bytes(&t->copy, (const char *)data.p, data.n);
	text_fill(&t->copy, '\0', (e->counted ? REACH * data.n : 0) + NULS);
	if (t->copy.failed) {
		out->failed = true;
		return;
	}
	trace_library_put(t->library, (struct span){(const uint8_t *)t->copy.p, data.n}, cpu, out);
}

void trace_text_put(struct trace_text *t, const struct trace_event *e, struct span data,
        uint32_t cpu, struct text *out)
{
	if (!trace_values_fit(t->set, e, data)) {
		trace_values_text(t->set, e, data, out);
		return;
	}
	if (e->program != NULL && !t->handled[e - t->set->events]) {
		if (!trace_program_put(e->program, t->set, data, &t->options, out)) {
			trace_values_text(t->set, e, data, out);
		}
	} else if (t->library != NULL) {
		put_by_library(t, e, data, cpu, out);
	} else {
		trace_values_text(t->set, e, data, out);
	}
}
