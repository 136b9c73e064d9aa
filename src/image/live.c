/* SPDX-License-Identifier: MIT */
/* Files of running processes in namespaces of their own, such as those of containers. */
#include "image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Reads the name of a namespace, such as "mnt:[4026531841]"; false: the process does not run. */
static bool namespace_of(const char *process, char *out, size_t n)
{
	char link[64];
	ssize_t got;

	(void)snprintf(link, sizeof(link), "/proc/%s/ns/mnt", process);
	got = readlink(link, out, n - 1);
	if (got <= 0) {
		return false;
	}
	out[got] = '\0';
	return true;
}

bool image_live_path(uint32_t pid, const char *path, char *out, size_t n)
{
	char number[16], own[64], other[64];
	int len;

	(void)snprintf(number, sizeof(number), "%u", pid);
	if (!namespace_of("self", own, sizeof(own)) ||
	        !namespace_of(number, other, sizeof(other)) || strcmp(own, other) == 0) {
		return false;
	}
	len = snprintf(out, n, "/proc/%u/root%s", pid, path);
	return len > 0 && (size_t)len < n;
}

/* "NSpid:\t1234\t7": the number in each namespace, the process's own one last */
uint32_t image_live_pid(uint32_t pid)
{
	char name[64], text[4096];
	const char *line, *end, *last;
	size_t n;

	(void)snprintf(name, sizeof(name), "/proc/%u/status", pid);
	n = image_head_read(name, (uint8_t *)text, sizeof(text) - 1);
	text[n] = '\0';
	line = strstr(text, "\nNSpid:");
	end = line != NULL ? strchr(line + 1, '\n') : NULL;
	if (end == NULL) {
		return 0;
	}
	for (last = end; last > line && last[-1] >= '0' && last[-1] <= '9'; last--) {
	}
	return (uint32_t)strtoul(last, NULL, 10);
}
