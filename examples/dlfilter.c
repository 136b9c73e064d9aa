/* SPDX-License-Identifier: MIT */
/*
 * A filter for `sonde script` and `perf script`: keeps the samples in the functions that the
 * arguments name, and prints their number at the end.
 *
 *	cc -shared -fPIC -o functions.so dlfilter.c
 *	sonde script --dlfilter ./functions.so --dlarg main --dlarg malloc
 */
#include <sonde/preview/dlfilter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct perf_dlfilter_fns perf_dlfilter_fns;

struct functions {
	char **names;
	int n;
	unsigned long kept;
};

int start(void **data, void *ctx)
{
	struct functions *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		return -1;
	}
	f->names = perf_dlfilter_fns.args(ctx, &f->n);
	*data = f;
	return 0;
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	const struct perf_dlfilter_al *where = perf_dlfilter_fns.resolve_ip(ctx);
	struct functions *f = data;
	int i = 0;

	(void)sample;
	if (where == NULL || where->sym == NULL) {
		return 1;
	}
	while (i < f->n && strcmp(where->sym, f->names[i]) != 0) {
		i++;
	}
	f->kept += i < f->n;
	return i == f->n;
}

int stop(void *data, void *ctx)
{
	const struct functions *f = data;

	(void)ctx;
	(void)printf("%lu samples\n", f->kept);
	free(data);
	return 0;
}
