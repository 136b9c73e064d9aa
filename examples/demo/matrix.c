/* SPDX-License-Identifier: MIT */
/* Square matrices, multiplied row by row. */
#include "mill.h"

#include <stdlib.h>

static void fill(double *m, size_t n, struct rng *r)
{
	for (size_t i = 0; i < n * n; i++) {
		m[i] = (double)(rng_next(r) % 1000) / 1000.0;
	}
}

static double dot(const double *row, const double *column, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += row[i] * column[i * n];
	}
	return sum;
}

static void multiply(double *out, const double *a, const double *b, size_t n)
{
	for (size_t y = 0; y < n; y++) {
		for (size_t x = 0; x < n; x++) {
			out[y * n + x] = dot(a + y * n, b + x, n);
		}
	}
}

double matrix_trace(struct rng *r, size_t n)
{
	double *m = calloc(3 * n * n, sizeof(*m));
	double trace = 0;

	if (m == NULL) {
		return 0;
	}
	fill(m, n, r);
	fill(m + n * n, n, r);
	multiply(m + 2 * n * n, m, m + n * n, n);
	for (size_t i = 0; i < n; i++) {
		trace += m[2 * n * n + i * n + i];
	}
	free(m);
	return trace;
}
