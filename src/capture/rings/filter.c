/* SPDX-License-Identifier: MIT */
/* Sets the filters of events in the kernel. */
#include "capture/rings/rings.h"

#include <errno.h>

static int set_filter(struct capture_rings *r, size_t e, const char *text)
{
	size_t i;

	for (i = 0; i < capture_cells(r); i++) {
		if (r->opened[e].fds[i] < 0 ||
		        r->kernel->set_filter(r->opened[e].fds[i], text) >= 0) {
			continue;
		}
		return error_errno(r->err, errno == EINVAL ? SONDE_EARG : SONDE_EUNSUPPORTED, errno,
		        "failed to set filter \"%s\" on event %s", text, r->plan->events.v[e].name);
	}
	return 0;
}

int capture_set_filters(struct capture_rings *r)
{
	size_t e;

	for (e = 0; e < r->plan->events.n; e++) {
		if (r->plan->events.v[e].filter == NULL) {
			continue;
		}
		TRY(set_filter(r, e,
		        r->plan->events.v[e].aux ? r->plan->aux.filter.p
		                                 : r->plan->events.v[e].filter));
	}
	return 0;
}
