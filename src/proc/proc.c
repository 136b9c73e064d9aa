/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "proc/proc.h"

#include "core/array.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int proc_root_open(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

FILE *proc_open_stream(int root, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (f == NULL && fd >= 0) {
		(void)close(fd);
	}
	return f;
}

DIR *proc_open_dir(int root, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (dir == NULL && fd >= 0) {
		(void)close(fd);
	}
	return dir;
}

const struct dirent *proc_next_entry(DIR *dir)
{
	const struct dirent *entry = NULL;

	while (dir != NULL && (entry = readdir(dir)) != NULL && entry->d_name[0] == '.') {
	}
	return entry;
}

void proc_close_dir(DIR *dir)
{
	if (dir != NULL) {
		(void)closedir(dir);
	}
}

bool proc_take_id(const char **list, pid_t *id)
{
	char *end;
	long v = strtol(*list, &end, 10);

	if (end == *list || v <= 0 || v > INT32_MAX || (*end != ',' && *end != '\0')) {
		return false;
	}
	*id = (pid_t)v;
	*list = end + (*end == ',');
	return true;
}

static bool take_decimal(const char **p, long *v)
{
	char *end;

	if (**p < '0' || **p > '9') {
		return false;
	}
	*v = strtol(*p, &end, 10);
	*p = end;
	return true;
}

bool proc_take_range(const char **list, long *from, long *to)
{
	const char *p = *list;

	if (!take_decimal(&p, from)) {
		return false;
	}
	*to = *from;
	if (*p == '-') {
		p++;
		if (!take_decimal(&p, to) || *to < *from) {
			return false;
		}
	}
	*list = p + (*p == ',');
	return true;
}

bool proc_stat(int root, const char *path, struct stat *st)
{
	return fstatat(root, path, st, 0) == 0;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* limit_ms: 0: none. late: whether the time ran out; text read until then is kept. */
static bool read_file(int root, const char *path, uint64_t limit_ms, struct text *out, bool *late)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	uint64_t end = limit_ms != 0 ? now_ms() + limit_ms : 0;
	ssize_t got;
	char *p;

	if (fd < 0) {
		return false;
	}
	do {
		/*
		 * Most files end within the first piece; the rest of its room is enough to see the
		 * end.
		 */
		size_t room = out->cap - out->n >= 4096 ? out->cap - out->n : 16384;

		p = text_room(out, room);
		got = p != NULL ? read(fd, p, room) : -1;
		out->n += got > 0 ? (size_t)got : 0;
		*late = got > 0 && end != 0 && now_ms() >= end;
	} while (!*late && (got > 0 || (got < 0 && p != NULL && errno == EINTR)));
	(void)close(fd);
	return got == 0 || *late;
}

bool proc_read_file(int root, const char *path, struct text *out)
{
	bool late;

	return read_file(root, path, 0, out, &late);
}

bool proc_read_line(int root, const char *path, char *buf, size_t size)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0) {
		return false;
	}
	got = read(fd, buf, size - 1);
	(void)close(fd);
	if (got < 0) {
		return false;
	}
	buf[got] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

bool proc_read_number(int root, const char *path, int64_t *value)
{
	char buf[64];
	char *end;

	if (!proc_read_line(root, path, buf, sizeof(buf))) {
		return false;
	}
	*value = strtoll(buf, &end, 10);
	return end != buf;
}

static FILE *open_in(int root, const char *folder, const char *leaf)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, leaf);
	return proc_open_stream(root, path);
}

/* "  01000000-0220bb07 : Kernel code": the size in bytes, 0 if it is hidden. */
static uint64_t kernel_code_size(int root, const char *folder)
{
	unsigned long long start, end;
	uint64_t size = 0;
	char line[256];
	FILE *f = open_in(root, folder, "iomem");

	if (f == NULL) {
		return 0;
	}
	while (size == 0 && fgets(line, sizeof(line), f) != NULL) {
		if (strstr(line, ": Kernel code") != NULL &&
		        sscanf(line, " %llx-%llx", &start, &end) == 2 && end > start) {
			size = end + 1 - start;
		}
	}
	(void)fclose(f);
	return size;
}

bool proc_kernel_text(int root, struct proc_kernel *kernel)
{
	return proc_kernel_text_in(root, "proc", kernel);
}

bool proc_kernel_text_in(int root, const char *folder, struct proc_kernel *kernel)
{
	unsigned long long addr, text = 0, stext = 0, etext = 0;
	uint64_t size;
	char line[512];
	char name[128];
	FILE *f = open_in(root, folder, "kallsyms");

	if (f == NULL) {
		return false;
	}
	size = kernel_code_size(root, folder);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%llx %*c %127s", &addr, name) != 2) {
			continue;
		}
		text = strcmp(name, "_text") == 0 ? addr : text;
		stext = strcmp(name, "_stext") == 0 ? addr : stext;
		etext = strcmp(name, "_etext") == 0 ? addr : etext;
		if (addr == 0 || etext != 0 || (text != 0 && size != 0)) {
			break;
		}
	}
	(void)fclose(f);
	kernel->name = text != 0 ? "_text" : "_stext";
	kernel->start = text != 0 ? text : stext;
	kernel->end = etext != 0 ? etext : kernel->start + size;
	return kernel->start != 0 && kernel->end > kernel->start;
}

