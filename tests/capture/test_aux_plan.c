/* SPDX-License-Identifier: MIT */
/* Which events, attrs, sizes and filters a trace gets, and what is refused: test_aux_plan MACHINE. */
#define _GNU_SOURCE
#include "pt_recorder.h"

#include <limits.h>

static const struct event *last_event(const struct sonde_recorder *r)
{
	return &r->plan.events.v[r->plan.events.n - 1];
}

static void test_events(void)
{
	struct sonde_recorder_options o = options("events.data");
	struct sonde_recorder *r;
	const struct sonde_attr *a;

	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	events[0] = "cpu-clock";
	events[1] = "intel_pt//";
	o.events.n = 2;
	r = begin(&o);
	ok(sonde_recorder_start(r) == 0, "trace and samples");
	eq_str(r->plan.events.v[0].name, "intel_pt//", "the trace goes first");
	eq_u64(r->plan.events.v[0].attr.config, PT_CONFIG, "with perf's config");
	a = &r->plan.events.v[0].attr;
	eq_u64(a->sample_period, 1, "the trace has no samples");
	eq_u64(a->sample_type,
	        SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU |
	                SONDE_SAMPLE_IDENTIFIER,
	        "its sample_type as perf's");
	eq_u64(a->flags,
	        1u << SONDE_FLAG_DISABLED | 1u << SONDE_FLAG_INHERIT |
	                1u << SONDE_FLAG_SAMPLE_ID_ALL,
	        "its flags as perf's");
	eq_u64(a->aux_watermark, 1u << 20, "woken at a quarter of the area");
	eq_str(last_event(r)->name, "dummy:u", "the dummy comes last");
	a = &last_event(r)->attr;
	ok(sonde_attr_has(a, SONDE_FLAG_CONTEXT_SWITCH) && sonde_attr_has(a, SONDE_FLAG_MMAP2) &&
	                !sonde_attr_has(a, SONDE_FLAG_DISABLED),
	        "tells of switches and mappings, and is on from the start");
	ok(!sonde_attr_has(&r->plan.events.v[0].attr, SONDE_FLAG_MMAP), "the trace does not");
	sonde_recorder_free(r);

	o.events.n = 1;
	events[0] = "intel_pt/tsc=0/";
	r = begin(&o);
	ok(sonde_recorder_start(r) == 0, "no times in the trace");
	ok(!sonde_attr_has(&last_event(r)->attr, SONDE_FLAG_CONTEXT_SWITCH) &&
	                r->plan.events.n == 2,
	        "then nobody needs switches");
	sonde_recorder_free(r);

	fake_reset(&(struct fake_options){.ncpus = CPUS,
	        .aux_type = PT_TYPE,
	        .unknown_flags = 1u << SONDE_FLAG_CONTEXT_SWITCH});
	events[0] = "intel_pt//";
	r = begin(&o);
	ok(sonde_recorder_start(r) == 0, "a kernel without records of switches");
	eq_u64(r->plan.events.n, 3, "gets sched_switch");
	eq_u64(r->plan.events.v[1].attr.config, 372, "by its id");
	eq_u64(r->plan.events.v[1].attr.sample_type,
	        SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU |
	                SONDE_SAMPLE_PERIOD | SONDE_SAMPLE_RAW | SONDE_SAMPLE_IDENTIFIER,
	        "sampled as perf samples it");
	sonde_recorder_free(r);

	events[0] = "intel_pt/tsc=0/";
	r = begin(&o);
	ok(sonde_recorder_start(r) == 0, "but not without times");
	eq_u64(r->plan.events.n, 2, "the dummy alone");
	sonde_recorder_free(r);

	fake_reset(&(struct fake_options){.ncpus = CPUS,
	        .aux_type = PT_TYPE,
	        .unprivileged = true,
	        .unknown_flags = 1u << SONDE_FLAG_CONTEXT_SWITCH});
	events[0] = "intel_pt//u";
	o.targets.all_cpus = false;
	o.targets.pids = "7";
	r = begin(&o);
	ok(sonde_recorder_start(r) == 0, "nor where tracepoints are not allowed");
	eq_u64(r->plan.events.n, 2, "the dummy alone");
	sonde_recorder_free(r);
}

