/* SPDX-License-Identifier: MIT */
/*
 * Decodes the branches of a trace and cuts an object to no bytes on the way, before sample N:
 * cut_object RECORDING SYMFS OBJECT N. Prints the number of samples and the sum of their
 * addresses.
 */
#include <inttypes.h>
#include <sonde/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct sonde_session_options o = {
	        sizeof(o), .symfs = argc > 2 ? argv[2] : NULL, .itrace = "be"};
	struct sonde_session *s = argc == 5 ? sonde_session_new(&o) : NULL;
	int rc = s != NULL ? sonde_session_open(s, argv[1]) : SONDE_ENOMEM;
	uint64_t n = 0, sum = 0;
	const struct sonde_event *e;

	while (rc >= 0) {
		if (n == strtoull(argv[4], NULL, 10) && truncate(argv[3], 0) != 0) {
			perror(argv[3]);
			break;
		}
		rc = sonde_session_next(s, &e);
		if (rc <= 0) {
			break;
		}
		n++;
		sum += e->sample->ip + 3 * e->sample->addr;
	}
	(void)printf("%" PRIu64 " %" PRIx64 "\n", n, sum);
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n", s != NULL ? sonde_session_error(s)->text : "usage");
	}
	sonde_session_free(s);
	return rc < 0;
}
