/* SPDX-License-Identifier: MIT */
/* Sorting by a comparison that is no order: the result is that of a red-black tree. */
#ifndef SONDE_OUTPUT_REPORT_TREE_H
#define SONDE_OUTPUT_REPORT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Inserts order[0..n) one after the other into a red-black tree, to the left of what they are
 * before and to the right of everything else, and puts them in the tree's order. n is below
 * UINT32_MAX. 0, or SONDE_ENOMEM and the order as it was.
 */
int report_tree_sort(uint32_t *order, size_t n,
        bool (*before)(const void *arg, uint32_t a, uint32_t b), const void *arg);

#endif
