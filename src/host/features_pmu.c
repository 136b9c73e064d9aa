/* SPDX-License-Identifier: MIT */
/* Header features about PMUs, from sys/bus/event_source/devices: doc/format.md draws them. */
#include "host/description.h"

#include "proc/proc.h"
#include "record/feature_write.h"

#include <stdio.h>

#define DEVICES   "sys/bus/event_source/devices"
#define PATH_ROOM 768

/* Appends a PMU's capabilities as names and values; returns how many. */
static uint32_t put_caps(int root, const char *pmu, struct text *t)
{
	char path[PATH_ROOM], value[256];
	const struct dirent *e;
	uint32_t n = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), DEVICES "/%s/caps", pmu);
	dir = proc_open_dir(root, path);
	while ((e = proc_next_entry(dir)) != NULL) {
		(void)snprintf(path, sizeof(path), DEVICES "/%s/caps/%s", pmu, e->d_name);
		if (proc_read_line(root, path, value, sizeof(value))) {
			feature_put_text(t, e->d_name);
			feature_put_text(t, value);
			n++;
		}
	}
	proc_close_dir(dir);
	return n;
}

static bool has_core_pmu(const struct host_description *d)
{
	struct stat st;

	return proc_stat(d->root, DEVICES "/cpu/type", &st);
}

/* Whether the PMU has the counters of one of several kinds of cores. */
static bool is_kind(const char *pmu)
{
	static const char *const kinds[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[i], pmu) != 0; i++) {
	}
	return i < sizeof(kinds) / sizeof(kinds[0]);
}

/* CPU_PMU_CAPS: capabilities of the processor's own PMU; possibly none. */
bool host_put_cpu_caps(const struct host_description *d, struct text *t)
{
	struct text list = {0};
	uint32_t n = put_caps(d->root, "cpu", &list);

	return feature_put_list(t, n, &list) || has_core_pmu(d);
}

/*
 * Capabilities of the PMUs of kinds of cores, or of all others; returns the number of PMUs with
 * some.
 */
static uint32_t put_all_caps(int root, bool kinds, struct text *list)
{
	DIR *dir = proc_open_dir(root, DEVICES);
	struct text caps = {0};
	const struct dirent *e;
	uint32_t n = 0, count;

	while ((e = proc_next_entry(dir)) != NULL) {
		if (strcmp(e->d_name, "cpu") == 0 || is_kind(e->d_name) != kinds) {
			continue;
		}
		caps.n = 0;
		count = put_caps(root, e->d_name, &caps);
		if (count > 0) {
			feature_put_u32(list, count);
			text_bytes(list, caps.p, caps.n);
			feature_put_text(list, e->d_name);
			n++;
		}
	}
	proc_close_dir(dir);
	list->failed |= caps.failed;
	text_fini(&caps);
	return n;
}

/* PMU_CAPS: capabilities of all other PMUs, possibly none; kinds of cores come first. */
bool host_put_pmu_caps(const struct host_description *d, struct text *t)
{
	struct text list = {0};
	uint32_t n = put_all_caps(d->root, true, &list);

	n += put_all_caps(d->root, false, &list);
	(void)feature_put_list(t, n, &list);
	return true;
}

/* HYBRID_TOPOLOGY: the cpus of each kind of cores, if there are several; in readdir order. */
bool host_put_hybrid(const struct host_description *d, struct text *t)
{
	DIR *dir = proc_open_dir(d->root, DEVICES);
	char path[PATH_ROOM], cpus[1024];
	struct text list = {0};
	const struct dirent *e;
	uint32_t n = 0;

	while ((e = proc_next_entry(dir)) != NULL) {
		(void)snprintf(path, sizeof(path), DEVICES "/%s/cpus", e->d_name);
		if (is_kind(e->d_name) && proc_read_line(d->root, path, cpus, sizeof(cpus))) {
			feature_put_text(&list, e->d_name);
			feature_put_text(&list, cpus);
			n++;
		}
	}
	proc_close_dir(dir);
	return feature_put_list(t, n, &list);
}
