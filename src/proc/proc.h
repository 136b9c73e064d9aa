/* SPDX-License-Identifier: MIT */
/*
 * What a running system reports in /proc and /sys.
 *
 * `root` is a descriptor of the directory that contains proc and sys: "/" for this machine, another
 * one for a saved copy. Paths are relative to it, without a leading slash.
 */
#ifndef SONDE_PROC_PROC_H
#define SONDE_PROC_PROC_H

#include "core/text.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens a root directory; -1 with errno. The caller closes it. */
int proc_root_open(const char *path);

/* Opens a file to read line by line, or a directory to list; NULL with errno. */
FILE *proc_open_stream(int root, const char *path);
DIR *proc_open_dir(int root, const char *path);

/*
 * Returns the next entry of a directory whose name does not begin with '.', or NULL. dir NULL: there
 * are none. proc_close_dir closes it.
 */
const struct dirent *proc_next_entry(DIR *dir);
void proc_close_dir(DIR *dir);

/*
 * Reads the first number of a list of processes or threads such as "7,8", and the comma after it; a
 * list may end with a comma. false: no number above 0.
 */
bool proc_take_id(const char **list, pid_t *id);

/*
 * Reads the first item of a list of cpus such as "0,2-3", a number or a range, and the comma after
 * it. false: neither. The caller checks for the end of the list.
 */
bool proc_take_range(const char **list, long *from, long *to);

/* Follows links; false with errno. */
bool proc_stat(int root, const char *path, struct stat *st);

/* Appends the whole file; false: it cannot be read. */
bool proc_read_file(int root, const char *path, struct text *out);

/* Reads the first line of a file, without the newline; false: it cannot be read. */
bool proc_read_line(int root, const char *path, char *buf, size_t size);

/* Reads a file that contains one number. */
bool proc_read_number(int root, const char *path, int64_t *value);

/*
 * The kernel's text: name of the reference symbol ("_text" or "_stext"), its address, and the end
 * of the text. False if addresses are hidden. Reads only the necessary part of /proc/kallsyms.
 */
struct proc_kernel {
	const char *name; /* static */
	uint64_t start, end;
};

bool proc_kernel_text(int root, struct proc_kernel *kernel);
/* Reads kallsyms and iomem in another folder than "proc". */
bool proc_kernel_text_in(int root, const char *folder, struct proc_kernel *kernel);

/* A line of /proc/PID/maps. The name is valid until the next call. */
struct proc_map {
	uint64_t start, end, pgoff;
	uint32_t maj, min;
	uint64_t ino;
	bool read, write, exec, shared;
	const char *name; /* "" if there is none */
};

struct proc_maps {
	struct text text;
	size_t at;
	bool cut; /* time ran out: the last mappings are missing */
};

/* limit_ms: time limit for reading them; 0: none. */
bool proc_maps_open(struct proc_maps *maps, int root, pid_t pid, uint64_t limit_ms);
bool proc_maps_next(struct proc_maps *maps, struct proc_map *map);
void proc_maps_close(struct proc_maps *maps);

/*
 * Reads a list such as "0-3,5" in sys/devices/system/cpu to rising numbers; the caller frees *list.
 * -1 with errno when the file cannot be read or has no numbers.
 */
int proc_read_cpus(int root, const char *path, pid_t **list, size_t *n);

/*
 * Lists directory entries whose names are numbers, rising; the caller frees *list. -1 with errno.
 */
int proc_list_numbers(int root, const char *path, pid_t **list, size_t *n);

struct proc_status {
	pid_t pid; /* thread group */
	pid_t ppid;
	pid_t threads; /* 0: unknown */
	char comm[16];
};

/* Of a thread, or of a process (tid is pid); false with errno when it has ended. */
bool proc_status_read(int root, pid_t pid, pid_t tid, struct proc_status *status);

#endif
