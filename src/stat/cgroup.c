/* SPDX-License-Identifier: MIT */
/* Events of control groups: names given one for each event, or all events for each group. */
#include "stat/stat.h"

#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static void number_cgroup(struct stat_set *set, size_t event)
{
	size_t i;

	for (i = 0; i < event; i++) {
		if (set->events[i].cgroup != NULL &&
		        strcmp(set->events[i].cgroup, set->events[event].cgroup) == 0) {
			set->events[event].cgroup_index = set->events[i].cgroup_index;
			return;
		}
	}
	set->events[event].cgroup_index = ++set->ncgroups;
}

/* Names of cgroups, one for each event; the last one does for the rest, as in perf. */
int stat_cgroups_plan(struct sonde_stat *s)
{
	const char *p = s->options.cgroups, *last = p;
	size_t i, n;

	for (i = 0; p != NULL && i < s->set.nevents; i++) {
		n = strcspn(last, ",");
		if (n > 0) {
			s->set.events[i].cgroup = strndup(last, n);
			if (s->set.events[i].cgroup == NULL) {
				return error_nomem(&s->error);
			}
			number_cgroup(&s->set, i);
		}
		last = last[n] == ',' ? last + n + 1 : strchr(p, ',') == NULL ? last : last + n;
	}
	return 0;
}

/* The folder of a cgroup: below the hierarchy that has perf_event, else below that of version 2. */
int stat_cgroup_open(struct sonde_stat *s, const char *name)
{
	char line[1024], best[512] = "", path[1024];
	FILE *mounts = proc_open_stream(s->root_fd, "proc/mounts");
	int fd;

	while (mounts != NULL && fgets(line, sizeof(line), mounts) != NULL) {
		char where[512], type[32], options[256];

		if (sscanf(line, "%*s %511s %31s %255s", where, type, options) != 3) {
			continue;
		}
		if (strcmp(type, "cgroup") == 0 && strstr(options, "perf_event") != NULL) {
			(void)snprintf(best, sizeof(best), "%s", where);
			break;
		}
		if (strcmp(type, "cgroup2") == 0) {
			(void)snprintf(best, sizeof(best), "%s", where);
		}
	}
	if (mounts != NULL) {
		(void)fclose(mounts);
	}
	(void)snprintf(path, sizeof(path), "%s/%s", best + (best[0] == '/'), name);
	fd = openat(s->root_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return error_set(&s->error, SONDE_ENOENT, NO_OFFSET,
		        best[0] != '\0' ? "there is no cgroup '%s' below %s: %s"
		                        : "no cgroup file system is mounted for '%s'%s: %s",
		        name, best, strerror(errno));
	}
	return fd;
}
