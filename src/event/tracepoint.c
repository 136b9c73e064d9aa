/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints: tracefs has a folder for each, events/SYSTEM/NAME, with its number in the file `id`.
 * tracefs is mounted at sys/kernel/tracing, on old systems only at sys/kernel/debug/tracing.
 */
#define _GNU_SOURCE
#include "core/array.h"
#include "event/parts.h"
#include "proc/proc.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const places[] = {
        "sys/kernel/tracing/events", "sys/kernel/debug/tracing/events"};

/* Names of subfolders. */
struct names {
	struct arena arena;
	const char **v;
	size_t n, cap;
};

static void names_fini(struct names *names)
{
	arena_fini(&names->arena);
	free(names->v);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In readdir order, as perf; false with errno, or out of memory (errno 0). */
static bool names_read(struct names *names, int root, const char *path)
{
	DIR *dir = proc_open_dir(root, path);
	const struct dirent *entry;
	bool ok = true;

	*names = (struct names){0};
	if (dir == NULL) {
		return false;
	}
	while (ok && (entry = proc_next_entry(dir)) != NULL) {
		if (entry->d_type == DT_REG) {
			continue;
		}
		ok = array_reserve(&names->v, &names->cap, names->n + 1, sizeof(*names->v)) &&
		     (names->v[names->n] = arena_text(
		              &names->arena, entry->d_name, strlen(entry->d_name))) != NULL;
		names->n += ok;
	}
	(void)closedir(dir);
	errno = 0;
	return ok;
}

static bool names_read_sorted(struct names *names, int root, const char *path)
{
	bool ok = names_read(names, root, path);

	if (names->n > 0) {
		qsort(names->v, names->n, sizeof(*names->v), compare);
	}
	return ok;
}

/* Returns the folder of all tracepoints; NULL with errno: tracefs is not mounted, or not readable. */
static const char *tracepoints_folder(int root)
{
	struct stat st;
	bool closed = false;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (root >= 0 && proc_stat(root, places[i], &st)) {
			return places[i];
		}
		closed |= errno == EACCES;
	}
	errno = closed ? EACCES : ENOENT;
	return NULL;
}

bool tracepoint_has_system(int root, struct word system)
{
	const char *place = tracepoints_folder(root);
	char path[512];
	struct stat st;

	if (place == NULL || system.n == 0 || system.n > 256) {
		return false;
	}
	(void)snprintf(path, sizeof(path), "%s/%.*s", place, (int)system.n, system.p);
	return strpbrk(path, "*?[") != NULL || proc_stat(root, path, &st);
}

static int no_tracefs(const struct parse *p, struct word at)
{
	if (p->root >= 0 && (errno == EACCES || errno == EPERM)) {
		(void)event_fail(p, at, "tracepoints cannot be read: %s", strerror(errno));
		(void)event_hint(p->err,
		        "as root run 'mount -o remount,mode=755 /sys/kernel/tracing', or record as "
		        "root");
		return p->err->chain[0].status = SONDE_EPERM;
	}
	(void)event_fail(p, at, "there are no tracepoints: tracefs is not mounted");
	(void)event_hint(p->err, "as root run 'mount -t tracefs nodev /sys/kernel/tracing'");
	return SONDE_EARG;
}

/* 1: added; 0: it has no number; negative: failure. */
static int add(const struct parse *p, const char *place, const char *system, const char *name)
{
	char path[700];
	char full[520];
	int64_t id;
	struct event *event;

	(void)snprintf(path, sizeof(path), "%s/%s/%s/id", place, system, name);
	if (!proc_read_number(p->root, path, &id)) {
		return errno == EACCES || errno == EPERM ? no_tracefs(p, (struct word){p->text, 0})
		                                         : 0;
	}
	event = event_list_add(p->list);
	(void)snprintf(full, sizeof(full), "%s:%s", system, name);
	if (event == NULL || !event_set_name(p->list, event, full)) {
		return error_nomem(p->err);
	}
	event->attr.type = SONDE_TYPE_TRACEPOINT;
	event->attr.config = (uint64_t)id;
	event->attr.sample_type =
	        SONDE_SAMPLE_RAW | SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU | SONDE_SAMPLE_PERIOD;
	event->default_period = 1;
	return 1;
}

static bool is_glob(const char *s)
{
	return strpbrk(s, "*?[") != NULL;
}

