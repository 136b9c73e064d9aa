/* SPDX-License-Identifier: MIT */
/* Lists of cpus as -C takes them. */
#include "host/tasks.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

static long missed[4];
static size_t nmissed;

static void miss(void *arg, long cpu)
{
	(void)arg;
	if (nmissed < 4) {
		missed[nmissed++] = cpu;
	}
}

/* The cpus that are picked, as digits; "-": none, "bad": it is no list. */
static const char *pick(const char *list)
{
	static char out[8];
	pid_t online[] = {0, 1, 2, 4};
	const struct host_cpus all = {online, 4};
	struct host_cpus picked;
	size_t i;

	nmissed = 0;
	if (host_pick_cpus(list, &all, &picked, miss, NULL) < 0) {
		return "bad";
	}
	for (i = 0; i < picked.n; i++) {
		out[i] = (char)('0' + picked.v[i]);
	}
	out[i] = '\0';
	free(picked.v);
	return i == 0 ? "-" : out;
}

int main(void)
{
	static const char *const bad[] = {"", "x", "1,x", "1-", "2-1", "1;2", "-1"};

	eq_str(pick("1"), "1", "one cpu");
	eq_str(pick("4,0-1"), "014", "cpus come in the order of the machine");
	eq_str(pick("1,1,0-2"), "012", "none comes twice");
	eq_u64(nmissed, 0, "none of them is missing");
	eq_str(pick("3,4,7"), "4", "cpus that are off-line are left out");
	ok(nmissed == 2 && missed[0] == 3 && missed[1] == 7, "each of them is reported");
	eq_str(pick("5-9"), "-", "a range may have none");
	eq_u64(nmissed, 0, "ranges report no missing cpu");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char what[32];

		(void)snprintf(what, sizeof(what), "'%s' is no list of cpus", bad[i]);
		eq_str(pick(bad[i]), "bad", what);
	}
	return tap_done();
}
