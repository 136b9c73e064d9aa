/* SPDX-License-Identifier: MIT */
/*
 * What a running system says about itself in /proc and /sys.
 *
 * `root` is a handle of the directory that has proc and sys in it: that of "/" for the machine we
 * run on, any other for a saved copy. Paths go from there, without a slash in front.
 */
#ifndef SONDE_PROC_PROC_H
#define SONDE_PROC_PROC_H

#include "core/text.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A handle of a root directory; -1 with errno. The caller closes it. */
int proc_root_open(const char *path);

/* A file to read line by line, a directory to list; NULL with errno. */
FILE *proc_open_stream(int root, const char *path);
DIR *proc_open_dir(int root, const char *path);

/*
 * Takes the first number of a list of processes or threads such as "7,8", and the comma behind it,
 * which may also end the list, as in those that were put together. false: there is none above 0.
 */
bool proc_take_id(const char **list, pid_t *id);

/*
 * Takes the first part of a list of cpus such as "0,2-3", a number or a range, and the comma behind
 * it. false: it begins with neither. Where the list ends is the caller's to see.
 */
bool proc_take_range(const char **list, long *from, long *to);

/* Follows links; false with errno. */
bool proc_stat(int root, const char *path, struct stat *st);

/* Appends the whole file; false when it cannot be read. */
bool proc_read_file(int root, const char *path, struct text *out);

/* The first line of a file without its newline into buf; false when it cannot be read. */
bool proc_read_line(int root, const char *path, char *buf, size_t size);

/* A number that stands alone in a file. */
bool proc_read_number(int root, const char *path, int64_t *value);

/*
 * The kernel's text: the name of the reference symbol ("_text" or "_stext"), its address and the
 * end of the text. False when the addresses are hidden. Reads no more of /proc/kallsyms than it
 * must.
 */
struct proc_kernel {
	const char *name; /* static */
	uint64_t start, end;
};

bool proc_kernel_text(int root, struct proc_kernel *kernel);

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
	bool cut; /* it took too long: the last ones are missing */
};

/* limit_ms: how long it may take to read them; 0: as long as it takes. */
bool proc_maps_open(struct proc_maps *maps, int root, pid_t pid, uint64_t limit_ms);
bool proc_maps_next(struct proc_maps *maps, struct proc_map *map);
void proc_maps_close(struct proc_maps *maps);

/*
 * The numbers of a list such as "0-3,5" in sys/devices/system/cpu, rising; the caller frees *list.
 * -1 with errno when the file cannot be read or holds none.
 */
int proc_read_cpus(int root, const char *path, pid_t **list, size_t *n);

/* Names of directory entries that are numbers, rising; the caller frees *list. -1 with errno. */
int proc_list_numbers(int root, const char *path, pid_t **list, size_t *n);

struct proc_status {
	pid_t pid; /* thread group */
	pid_t ppid;
	pid_t threads; /* 0: not told */
	char comm[16];
};

/* Of a thread, or of a process (tid is pid); false when it has gone, with errno. */
bool proc_status_read(int root, pid_t pid, pid_t tid, struct proc_status *status);

#endif
