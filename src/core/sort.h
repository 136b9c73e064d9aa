/* SPDX-License-Identifier: MIT */
/* Sorting of numbered things by columns of numbers, without comparing. */
#ifndef SONDE_CORE_SORT_H
#define SONDE_CORE_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Puts order[0..n) so that keys[order[i]] rises; what has equal keys stays in the order it had. To
 * sort by several columns, sort by the least important one first. spare: room for n numbers.
 */
void sort_order(const uint64_t *keys, uint32_t *order, uint32_t *spare, size_t n);

#endif
