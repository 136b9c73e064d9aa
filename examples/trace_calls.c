/* SPDX-License-Identifier: MIT */
/* Prints the calls and returns of a recording with Intel PT: trace_calls FILE [FOLDER OF OBJECTS] */
#include <inttypes.h>
#include <sonde/session.h>
#include <stdio.h>

static const char *name(struct sonde_session *s, const struct sonde_event *e, uint64_t address)
{
	uint32_t mode = address >> 63 != 0 ? SONDE_CPUMODE_KERNEL : SONDE_CPUMODE_USER;
	const struct sonde_frame *f;

	if (sonde_session_resolve(s, e, mode, address, &f) > 0 && f->symbol != NULL) {
		return f->symbol;
	}
	return address != 0 ? "?" : "(not traced)";
}

static int print(struct sonde_session *s)
{
	const struct sonde_event *e;
	int rc;

	while ((rc = sonde_session_next(s, &e)) > 0) {
		const struct sonde_sample *b = e->sample;

		if ((b->present & SONDE_SAMPLE_ADDR) != 0) { /* a branch from ip to addr */
			(void)printf("%s %" PRIu32 " %" PRIu64 ": %s", e->thread.comm, b->tid,
			        b->time, name(s, e, b->ip));
			(void)printf(" -> %s\n", name(s, e, b->addr));
		}
	}
	return rc;
}

int main(int argc, char **argv)
{
	/* c, r: samples of calls and of returns */
	const struct sonde_session_options o = {
	        sizeof(o), .itrace = "cr", .symfs = argc > 2 ? argv[2] : NULL};
	struct sonde_session *s = sonde_session_new(&o);
	int rc = s ? sonde_session_open(s, argc > 1 ? argv[1] : "perf.data") : SONDE_ENOMEM;

	if (rc >= 0) {
		rc = print(s);
	}
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n", s ? sonde_session_error(s)->text : "no memory");
	}
	sonde_session_free(s);
	return rc < 0;
}
