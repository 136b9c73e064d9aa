/* SPDX-License-Identifier: MIT */
/* Self-tests: each runs in its own process and ends with Ok, Skip or FAILED, and a reason. */
#ifndef SONDE_CMD_TEST_H
#define SONDE_CMD_TEST_H

enum test_outcome { TEST_OK = 0, TEST_SKIP, TEST_FAIL };

/* Why a test did not end with Ok; test_say formats the text and returns `outcome`. */
struct test_reason {
	char text[512];
};

enum test_outcome test_say(struct test_reason *why, enum test_outcome outcome, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* Converts a status of the library: Skip if this machine or user cannot do it, else FAILED. */
enum test_outcome test_status(struct test_reason *why, int status, const char *text);

/* test_kernel.c */
enum test_outcome test_software_events(struct test_reason *why);
enum test_outcome test_parse(struct test_reason *why);
enum test_outcome test_group(struct test_reason *why);
enum test_outcome test_tracepoint(struct test_reason *why);
enum test_outcome test_breakpoint(struct test_reason *why);
enum test_outcome test_uprobe(struct test_reason *why);
enum test_outcome test_page_clock(struct test_reason *why);
enum test_outcome test_rdpmc(struct test_reason *why);
enum test_outcome test_tracking(struct test_reason *why);
enum test_outcome test_ring_wrap(struct test_reason *why);

/* test_files.c */
enum test_outcome test_record(struct test_reason *why);
enum test_outcome test_side_band(struct test_reason *why);
enum test_outcome test_symbols(struct test_reason *why);
enum test_outcome test_write_read(struct test_reason *why);
enum test_outcome test_intel_pt(struct test_reason *why);

/* Burns 200 ms of CPU time, for tests that record; not to be inlined. */
void test_spin(void);

#endif
