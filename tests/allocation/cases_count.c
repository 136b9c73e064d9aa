/* SPDX-License-Identifier: MIT */
/* Counting events of a short program. Skipped where the kernel does not permit it. */
#include "cases.h"

#include <sonde/counter.h>
#include <sonde/preview/stat.h>

static int case_stat(struct outcome *out, const struct input *in)
{
	static const char *const events[] = {"task-clock", "{page-faults,faults}"};
	char *const words[] = {in->program, NULL};
	struct sonde_stat_options o = {.size = sizeof(o),
	        .workload = words,
	        .command_line = words,
	        .events = events,
	        .nevents = 2,
	        .by = SONDE_STAT_BY_ALL};
	struct sonde_stat *s = sonde_stat_new(&o);
	int rc = s != NULL ? sonde_stat_run(s, outcome_add, out) : SONDE_ENOMEM;

	if (s != NULL) {
		outcome_error(out, rc, sonde_stat_error(s));
	}
	sonde_stat_free(s);
	return rc;
}

static int case_stat_record(struct outcome *out, const struct input *in)
{
	static const char *const events[] = {"task-clock", "page-faults"};
	char *const words[] = {in->program, NULL};
	struct sonde_stat_options o = {.size = sizeof(o),
	        .workload = words,
	        .command_line = words,
	        .events = events,
	        .nevents = 2,
	        .record = in->out,
	        .by = SONDE_STAT_BY_ALL};
	struct sonde_stat *s = sonde_stat_new(&o);
	int rc = s != NULL ? sonde_stat_run(s, outcome_add, out) : SONDE_ENOMEM;

	if (s != NULL) {
		outcome_error(out, rc, sonde_stat_error(s));
	}
	sonde_stat_free(s);
	return rc;
}

static int case_counter(struct outcome *out, const struct input *in)
{
	struct sonde_counter *c = sonde_counter_new(NULL);
	int rc = c != NULL ? sonde_counter_open(c, "task-clock:u,{page-faults:u,faults:u}")
	                   : SONDE_ENOMEM;

	(void)in;
	rc = rc >= 0 ? sonde_counter_enable(c) : rc;
	rc = rc >= 0 ? sonde_counter_read_all(c) : rc;
	if (c != NULL) {
		outcome_error(out, rc, sonde_counter_error(c));
	}
	sonde_counter_free(c);
	return rc;
}

const struct alloc_case count_cases[] = {
        {"stat", case_stat, true},
        {"stat record", case_stat_record, true},
        {"counters", case_counter, true},
        {NULL, NULL, false},
};
