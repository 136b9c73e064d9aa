/* SPDX-License-Identifier: MIT */
/* Events of control groups: a name for each event, or all events for each group. */
#include "stat/stat.h"

#include "core/array.h"
#include "core/span.h"
#include "host/cgroup.h"
#include "proc/proc.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 64 /* levels of nested folders */

#define PATTERN_MARKS "^$[]*(){}|+?" /* a dot also occurs in names */

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

/* Assigns names of cgroups, one for each event; as in perf, the last one applies to the rest. */
int stat_cgroups_plan(struct sonde_stat *s)
{
	const char *p = s->options.cgroups, *last = p;
	size_t i, n;

	for (i = 0; s->neach > 0 && i < s->set.nevents; i++) {
		s->set.events[i].cgroup = strdup(s->each[i / (s->set.nevents / s->neach)]);
		if (s->set.events[i].cgroup == NULL) {
			return error_nomem(&s->error);
		}
		number_cgroup(&s->set, i);
	}
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

int stat_cgroup_open(struct sonde_stat *s, const char *name)
{
	char mount[HOST_CGROUP_MOUNT];
	bool mounted = host_cgroup_mount(s->root_fd, mount);
	int fd = host_cgroup_open(s->root_fd, mount, name, strlen(name));

	if (fd < 0) {
		return error_errno(&s->error, SONDE_ENOENT, errno,
		        mounted ? "there is no cgroup '%s' below %s"
		                : "no cgroup file system is mounted for '%s'%s",
		        name, mount);
	}
	return fd;
}

/* ---- all events for each ---- */

static int add_name(struct sonde_stat *s, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < s->neach; i++) {
		if (bytes_are(name, n, s->each[i])) {
			return 0;
		}
	}
	if (!array_reserve(&s->each, &s->each_cap, s->neach + 1, sizeof(*s->each))) {
		return error_nomem(&s->error);
	}
	s->each[s->neach] = strndup(name, n);
	if (s->each[s->neach] == NULL) {
		return error_nomem(&s->error);
	}
	s->neach++;
	return 0;
}

struct patterns {
	regex_t *v;
	size_t n, cap;
};

/*
 * The folders on the path. path: of the innermost one; from: where its name below the mount begins.
 */
struct walk {
	DIR *dirs[DEPTH_MAX];
	size_t ends[DEPTH_MAX]; /* lengths of path at each level */
	size_t depth, from;
	char path[2 * HOST_CGROUP_MOUNT];
};

static int enter(struct sonde_stat *s, struct walk *w, const struct patterns *all)
{
	size_t i, n = strlen(w->path), from = w->from < n ? w->from : n;

	for (i = 0; i < all->n; i++) {
		if (regexec(&all->v[i], w->path + from, 0, NULL, 0) == 0) {
			TRY(add_name(s, w->path + from, n - from));
			break;
		}
	}
	if (w->depth < DEPTH_MAX) {
		w->dirs[w->depth] = proc_open_dir(s->root_fd, w->path);
		w->ends[w->depth] = n;
		w->depth += w->dirs[w->depth] != NULL;
	}
	return 0;
}

/*
 * Adds matching groups, each before its subgroups, in readdir order, which is the order of perf's
 * rows.
 */
static int add_matches(struct sonde_stat *s, const struct patterns *all)
{
	struct walk *w = calloc(1, sizeof(*w));
	char mount[HOST_CGROUP_MOUNT];
	const struct dirent *entry;
	int rc = 0;

	if (w == NULL) {
		return error_nomem(&s->error);
	}
	if (host_cgroup_mount(s->root_fd, mount)) {
		(void)snprintf(w->path, sizeof(w->path), "%s", mount + (mount[0] == '/'));
		w->from = strlen(w->path) + 1;
		rc = enter(s, w, all);
	}
	while (rc == 0 && w->depth > 0) {
		size_t end = w->ends[w->depth - 1];

		entry = proc_next_entry(w->dirs[w->depth - 1]);
		if (entry == NULL) {
			(void)closedir(w->dirs[--w->depth]);
		} else if (entry->d_type == DT_DIR &&
		           end + strlen(entry->d_name) + 2 < sizeof(w->path)) {
			(void)snprintf(w->path + end, sizeof(w->path) - end, "/%s", entry->d_name);
			rc = enter(s, w, all);
		}
	}
	while (w->depth > 0) {
		(void)closedir(w->dirs[--w->depth]);
	}
	free(w);
	return rc;
}

/* Adds a pattern for each word; as in perf, an empty one means the root only. */
static int add_patterns(struct sonde_stat *s, const char *list)
{
	struct patterns all = {0};
	char why[128], *word;
	size_t n;
	int rc = 0;

	for (; rc == 0 && list != NULL; list = list[n] == ',' ? list + n + 1 : NULL) {
		n = strcspn(list, ",");
		word = n > 0 ? strndup(list, n) : strdup("^$");
		if (word == NULL || !array_reserve(&all.v, &all.cap, all.n + 1, sizeof(*all.v))) {
			rc = error_nomem(&s->error);
		} else if ((rc = regcomp(&all.v[all.n], word, REG_NOSUB)) != 0) {
			(void)regerror(rc, &all.v[all.n], why, sizeof(why));
			rc = error_set(&s->error, SONDE_EARG, NO_OFFSET,
			        "--for-each-cgroup: '%s' is no pattern: %s", word, why);
		} else {
			all.n++;
		}
		free(word);
	}
	rc = rc == 0 ? add_matches(s, &all) : rc;
	while (all.n > 0) {
		regfree(&all.v[--all.n]);
	}
	free(all.v);
	return rc;
}

static int add_names(struct sonde_stat *s, const char *list)
{
	size_t n;

	for (; list != NULL; list = list[n] == ',' ? list + n + 1 : NULL) {
		n = strcspn(list, ",");
		TRY(add_name(s, n > 0 ? list : "/", n > 0 ? n : 1));
	}
	return 0;
}

int stat_cgroups_expand(struct sonde_stat *s)
{
	const char *list = s->options.each_cgroup;
	size_t i, k, base = s->events.n;

	if (list == NULL) {
		return 0;
	}
	if (strpbrk(list, PATTERN_MARKS) == NULL) {
		TRY(add_names(s, list));
	} else {
		TRY(add_patterns(s, list));
		if (s->neach == 0) {
			return error_set(&s->error, SONDE_EARG, NO_OFFSET,
			        "--for-each-cgroup: no cgroup matches '%s'", list);
		}
	}
	for (k = 1; k < s->neach; k++) {
		for (i = 0; i < base; i++) {
			struct event *copy = event_list_add(&s->events);

			if (copy == NULL) {
				return error_nomem(&s->error);
			}
			*copy = s->events.v[i];
			copy->leader += k * base;
		}
	}
	return 0;
}
