/* SPDX-License-Identifier: MIT */
/* What a program does with the library, once for each allocation that fails. */
#ifndef SONDE_TESTS_ALLOCATION_CASES_H
#define SONDE_TESTS_ALLOCATION_CASES_H

#include <sonde/base.h>

#include <stdbool.h>

/* Files that the script `run` makes. */
struct input {
	const char *folder;
	char made[256]; /* a recording with call chains */
	char branches[256]; /* one with branch stacks */
	char tracepoints[256];
	char sched[256]; /* one of sched_switch and sched_stat_sleep */
	char jit[256]; /* one of a runtime with a jitdump */
	char *containers
	        [5]; /* the same as stream, folder, compressed, swapped, damaged; NULL ends */
	char kallsyms[256];
	char code[256], trace[256]; /* Intel PT */
	char traced[256], symfs[256]; /* a recording with a trace and other samples; its programs */
	char counts[256]; /* of `stat record` */
	char vm[256]; /* a recording with traces of guests */
	char host[256]; /* of a machine where process 80 runs a guest */
	char out[256]; /* written by cases */
	char *program; /* to run */
};

/* What a case printed and reported: the same when nothing fails. */
struct outcome {
	int rc; /* set by the loop */
	uint64_t bytes, digest;
	struct sonde_error error; /* of the handle; text may be NULL where the API has none */
	bool status_only; /* the function that failed leaves the handle's error alone */
	char text[256];
};

struct alloc_case {
	const char *name;
	int (*run)(struct outcome *out, const struct input *in);
	bool varies; /* what it prints is not the same twice: recordings, times */
};

extern const struct alloc_case read_cases[], write_cases[], record_cases[], count_cases[],
        pt_cases[], traces_cases[], edit_cases[];

/* Adds bytes to the outcome; of the type of output functions, with the outcome as arg. */
int outcome_add(void *outcome, const char *bytes, size_t n);
void outcome_number(struct outcome *out, uint64_t number);

/* Keeps a handle's failure; returns rc. */
int outcome_error(struct outcome *out, int rc, const struct sonde_error *error);

/* Adds a diagnostic; of the type sonde_diag_fn. */
void outcome_diag(void *outcome, const struct sonde_diag *diag);

/* Adds what a file holds. */
void outcome_file(struct outcome *out, const char *path);

#endif
