/* SPDX-License-Identifier: MIT */
#include "stat/stat.h"

#include "core/array.h"
#include "proc/proc.h"

#include <stdio.h>
#include <stdlib.h>

void stat_set_fini(struct stat_set *s)
{
	size_t i;

	for (i = 0; i < s->nevents; i++) {
		free(s->events[i].name);
		free(s->events[i].unit);
		free(s->events[i].cgroup);
		free(s->events[i].now);
		free(s->events[i].before);
	}
	free(s->events);
	free(s->cpus);
	free(s->threads);
	*s = (struct stat_set){0};
}

int stat_set_add(struct stat_set *s, const char *name, const struct sonde_attr *attr)
{
	struct stat_event *e;

	if (!array_reserve(&s->events, &s->events_cap, s->nevents + 1, sizeof(*s->events))) {
		return SONDE_ENOMEM;
	}
	e = &s->events[s->nevents];
	*e = (struct stat_event){
	        .type = attr->type, .config = attr->config, .scale = 1, .row = s->nevents};
	e->clock = attr->type == SONDE_TYPE_SOFTWARE &&
	           (attr->config == SONDE_SW_CPU_CLOCK || attr->config == SONDE_SW_TASK_CLOCK);
	e->name = strdup(name);
	e->unit = strdup(e->clock ? "msec" : "");
	e->scale = e->clock ? 1e-6 : 1;
	if (e->name == NULL || e->unit == NULL) {
		free(e->name);
		free(e->unit);
		return SONDE_ENOMEM;
	}
	s->nevents++;
	return 0;
}

int stat_set_alloc(struct stat_set *s)
{
	size_t i, cells = s->ncpus * s->nthreads;

	for (i = 0; i < s->nevents; i++) {
		s->events[i].now = calloc(cells + 1, sizeof(struct stat_count));
		s->events[i].before = calloc(cells + 1, sizeof(struct stat_count));
		if (s->events[i].now == NULL || s->events[i].before == NULL) {
			return SONDE_ENOMEM;
		}
	}
	return 0;
}

static int place_number(int root, int cpu, const char *name)
{
	char path[128];
	int64_t v;

	(void)snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
	return proc_read_number(root, path, &v) ? (int)v : -1;
}

/* Returns the node whose folder is below that of the cpu. */
static int place_node(int root, int cpu)
{
	char path[128];
	const struct dirent *entry;
	int node = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d", cpu);
	dir = proc_open_dir(root, path);
	while ((entry = proc_next_entry(dir)) != NULL) {
		if (strncmp(entry->d_name, "node", 4) == 0) {
			node = (int)strtol(entry->d_name + 4, NULL, 10);
		}
	}
	proc_close_dir(dir);
	return node;
}

void stat_set_places(struct stat_set *s, int root)
{
	size_t i;

	for (i = 0; i < s->ncpus; i++) {
		struct stat_place *p = &s->cpus[i];

		if (p->cpu >= 0) {
			p->core = place_number(root, p->cpu, "core_id");
			p->die = place_number(root, p->cpu, "die_id");
			p->die = p->die < 0 ? 0 : p->die;
			p->socket = place_number(root, p->cpu, "physical_package_id");
			p->node = place_node(root, p->cpu);
		}
	}
}
