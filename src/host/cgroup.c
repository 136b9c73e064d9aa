/* SPDX-License-Identifier: MIT */
#include "host/cgroup.h"

#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define PATH_ROOM 2048

/* A line of /proc/mounts: DEVICE MOUNT TYPE OPTIONS ... */
bool host_cgroup_mount(int root, char mount[HOST_CGROUP_MOUNT])
{
	char line[2048], at[HOST_CGROUP_MOUNT], type[64], options[512];
	FILE *f = proc_open_stream(root, "proc/mounts");
	bool own = false;

	mount[0] = '\0';
	while (f != NULL && !own && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%*s %1023s %63s %511s", at, type, options) != 3) {
			continue;
		}
		own = strcmp(type, "cgroup") == 0 && strstr(options, "perf_event") != NULL;
		if (own || strcmp(type, "cgroup2") == 0) {
			memcpy(mount, at, sizeof(at));
		}
	}
	if (f != NULL) {
		(void)fclose(f);
	}
	return mount[0] != '\0';
}

int host_cgroup_open(int root, const char *mount, const char *name, size_t n)
{
	char path[PATH_ROOM];
	int len = snprintf(path, sizeof(path), "%s/%.*s", mount, (int)n, name);

	if (mount[0] == '\0' || len < 0 || (size_t)len >= sizeof(path)) {
		errno = mount[0] == '\0' ? ENOENT : ENAMETOOLONG;
		return -1;
	}
	return openat(root, path + strspn(path, "/"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}
