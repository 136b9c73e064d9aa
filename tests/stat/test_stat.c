/* SPDX-License-Identifier: MIT */
/* Counting on a fake kernel that multiplexes its hardware counters, and repeats with known counts. */
#define _GNU_SOURCE
#include "fixture.h"
#include "tap.h"

#include "proc/proc.h"
#include "stat/stat.h"

#include <errno.h>
#include <stdlib.h>

/* Descriptor n counts 1000 (n + 1); all events but the first two run for a quarter of the time. */
static struct {
	int opened, closed, refuse_from;
	int no_cpu; /* opening on it fails with ENODEV; 0: never */
	uint64_t factor;
	bool refuse_groups;
	char out[16384];
	size_t n;
} k;

static int fake_open(const struct sonde_attr *attr, pid_t pid, int cpu, int group, unsigned flags)
{
	if (k.refuse_groups && (attr->read_format & SONDE_READ_GROUP) != 0) {
		errno = EINVAL; /* as kernels before 4.13 do for inherited events */
		return -1;
	}
	(void)pid, (void)group, (void)flags;
	if (k.no_cpu != 0 && cpu == k.no_cpu) {
		errno = ENODEV;
		return -1;
	}
	if (k.refuse_from != 0 && attr->type == SONDE_TYPE_HARDWARE &&
	        attr->config >= (uint64_t)k.refuse_from) {
		errno = ENOENT;
		return -1;
	}
	return 1000 + k.opened++;
}

static int fake_close(int fd)
{
	(void)fd;
	k.closed++;
	return 0;
}

static ssize_t fake_read(int fd, void *buf, size_t size)
{
	uint64_t *out = buf, n = (uint64_t)(fd - 1000) % 4;

	(void)size;
	out[0] = (1000 + 1000 * n) * (k.factor != 0 ? k.factor++ : 1);
	out[1] = 800;
	out[2] = n < 2 ? 800 : 200;
	return 24;
}

static int fake_enable(int fd, bool on, bool group)
{
	(void)fd, (void)on, (void)group;
	return 0;
}

static int fake_id(int fd, uint64_t *id)
{
	*id = (uint64_t)fd;
	return 0;
}

static const struct host_kernel kernel = {.open = fake_open,
        .close = fake_close,
        .read = fake_read,
        .enable = fake_enable,
        .id = fake_id};

static int collect(void *arg, const char *text, size_t n)
{
	(void)arg;
	if (k.n + n < sizeof(k.out)) {
		memcpy(k.out + k.n, text, n);
		k.n += n;
		k.out[k.n] = '\0';
	}
	return 0;
}

static int run_in(int root, const char *events, struct sonde_stat_options o)
{
	static char program[] = "true";
	static char *const words[] = {program, NULL};
	const char *list[] = {events};
	struct sonde_stat *s;
	int rc;

	o.size = sizeof(o);
	o.workload = words;
	o.events = list;
	o.nevents = events != NULL;
	k.n = 0;
	k.opened = k.closed = 0;
	s = stat_new_with(&o, &kernel, root);
	rc = sonde_stat_run(s, collect, NULL);
	sonde_stat_free(s);
	return rc;
}

static int run(const char *events, struct sonde_stat_options o)
{
	return run_in(proc_root_open("/"), events, o);
}

/* Three cpus are on-line in the list, but one is off-line when its events are opened. */
static void test_cpu_gone(const char *machine)
{
	struct sonde_stat_options o = {.by = SONDE_STAT_BY_CPU,
	        .format = SONDE_STAT_CSV,
	        .separator = ",",
	        .all_cpus = true};
	struct fixture f;

	fixture_open(&f, machine);
	k.no_cpu = 1;
	eq_u64(run_in(proc_root_open(f.path), "cs,page-faults", o), 0,
	        "a cpu that goes off-line is no error");
	eq_str(k.out,
	        "CPU0,1000,,cs,800,100.00,,\n"
	        "CPU1,<not counted>,,cs,0,100.00,,\n"
	        "CPU2,2000,,cs,800,100.00,,\n"
	        "CPU0,12000,,page-faults,200,25.00,,\n"
	        "CPU1,<not counted>,,page-faults,0,100.00,,\n"
	        "CPU2,16000,,page-faults,200,25.00,,\n",
	        "the other cpus are counted");
	k.no_cpu = 2;
	eq_u64(run_in(proc_root_open(f.path), "cs", o), 0,
	        "an on-line cpu without a device is no error");
	ok(strstr(k.out, "CPU0,<not supported>") == k.out,
	        "an event without a device on an on-line cpu is not supported");
	k.no_cpu = 0;
	fixture_close(&f);
}

