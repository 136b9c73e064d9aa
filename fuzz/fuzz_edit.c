/* SPDX-License-Identifier: MIT */
/*
 * A recording that is repaired and goes through each stage of inject and convert, and some together:
 * what is written opens and is not damaged, and what is refused has a text. No file that the recording
 * names is read or written.
 */
#define _GNU_SOURCE
#include <sonde/preview/edit.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOWHERE "/nonexistent"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *input; /* that is merged with itself */

static const struct sonde_session_options session = {
        .size = sizeof(session), .symfs = NOWHERE, .home = NOWHERE};
static const struct sonde_filter keep = {
        .time = "10%-90%", .pids = "0,1,7,1000,1234", .comms = "a,perf,zebra", .cpus = "0-2"};

#define OPTIONS .size = sizeof(struct sonde_editor_options), .session = &session

static const struct sonde_editor_options stages[] = {
        {OPTIONS, .build_ids = SONDE_EDIT_BUILD_IDS_HIT, .redact = "key"},
        {OPTIONS, .build_ids = SONDE_EDIT_BUILD_IDS_ALL, .mapped_build_ids = true},
        {OPTIONS, .build_ids = SONDE_EDIT_BUILD_IDS_ALL, .mapped_build_ids = true,
                .known_build_ids = "aabbccdd00112233 /usr/bin/busy,0011 [kernel.kallsyms]"},
        {OPTIONS, .itrace = "", .strip = true},
        {OPTIONS, .itrace = "i100usge"},
        {OPTIONS, .convert_chains = true},
        {OPTIONS, .sched_stat = true},
        {OPTIONS, .keep = &keep, .one_in = 3},
        {OPTIONS, .keep_events = "cycles,cpu-clock", .redact = ""},
        {OPTIONS, .jit = true},
        {OPTIONS, .merge = &input, .nmerge = 1},
        {OPTIONS, .aslr = true, .redact = "key"},
};

/* whole: nothing may be damaged. Records of recordings that are merged are not repaired. */
static void output_check(int fd, bool whole)
{
	struct sonde_file *f = sonde_file_new(NULL);
	const struct sonde_raw_record *r;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (f == NULL || sonde_file_open(f, path) < 0) {
		abort();
	}
	while (sonde_file_next(f, &r) > 0) {
	}
	if (whole && sonde_file_diags(f, SONDE_DIAG_TRUNCATED) +
	                             sonde_file_diags(f, SONDE_DIAG_DAMAGED) !=
	                     0) {
		abort();
	}
	sonde_file_free(f);
}

static void stage_run(const struct sonde_editor_options *options)
{
	const struct sonde_rewriter_options o = {.size = sizeof(o), .whole = true};
	struct sonde_rewriter *rw = sonde_rewriter_new(&o);
	struct sonde_editor *e = sonde_editor_new(options);
	int out = memfd_create("out", MFD_CLOEXEC);

	if (rw != NULL && e != NULL && sonde_rewriter_open(rw, input) >= 0) {
		if (sonde_editor_add(e, rw) >= 0 && sonde_rewriter_write_fd(rw, out) >= 0) {
			output_check(out, options->nmerge == 0);
		} else if (sonde_rewriter_error(rw)->text[0] == '\0') {
			abort();
		}
	}
	sonde_rewriter_free(rw);
	sonde_editor_free(e);
	(void)close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in = memfd_create("in", MFD_CLOEXEC);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
	if (write(in, data, size) == (ssize_t)size) {
		input = path;
		for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
			stage_run(&stages[i]);
		}
	}
	(void)close(in);
	return 0;
}
