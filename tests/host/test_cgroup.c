/* SPDX-License-Identifier: MIT */
/* Which mount of control groups is used: the same as in perf 6.1. */
#define _GNU_SOURCE
#include "fixture.h"
#include "host/cgroup.h"
#include "tap.h"

#include <errno.h>

static struct fixture f;

static const char *mount_of(const char *mounts)
{
	static char out[HOST_CGROUP_MOUNT];
	char path[] = "proc/mounts";
	FILE *file = fixture_file(&f, path);

	if (file == NULL || fputs(mounts, file) < 0 || fclose(file) != 0) {
		abort();
	}
	return host_cgroup_mount(f.fd, out) ? out : NULL;
}

static void test_mounts(void)
{
	ok(mount_of("proc /proc proc rw 0 0\n") == NULL,
	        "without control groups there is no mount");
	eq_str(mount_of("none /a cgroup2 rw 0 0\n"), "/a", "a mount of version 2 is found");
	eq_str(mount_of("none /a cgroup2 rw 0 0\nnone /b cgroup2 rw 0 0\n"), "/b",
	        "of two mounts of version 2 the last one is used");
	eq_str(mount_of("none /a cgroup rw,cpu 0 0\nnone /b cgroup2 rw 0 0\n"), "/b",
	        "another controller of version 1 is ignored");
	eq_str(mount_of("none /a cgroup2 rw 0 0\nnone /b cgroup rw,perf_event 0 0\n"
	                "none /c cgroup rw,perf_event 0 0\nnone /d cgroup2 rw 0 0\n"),
	        "/b", "the first mount of the controller perf_event is preferred");
}

static void test_open(void)
{
	char path[] = "groups/one/file";
	FILE *file = fixture_file(&f, path);
	int fd;

	if (file == NULL || fclose(file) != 0) {
		abort();
	}
	fd = host_cgroup_open(f.fd, "/groups", "one,two", 3);
	ok(fd >= 0, "a group is opened by the first bytes of a list");
	(void)close(fd);
	ok(host_cgroup_open(f.fd, "/groups", "two", 3) < 0 && errno == ENOENT,
	        "a missing group is ENOENT");
	ok(host_cgroup_open(f.fd, "/groups/one", "file", 4) < 0 && errno == ENOTDIR,
	        "a file is not a group");
	ok(host_cgroup_open(f.fd, "", "groups", 6) < 0 && errno == ENOENT,
	        "without a mount every group is ENOENT");
}

int main(void)
{
	fixture_open(&f, "/dev/null");
	test_mounts();
	test_open();
	fixture_close(&f);
	return tap_done();
}