static void test_shared(void)
{
	struct sonde_stat_options o = {
	        .by = SONDE_STAT_BY_ALL, .format = SONDE_STAT_CSV, .separator = ";"};

	eq_u64(run("cycles,instructions,branches,branch-misses", o), 0,
	        "four events, two counters");
	eq_str(k.out,
	        "1000;;cycles;800;100.00;;\n"
	        "2000;;instructions;800;100.00;2.00;insn per cycle\n"
	        "12000;;branches;200;25.00;;\n"
	        "16000;;branch-misses;200;25.00;133.33;of all branches\n",
	        "counts are scaled, with the percentage of time counted");
	eq_u64(k.closed, k.opened, "every descriptor is closed");
	o.no_scale = true;
	(void)run("cycles,instructions,branches,branch-misses", o);
	ok(strstr(k.out, "3000;;branches;200;25.00") != NULL, "--no-scale prints raw counts");
	o.no_scale = false;
	o.format = SONDE_STAT_TEXT;
	o.thousands = ".";
	(void)run("cycles,instructions,branches,branch-misses", o);
	ok(strstr(k.out, "\n            12.000      branches  ") != NULL,
	        "thousands are separated");
	ok(strstr(k.out, "of all branches          (25.00%)\n") != NULL,
	        "the percentage is after the metric");
	o.format = SONDE_STAT_JSON;
	(void)run("page-faults:u", o);
	eq_str(k.out,
	        "{\"counter-value\" : \"1000.000000\", \"unit\" : \"\", \"event\" : "
	        "\"page-faults:u\", "
	        "\"event-runtime\" : 800, \"pcnt-running\" : 100.00, \"metric-value\" : 0.000000, "
	        "\"metric-unit\" : \"\"}\n",
	        "JSON");
}

static void test_repeats(void)
{
	struct sonde_stat_options o = {.by = SONDE_STAT_BY_ALL,
	        .format = SONDE_STAT_CSV,
	        .separator = ",",
	        .no_scale = true,
	        .repeat = 4};

	k.factor = 1; /* 1000, 2000 * 2, 3000 * 3 ...: one event, so descriptors 0 to 3 */
	eq_u64(run("cs", o), 0, "four runs");
	k.factor = 0;
	/* 1000 4000 9000 16000: mean 7500, deviation 6557.44, of the mean 3278.72 */
	eq_str(k.out, "7500,,cs,43.72%,500,62.50,,\n", "the mean and its standard error");
	k.factor = 1; /* two of the runs counted a quarter of the time: 1000 4000 36000 64000 */
	o.no_scale = false;
	(void)run("cs", o);
	k.factor = 0;
	eq_str(k.out, "26250,,cs,56.64%,500,62.50,,\n", "each run is scaled separately");
}

static void test_unsupported(void)
{
	struct sonde_stat_options o = {
	        .by = SONDE_STAT_BY_ALL, .format = SONDE_STAT_CSV, .separator = ","};

	k.refuse_from = 1;
	eq_u64(run("cycles,branches", o), 0, "an unsupported event is no error");
	eq_str(k.out, "1000,,cycles,800,100.00,,\n<not supported>,,branches,0,100.00,,\n",
	        "an unsupported event is printed as <not supported>");
	ok(run("{branches,cycles}", o) == SONDE_EUNSUPPORTED,
	        "an unsupported group leader is an error");
	k.refuse_from = 0;
	k.refuse_groups = true;
	eq_u64(run("{cycles,branches}", o), 0, "a kernel that cannot read inherited groups");
	eq_str(k.out, "1000,,cycles,800,100.00,,\n2000,,branches,800,100.00,,\n",
	        "group members are then read one by one");
	k.refuse_groups = false;
	o.by = SONDE_STAT_BY_CORE;
	ok(run("cycles", o) == SONDE_EARG, "counting a command by core is SONDE_EARG");
}

