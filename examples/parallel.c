/* SPDX-License-Identifier: MIT */
/* Kernel and user samples, counted on all cores: parallel FILE */
#include <sonde/session.h>

#include <stdio.h>
#include <stdlib.h>

struct count {
	unsigned long by_mode[8];
};

static int count_one(void *arg, unsigned worker, const struct sonde_event *e)
{
	struct count *counts = arg;

	counts[worker].by_mode[e->cpumode & 7]++;
	return 0;
}

int main(int argc, char **argv)
{
	struct sonde_session *s = sonde_session_new(NULL);
	int rc = s != NULL ? sonde_session_open(s, argc > 1 ? argv[1] : "perf.data") : SONDE_ENOMEM;
	unsigned jobs = rc >= 0 ? sonde_session_jobs(s) : 0;
	struct count *counts = calloc(jobs + 1, sizeof(*counts));

	rc = rc >= 0 && counts != NULL ? sonde_session_map(s, count_one, counts) : rc;
	for (unsigned w = 1; w < jobs && rc >= 0; w++) {
		counts[0].by_mode[1] += counts[w].by_mode[1];
		counts[0].by_mode[2] += counts[w].by_mode[2];
	}
	if (rc >= 0 && counts != NULL) {
		printf("kernel %lu\nuser %lu\n", counts[0].by_mode[1], counts[0].by_mode[2]);
	}
	if (rc < 0) {
		fprintf(stderr, "%s\n",
		        s != NULL ? sonde_session_error(s)->text : sonde_status_text(rc));
	}
	free(counts);
	sonde_session_free(s);
	return rc < 0;
}