static void refused(struct sonde_recorder_options o, const char *event, const char *why)
{
	struct sonde_recorder *r;

	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	events[0] = event;
	r = begin(&o);
	ok(sonde_recorder_start(r) < 0, "refused");
	eq_str(sonde_recorder_error(r)->text, why, "in perf's words");
	sonde_recorder_free(r);
}

static void test_refusals(void)
{
	static const char alone[] =
	        "AUX area sampling requires an AUX area event group leader plus other events to "
	        "which to add samples";
	struct sonde_recorder_options o = options("refused.data");

	o.aux.pages = 1;
	refused(o, "intel_pt//u",
	        "Invalid mmap size for Intel Processor Trace: must be at least 8KiB and a power "
	        "of 2");
	o.aux.pages = 16;
	o.aux.snapshot = true;
	o.aux.snapshot_size = 0x100000;
	refused(o, "intel_pt//u",
	        "Snapshot size 1048576 must not be greater than AUX area tracing mmap size 65536");
	refused(o, "cpu-clock", "No AUX area tracing to snapshot");
	o.aux.sample = true;
	refused(o, "{intel_pt//u,cpu-clock}",
	        "Snapshot mode (intel_pt PMU) and sample trace cannot be used together");
	refused(o, "intel_pt//u", alone);
	o.aux.snapshot = false;
	refused(o, "cpu-clock", "No AUX area event to sample");
	refused(o, "intel_pt//u,cpu-clock", alone);
	refused(o, "{cpu-clock,intel_pt//u}", alone);
	refused(o, "{intel_pt//u,cpu-clock/aux-sample-size=0/}", alone);
	o.aux.sample_size = 70000;
	refused(o, "{intel_pt//u,cpu-clock}", "AUX area sample size 70000 too big, max. 61440");
	o.aux.sample = false;
	o.output.threads = "";
	refused(o, "intel_pt//u",
	        "Parallel trace streaming is not available in AUX area tracing mode");
	o.output.threads = NULL;
	o.buffers.overwrite = true;
	refused(o, "intel_pt//u",
	        "--overwrite is not available in AUX area tracing mode: -S keeps the newest "
	        "trace");
	o.buffers.overwrite = false;
	refused(o, "intel_pt//u,intel_pt/tsc=0/", "There may be only one intel_pt event");
}

struct sizes {
	bool limited;
	uint64_t mlock_kb, memlock;
	size_t pages, aux_pages;
	uint64_t snapshot_size;
	bool snapshot;
	uint64_t data, aux; /* what comes of it, bytes */
};

