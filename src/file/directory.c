/* SPDX-License-Identifier: MIT */
/*
 * A recording in a directory: `data` is a seekable file. With DIR_FORMAT 1 the kernel's records are
 * in data.0, data.1, ... (records only, no header; the compressed records of each file are one
 * stream). With DIR_FORMAT 0 there is only `data`. kcore_dir/ has a copy of the kernel: kcore,
 * kallsyms, modules.
 *
 * Source: format document of perf.data, checked against directories that perf 6.1 writes.
 */
#include "file/parts.h"

#include "core/array.h"
#include "file/feature.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STREAM_ALIGN   4096u
#define STREAM_NUM_MAX 9u /* digits of data.N */

static int join(struct file *f, char out[PATH_MAX], const char *name)
{
	int n = snprintf(out, PATH_MAX, "%s/%s", f->path, name);

	if (n < 0 || n >= PATH_MAX) {
		return error_set(
		        &f->error, SONDE_ELIMIT, NO_OFFSET, "%s: the path is too long", f->path);
	}
	return 0;
}

int file_open_directory(struct file *f, struct source *s)
{
	char name[PATH_MAX];
	struct source_open how = {
	        .path = name, .check_owner = f->check_owner, .temp_dir = f->temp_dir};

	f->directory = true;
	TRY(join(f, name, "kcore_dir/kallsyms"));
	if (access(name, R_OK) == 0) {
		f->kallsyms = arena_text(&f->arena, name, strlen(name));
	}
	TRY(join(f, name, "data"));
	if (access(name, F_OK) != 0) {
		return error_set(&f->error, SONDE_EFORMAT, NO_OFFSET,
		        "%s has no file \"data\" in it: this folder is no recording", f->path);
	}
	TRY(source_open(s, &how, &f->error));
	f->modified = how.modified;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const unsigned long *x = a;
	const unsigned long *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool file_stream_number(const char *name, unsigned long *number)
{
	size_t len = strlen(name);

	if (strncmp(name, "data.", 5) != 0 || len == 5 || len > 5 + STREAM_NUM_MAX ||
	        strspn(name + 5, "0123456789") != len - 5) {
		return false;
	}
	*number = strtoul(name + 5, NULL, 10);
	return true;
}

/* Returns the numbers N of the files data.N in rising order; the caller frees *out. */
static int list_numbers(struct file *f, unsigned long **out, size_t *n)
{
	const struct dirent *entry;
	size_t cap = 0;
	DIR *dir = opendir(f->path);

	*out = NULL;
	*n = 0;
	if (dir == NULL) {
		return error_errno(
		        &f->error, SONDE_EIO, errno, "cannot read the folder %s", f->path);
	}
	while ((entry = readdir(dir)) != NULL) {
		unsigned long number;

		if (!file_stream_number(entry->d_name, &number)) {
			continue;
		}
		if (!array_reserve(out, &cap, *n + 1, sizeof(**out))) {
			(void)closedir(dir);
			return error_nomem(&f->error);
		}
		(*out)[(*n)++] = number;
	}
	(void)closedir(dir);
	if (*n != 0) {
		qsort(*out, *n, sizeof(**out), compare);
	}
	return 0;
}

int file_add_stream(struct file *f, const char *name, struct span bytes)
{
	struct file_stream *s;
	uint64_t start = (file_end(f) / STREAM_ALIGN + 2) * STREAM_ALIGN;

	if (bytes.n == 0) {
		return 0;
	}
	if (!array_reserve(&f->streams, &f->streams_cap, f->nstreams + 1, sizeof(*f->streams))) {
		return error_nomem(&f->error);
	}
	s = &f->streams[f->nstreams++];
	*s = (struct file_stream){.name = arena_text(&f->arena, name, strlen(name)),
	        .bytes = bytes,
	        .base = start,
	        .start = start,
	        .end = start + bytes.n};
	return s->name != NULL ? 0 : error_nomem(&f->error);
}

static int add_stream(struct file *f, unsigned long number)
{
	char name[PATH_MAX];
	char base[32];
	struct source source;
	struct source_open how = {
	        .path = name, .check_owner = f->check_owner, .temp_dir = f->temp_dir};

	(void)snprintf(base, sizeof(base), "data.%lu", number);
	TRY(join(f, name, base));
	if (source_open(&source, &how, &f->error) < 0) {
		if (error_status(&f->error) == SONDE_ENOMEM) {
			return SONDE_ENOMEM;
		}
		diag_report(f->diags, SONDE_DIAG_TRUNCATED, NO_OFFSET, "%s", f->error.text);
		f->error = (struct error){0};
		return 0;
	}
	TRY(file_keep_source(f, &source));
	return file_add_stream(f, name, source.bytes);
}

bool file_is_single(const struct file *f)
{
	struct span format = file_feature(f, FEATURE_DIR_FORMAT);

	return format.n >= 8 && load_u64(format.p, f->swap) == 0;
}

int file_add_streams(struct file *f)
{
	unsigned long *numbers;
	size_t n;
	int rc;

	if (file_is_single(f)) {
		return 0;
	}
	rc = list_numbers(f, &numbers, &n);
	for (size_t i = 0; i < n && rc >= 0; i++) {
		rc = add_stream(f, numbers[i]);
	}
	free(numbers);
	return rc;
}
