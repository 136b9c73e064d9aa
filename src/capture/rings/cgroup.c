/* SPDX-License-Identifier: MIT */
/*
 * Control groups for events (-G). As in perf, names are assigned to the events before them in turn:
 * the first to the first; a single one to all; an event with an empty name has no group.
 */
#include "host/cgroup.h"
#include "capture/rings/rings.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int open_group(struct capture_rings *r, const char *mount, const char *name, size_t n)
{
	int fd = host_cgroup_open(r->root, mount, name, n);

	if (fd < 0) {
		return error_errno(r->err, SONDE_ENOENT, errno,
		        "-G: there is no control group '%.*s': %s/%.*s", (int)n, name, mount,
		        (int)n, name);
	}
	return fd;
}

/* limit: number of events before this filter; *next: the first event without a name. */
static int deal_out(struct capture_rings *r, const struct sonde_recorder_cgroup_filter *filter,
        const char *mount, size_t limit, size_t *next)
{
	const char *s = filter->names;
	size_t n = strcspn(s, ",");
	bool alone = *next == 0 && s[n] == '\0';
	size_t i;
	int fd;

	for (;; s += n + 1, n = strcspn(s, ",")) {
		if (*next >= limit) {
			return error_set(r->err, SONDE_EARG, NO_OFFSET,
			        "-G: more control groups than events before them: '%s'", s);
		}
		if (n > 0) {
			fd = open_group(r, mount, s, n);
			TRY(fd);
			r->cgroup_fds[*next] = fd;
		}
		++*next;
		if (s[n] == '\0') {
			break;
		}
	}
	for (i = *next; alone && n > 0 && i < limit; i++) {
		fd = open_group(r, mount, s, n);
		TRY(fd);
		r->cgroup_fds[i] = fd;
	}
	return 0;
}

int capture_cgroups_open(struct capture_rings *r)
{
	const struct sonde_recorder_options *o = r->plan->options;
	char mount[HOST_CGROUP_MOUNT];
	size_t i, next = 0, before;

	if (o->targets.ncgroups == 0) {
		return 0;
	}
	r->cgroup_fds = malloc(r->plan->events.n * sizeof(*r->cgroup_fds));
	if (r->cgroup_fds == NULL) {
		return error_nomem(r->err);
	}
	for (i = 0; i < r->plan->events.n; i++) {
		r->cgroup_fds[i] = -1;
	}
	if (!host_cgroup_mount(r->root, mount)) {
		return error_set(r->err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "-G: no control groups are mounted; as root run 'mount -t cgroup2 none "
		        "/sys/fs/cgroup'");
	}
	for (i = 0; i < o->targets.ncgroups; i++) {
		before = o->targets.cgroups[i].nevents;
		TRY(deal_out(r, &o->targets.cgroups[i], mount,
		        before == 0 ? r->plan->parsed[o->events.n] : r->plan->parsed[before],
		        &next));
	}
	return 0;
}

void capture_cgroups_close(struct capture_rings *r)
{
	size_t i;

	for (i = 0; r->cgroup_fds != NULL && i < r->plan->events.n; i++) {
		if (r->cgroup_fds[i] >= 0) {
			(void)close(r->cgroup_fds[i]);
		}
	}
	free(r->cgroup_fds);
	r->cgroup_fds = NULL;
}
