/* SPDX-License-Identifier: MIT */
/* Large tables of which few pages are used. */
#ifndef SONDE_PT_MEMORY_H
#define SONDE_PT_MEMORY_H

#include <stddef.h>

/* Reserves n bytes of zeros; pages are allocated when touched. NULL: out of memory. */
void *pt_reserve(size_t n);
void pt_release(void *p, size_t n); /* accepts NULL */

#endif
