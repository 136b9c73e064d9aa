/* SPDX-License-Identifier: MIT */
/* Finds what a mistyped word was meant to be. */
#ifndef SONDE_CMD_SUGGEST_H
#define SONDE_CMD_SUGGEST_H

#include <stddef.h>

#define SUGGEST_NEAR 4u /* words at this distance are no longer alike */

/* Returns the edit distance of a[0..n) and b; words of more than 31 letters are never near. */
unsigned suggest_distance(const char *a, size_t n, const char *b);

#endif
