/* SPDX-License-Identifier: MIT */
/* Growing arrays: pointer, count and capacity are members of the user's struct. */
#ifndef SONDE_CORE_ARRAY_H
#define SONDE_CORE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for `need` elements of `size` bytes in the array at *data (a T **, passed as void *).
 * Grows by at least half. Returns false, and changes nothing, when out of memory.
 */
bool array_reserve(void *data, size_t *cap, size_t need, size_t size);

/*
 * Gives the memory after n elements back, for an array that will not grow any more: half of a large
 * page costs as much as a whole one.
 */
void array_fit(void *data, size_t *cap, size_t n, size_t size);

/*
 * Says that `size` bytes from p on will be filled and then be accessed in no order, so that large
 * pages save time: a miss of the TLB costs more than one of the caches, most of all in a virtual
 * machine. Blocks of less than 2 MiB are left alone. The hint also reaches the neighbours in the
 * block's first and last small page. Call it before the memory is written. NULL is fine.
 */
void array_spread(void *p, size_t size);

/*
 * Returns memory of zeros for what is read in any order: from 2 MiB on, it begins with a large page.
 * NULL: out of memory. array_unmap releases it, with the same size; NULL is fine.
 */
void *array_map(size_t size);
void array_unmap(void *p, size_t size);

#endif
