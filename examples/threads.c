/* SPDX-License-Identifier: MIT */
/* Prints samples by thread, in time order: threads FILE */
#include <sonde/session.h>

#include <stdio.h>

static struct {
	uint32_t tid;
	unsigned long samples;
	const char *comm;
} rows[4096];

int main(int argc, char **argv)
{
	struct sonde_session *s = sonde_session_new(NULL);
	const struct sonde_event *e;
	int rc = s != NULL ? sonde_session_open(s, argc > 1 ? argv[1] : "perf.data") : SONDE_ENOMEM;

	while (rc >= 0 && (rc = sonde_session_next(s, &e)) > 0) {
		size_t i = 0;

		while (i < 4095 && rows[i].samples != 0 && rows[i].tid != e->thread.tid) {
			i++;
		}
		rows[i].tid = e->thread.tid;
		rows[i].comm = e->thread.comm; /* valid as long as the session */
		rows[i].samples++;
	}
	for (size_t i = 0; rc >= 0 && i < 4096 && rows[i].samples != 0; i++) {
		(void)printf("%8lu  %s/%u\n", rows[i].samples, rows[i].comm, rows[i].tid);
	}
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n",
		        s != NULL ? sonde_session_error(s)->text : sonde_status_text(rc));
	}
	sonde_session_free(s);
	return rc < 0;
}
