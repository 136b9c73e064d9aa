/* SPDX-License-Identifier: MIT */
/* A heap sort, and the C library's qsort, which calls back. */
#include "mill.h"

#include <stdlib.h>
#include <string.h>

static void swap(uint64_t *a, uint64_t *b)
{
	uint64_t t = *a;

	*a = *b;
	*b = t;
}

static void sift_down(uint64_t *v, size_t root, size_t n)
{
	size_t child;

	while ((child = 2 * root + 1) < n) {
		if (child + 1 < n && v[child] < v[child + 1]) {
			child++;
		}
		if (v[root] >= v[child]) {
			return;
		}
		swap(&v[root], &v[child]);
		root = child;
	}
}

static void heap_sort(uint64_t *v, size_t n)
{
	for (size_t i = n / 2; i > 0; i--) {
		sift_down(v, i - 1, n);
	}
	for (size_t i = n; i > 1; i--) {
		swap(&v[0], &v[i - 1]);
		sift_down(v, 0, i - 1);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t sort_numbers(struct rng *r, size_t n)
{
	uint64_t *v = malloc(2 * n * sizeof(*v));
	uint64_t sum = 0;

	if (v == NULL) {
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		v[i] = v[n + i] = rng_next(r);
	}
	heap_sort(v, n);
	qsort(v + n, n, sizeof(*v), compare);
	if (memcmp(v, v + n, n * sizeof(*v)) == 0) {
		sum = v[n / 2] | 1;
	}
	free(v);
	return sum;
}
