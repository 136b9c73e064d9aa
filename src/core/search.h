/* SPDX-License-Identifier: MIT */
/* Binary search in arrays that are sorted by a number of each element. */
#ifndef SONDE_CORE_SEARCH_H
#define SONDE_CORE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Returns the index of the last of n elements whose uint64_t member is `key` or less; 0 if all are
 * greater, or n is 0.
 *
 *	i = SEARCH_LAST(changes, n, time, now);
 *	if (n != 0 && changes[i].time <= now) ...
 */
#define SEARCH_LAST(v, n, member, key)                                                             \
	search_last((v), sizeof(*(v)), offsetof(__typeof__(*(v)), member), (n), (key))

static inline size_t search_last(const void *v, size_t size, size_t at, size_t n, uint64_t key)
{
	size_t low = 0, high = n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		uint64_t number;

		memcpy(&number, (const char *)v + middle * size + at, sizeof(number));
		if (number <= key) {
			low = middle;
		} else {
			high = middle;
		}
	}
	return low;
}

#endif
