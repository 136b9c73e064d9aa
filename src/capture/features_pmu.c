/* SPDX-License-Identifier: MIT */
/* Header features about PMUs, from sys/bus/event_source/devices: doc/format.md draws them. */
#include "capture/capture.h"
#include "proc/proc.h"
#include "record/feature_write.h"

#include <stdio.h>

#define DEVICES   "sys/bus/event_source/devices"
#define PATH_ROOM 768

/* Appends a PMU's capabilities, each a name and a value; returns how many. */
static uint32_t put_caps(int root, const char *pmu, struct text *t)
{
	char path[PATH_ROOM], value[256];
	struct dirent *e;
	uint32_t n = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), DEVICES "/%s/caps", pmu);
	dir = proc_open_dir(root, path);
	while (dir != NULL && (e = readdir(dir)) != NULL) {
		(void)snprintf(path, sizeof(path), DEVICES "/%s/caps/%s", pmu, e->d_name);
		if (e->d_name[0] != '.' && proc_read_line(root, path, value, sizeof(value))) {
			feature_put_text(t, e->d_name);
			feature_put_text(t, value);
			n++;
		}
	}
	if (dir != NULL) {
		(void)closedir(dir);
	}
	return n;
}

/* CPU_PMU_CAPS: those of the processor's own PMU. */
bool capture_cpu_caps_put(const struct sonde_record *r, struct text *t)
{
	struct text list = {0};
	uint32_t n = put_caps(r->root_fd, "cpu", &list);

	feature_put_u32(t, n);
	text_bytes(t, list.p, list.n);
	t->failed |= list.failed;
	text_fini(&list);
	return n > 0;
}

/* PMU_CAPS: those of all others, which may be none. */
bool capture_pmu_caps_put(const struct sonde_record *r, struct text *t)
{
	DIR *dir = proc_open_dir(r->root_fd, DEVICES);
	struct text list = {0}, caps = {0};
	struct dirent *e;
	uint32_t n = 0, count;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.' || strcmp(e->d_name, "cpu") == 0) {
			continue;
		}
		caps.n = 0;
		count = put_caps(r->root_fd, e->d_name, &caps);
		if (count > 0) {
			feature_put_u32(&list, count);
			text_bytes(&list, caps.p, caps.n);
			feature_put_text(&list, e->d_name);
			n++;
		}
	}
	if (dir != NULL) {
		(void)closedir(dir);
	}
	feature_put_u32(t, n);
	text_bytes(t, list.p, list.n);
	t->failed |= list.failed || caps.failed;
	text_fini(&list);
	text_fini(&caps);
	return true;
}

/* HYBRID_TOPOLOGY: which cpus are of which kind, where there are several. */
bool capture_hybrid_put(const struct sonde_record *r, struct text *t)
{
	static const char *const kinds[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};
	char path[PATH_ROOM], cpus[1024];
	struct text list = {0};
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		(void)snprintf(path, sizeof(path), DEVICES "/%s/cpus", kinds[i]);
		if (proc_read_line(r->root_fd, path, cpus, sizeof(cpus))) {
			feature_put_text(&list, kinds[i]);
			feature_put_text(&list, cpus);
			n++;
		}
	}
	feature_put_u32(t, n);
	text_bytes(t, list.p, list.n);
	t->failed |= list.failed;
	text_fini(&list);
	return n > 0;
}
