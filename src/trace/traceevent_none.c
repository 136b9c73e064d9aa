/* SPDX-License-Identifier: MIT */
/* For builds without libtraceevent. */
#include "trace/library.h"

bool trace_library_present(void)
{
	return false;
}

int trace_library_new(
        struct trace_library **out, const struct trace_set *s, const struct trace_text_options *o)
{
	(void)s;
	(void)o;
	*out = NULL;
	return 0;
}

void trace_library_free(struct trace_library *l)
{
	(void)l;
}

bool trace_library_handles(struct trace_library *l, const struct trace_event *e)
{
	(void)l;
	(void)e;
	return false;
}

void trace_library_put(struct trace_library *l, struct span data, uint32_t cpu, struct text *out)
{
	(void)l;
	(void)data;
	(void)cpu;
	(void)out;
}