bool proc_maps_open(struct proc_maps *maps, int root, pid_t pid, uint64_t limit_ms)
{
	char path[64];

	*maps = (struct proc_maps){0};
	(void)snprintf(path, sizeof(path), "proc/%d/maps", (int)pid);
	if (!read_file(root, path, limit_ms, &maps->text, &maps->cut)) {
		text_fini(&maps->text);
		return false;
	}
	text_char(&maps->text, '\0');
	return !maps->text.failed;
}

void proc_maps_close(struct proc_maps *maps)
{
	text_fini(&maps->text);
}

/* Reads digits. strtoull() took a tenth of the time for 2,000 processes. */
static uint64_t take_number(const char **p, unsigned base)
{
	uint64_t v = 0;

	for (;; (*p)++) {
		unsigned c = (unsigned char)**p;
		unsigned digit = c - '0' <= 9 ? c - '0' : (c | 32) - 'a' + 10;

		if (digit >= base || (c - '0' > 9 && digit < 10)) {
			return v;
		}
		v = v * base + digit;
	}
}

/* Parses a line: START-END PERM OFFSET MAJ:MIN INODE   NAME */
static bool parse_map(const char *p, struct proc_map *map)
{
	map->start = take_number(&p, 16);
	if (*p++ != '-') {
		return false;
	}
	map->end = take_number(&p, 16);
	if (strnlen(p, 6) < 6) {
		return false;
	}
	map->read = p[1] == 'r';
	map->write = p[2] == 'w';
	map->exec = p[3] == 'x';
	map->shared = p[4] == 's';
	p += 6;
	map->pgoff = take_number(&p, 16);
	p += *p == ' ';
	map->maj = (uint32_t)take_number(&p, 16);
	if (*p++ != ':') {
		return false;
	}
	map->min = (uint32_t)take_number(&p, 16);
	p += *p == ' ';
	map->ino = take_number(&p, 10);
	map->name = p + strspn(p, " ");
	return true;
}

bool proc_maps_next(struct proc_maps *maps, struct proc_map *map)
{
	char *line, *end;

	while (maps->at + 1 < maps->text.n) {
		line = maps->text.p + maps->at;
		end = strchr(line, '\n');
		if (end == NULL) {
			return false;
		}
		*end = '\0';
		maps->at = (size_t)(end + 1 - maps->text.p);
		if (parse_map(line, map)) {
			return true;
		}
	}
	return false;
}

#define CPUS_MAX 65536

int proc_read_cpus(int root, const char *path, pid_t **list, size_t *n)
{
	char line[4096];
	const char *p = line;
	size_t cap = 0;
	long first, last;

	*list = NULL;
	*n = 0;
	if (!proc_read_line(root, path, line, sizeof(line))) {
		return -1;
	}
	while (proc_take_range(&p, &first, &last)) {
		for (; first <= last && *n < CPUS_MAX; first++) {
			if (!array_reserve(list, &cap, *n + 1, sizeof(**list))) {
				return -1;
			}
			(*list)[(*n)++] = (pid_t)first;
		}
	}
	errno = *n > 0 ? 0 : ENODATA;
	return *n > 0 ? 0 : -1;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

int proc_list_numbers(int root, const char *path, pid_t **list, size_t *n)
{
	DIR *dir = proc_open_dir(root, path);
	struct dirent *entry;
	size_t cap = 0;
	char *end;
	long v;

	*list = NULL;
	*n = 0;
	if (dir == NULL) {
		return -1;
	}
	while ((entry = readdir(dir)) != NULL) {
		v = strtol(entry->d_name, &end, 10);
		if (*end != '\0' || end == entry->d_name) {
			continue;
		}
		if (!array_reserve(list, &cap, *n + 1, sizeof(**list))) {
			break;
		}
		(*list)[(*n)++] = (pid_t)v;
	}
	(void)closedir(dir);
	if (*n > 1) {
		qsort(*list, *n, sizeof(**list), compare_pids);
	}
	return 0;
}

/* Returns the number after "\nNAME:" in the text of a status file; 0: not found. */
static pid_t status_number(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p != NULL ? (pid_t)strtol(p + strlen(name), NULL, 10) : 0;
}

bool proc_status_read(int root, pid_t pid, pid_t tid, struct proc_status *status)
{
	char text[4096]; /* the kernel returns it in one piece, and the lines used here come
	                    first */
	char path[64];
	ssize_t got;
	int fd;

	*status = (struct proc_status){.pid = pid};
	(void)snprintf(path, sizeof(path), pid == tid ? "proc/%d/status" : "proc/%d/task/%d/status",
	        (int)pid, (int)tid);
	fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return false;
	}
	got = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (got <= 0) {
		return false;
	}
	text[got] = '\0';
	if (strncmp(text, "Name:\t", 6) == 0) {
		size_t n = strcspn(text + 6, "\n");

		memcpy(status->comm, text + 6, n < 15 ? n : 15);
	}
	status->pid = status_number(text, "\nTgid:");
	status->ppid = status_number(text, "\nPPid:");
	status->threads = status_number(text, "\nThreads:");
	return true;
}
