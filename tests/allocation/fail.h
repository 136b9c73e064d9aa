/* SPDX-License-Identifier: MIT */
/*
 * One allocation of the library fails, for tests. The linker puts the functions of fail.c in front of
 * malloc, calloc, realloc, aligned_alloc, free, strdup, strndup, asprintf and getline of all objects
 * and static libraries of the program (-Wl,--wrap=...). What shared libraries allocate for themselves (FILE and
 * DIR of libc, zstd, zlib) does not fail and is not counted.
 */
#ifndef SONDE_TESTS_FAIL_H
#define SONDE_TESTS_FAIL_H

#include <stdbool.h>
#include <stdint.h>

/* From now on allocation number `nth` fails, from 1; 0: none. trace: prints where, with a sanitizer. */
void fail_at(uint64_t nth, bool trace);

/* No allocation fails from now on. True when one did. */
bool fail_end(void);

/* Allocations since fail_at. */
uint64_t fail_count(void);

/* Blocks that were allocated and not freed since the program began. */
int64_t fail_live(void);

#endif
