/* SPDX-License-Identifier: MIT */
/* The steps of opening, each in a file of its own. Private to file. */
#ifndef SONDE_FILE_PARTS_H
#define SONDE_FILE_PARTS_H

#include "file/file.h"

#define ATTR_ENTRY_MAX  4096u
#define EVENT_TYPE_SIZE 72u /* u64 id, char name[64] */

/* Returns n bytes at an offset of the main file; n is 0 and p NULL if they are not all there. */
struct span file_span(const struct file *f, uint64_t offset, uint64_t size);

/* Sets the error "PATH: what (at byte offset)" with status EFORMAT. */
int file_bad_format(struct file *f, uint64_t offset, const char *what);

/* seekable.c: header, attrs and features of a file with sections. */
int file_read_header(struct file *f);
int file_read_attrs(struct file *f);
void file_read_feature_table(struct file *f);

/* pipe.c: attrs, features and names among the records of a stream. */
int file_read_pipe(struct file *f);

/*
 * directory.c: opens `data` in the directory. After its header was read: adds data.0, data.1, ...
 */
int file_open_directory(struct file *f, struct source *s);
int file_add_streams(struct file *f);

/*
 * bundled.c: opens the bundle in f->bytes, which become those of the recording. After its header was
 * read: adds data.0, data.1, ... of a directory.
 */
int file_open_bundled(struct file *f);
int file_add_bundled_streams(struct file *f);

/* directory.c: adds bytes as a stream after the last one; the name is copied. */
int file_add_stream(struct file *f, const char *name, struct span bytes);
/* Whether a directory has only the file `data`. */
bool file_is_single(const struct file *f);
/* Reads N of data.N; false: it is another name. */
bool file_stream_number(const char *name, unsigned long *number);

/* event.c */
int file_add_event(struct file *f, struct span attr, struct span ids);
int file_index_ids(struct file *f);
int file_name_events(struct file *f);

/* file.c: takes ownership of *s until file_close. SONDE_ENOMEM: *s is closed. */
int file_keep_source(struct file *f, struct source *s);

#endif
