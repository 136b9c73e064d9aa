/* SPDX-License-Identifier: MIT */
/* Four threads that compute at the same time. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t mix(uint64_t x, unsigned n)
{
	while (n-- > 0) {
		x = (x & 1) != 0 ? x * 3 + 1 : x / 2 + n;
	}
	return x;
}

static void *work(void *arg)
{
	uint64_t *x = arg;
	unsigned i;

	for (i = 0; i < 60; i++) {
		*x += mix(*x + i, 40);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	uint64_t values[4] = {1, 20, 300, 4000};
	int i;

	for (i = 0; i < 4; i++) {
		if (pthread_create(&threads[i], NULL, work, &values[i]) != 0) {
			return 1;
		}
	}
	for (i = 0; i < 4; i++) {
		(void)pthread_join(threads[i], NULL);
	}
	(void)printf("%llu\n", (unsigned long long)(values[0] ^ values[1] ^ values[2] ^ values[3]));
	return 0;
}
