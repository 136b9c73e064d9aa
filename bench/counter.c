/* SPDX-License-Identifier: MIT */
/*
 * Cost of reading a counter: sonde_counter_read against read(2), in turns, and the page. Prints the
 * median of the ratios; read(2) reads as many bytes into the same buffer.
 */
#define _GNU_SOURCE
#include <sonde/counter.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 31
#define READS  100000

static double cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_bare(struct sonde_counter *c)
{
	uint64_t buf[64]; /* large enough for a group */
	double from = cpu_ns();
	int i;

	for (i = 0; i < READS; i++) {
		if (read(sonde_counter_fd(c, 0), buf, sizeof(buf)) <= 0) {
			exit(1);
		}
	}
	return (cpu_ns() - from) / READS;
}

static double time_read(struct sonde_counter *c)
{
	const struct sonde_counter_value *v;
	double from = cpu_ns();
	int i;

	for (i = 0; i < READS; i++) {
		if (sonde_counter_read(c, 0, &v) < 0) {
			exit(1);
		}
	}
	return (cpu_ns() - from) / READS;
}

static double time_self(struct sonde_counter *c)
{
	const struct sonde_counter_value *v;
	double from = cpu_ns();
	int i;

	for (i = 0; i < READS; i++) {
		if (sonde_counter_read_self(c, 0, &v) < 0) {
			exit(1);
		}
	}
	return (cpu_ns() - from) / READS;
}

static double time_page(const void *page)
{
	struct sonde_page_count v;
	double from = cpu_ns();
	int i;

	for (i = 0; i < READS; i++) {
		(void)sonde_page_read(page, NULL, &v);
	}
	return (cpu_ns() - from) / READS;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	struct sonde_counter *c = sonde_counter_new(NULL);
	const char *event = argc > 1 ? argv[1] : "task-clock:u";
	double read_ratio[ROUNDS], self_ratio[ROUNDS], bare = 0;
	const void *page;
	int i;

	if (c == NULL || sonde_counter_open(c, event) < 0) {
		(void)fprintf(stderr, "%s\n", c != NULL ? sonde_counter_error(c)->text : "memory");
		return 1;
	}
	(void)sonde_counter_enable(c);
	page = sonde_counter_page(c, 0);
	for (i = 0; i < ROUNDS; i++) {
		double a = time_bare(c);
		double r = time_read(c);
		double s = time_self(c);

		a = (a + time_bare(c)) / 2; /* A B A */
		read_ratio[i] = r / a;
		self_ratio[i] = s / a;
		bare = i == 0 || a < bare ? a : bare;
	}
	qsort(read_ratio, ROUNDS, sizeof(double), compare);
	qsort(self_ratio, ROUNDS, sizeof(double), compare);
	(void)printf("%s: read(2) %.0f ns; sonde_counter_read %.3f of it, sonde_counter_read_self "
	             "%.3f (medians of %d)",
	        event, bare, read_ratio[ROUNDS / 2], self_ratio[ROUNDS / 2], ROUNDS);
	if (page != NULL) {
		(void)printf("; the page %.1f ns", time_page(page));
	}
	(void)printf("\n");
	sonde_counter_free(c);
	return 0;
}
