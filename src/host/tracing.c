/* SPDX-License-Identifier: MIT */
/*
 * Formats of tracepoints, as in the feature TRACING_DATA and, in streams, after a TRACING_DATA
 * record (version 0.6, observed in files of perf 6.1):
 *
 *	17 08 44 "tracing" "0.6\0"
 *	u8   byte order: 0 little, 1 big
 *	u8   bytes of a long
 *	u32  bytes of a page
 *	"header_page\0"  u64 n, n bytes of events/header_page
 *	"header_event\0" u64 n, n bytes of events/header_event
 *	u32  formats of the system ftrace, each u64 n, n bytes
 *	u32  systems, each: name\0, u32 formats, each u64 n, n bytes of events/SYSTEM/NAME/format
 *	u32  n, n bytes of kallsyms (none)
 *	u32  n, n bytes of printk_formats
 *	u64  n, n bytes of saved_cmdlines (none)
 */
#include "host/description.h"

#include "core/array.h"
#include "proc/proc.h"
#include "record/feature_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NAME_ROOM 128
#define PATH_ROOM 512

struct tracepoint {
	char system[NAME_ROOM], name[NAME_ROOM];
};

struct tracepoints {
	struct tracepoint *v;
	size_t n, cap;
};

static const char *tracefs(int root)
{
	static const char *const places[] = {
	        "sys/kernel/tracing/events", "sys/kernel/debug/tracing/events"};
	struct stat st;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (proc_stat(root, places[i], &st)) {
			return places[i];
		}
	}
	return NULL;
}

static bool has_id(int root, const char *events, const struct tracepoint *t, uint64_t id)
{
	char path[PATH_ROOM];
	int64_t v;

	(void)snprintf(path, sizeof(path), "%s/%s/%s/id", events, t->system, t->name);
	return proc_read_number(root, path, &v) && (uint64_t)v == id;
}

/* Most events are named SYSTEM:NAME[:MODIFIERS]. */
static bool by_name(int root, const char *events, const struct event *event, struct tracepoint *t)
{
	const char *s = event->name;
	size_t n = strcspn(s, ":");
	const char *name = s[n] == ':' ? s + n + 1 : NULL;

	if (name == NULL || n == 0 || n >= NAME_ROOM || strchr(s, '/') != NULL) {
		return false;
	}
	(void)snprintf(t->system, sizeof(t->system), "%.*s", (int)n, s);
	(void)snprintf(t->name, sizeof(t->name), "%.*s", (int)strcspn(name, ":"), name);
	return has_id(root, events, t, event->attr.config);
}

static bool in_system(int root, const char *events, uint64_t id, struct tracepoint *t)
{
	char path[PATH_ROOM];
	const struct dirent *e;
	bool found = false;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/%s", events, t->system);
	dir = proc_open_dir(root, path);
	while (!found && (e = proc_next_entry(dir)) != NULL) {
		if (strlen(e->d_name) < NAME_ROOM) {
			(void)snprintf(t->name, sizeof(t->name), "%s", e->d_name);
			found = has_id(root, events, t, id);
		}
	}
	proc_close_dir(dir);
	return found;
}

/* For an event with another name: searches for its number. */
static bool by_id(int root, const char *events, uint64_t id, struct tracepoint *t)
{
	DIR *dir = proc_open_dir(root, events);
	const struct dirent *e;
	bool found = false;

	while (!found && (e = proc_next_entry(dir)) != NULL) {
		if (strlen(e->d_name) < NAME_ROOM) {
			(void)snprintf(t->system, sizeof(t->system), "%s", e->d_name);
			found = in_system(root, events, id, t);
		}
	}
	proc_close_dir(dir);
	return found;
}

