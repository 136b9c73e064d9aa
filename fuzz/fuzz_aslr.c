/* SPDX-License-Identifier: MIT */
/* A recording that is repaired and whose addresses are moved: the output opens and is not damaged. */
#define _GNU_SOURCE
#include <sonde/preview/edit.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void output_check(int fd)
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
	if (sonde_file_diags(f, SONDE_DIAG_TRUNCATED) + sonde_file_diags(f, SONDE_DIAG_DAMAGED) !=
	        0) {
		abort();
	}
	sonde_file_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sonde_editor_options eo = {.size = sizeof(eo), .aslr = true};
	const struct sonde_rewriter_options o = {.size = sizeof(o), .whole = true};
	struct sonde_rewriter *rw = sonde_rewriter_new(&o);
	struct sonde_editor *e = sonde_editor_new(&eo);
	int in = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
	if (rw != NULL && e != NULL && write(in, data, size) == (ssize_t)size &&
	        sonde_rewriter_open(rw, path) >= 0 && sonde_editor_add(e, rw) >= 0 &&
	        sonde_rewriter_write_fd(rw, out) >= 0) {
		output_check(out);
	}
	sonde_rewriter_free(rw);
	sonde_editor_free(e);
	(void)close(in);
	(void)close(out);
	return 0;
}
