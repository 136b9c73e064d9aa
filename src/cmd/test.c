/* SPDX-License-Identifier: MIT */
/* Self-tests on the user's machine, in the layout of `perf test`. */
#define _GNU_SOURCE
#include "cmd/test.h"
#include "cmd/commands.h"
#include "cmd/options.h"

#include <sonde/base.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_MAX 60 /* for one test: after that it is considered hung */

static const struct test {
	const char *title;
	enum test_outcome (*run)(struct test_reason *why);
} tests[] = {
        {"Parse event strings", test_parse},
        {"Open software events", test_software_events},
        {"Count a group of events", test_group},
        {"Count a tracepoint", test_tracepoint},
        {"Count writes to an address (breakpoint)", test_breakpoint},
        {"Count calls of a function (uprobe)", test_uprobe},
        {"Convert times by the page's clock", test_page_clock},
        {"Read a hardware counter from user space", test_rdpmc},
        {"Read a ring that wraps around", test_ring_wrap},
        {"Test using a dummy software event to keep tracking", test_tracking},
        {"Record a program and read its samples", test_record},
        {"Record how programs start and end", test_side_band},
        {"Find our own symbols", test_symbols},
        {"Write a recording and read it back", test_write_read},
        {"Encode and decode Intel PT", test_intel_pt},
};

#define TESTS (sizeof(tests) / sizeof(tests[0]))

enum test_outcome test_say(struct test_reason *why, enum test_outcome outcome, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	return outcome;
}

enum test_outcome test_status(struct test_reason *why, int status, const char *text)
{
	bool cannot = status == SONDE_EPERM || status == SONDE_EUNSUPPORTED;

	return test_say(why, cannot ? TEST_SKIP : TEST_FAIL, "%s", text);
}

void __attribute__((noinline)) test_spin(void)
{
	struct timespec t = {0};
	int64_t begin_ms = -1, now_ms = 0;

	do {
		for (unsigned i = 0; i < 1000000; i++) {
			__asm__ volatile("" ::: "memory");
		}
		(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		now_ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
		begin_ms = begin_ms < 0 ? now_ms : begin_ms;
	} while (now_ms - begin_ms < 200);
}

/* Runs a test in its own process, so that its names, rings and crashes do not affect others. */
static enum test_outcome run_apart(const struct test *t, struct test_reason *why)
{
	enum test_outcome outcome = TEST_FAIL;
	int ends[2], status = 0;
	ssize_t got;
	pid_t child;

	why->text[0] = '\0';
	(void)fflush(stdout);
	if (pipe(ends) != 0 || (child = fork()) < 0) {
		return test_say(why, TEST_FAIL, "cannot start a process");
	}
	if (child == 0) {
		(void)alarm(SECONDS_MAX);
		outcome = t->run(why);
		got = write(ends[1], why, sizeof(*why));
		_exit(got == (ssize_t)sizeof(*why) ? (int)outcome : TEST_FAIL);
	}
	(void)close(ends[1]);
	got = read(ends[0], why, sizeof(*why));
	(void)close(ends[0]);
	(void)waitpid(child, &status, 0);
	if (got != (ssize_t)sizeof(*why)) {
		return test_say(why, TEST_FAIL, "it ended by signal %d",
		        WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) <= TEST_FAIL
	               ? (enum test_outcome)WEXITSTATUS(status)
	               : TEST_FAIL;
}

static int width(void)
{
	size_t i, most = 0;

	for (i = 0; i < TESTS; i++) {
		size_t n = strlen(tests[i].title);

		most = n > most ? n : most;
	}
	return (int)most;
}

/* Whether a test is selected by its number or by part of its title. */
static bool wanted(size_t i, int argc, char **argv)
{
	uint64_t number;
	int k;

	for (k = 0; k < argc; k++) {
		if (options_number(argv[k], &number)
		                ? number == i + 1
		                : strcasestr(tests[i].title, argv[k]) != NULL) {
			return true;
		}
	}
	return argc == 0;
}

static int run_tests(int argc, char **argv, int verbose)
{
	static const char *const words[] = {"Ok", "Skip", "FAILED!"};
	unsigned run = 0, failed = 0;
	struct test_reason why;
	size_t i;

	for (i = 0; i < TESTS; i++) {
		enum test_outcome outcome;

		if (!wanted(i, argc, argv)) {
			continue;
		}
		run++;
		(void)printf("%3zu: %-*s :", i + 1, width(), tests[i].title);
		outcome = run_apart(&tests[i], &why);
		failed += outcome == TEST_FAIL;
		(void)printf(" %s", words[outcome]);
		if (why.text[0] != '\0' && (outcome != TEST_OK || verbose > 0)) {
			(void)printf(" (%s)", why.text);
		}
		(void)printf("\n");
	}
	if (run == 0) {
		(void)fprintf(stderr,
		        "sonde test: no test is called '%s'; 'sonde test list' lists them\n",
		        argv[0]);
		return OPTIONS_USAGE;
	}
	return failed != 0;
}

int cmd_test(int argc, char **argv)
{
	int verbose = 0;
	const struct option_def defs[] = {
	        OPTION_COUNT('v', "verbose", &verbose, "print measured values"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "test",
	        .usage = "[options] [list | NUMBER | WORD]...",
	        .about = "Tests the parts of this machine that profiling needs.",
	        .defs = defs,
	        .anywhere = true,
	};
	struct option_rest rest;
	size_t i;
	int rc;

	if (argc == 2 && strcmp(argv[1], "--spin") == 0) { /* the workload of tests that record */
		test_spin();
		return 0;
	}
	rc = options_parse(&command, argc, argv, &rest);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc == 0 || strcmp(rest.argv[0], "list") != 0) {
		return run_tests(rest.argc, rest.argv, verbose);
	}
	for (i = 0; i < TESTS; i++) {
		(void)printf("%3zu: %s\n", i + 1, tests[i].title);
	}
	return 0;
}
