/* SPDX-License-Identifier: MIT */
/* Sorts indices by columns of numbers, without comparisons. */
#ifndef SONDE_CORE_SORT_H
#define SONDE_CORE_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts order[0..n) so that keys[order[i]] rises; equal keys keep their order. To sort by several
 * columns, sort by the least important one first. spare: room for 2 * n numbers.
 */
void sort_order(const uint64_t *keys, uint32_t *order, uint64_t *spare, size_t n);

/* The same on `jobs` workers, if there are enough numbers. 0 or SONDE_ENOMEM. */
int sort_order_jobs(
        const uint64_t *keys, uint32_t *order, uint64_t *spare, size_t n, unsigned jobs);

#endif
