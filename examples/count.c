/* SPDX-License-Identifier: MIT */
/* Counts events of the program's own code: count [EVENTS] */
#include <sonde/counter.h>

#include <stdio.h>
#include <stdlib.h>

static unsigned long work(void)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < 4096; i++) {
		unsigned long *p = calloc(1024, sizeof(*p));

		sum += p != NULL ? p[i % 1024] + 1 : 0;
		free(p);
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct sonde_counter *c = sonde_counter_new(NULL);
	const struct sonde_counter_value *v;
	int rc = c != NULL ? sonde_counter_open(c, argc > 1 ? argv[1] : "task-clock:u,cs:u")
	                   : SONDE_ENOMEM;

	rc = rc >= 0 ? sonde_counter_enable(c) : rc;
	(void)printf("%lu steps\n", work());
	for (size_t i = 0; rc >= 0 && i < sonde_counter_events(c); i++) {
		rc = sonde_counter_read_self(c, i, &v);
		(void)printf("%15llu %s\n", rc >= 0 ? (unsigned long long)v->value : 0,
		        sonde_counter_name(c, i));
	}
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n", c != NULL ? sonde_counter_error(c)->text : "memory");
	}
	sonde_counter_free(c);
	return rc < 0;
}
