/* SPDX-License-Identifier: MIT */
/* Control groups of perf events: where they are mounted, and descriptors of their folders. */
#ifndef SONDE_HOST_CGROUP_H
#define SONDE_HOST_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_CGROUP_MOUNT 1024

/*
 * Where the hierarchy that perf events know is mounted: the first one with their own controller
 * (version 1), else the last one of version 2, as perf 6.1 chooses. False: none, and mount is "".
 */
bool host_cgroup_mount(int root, char mount[HOST_CGROUP_MOUNT]);

/* A descriptor of the folder of a group, named by n bytes below the mount; -1 with errno: ENOENT
 * where mount is "". */
int host_cgroup_open(int root, const char *mount, const char *name, size_t n);

#endif
