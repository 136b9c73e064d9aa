/* SPDX-License-Identifier: MIT */
/* Branches of many kinds; also linked statically. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int choose(int n)
{
	switch (n % 7) {
	case 0: return 5;
	case 1: return n * 3;
	case 2: return n - 8;
	case 3: return n / 3;
	case 4: return n ^ 77;
	case 5: return n << 2;
	default: return 1;
	}
}

int main(void)
{
	static char texts[40][12];
	const char *sorted[40];
	int i, sum = 0;

	for (i = 0; i < 40; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "%d", i * 7919 % 1000);
		sorted[i] = texts[i];
		sum += choose(i);
	}
	qsort(sorted, 40, sizeof(sorted[0]), compare);
	(void)printf("%s %s %d\n", sorted[0], sorted[39], sum);
	return 0;
}
