/* SPDX-License-Identifier: MIT */
/* What a saved machine says: test_proc machine.txt */
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

	ok(proc_read_line(root, "sys/devices/system/cpu/online", line, sizeof(line)), "a line");
	eq_str(line, "0-1,3", "without its newline");
	ok(proc_read_line(root, "proc/cpuinfo", line, 8), "a line that is longer than the room");
	eq_str(line, "process", "is cut");
	ok(proc_read_number(root, "proc/sys/kernel/perf_event_paranoid", &v) && v == 2, "a number");
	ok(!proc_read_number(root, "proc/4242/maps/none", &v), "a path through a file");
	ok(!proc_read_number(root, "sys/devices/system/node/node0/memory0", &v), "an empty file");
	ok(proc_read_file(root, "proc/meminfo", &t) && t.n > 50, "a whole file");
	ok(!proc_read_file(root, "proc/none", &t), "a file that is not there");
	text_fini(&t);
}

static void test_kernel(int root)
{
	struct proc_kernel kernel;

	ok(proc_kernel_text(root, &kernel), "the kernel's text");
	eq_str(kernel.name, "_text", "has its reference symbol");
	eq_u64(kernel.start, 0xffffffff81000000, "its start");
	eq_u64(kernel.end - kernel.start, 0x1000000, "and its size");
}

static void test_lists(int root)
{
	pid_t *list;
	size_t n;

	eq_u64(proc_read_cpus(root, "sys/devices/system/cpu/online", &list, &n), 0, "cpus");
	ok(n == 3 && list[0] == 0 && list[1] == 1 && list[2] == 3, "are 0, 1 and 3");
	free(list);
	ok(proc_read_cpus(root, "proc/meminfo", &list, &n) < 0 && n == 0, "no list of cpus");
	free(list);
	ok(proc_read_cpus(root, "none", &list, &n) < 0 && list == NULL, "no file");
	eq_u64(proc_list_numbers(root, "proc", &list, &n), 0, "processes");
	ok(n == 2 && list[0] == 17 && list[1] == 4242, "in rising order, nothing else");
	free(list);
	ok(proc_list_numbers(root, "proc/4243/task", &list, &n) < 0 && errno == ENOENT,
	        "a process that ended");
}

static void test_task(int root)
{
	struct proc_status status;
	struct proc_maps maps;
	struct proc_map map;

	ok(proc_status_read(root, 4242, 4243, &status), "a thread");
	eq_str(status.comm, "a name of 15 ch", "with a name of spaces");
	eq_u64(status.pid, 4242, "of its process");
	ok(!proc_status_read(root, 4242, 4244, &status), "a thread that ended");
	ok(proc_maps_open(&maps, root, 4242, 0), "its mappings");
	ok(proc_maps_next(&maps, &map) && map.read && !map.exec && map.start == 0x400000, "data");
	ok(proc_maps_next(&maps, &map) && map.exec && map.end == 0x500000 && map.pgoff == 0x1000,
	        "text");
	ok(map.maj == 0xfe && map.min == 0 && map.ino == 1234 && !map.shared, "of a file");
	eq_str(map.name, "/opt/worker", "with its name");
	ok(proc_maps_next(&maps, &map) && map.write && strcmp(map.name, "[heap]") == 0, "heap");
	ok(proc_maps_next(&maps, &map) && strcmp(map.name, "") == 0, "anonymous memory");
	ok(proc_maps_next(&maps, &map) && map.shared && map.min == 0x12 &&
	                strcmp(map.name, "/tmp/a b (deleted)") == 0,
	        "a name with spaces");
	ok(proc_maps_next(&maps, &map) && strcmp(map.name, "[vdso]") == 0, "the vdso");
	ok(!proc_maps_next(&maps, &map), "a line that is none ends nothing but itself");
	proc_maps_close(&maps);
	ok(!proc_maps_open(&maps, root, 1, 0), "another process has ended");
}

static void test_ids(void)
{
	static const char *const bad[] = {"", ",", "0", "-1", "x", "7x", "2147483648", " "};
	const char *p = "7,2147483647,";
	pid_t id = 0;
	size_t i;

	ok(proc_take_id(&p, &id) && id == 7, "a number of a list");
	ok(proc_take_id(&p, &id) && id == 2147483647 && *p == '\0', "the last one and its comma");
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

	ok(proc_take_range(&p, &from, &to) && from == 0 && to == 0, "a cpu of a list");
	ok(proc_take_range(&p, &from, &to) && from == 2 && to == 3, "a range of cpus");
	ok(!proc_take_range(&p, &from, &to) && *p == 'x', "what is none stays");
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
