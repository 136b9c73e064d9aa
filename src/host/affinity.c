/* SPDX-License-Identifier: MIT */
#include "host/affinity.h"

#include "host/tasks.h"
#include "proc/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds the cpus of the memory node of a cpu; none if the machine has no nodes. */
static void find_node(int root, pid_t cpu, struct host_affinity_cpus *out)
{
	char path[64];
	pid_t *nodes = NULL;
	pid_t *list;
	size_t i, n, nnodes = 0;

	if (proc_read_cpus(root, "sys/devices/system/node/online", &nodes, &nnodes) != 0) {
		return;
	}
	for (i = 0; i < nnodes && out->n == 0; i++) {
		(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist",
		        (int)nodes[i]);
		list = NULL;
		if (proc_read_cpus(root, path, &list, &n) != 0) {
			continue;
		}
		if (host_has_id(list, n, cpu)) {
			*out = (struct host_affinity_cpus){list, n};
		} else {
			free(list);
		}
	}
	free(nodes);
}

int host_affinity_plan(struct host_affinity *a, const char *mode, int root, const pid_t *cpus,
        size_t ncpus, struct error *err)
{
	size_t i;

	if (mode == NULL || strcmp(mode, "sys") == 0) {
		return 0;
	}
	if (strcmp(mode, "node") != 0 && strcmp(mode, "cpu") != 0) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "--affinity wants sys, node or cpu, not '%s'", mode);
	}
	a->near = calloc(ncpus, sizeof(*a->near));
	a->n = a->at = a->near != NULL ? ncpus : 0;
	for (i = 0; i < a->n; i++) {
		if (strcmp(mode, "node") == 0) {
			find_node(root, cpus[i], &a->near[i]);
		} else {
			TRY(host_add_id(&a->near[i].v, &a->near[i].n, cpus[i], err));
		}
	}
	return a->n == ncpus ? 0 : error_nomem(err);
}

/* A cpu that went off-line, or is not allowed here, does not stop the reading of its ring. */
void host_affinity_go(struct host_affinity *a, const struct host_kernel *kernel, size_t cpu)
{
	const struct host_affinity_cpus *to, *now;

	if (cpu >= a->n || cpu == a->at || a->near[cpu].n == 0) {
		return;
	}
	to = &a->near[cpu];
	now = a->at < a->n ? &a->near[a->at] : NULL;
	a->at = cpu;
	if (now == NULL || now->n != to->n || memcmp(now->v, to->v, to->n * sizeof(*to->v)) != 0) {
		(void)kernel->run_on(to->v, to->n);
	}
}

void host_affinity_fini(struct host_affinity *a)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		free(a->near[i].v);
	}
	free(a->near);
	*a = (struct host_affinity){0};
}
