/* SPDX-License-Identifier: MIT */
/* Metrics of the counts of a record, in lines after its last sample, as perf prints those of two events. */
#include "metric/metric.h"

#include "script/script.h"

static bool is_clock(const struct sonde_attr *attr)
{
	return attr->type == SONDE_TYPE_SOFTWARE &&
	       (attr->config == SONDE_SW_CPU_CLOCK || attr->config == SONDE_SW_TASK_CLOCK);
}

/* The attr of a count's event; NULL: unknown, or it did not rise. */
static const struct sonde_attr *attr_of(
        const struct script *s, const struct session_group *group, size_t i)
{
	const struct session_event *e =
	        group->periods[i] != 0 ? session_event_by_id(s->session, group->values[i].id)
	                               : NULL;

	return e != NULL ? &e->attr : NULL;
}

static void find_bases(
        const struct script *s, const struct session_group *group, struct metric_bases *bases)
{
	*bases = (struct metric_bases){0};
	for (size_t i = 0; i < group->n; i++) {
		const struct sonde_attr *attr = attr_of(s, group, i);
		int base = attr != NULL ? metric_base_of(attr->type, attr->config) : -1;

		if (base >= 0 && !bases->known[base]) {
			bases->known[base] = true;
			bases->v[base] = (double)group->periods[i];
		}
	}
}

void script_metrics(struct text *out, const struct script *s, struct script_worker *w,
        const struct session_sample *sample)
{
	struct metric_bases bases;
	struct session_group group;
	struct metric metric, more;

	if (!session_worker_group(&w->session, sample, &group)) {
		return;
	}
	find_bases(s, &group, &bases);
	for (size_t i = 0; i < group.n; i++) {
		const struct sonde_attr *attr = attr_of(s, &group, i);

		if (attr == NULL || is_clock(attr)) {
			continue;
		}
		metric_find(
		        attr->type, attr->config, (double)group.periods[i], &bases, &metric, &more);
		if (metric.unit != NULL) {
			line_head(out, &s->plans[sample->event], &s->style, &w->line, sample, NULL);
			text_printf(out, "\tmetric: %*.*f%s %s\n", (int)metric.width,
			        (int)metric.digits, metric.value, metric.tail, metric.unit);
		}
	}
}