static int unknown_name(
        const struct parse *p, struct word at, const struct names *names, bool system)
{
	struct near near = {.word = at.p, .size = at.n};
	size_t i;

	(void)event_fail(p, at,
	        system ? "no tracepoints of a system '%.*s'" : "no tracepoint '%.*s' in its system",
	        (int)(at.n < 64 ? at.n : 64), at.p);
	for (i = 0; i < names->n; i++) {
		near_offer_text(&near, names->v[i]);
	}
	near_hint(&near, p->err);
	return event_hint(p->err, "all of them: sonde list tracepoint");
}

/* Adds the matching tracepoints of one system; returns how many, or negative. */
static int add_system(const struct parse *p, const char *place, const char *system,
        const struct word name, const char *glob)
{
	struct names names;
	char path[400];
	size_t i;
	int rc = 0;
	int added = 0;

	if (!is_glob(glob)) {
		rc = add(p, place, system, glob);
		if (rc != 0) {
			return rc;
		}
	}
	(void)snprintf(path, sizeof(path), "%s/%s", place, system);
	if (!names_read(&names, p->root, path)) {
		names_fini(&names);
		return errno != 0 ? no_tracefs(p, name) : error_nomem(p->err);
	}
	for (i = 0; rc >= 0 && is_glob(glob) && i < names.n; i++) {
		if (fnmatch(glob, names.v[i], 0) == 0) {
			rc = add(p, place, system, names.v[i]);
			added += rc > 0;
		}
	}
	if (rc >= 0 && added == 0 && !is_glob(glob)) {
		rc = unknown_name(p, name, &names, false);
	}
	names_fini(&names);
	return rc < 0 ? rc : added;
}

int tracepoint_parse(const struct parse *p, struct word system, struct word name)
{
	char system_glob[256], name_glob[256];
	const char *place = tracepoints_folder(p->root);
	struct names systems;
	size_t first = p->list->n;
	bool any = false;
	size_t i;
	int rc = 0;

	if (place == NULL) {
		return no_tracefs(p, system);
	}
	if (system.n >= sizeof(system_glob) || name.n >= sizeof(name_glob) || name.n == 0) {
		return event_fail(
		        p, name, "a tracepoint is SYSTEM:NAME, such as sched:sched_switch");
	}
	(void)snprintf(system_glob, sizeof(system_glob), "%.*s", (int)system.n, system.p);
	(void)snprintf(name_glob, sizeof(name_glob), "%.*s", (int)name.n, name.p);
	if (!names_read(&systems, p->root, place)) {
		names_fini(&systems);
		return errno != 0 ? no_tracefs(p, system) : error_nomem(p->err);
	}
	for (i = 0; rc >= 0 && i < systems.n; i++) {
		if (fnmatch(system_glob, systems.v[i], 0) == 0) {
			any = true;
			rc = add_system(p, place, systems.v[i], name, name_glob);
		}
	}
	if (rc >= 0 && systems.n == 0) {
		rc = no_tracefs(p, system);
	} else if (rc >= 0 && !any) {
		rc = unknown_name(p, system, &systems, true);
	} else if (rc >= 0 && p->list->n == first) {
		rc = event_fail(p, name, "no tracepoint matches '%s:%s'", system_glob, name_glob);
	}
	names_fini(&systems);
	return rc < 0 ? rc : 0;
}

int tracepoint_each(
        int root, bool (*call)(void *arg, const char *system, const char *name), void *arg)
{
	const char *place = tracepoints_folder(root);
	struct names systems, names;
	char path[700];
	struct stat st;
	size_t i, k;
	bool ok = true;

	if (place == NULL || !names_read_sorted(&systems, root, place)) {
		return 0;
	}
	for (i = 0; ok && i < systems.n; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", place, systems.v[i]);
		if (names_read_sorted(&names, root, path)) {
			for (k = 0; ok && k < names.n; k++) {
				/* some of ftrace's own tracepoints have a format but no number */
				(void)snprintf(path, sizeof(path), "%s/%s/%s/id", place,
				        systems.v[i], names.v[k]);
				ok = !proc_stat(root, path, &st) ||
				     call(arg, systems.v[i], names.v[k]);
			}
		}
		names_fini(&names);
	}
	k = systems.n;
	names_fini(&systems);
	return !ok ? SONDE_ENOMEM : k > 0;
}
