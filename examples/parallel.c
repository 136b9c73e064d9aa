/* SPDX-License-Identifier: MIT */
/* Counts kernel and user samples on all processors: parallel FILE */
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
	struct count *counts = s != NULL ? calloc(sonde_session_jobs(s), sizeof(*counts)) : NULL;
	int rc = counts != NULL ? sonde_session_open(s, argc > 1 ? argv[1] : "perf.data") : -1;

	if (rc >= 0 && sonde_session_map(s, count_one, counts) >= 0) {
		for (unsigned w = 1; w < sonde_session_jobs(s); w++) {
			counts[0].by_mode[1] += counts[w].by_mode[1];
			counts[0].by_mode[2] += counts[w].by_mode[2];
		}
		(void)printf("kernel %lu\nuser %lu\n", counts[0].by_mode[1], counts[0].by_mode[2]);
	} else {
		(void)fprintf(
		        stderr, "%s\n", s != NULL ? sonde_session_error(s)->text : "no memory");
	}
	free(counts);
	sonde_session_free(s);
	return rc < 0;
}