static void test_sizes(void)
{
	static const struct sizes all[] = {
	        {.data = 512 << 10, .aux = 4 << 20},
	        {.limited = true, .mlock_kb = 516, .data = 256 << 10, .aux = 128 << 10},
	        {.limited = true,
	                .mlock_kb = 516,
	                .pages = 64,
	                .data = 256 << 10,
	                .aux = 128 << 10},
	        {.limited = true,
	                .mlock_kb = 516,
	                .aux_pages = 16,
	                .data = 256 << 10,
	                .aux = 64 << 10},
	        {.limited = true, .mlock_kb = 260, .data = 128 << 10, .aux = 128 << 10},
	        {.aux_pages = 16, .data = 512 << 10, .aux = 64 << 10},
	        {.snapshot = true, .data = 512 << 10, .aux = 4 << 20},
	        {.snapshot = true, .snapshot_size = 0x100000, .data = 512 << 10, .aux = 1 << 20},
	        {.snapshot = true, .snapshot_size = 5000, .data = 512 << 10, .aux = 8192},
	        {.snapshot = true, .aux_pages = 1, .data = 512 << 10, .aux = 4096},
	        {.limited = true,
	                .mlock_kb = 516,
	                .snapshot = true,
	                .data = 256 << 10,
	                .aux = 128 << 10},
	};
	struct sonde_recorder_options o = options("sizes.data");
	char pid[16];
	size_t i;

	(void)snprintf(pid, sizeof(pid), "%d", 7);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct sizes *s = &all[i];
		struct sonde_recorder *r;

		fake_reset(&(struct fake_options){.ncpus = CPUS,
		        .aux_type = PT_TYPE,
		        .unprivileged = s->limited,
		        .mlock_kb = s->mlock_kb,
		        .memlock = s->memlock});
		o.targets.all_cpus = false;
		o.targets.pids = pid;
		o.buffers.pages = s->pages;
		o.aux.pages = s->aux_pages;
		o.aux.snapshot = s->snapshot;
		o.aux.snapshot_size = s->snapshot_size;
		(void)unlink("mlock");
		r = begin(&o);
		{
			int fd = openat(r->root_fd, "proc/sys/kernel/perf_event_mlock_kb",
			        O_WRONLY | O_TRUNC | O_CLOEXEC);
			char text[16];
			int n = snprintf(text, sizeof(text), "%llu\n",
			        (unsigned long long)(s->mlock_kb != 0 ? s->mlock_kb : 516));

			ok(fd >= 0 && write(fd, text, (size_t)n) == n, "limit is set");
			(void)close(fd);
		}
		if (!ok(sonde_recorder_start(r) == 0, "sizes by limits and options")) {
			printf("# %s\n", sonde_recorder_error(r)->text);
		}
		eq_u64(r->rings.pages * PAGE, s->data, "bytes of a data ring");
		eq_u64(r->rings.aux.size, s->aux, "bytes of an AUX area");
		sonde_recorder_free(r);
	}
}

static void sampled(const char *event, const char *more, uint32_t size)
{
	struct sonde_recorder_options o = options("sample.data");
	struct sonde_recorder *r;

	events[0] = event;
	events[1] = more;
	o.events.n = more != NULL ? 2 : 1;
	o.aux.sample = more == NULL;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	if (!ok(sonde_recorder_start(r) == 0, "trace in samples")) {
		printf("# %s\n", sonde_recorder_error(r)->text);
	}
	eq_u64(r->plan.events.v[0].attr.config, 0xe601, "PSBs as near as can be");
	eq_u64(r->plan.events.v[1].leader, 0, "both in one group");
	eq_u64(r->plan.events.v[1].attr.aux_sample_size, size, "bytes in each sample");
	ok((r->plan.events.v[1].attr.sample_type & SONDE_SAMPLE_AUX) != 0, "which says so");
	eq_u64(r->rings.aux.size, size, "the area need not be larger");
	eq_u64(r->plan.events.v[0].attr.aux_watermark, 0, "nobody is woken for it");
	sonde_recorder_free(r);
}

static void test_sample(void)
{
	sampled("{intel_pt//u,cpu-clock:u}", NULL, 4096);
	sampled("intel_pt//u", "cpu-clock/aux-sample-size=8192/u", 8192);
	sampled("cpu-clock/aux-sample-size=8192/u", "intel_pt//u", 8192);
}

/* The filter that the kernel gets; NULL: none, the recording is refused. */
static void filtered(const char *text, const char *want, const char *error)
{
	struct sonde_recorder_filter filter = {.text = text, .nevents = 1};
	struct sonde_recorder_options o = options("filter.data");
	struct sonde_recorder *r;
	const struct fake_event *e;

	o.events.filters = &filter;
	o.events.nfilters = 1;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	if (want != NULL) {
		if (!ok(sonde_recorder_start(r) == 0, text)) {
			printf("# %s\n", sonde_recorder_error(r)->text);
		}
		e = fake_find(PT_TYPE, PT_CONFIG, 1);
		eq_str(e != NULL ? e->filter : "", want, "as the kernel gets it");
	} else {
		ok(sonde_recorder_start(r) < 0, text);
		if (!ok(strstr(sonde_recorder_error(r)->text, error) != NULL, error)) {
			printf("# %s\n", sonde_recorder_error(r)->text);
		}
	}
	sonde_recorder_free(r);
}

