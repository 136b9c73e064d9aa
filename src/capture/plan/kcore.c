/* SPDX-License-Identifier: MIT */
/* The event that records changes of the kernel's code for a copy of it (--kcore). */
#include "host/kcore.h"

#include "capture/plan/plan.h"
#include "record/record.h"

int capture_kcore_plan(struct event_list *events, int root, struct error *err)
{
	struct event *event;

	TRY(host_kcore_check(root, err));
	/* changes of the kernel's code from here on, whatever is recorded */
	event = event_list_add(events);
	if (event == NULL || !event_set_name(events, event, "dummy:u")) {
		return error_nomem(err);
	}
	event->attr.type = SONDE_TYPE_SOFTWARE;
	event->attr.config = SONDE_SW_DUMMY;
	event->everywhere = true;
	return 0;
}

void capture_kcore_attrs(struct event_list *events)
{
	static const struct {
		enum sonde_attr_flag flag;
		bool on;
	} flags[] = {{SONDE_FLAG_KSYMBOL, true}, {SONDE_FLAG_TEXT_POKE, true},
	        {SONDE_FLAG_EXCLUDE_KERNEL, true}, {SONDE_FLAG_EXCLUDE_HV, true},
	        {SONDE_FLAG_EXCLUDE_GUEST, true}, {SONDE_FLAG_FREQ, false},
	        {SONDE_FLAG_DISABLED, false}, {SONDE_FLAG_ENABLE_ON_EXEC, false}};
	struct sonde_attr *attr;
	size_t i, k;

	for (i = 0; i < events->n; i++) {
		attr = &events->v[i].attr;
		record_attr_set(attr, SONDE_FLAG_KSYMBOL, false);
		if (!events->v[i].everywhere || attr->type != SONDE_TYPE_SOFTWARE) {
			continue;
		}
		attr->sample_period = 1;
		attr->sample_type &= SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME |
		                     SONDE_SAMPLE_ID | SONDE_SAMPLE_IDENTIFIER;
		for (k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
			attr->flags &= ~(1ull << flags[k].flag);
			attr->flags |= (uint64_t)flags[k].on << flags[k].flag;
		}
	}
}
