/* SPDX-License-Identifier: MIT */
/* Where the recorder runs while it reads a ring (--affinity): near the memory that the ring is in. */
#include "capture/capture.h"
#include "proc/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_cpu(const pid_t *list, size_t n, pid_t cpu)
{
	size_t i;

	for (i = 0; i < n && list[i] != cpu; i++) {
	}
	return i < n;
}

/* The cpus of the memory node that a cpu belongs to; none where the machine names no nodes. */
static void find_node(const struct sonde_record *r, pid_t cpu, struct capture_place *out)
{
	char path[64];
	pid_t *nodes = NULL;
	pid_t *list;
	size_t i, n, nnodes = 0;

	if (proc_read_cpus(r->root_fd, "sys/devices/system/node/online", &nodes, &nnodes) != 0) {
		return;
	}
	for (i = 0; i < nnodes && out->n == 0; i++) {
		(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist",
		        (int)nodes[i]);
		list = NULL;
		if (proc_read_cpus(r->root_fd, path, &list, &n) != 0) {
			continue;
		}
		if (has_cpu(list, n, cpu)) {
			*out = (struct capture_place){.cpus = list, .n = n};
		} else {
			free(list);
		}
	}
	free(nodes);
}

static int find_cpu(pid_t cpu, struct capture_place *out)
{
	out->cpus = malloc(sizeof(*out->cpus));
	if (out->cpus == NULL) {
		return SONDE_ENOMEM;
	}
	out->cpus[0] = cpu;
	out->n = 1;
	return 0;
}

int capture_places_plan(struct sonde_record *r)
{
	const char *mode = r->options.affinity;
	size_t i;

	r->place = SIZE_MAX;
	if (mode == NULL || strcmp(mode, "sys") == 0) {
		return 0;
	}
	if (strcmp(mode, "node") != 0 && strcmp(mode, "cpu") != 0) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "--affinity wants sys, node or cpu, not '%s'", mode);
	}
	if (r->per_thread || r->streams != NULL) {
		return 0; /* rings of threads are nowhere; threads that write have places of their own */
	}
	r->places = calloc(r->ncpus, sizeof(*r->places));
	if (r->places == NULL) {
		return error_nomem(&r->error);
	}
	for (i = 0; i < r->ncpus; i++) {
		if (strcmp(mode, "node") == 0) {
			find_node(r, r->cpus[i], &r->places[i]);
		} else if (find_cpu(r->cpus[i], &r->places[i]) < 0) {
			return error_nomem(&r->error);
		}
	}
	return 0;
}

/* A cpu that is off-line meanwhile, or not allowed here, is no reason to lose its ring. */
void capture_places_go(struct sonde_record *r, size_t ring)
{
	const struct capture_place *to, *now;
	size_t i = ring %
	           (r->nrings / 2); /* rings of the second half are those that are overwritten */

	if (r->places == NULL || i == r->place || r->places[i].n == 0) {
		return;
	}
	to = &r->places[i];
	now = r->place != SIZE_MAX ? &r->places[r->place] : NULL;
	r->place = i;
	if (now == NULL || now->n != to->n ||
	        memcmp(now->cpus, to->cpus, to->n * sizeof(*to->cpus)) != 0) {
		(void)r->kernel->run_on(to->cpus, to->n);
	}
}

void capture_places_free(struct sonde_record *r)
{
	size_t i;

	for (i = 0; r->places != NULL && i < r->ncpus; i++) {
		free(r->places[i].cpus);
	}
	free(r->places);
	r->places = NULL;
}
