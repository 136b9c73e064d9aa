/* SPDX-License-Identifier: MIT */
/*
 * Asks for each sample that is no context switch which thread ran on its processor at its time, and
 * compares with the sample's own thread: running FILE. Prints "same N other N unknown N".
 */
#include <sonde/preview/session.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct sonde_session *s = sonde_session_new(NULL);
	unsigned same = 0, other = 0, unknown = 0;
	const struct sonde_event *e;
	int rc = s != NULL && argc == 2 ? sonde_session_open(s, argv[1]) : SONDE_EARG;

	while (rc >= 0 && (rc = sonde_session_next(s, &e)) > 0) {
		struct sonde_thread who;

		if (strcmp(sonde_session_event_name(s, e->event), "sched:sched_switch") == 0) {
			continue;
		}
		if (sonde_session_running(s, e->sample->cpu, e->sample->time, &who) <= 0) {
			unknown++;
		} else if (who.tid == e->sample->tid && who.pid == e->sample->pid &&
		           strcmp(who.comm, e->thread.comm) == 0) {
			same++;
		} else {
			other++;
		}
	}
	(void)printf("same %u other %u unknown %u\n", same, other, unknown);
	sonde_session_free(s);
	return rc < 0;
}