/* One event string that opens counters of two memory controllers on two cpus. */
static void test_merged(const char *machine)
{
	struct sonde_stat_options o = {.by = SONDE_STAT_BY_ALL,
	        .format = SONDE_STAT_CSV,
	        .separator = ",",
	        .no_scale = true,
	        .all_cpus = true};
	struct fixture f;

	fixture_open(&f, machine);
	eq_u64(run_in(proc_root_open(f.path), "imc/reads/", o), 0, "two memory controllers");
	eq_str(k.out, "10000,,imc/reads/,2000,62.50,,\n", "one row with the sum of four counters");
	o.by = SONDE_STAT_BY_CPU;
	eq_u64(run_in(proc_root_open(f.path), "imc/reads/", o), 0, "two controllers by cpu");
	ok(k.opened == 4 && strcmp(k.out, "CPU0,4000,,imc/reads/,1000,62.50,,\n"
	                                  "CPU1,6000,,imc/reads/,1000,62.50,,\n") == 0,
	        "each cpu has the sum of its two counters");
	o.no_merge = true;
	eq_u64(run_in(proc_root_open(f.path), "imc/reads/", o), 0, "--no-merge");
	eq_str(k.out,
	        "CPU0,1000,,imc/reads/ [uncore_imc_0],800,100.00,,\n"
	        "CPU1,2000,,imc/reads/ [uncore_imc_0],800,100.00,,\n"
	        "CPU0,3000,,imc/reads/ [uncore_imc_1],200,25.00,,\n"
	        "CPU1,4000,,imc/reads/ [uncore_imc_1],200,25.00,,\n",
	        "--no-merge: each counter has a row with its PMU's name");
	o.no_merge = false;
	o.by = SONDE_STAT_BY_SOCKET;
	eq_u64(run_in(proc_root_open(f.path), "imc/reads/", o), 0, "two controllers by socket");
	eq_str(k.out, "S0,2,10000,,imc/reads/,2000,62.50,,\n",
	        "the row of a socket has two cpus, not four counters");
	o.by = SONDE_STAT_BY_ALL;
	eq_u64(run_in(proc_root_open(f.path), "imc/reads/,imc/reads/,uncore_imc_1/reads/", o), 0,
	        "the same event twice, then of one controller");
	eq_str(k.out,
	        "10000,,imc/reads/,2000,62.50,,\n10000,,imc/reads/,2000,62.50,,\n"
	        "3000,,uncore_imc_1/reads/,1600,100.00,,\n",
	        "three events have three rows");
	o.repeat = 2;
	k.factor = 1; /* 1 to 4 times, then 5 to 8 times the counts */
	eq_u64(run_in(proc_root_open(f.path), "imc/reads/", o), 0, "two runs of merged events");
	k.factor = 0;
	/* 1 4 9 16 and 5 12 21 32 thousand: 30000 and 70000 */
	eq_str(k.out, "50000,,imc/reads/,40.00%,2000,62.50,,\n",
	        "the mean of the sums of two runs");
	fixture_close(&f);
}

static void test_percore(void)
{
	struct sonde_stat_options o = {.by = SONDE_STAT_BY_CPU,
	        .format = SONDE_STAT_CSV,
	        .separator = ",",
	        .all_cpus = true};

	ok(run("cpu-clock/percore/", o) == SONDE_EARG, "percore with -A is not supported");
	o.by = SONDE_STAT_BY_CORE;
	eq_u64(run("cpu-clock/percore/", o), 0, "percore with --per-core has no effect");
}

static void test_means(void)
{
	struct stat_mean m = {0};

	ok(stat_mean_error(&m) == 0, "the error of no value is 0");
	stat_mean_add(&m, 10);
	ok(stat_mean_error_percent(&m) == 0, "the error of one value is 0");
	stat_mean_add(&m, 20);
	ok(m.mean == 15 && stat_mean_error(&m) == 5, "mean and error of two values");
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		(void)fprintf(stderr, "usage: test_stat MACHINE MEMORY_CONTROLLERS\n");
		return 2;
	}
	test_cpu_gone(argv[1]);
	test_means();
	test_shared();
	test_repeats();
	test_unsupported();
	test_merged(argv[2]);
	test_percore();
	return tap_done();
}