static bool collect(const struct host_description *d, const char *events, struct tracepoints *list)
{
	const struct event *event;
	struct tracepoint t;
	size_t i, k;

	for (i = 0; i < d->events->n; i++) {
		event = &d->events->v[i];
		if (event->attr.type != SONDE_TYPE_TRACEPOINT ||
		        (!by_name(d->root, events, event, &t) &&
		                !by_id(d->root, events, event->attr.config, &t))) {
			continue;
		}
		for (k = 0; k < list->n && (strcmp(list->v[k].system, t.system) != 0 ||
		                                   strcmp(list->v[k].name, t.name) != 0);
		        k++) {
		}
		if (k < list->n) {
			continue;
		}
		if (!array_reserve(&list->v, &list->cap, list->n + 1, sizeof(*list->v))) {
			return false;
		}
		list->v[list->n++] = t;
	}
	return true;
}

/* Appends a file after its length, a u64 or a u32; an unreadable file is empty. */
static void put_file(int root, struct text *t, const char *path, bool wide)
{
	struct text bytes = {0};

	if (!proc_read_file(root, path, &bytes)) {
		bytes.n = 0;
	}
	if (wide) {
		feature_put_u64(t, bytes.n);
	} else {
		feature_put_u32(t, (uint32_t)bytes.n);
	}
	text_bytes(t, bytes.p, bytes.n);
	t->failed |= bytes.failed;
	text_fini(&bytes);
}

/* Appends the formats of one system; returns how many. */
static uint32_t put_formats(int root, const char *events, const struct tracepoints *list,
        const char *system, struct text *t)
{
	char path[PATH_ROOM];
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (strcmp(list->v[i].system, system) == 0) {
			(void)snprintf(path, sizeof(path), "%s/%s/%s/format", events, system,
			        list->v[i].name);
			put_file(root, t, path, true);
			n++;
		}
	}
	return n;
}

static void put_systems(
        int root, const char *events, const struct tracepoints *list, struct text *out)
{
	struct text systems = {0}, formats = {0};
	uint32_t n = 0, count;
	size_t i, k;

	count = put_formats(root, events, list, "ftrace", &formats);
	feature_put_u32(out, count);
	text_bytes(out, formats.p, formats.n);
	for (i = 0; i < list->n; i++) {
		for (k = 0; k < i && strcmp(list->v[k].system, list->v[i].system) != 0; k++) {
		}
		if (k < i || strcmp(list->v[i].system, "ftrace") == 0) {
			continue;
		}
		formats.n = 0;
		count = put_formats(root, events, list, list->v[i].system, &formats);
		text_bytes(&systems, list->v[i].system, strlen(list->v[i].system) + 1);
		feature_put_u32(&systems, count);
		text_bytes(&systems, formats.p, formats.n);
		n++;
	}
	feature_put_u32(out, n);
	text_bytes(out, systems.p, systems.n);
	out->failed |= systems.failed || formats.failed;
	text_fini(&systems);
	text_fini(&formats);
}

bool host_put_tracing(const struct host_description *d, struct text *t)
{
	static const char magic[] = "\027\010\104tracing0.6"; /* with its NUL */
	static const uint16_t order = 1;
	struct tracepoints list = {0};
	const char *events = tracefs(d->root);
	char path[PATH_ROOM];
	size_t i;

	for (i = 0; i < d->events->n && d->events->v[i].attr.type != SONDE_TYPE_TRACEPOINT; i++) {
	}
	if (i == d->events->n || events == NULL) {
		return false;
	}
	t->failed |= !collect(d, events, &list);
	text_bytes(t, magic, sizeof(magic));
	text_char(t, (char)(*(const uint8_t *)&order == 0));
	text_char(t, (char)sizeof(long));
	feature_put_u32(t, (uint32_t)sysconf(_SC_PAGESIZE));
	text_bytes(t, "header_page", sizeof("header_page"));
	(void)snprintf(path, sizeof(path), "%s/header_page", events);
	put_file(d->root, t, path, true);
	text_bytes(t, "header_event", sizeof("header_event"));
	(void)snprintf(path, sizeof(path), "%s/header_event", events);
	put_file(d->root, t, path, true);
	put_systems(d->root, events, &list, t);
	feature_put_u32(t, 0);
	(void)snprintf(path, sizeof(path), "%s/../printk_formats", events);
	put_file(d->root, t, path, false);
	feature_put_u64(t, 0);
	free(list.v);
	return true;
}