/* Where in its file this program's function is; false: cannot be told here. */
static bool own_function(uint64_t addr, char path[PATH_MAX], uint64_t *offset)
{
	unsigned long long start, end, at;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	bool found = false;

	while (!found && maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		found = sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095s", &start, &end, &at,
		                path) == 4 &&
		        addr >= start && addr < end;
		*offset = addr - start + at;
	}
	if (maps != NULL) {
		(void)fclose(maps);
	}
	return found;
}

int aux_test_function(int x);

int aux_test_function(int x)
{
	return x + 1;
}

static void test_own_filter(void)
{
	char path[PATH_MAX], text[PATH_MAX + 64], want[PATH_MAX + 64];
	uint64_t offset;

	if (!own_function((uint64_t)(uintptr_t)aux_test_function, path, &offset)) {
		skip("/proc/self/maps does not name this program");
		return;
	}
	(void)snprintf(text, sizeof(text), "start aux_test_function @ %s", path);
	(void)snprintf(want, sizeof(want), "start 0x%llx@%s", (unsigned long long)offset, path);
	filtered(text, want, NULL);
	(void)snprintf(text, sizeof(text), "filter no_such_function @ %s", path);
	filtered(text, NULL, "'no_such_function' not found");
}

static void test_filter(void)
{
	filtered("filter 0x1100/0x20@/no/such/object", "filter 0x1100/0x20@/no/such/object", NULL);
	filtered(
	        "filter 4352 / 32 @ /x start 0x1 @ /x", "filter 0x1100/0x20@/x,start 0x1@/x", NULL);
	filtered("start 0x10@/x, stop 0x20@/x", "start 0x10@/x,stop 0x20@/x", NULL);
	filtered("tracestop 0x10/0x20@/x", "stop 0x10/0x20@/x", NULL);
	filtered("filter 0xffffffff81000000/0x1000", "filter 0xffffffff81000000/0x1000", NULL);
	filtered("filter schedule", "filter 0xffffffff81002000/0x1000", NULL);
	filtered("start twice #2", "start 0xffffffff81005000", NULL);
	filtered("filter twice #g", "filter 0xffffffff81005000/0x800", NULL);
	filtered("filter schedule / twice #1", "filter 0xffffffff81002000/0x3000", NULL);
	filtered("filter *", "filter 0xffffffff81000000/0x7000", NULL);
	filtered("filter twice", NULL, "#2\t0xffffffff81005000\tg\ttwice");
	filtered("filter twice #3", NULL, "only 2 symbols");
	filtered("filter schedule #2", NULL, "only 1 symbols");
	filtered("filter nothing", NULL, "Symbol 'nothing' not found");
	filtered("filter twice #1 / schedule", NULL,
	        "Symbol 'schedule' (0xffffffff81002000) comes before 'twice' (0xffffffff81004000)");
	filtered("bogus main @ /x", NULL, "Failed to parse address filter: 'bogus main @ /x'");
	filtered("filter", NULL, "Failed to parse address filter");
	filtered("filter main @", NULL, "Failed to parse address filter");
	filtered("filter 0x1000 @ /x", NULL, "needs a size");
	filtered("start 1@/x start 2@/x start 3@/x", NULL,
	        "number of address filters (3) exceeds maximum (2)");
}

int main(int argc, char **argv)
{
	(void)argc;
	fixture_open(&machine, argv[1]);
	test_events();
	test_refusals();
	test_sizes();
	test_sample();
	test_filter();
	test_own_filter();
	fake_end();
	fixture_close(&machine);
	return tap_done();
}
