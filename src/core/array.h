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

#endif
