/* SPDX-License-Identifier: MIT */
/* What a running system says about itself in /proc and /sys. */
#ifndef SONDE_PROC_PROC_H
#define SONDE_PROC_PROC_H

#include "core/text.h"

#include <stdint.h>
#include <sys/types.h>

/* Appends the whole file; false when it cannot be read. */
bool proc_read_file(const char *path, struct text *out);

/* The first line of a file without its newline into buf; false when it cannot be read. */
bool proc_read_line(const char *path, char *buf, size_t size);

/* A number that stands alone in a file. */
bool proc_read_number(const char *path, int64_t *value);

/*
 * The kernel's text: the name of the reference symbol ("_text" or "_stext"), its address and the
 * end of the text. False when the addresses are hidden. Reads no more of /proc/kallsyms than it
 * must.
 */
struct proc_kernel {
	const char *name; /* static */
	uint64_t start, end;
};

bool proc_kernel_text(struct proc_kernel *kernel);

/* One line of /proc/PID/maps. The name is valid until the next call. */
struct proc_map {
	uint64_t start, end, pgoff;
	uint32_t maj, min;
	uint64_t ino;
	bool read, write, exec, shared;
	const char *name; /* "" when there is none */
};

struct proc_maps {
	struct text text;
	size_t at;
};

bool proc_maps_open(struct proc_maps *maps, pid_t pid);
bool proc_maps_next(struct proc_maps *maps, struct proc_map *map);
void proc_maps_close(struct proc_maps *maps);

/* Names of directory entries that are numbers, rising; the caller frees *list. -1 with errno. */
int proc_list_numbers(const char *path, pid_t **list, size_t *n);

struct proc_status {
	pid_t pid; /* thread group */
	pid_t ppid;
	char comm[16];
};

bool proc_status_read(pid_t pid, pid_t tid, struct proc_status *status);

#endif
