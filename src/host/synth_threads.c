/* SPDX-License-Identifier: MIT */
/* The processes of the machine as records, read by several threads (--num-thread-synthesize). */
#include "host/synth.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS_MAX 64 /* more only wait for each other's locks in the kernel */

/* What one thread reads: a run of the list of processes, so that the order stays. */
struct part {
	const struct host_synth *synth;
	const pid_t *pids;
	size_t n;
	struct text text;
	size_t cut; /* processes whose mappings took too long */
	pthread_t thread;
	bool running;
};

static void *read_part(void *arg)
{
	struct part *part = arg;
	size_t i;

	for (i = 0; i < part->n; i++) {
		part->cut += host_synth_task(part->synth, part->pids[i], true, &part->text) > 0;
	}
	return NULL;
}

int host_synth_tasks(const struct host_synth *s, const pid_t *pids, size_t n, size_t threads,
        struct text *out, size_t *cut, struct error *err)
{
	size_t i, k = threads;
	struct part *parts;

	k = k < THREADS_MAX ? k : THREADS_MAX;
	k = k < n ? k : n;
	parts = calloc(k, sizeof(*parts));
	if (parts == NULL) {
		return k == 0 ? 0 : error_nomem(err);
	}
	for (i = 0; i < k; i++) {
		parts[i].synth = s;
		parts[i].pids = pids + n * i / k;
		parts[i].n = n * (i + 1) / k - n * i / k;
		/* this thread takes the last part, and those that find no thread */
		parts[i].running = i + 1 < k && pthread_create(&parts[i].thread, NULL, read_part,
		                                        &parts[i]) == 0;
		if (!parts[i].running) {
			(void)read_part(&parts[i]);
		}
	}
	for (i = 0; i < k; i++) {
		if (parts[i].running) {
			(void)pthread_join(parts[i].thread, NULL);
		}
		if (parts[i].text.n > 0) {
			text_bytes(out, parts[i].text.p, parts[i].text.n);
		}
		out->failed |= parts[i].text.failed;
		*cut += parts[i].cut;
		text_fini(&parts[i].text);
	}
	free(parts);
	return 0;
}
