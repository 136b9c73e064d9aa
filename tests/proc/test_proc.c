/* SPDX-License-Identifier: MIT */
/* Reading a saved machine: test_proc machine.txt */
#define _GNU_SOURCE
#include "fixture.h"
#include "proc/proc.h"
#include "tap.h"

#include <errno.h>

static void test_files(int root)
{
	struct text t = {0};
	char line[16];
	int64_t v = 0;

	ok(proc_read_line(root, "sys/devices/system/cpu/online", line, sizeof(line)),
	        "the first line of a file is read");
	eq_str(line, "0-1,3", "a line is read without its newline");
	ok(proc_read_line(root, "proc/cpuinfo", line, 8), "a line longer than the buffer is read");
	eq_str(line, "process", "a line longer than the buffer is cut");
	ok(proc_read_number(root, "proc/sys/kernel/perf_event_paranoid", &v) && v == 2,
	        "a file with a number is read");
	ok(!proc_read_number(root, "proc/4242/maps/none", &v),
	        "a path through a file has no number");
	ok(!proc_read_number(root, "sys/devices/system/node/node0/memory0", &v),
	        "an empty file has no number");
	ok(proc_read_file(root, "proc/meminfo", &t) && t.n > 50, "a whole file is read");
	ok(!proc_read_file(root, "proc/none", &t), "a missing file cannot be read");
	text_fini(&t);
}

static void test_kernel(int root)
{
	struct proc_kernel kernel;

	ok(proc_kernel_text(root, &kernel), "the kernel's text is found");
	eq_str(kernel.name, "_text", "the kernel's text has its reference symbol");
	eq_u64(kernel.start, 0xffffffff81000000, "the kernel's text has its start");
	eq_u64(kernel.end - kernel.start, 0x1000000, "the kernel's text has its size");
}

static void test_lists(int root)
{
	pid_t *list;
	size_t n;

	eq_u64(proc_read_cpus(root, "sys/devices/system/cpu/online", &list, &n), 0,
	        "a list of cpus is read");
	ok(n == 3 && list[0] == 0 && list[1] == 1 && list[2] == 3,
	        "the list has the cpus 0, 1 and 3");
	free(list);
	ok(proc_read_cpus(root, "proc/meminfo", &list, &n) < 0 && n == 0,
	        "a file without a list has no cpus");
	free(list);
	ok(proc_read_cpus(root, "none", &list, &n) < 0 && list == NULL,
	        "a missing file has no cpus");
	eq_u64(proc_list_numbers(root, "proc", &list, &n), 0, "the processes are listed");
	ok(n == 2 && list[0] == 17 && list[1] == 4242,
	        "processes are listed in rising order, without other entries");
	free(list);
	ok(proc_list_numbers(root, "proc/4243/task", &list, &n) < 0 && errno == ENOENT,
	        "the tasks of a process that has ended are not found");
}

static void test_task(int root)
{
	struct proc_status status;
	struct proc_maps maps;
	struct proc_map map;

	ok(proc_status_read(root, 4242, 4243, &status), "the status of a thread is read");
	eq_str(status.comm, "a name of 15 ch", "a thread's name may contain blanks");
	eq_u64(status.pid, 4242, "a thread has its process");
	ok(!proc_status_read(root, 4242, 4244, &status),
	        "the status of a thread that has ended is not found");
	ok(proc_maps_open(&maps, root, 4242, 0), "the mappings of a process are opened");
	ok(proc_maps_next(&maps, &map) && map.read && !map.exec && map.start == 0x400000,
	        "the first mapping is data");
	ok(proc_maps_next(&maps, &map) && map.exec && map.end == 0x500000 && map.pgoff == 0x1000,
	        "the second mapping is text with its offset");
	ok(map.maj == 0xfe && map.min == 0 && map.ino == 1234 && !map.shared,
	        "the second mapping has device and inode");
	eq_str(map.name, "/opt/worker", "the second mapping has its file name");
	ok(proc_maps_next(&maps, &map) && map.write && strcmp(map.name, "[heap]") == 0,
	        "the third mapping is the heap");
	ok(proc_maps_next(&maps, &map) && strcmp(map.name, "") == 0,
	        "anonymous memory has an empty name");
	ok(proc_maps_next(&maps, &map) && map.shared && map.min == 0x12 &&
	                strcmp(map.name, "/tmp/a b (deleted)") == 0,
	        "a file name may contain blanks");
	ok(proc_maps_next(&maps, &map) && strcmp(map.name, "[vdso]") == 0, "the vdso is a mapping");
	ok(!proc_maps_next(&maps, &map), "a malformed line is skipped");
	proc_maps_close(&maps);
	ok(!proc_maps_open(&maps, root, 1, 0),
	        "the mappings of a process that has ended are not found");
}

static void test_ids(void)
{
	static const char *const bad[] = {"", ",", "0", "-1", "x", "7x", "2147483648", " "};
	const char *p = "7,2147483647,";
	pid_t id = 0;
	size_t i;

	ok(proc_take_id(&p, &id) && id == 7, "the first number of a list is read");
	ok(proc_take_id(&p, &id) && id == 2147483647 && *p == '\0',
	        "the last number and the comma after it are read");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		p = bad[i];
		ok(!proc_take_id(&p, &id) && p == bad[i], bad[i]);
	}
}

static void test_ranges(void)
{
	static const char *const bad[] = {"", ",", "-1", "x", "3-", "3-2", "3-x", " 1"};
	const char *p = "0,2-3,x";
	long from = -1, to = -1;
	size_t i;

	ok(proc_take_range(&p, &from, &to) && from == 0 && to == 0,
	        "the first cpu of a list is read");
	ok(proc_take_range(&p, &from, &to) && from == 2 && to == 3, "a range of cpus is read");
	ok(!proc_take_range(&p, &from, &to) && *p == 'x',
	        "text that is no cpu is left in the list");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		p = bad[i];
		ok(!proc_take_range(&p, &from, &to) && p == bad[i], bad[i]);
	}
}

int main(int argc, char **argv)
{
	struct fixture f;

	if (argc != 2) {
		return 2;
	}
	fixture_open(&f, argv[1]);
	test_files(f.fd);
	test_kernel(f.fd);
	test_lists(f.fd);
	test_task(f.fd);
	fixture_close(&f);
	test_ids();
	test_ranges();
	return tap_done();
}
