/* SPDX-License-Identifier: MIT */
/* Filters of events: from the options to the events, and to the kernel. */
#include "capture/capture.h"

#include <errno.h>

int capture_plan_filters(struct sonde_record *r, size_t nevents)
{
	const struct sonde_record_filter *filter;
	size_t i;

	for (i = 0; i < r->options.nfilters; i++) {
		filter = &r->options.filters[i];
		if (filter->nevents == nevents) {
			TRY(event_set_filter(&r->events, filter->text, &r->error));
		}
	}
	return 0;
}

static int set_filter(struct sonde_record *r, size_t e, const char *text)
{
	size_t i;

	for (i = 0; i < r->ncpus * r->tasks.nthreads; i++) {
		if (r->opened[e].fds[i] < 0 ||
		        r->kernel->set_filter(r->opened[e].fds[i], text) >= 0) {
			continue;
		}
		return error_set(&r->error, errno == EINVAL ? SONDE_EARG : SONDE_EUNSUPPORTED,
		        NO_OFFSET, "failed to set filter \"%s\" on event %s: %s", text,
		        r->events.v[e].name, strerror(errno));
	}
	return 0;
}

int capture_set_filters(struct sonde_record *r)
{
	size_t e;

	for (e = 0; e < r->events.n; e++) {
		if (r->events.v[e].filter == NULL) {
			continue;
		}
		TRY(set_filter(r, e, r->events.v[e].aux ? r->aux.filter.p : r->events.v[e].filter));
	}
	return 0;
}
