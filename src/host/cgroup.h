/* SPDX-License-Identifier: MIT */
/* Control groups: where their hierarchy is mounted, and descriptors of their folders. */
#ifndef SONDE_HOST_CGROUP_H
#define SONDE_HOST_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_CGROUP_MOUNT 1024

/*
 * Finds the mount point of the hierarchy for perf events: the first one with the perf_event
 * controller (version 1), else the last one of version 2, as in perf 6.1. False: none, and mount is
 * "".
 */
bool host_cgroup_mount(int root, char mount[HOST_CGROUP_MOUNT]);

/*
 * Opens the folder of a group; its name has n bytes, below the mount. -1 with errno; ENOENT if
 * mount is "".
 */
int host_cgroup_open(int root, const char *mount, const char *name, size_t n);

#endif
