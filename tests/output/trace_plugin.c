/* SPDX-License-Identifier: MIT */
/* A plugin of libtraceevent that prints the event test:switch. */
#include <event-parse.h>
#include <trace-seq.h>

int TEP_PLUGIN_LOADER(struct tep_handle *tep);

static int print(
        struct trace_seq *s, struct tep_record *record, struct tep_event *event, void *context)
{
	(void)record;
	(void)event;
	(void)context;
	return trace_seq_puts(s, "printed by a plugin") > 0 ? 0 : -1;
}

__attribute__((visibility("default"))) int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	return tep_register_event_handler(tep, -1, "test", "switch", print, NULL) < 0 ? -1 : 0;
}
