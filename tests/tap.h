/* SPDX-License-Identifier: MIT */
/*
 * Test results in TAP: ok(), eq_u64(), eq_str(), eq_mem(), skip(); end with `return tap_done();`.
 */
#ifndef SONDE_TESTS_TAP_H
#define SONDE_TESTS_TAP_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_count;
static int tap_failures;

static inline bool tap_result(bool good, const char *file, int line, const char *what)
{
	tap_count++;
	if (!good) {
		tap_failures++;
	}
	printf("%sok %d - %s\n", good ? "" : "not ", tap_count, what);
	if (!good) {
		printf("#   at %s:%d\n", file, line);
	}
	return good;
}

static inline void tap_eq_u64(uint64_t got, uint64_t want, const char *f, int l, const char *what)
{
	if (!tap_result(got == want, f, l, what)) {
		printf("#   got %" PRIu64 " (0x%" PRIx64 "), want %" PRIu64 " (0x%" PRIx64 ")\n",
		        got, got, want, want);
	}
}

static inline void tap_eq_str(
        const char *got, const char *want, const char *f, int l, const char *what)
{
	bool good = got != NULL && want != NULL ? strcmp(got, want) == 0 : got == want;

	if (!tap_result(good, f, l, what)) {
		printf("#   got  \"%s\"\n#   want \"%s\"\n", got ? got : "(null)",
		        want ? want : "(null)");
	}
}

#define ok(cond, what) tap_result((cond), __FILE__, __LINE__, what)
#define eq_u64(got, want, what)                                                                    \
	tap_eq_u64((uint64_t)(got), (uint64_t)(want), __FILE__, __LINE__, what)
#define eq_str(got, want, what) tap_eq_str((got), (want), __FILE__, __LINE__, what)
#define eq_mem(got, want, n, what)                                                                 \
	tap_result(memcmp((got), (want), (n)) == 0, __FILE__, __LINE__, what)

static inline void skip(const char *reason)
{
	tap_count++;
	printf("ok %d # SKIP %s\n", tap_count, reason);
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failures != 0;
}

#endif
