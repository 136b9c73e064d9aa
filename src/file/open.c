/* SPDX-License-Identifier: MIT */
/*
 * Opening a recording: which container it is, and the steps for each. All containers begin with
 *
 *	0  char magic[8]: "PERFILE2" (as a u64 of the writer's byte order) or "PERFFILE" (version 1)
 *	8  u64 header size: 16 for a pipe stream (pipe.c), else a seekable file (seekable.c)
 *
 * Directories are opened by directory.c, recordings in bundles by bundled.c. Packed input is unpacked first (unwrap.c), compressed
 * records are inflated last (inflate.c).
 *
 * Source: format document of perf.data, checked against files that perf 6.1 writes.
 */
#include "file/file.h"

#include "core/array.h"
#include "file/parts.h"
#include "file/unwrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Byte order of version 1: the one in which the sizes are plausible. */
static bool old_is_swapped(const struct file *f)
{
	uint64_t size = load_u64(f->bytes.p + 8, false);
	uint64_t attr;

	if (size == PIPE_HEADER_SIZE || __builtin_bswap64(size) == PIPE_HEADER_SIZE) {
		return size != PIPE_HEADER_SIZE;
	}
	if (f->bytes.n < 24) {
		return false;
	}
	attr = load_u64(f->bytes.p + 16, false);
	return attr > ATTR_ENTRY_MAX && __builtin_bswap64(attr) <= ATTR_ENTRY_MAX;
}

/* Reads byte order, version and header size. */
static int read_magic(struct file *f)
{
	uint64_t magic;

	if (f->bytes.n < PIPE_HEADER_SIZE) {
		return file_bad_format(f, 0,
		        f->bytes.n == 0
		                ? "the file is empty; was the recording stopped before it began?"
		                : "too short to be a perf.data file");
	}
	magic = load_u64(f->bytes.p, HOST_BIG_ENDIAN);
	if (memcmp(f->bytes.p, "PERFFILE", 8) == 0) {
		f->old = true;
		f->swap = old_is_swapped(f);
	} else if (magic == FILE_MAGIC2 || __builtin_bswap64(magic) == FILE_MAGIC2) {
		f->swap = (magic != FILE_MAGIC2) != HOST_BIG_ENDIAN;
	} else {
		return file_bad_format(f, 0,
		        "not a perf.data file: it does not begin with PERFILE2; is -i FILE the "
		        "right one?");
	}
	f->header_size = load_u64(f->bytes.p + 8, f->swap);
	f->pipe = f->header_size == PIPE_HEADER_SIZE;
	return 0;
}

static int set_main_stream(struct file *f)
{
	if (!array_reserve(&f->streams, &f->streams_cap, 1, sizeof(*f->streams))) {
		return error_nomem(&f->error);
	}
	f->streams[0] = (struct file_stream){.name = f->path,
	        .bytes = f->bytes,
	        .start = f->data.offset,
	        .end = f->data.offset + f->data.size};
	f->nstreams = 1;
	return 0;
}

static int read_seekable(struct file *f)
{
	TRY(file_read_header(f));
	TRY(file_read_attrs(f));
	file_read_feature_table(f);
	TRY(set_main_stream(f));
	if (f->interrupted) {
		diag_report(f->diags, SONDE_DIAG_NOTE, 48,
		        "the recorder did not finish: everything up to the end of the "
		        "file is read, the header features %s",
		        file_has_features(f) ? "are those of its start" : "are missing");
	}
	return 0;
}

static int read_main(struct file *f)
{
	TRY(read_magic(f));
	if (f->pipe) {
		f->data = (struct file_section){PIPE_HEADER_SIZE, f->bytes.n - PIPE_HEADER_SIZE};
		TRY(set_main_stream(f));
		TRY(file_read_pipe(f));
	} else {
		TRY(read_seekable(f));
	}
	TRY(file_index_ids(f));
	return file_name_events(f);
}

static int set_path(struct file *f, const char *path)
{
	f->path = arena_text(&f->arena, path, strlen(path));
	if (f->path == NULL) {
		f->path = "perf.data";
		return error_nomem(&f->error);
	}
	return 0;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Takes ownership of *s and opens the recording in it. */
static int open_source(struct file *f, struct source *s)
{
	const struct source_open how = {.path = f->path, .temp_dir = f->temp_dir};
	int rc = source_unwrap(s, &how, f->diags, &f->error);

	if (rc < 0) {
		source_close(s);
		return rc;
	}
	TRY(file_keep_source(f, s));
	f->bytes = s->bytes;
	if (!f->directory && bundle_is_tar(f->bytes)) {
		TRY(file_open_bundled(f));
		TRY(read_main(f));
		return f->directory ? file_add_bundled_streams(f) : 0;
	}
	return read_main(f);
}

int file_open_bytes(struct file *f, struct span bytes, const char *name)
{
	struct source s = {.bytes = bytes};

	TRY(set_path(f, name));
	return open_source(f, &s);
}

static int open_how(struct file *f, struct source_open *how)
{
	struct source s;

	how->check_owner = f->check_owner;
	how->temp_dir = f->temp_dir;
	TRY(source_open(&s, how, &f->error));
	f->modified = how->modified;
	return open_source(f, &s);
}

int file_open_fd(struct file *f, int fd)
{
	char name[32];
	struct source_open how = {.fd = &fd};
	int n = snprintf(name, sizeof(name), "descriptor %d", fd);

	TRY(n < 0 ? SONDE_EIO : set_path(f, name));
	how.path = f->path;
	return open_how(f, &how);
}

int file_open(struct file *f, const char *path)
{
	struct source_open how = {.path = path};
	struct source s;

	TRY(set_path(f, path));
	if (is_directory(path)) {
		TRY(file_open_directory(f, &s));
		TRY(open_source(f, &s));
		return file_add_streams(f);
	}
	return open_how(f, &how);
}

void file_close(struct file *f)
{
	for (size_t i = 0; i < f->nsources; i++) {
		source_close(&f->sources[i]);
	}
	for (size_t i = 0; i < f->nstreams; i++) {
		free(f->streams[i].runs);
		free(f->streams[i].marks);
	}
	free(f->sources);
	free(f->streams);
	free(f->namings);
	file_free_events(f);
	bundle_free(f->bundle);
	f->bundle = NULL;
	f->sources = NULL;
	f->streams = NULL;
	f->namings = NULL;
	f->nsources = f->nstreams = f->nnamings = 0;
}
