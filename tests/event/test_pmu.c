/* SPDX-License-Identifier: MIT */
/* Strings that mean something on saved machines only: PMUs, their checks, and what is said of mistakes. */
#define _GNU_SOURCE
#include "event/catalogue.h"
#include "event/parts.h"
#include "fixture.h"
#include "tap.h"

#include <math.h>

static const char *fixtures;

static void machine_open(struct fixture *f, const char *name)
{
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s.txt", fixtures, name);
	fixture_open(f, path);
}

static void test_values(void)
{
	static const struct {
		const char *machine, *text;
		uint32_t type;
		uint64_t config, config1, config2, config3;
	} cases[] = {
	        {"intel", "cpu/event=0x3c,umask=0x1,cmask=2,inv/", 4, 0x280013c, 0, 0, 0},
	        {"intel", "cpu/config=1,config1=2,config2=3,config3=4/", 4, 1, 2, 3, 4},
	        {"intel", "cpu/cycles/", 0, 0, 0, 0, 0},
	        {"intel", "cpu/L1-dcache-load-misses/", 3, 0x10000, 0, 0, 0},
	        {"intel", "cpu/mem-loads,ldlat=4/", 4, 0x1cd, 7, 0, 0},
	        {"intel", "uncore_cha_0/umask=0x1ff00000001/", 12, 0, 0, 0, 0},
	        {"intel", "cha_1/umask=0x12345601/", 13, 0x12345600000100, 0, 0, 0},
	        {"intel", "*cha_10/event=1/", 14, 1, 0, 0, 0},
	        {"intel", "intel_pt//", 8, 0x300e601, 0, 0, 0},
	        {"intel", "intel_pt/noretcomp/u", 8, 0x300ee01, 0, 0, 0},
	        {"intel", "intel_pt/tsc=0/", 8, 0x300e201, 0, 0, 0},
	        {"intel", "intel_pt/config=0x400/", 8, 0x400, 0, 0, 0},
	        {"hybrid", "cpu_core/cycles,period=5/", 0, 0x400000000, 0, 0, 0},
	        {"hybrid", "cpu_atom/LLC-loads/", 3, 0xa00000002, 0, 0, 0},
	        {"hybrid", "intel_pt//", 8, 0x100e601, 0, 0, 0},
	        {"broadwell", "intel_pt//", 8, 0x400, 0, 0, 0},
	        {"amd", "cpu/event=0x1c2/", 4, 0x1000000c2, 0, 0, 0},
	        {"amd", "amd_df/event=0x3807,umask=0xf03/", 12, 0x380f000307, 0, 0, 0},
	        {"arm", "cs_etm/@tmc_etr0,retstack/u", 10, 0x20000000, 0, 0x2b8a7c31, 0},
	        {"arm", "arm_spe_0/inv_event_filter=2/", 9, 0, 0, 0, 2},
	};
	struct fixture f;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_list list = {0};
		struct error err = {0};
		bool fits = strstr(cases[i].text, "0x1ff00000001") == NULL;

		machine_open(&f, cases[i].machine);
		if (ok((event_parse(&list, f.fd, cases[i].text, &err) == 0) == fits,
		            cases[i].text) &&
		        fits) {
			eq_u64(list.n, 1, "one event");
			eq_u64(list.v[0].attr.type, cases[i].type, "type");
			eq_u64(list.v[0].attr.config, cases[i].config, "config");
			eq_u64(list.v[0].attr.config1, cases[i].config1, "config1");
			eq_u64(list.v[0].attr.config2, cases[i].config2, "config2");
			eq_u64(list.v[0].attr.config3, cases[i].config3, "config3");
			eq_str(list.v[0].name, cases[i].text, "its name is the string");
		}
		event_list_fini(&list);
		fixture_close(&f);
	}
}

static void test_many(void)
{
	struct event_list list = {0};
	struct error err = {0};
	struct fixture f;

	machine_open(&f, "intel");
	ok(event_parse(&list, f.fd, "{imc/cas_count_read/,imc/cas_count_write/}", &err) == 0,
	        "a group on two controllers");
	eq_u64(list.n, 4, "is four events");
	eq_u64(list.v[0].members, 2, "a group for each");
	eq_u64(list.v[2].leader, 2, "controller");
	eq_str(list.v[0].pmu, "uncore_imc_0", "the first");
	eq_str(list.v[3].pmu, "uncore_imc_1", "the second");
	eq_u64(list.v[1].attr.config, 0xc04, "has both events");
	eq_str(list.v[0].unit, "MiB", "in units of sysfs");
	ok(fabs(list.v[0].scale * 1024 * 1024 - 64) < 1e-9, "that are lines of 64 bytes");
	ok(list.v[0].uncore && strcmp(list.v[0].cpus, "0,2") == 0, "on one cpu a package");
	event_list_fini(&list);
	ok(event_parse(&list, f.fd, "uncore_cha_*/event=1/", &err) == 0 && list.n == 3,
	        "a glob of PMUs");
	eq_str(list.v[2].pmu, "uncore_cha_10", "in the order of their numbers");
	event_list_fini(&list);
	fixture_close(&f);
	machine_open(&f, "hybrid");
	ok(event_parse(&list, f.fd, "{cycles,instructions:u}", &err) == 0, "where cores differ");
	eq_u64(list.n, 4, "an event is one for each kind of them");
	eq_u64(list.v[0].members, 2, "and a group too");
	eq_u64(list.v[1].attr.config, UINT64_C(0xa00000001), "of the same cores");
	eq_u64(list.v[2].attr.config, UINT64_C(0x400000000), "and of the others");
	ok(event_cores_differ(&list, f.fd), "they differ");
	event_list_fini(&list);
	fixture_close(&f);
}

/* The kernel takes addresses of texts in a field of 64 bits. */
static const char *text_at(uint64_t address)
{
	uintptr_t value = (uintptr_t)address;
	const char *text;

	memcpy(&text, &value, sizeof(text));
	return text;
}

static void test_probes(void)
{
	struct event_list list = {0};
	struct error err = {0};
	struct fixture f;

	machine_open(&f, "intel");
	ok(event_parse(&list, f.fd,
	           "kprobe/kprobe_func=do_sys_openat2,probe_offset=4/,kprobe/kprobe_addr=0xffff/,"
	           "{uprobe/retprobe,uprobe_path=/bin/bash/u,uprobe/uprobe_path='/opt/a,b',"
	           "probe_offset=0x10/},uprobe/uprobe_path=/bin/ls,probe_offset=1/",
	           &err) == 0,
	        "probes");
	eq_u64(list.n, 5, "are five");
	eq_str(text_at(list.v[0].attr.config1), "do_sys_openat2", "a function");
	eq_u64(list.v[0].attr.config2, 4, "and an offset");
	eq_u64(list.v[1].attr.config2, 0xffff, "an address");
	eq_str(text_at(list.v[2].attr.config1), "/bin/bash", "a path");
	eq_u64(list.v[2].attr.config, 1, "where it returns");
	eq_str(text_at(list.v[3].attr.config1), "/opt/a,b", "a path in quotes");
	eq_str(text_at(list.v[4].attr.config1), "/bin/ls", "a path before a term");
	eq_u64(list.v[4].default_period, 1, "every hit is taken");
	event_list_fini(&list);
	fixture_close(&f);
}

static void test_bad(void)
{
	static const struct {
		const char *machine, *text, *says;
	} bad[] = {
	        {"intel", "cpu/event=0x1ff/",
	                "value too big for 'event' (config:0-7): valid are 0 to 255 (0xff)\n"
	                "  cpu/event=0x1ff/\n"
	                "            ^^^^^"},
	        {"intel", "cpu/evnt=1/", "unknown term 'evnt' for the PMU 'cpu'"},
	        {"intel", "cpu/evnt=1/",
	                "\n  did you mean 'event'?\n  its own terms: any (config:21), "},
	        {"intel", "cpu/mem-load/", "did you mean 'mem-loads'"},
	        {"intel", "mem-lods", "did you mean 'mem-loads'"},
	        {"intel", "intelpt//", "did you mean 'intel_pt'"},
	        {"intel", "cpu", "'cpu' is a PMU: its events are cpu/TERMS/"},
	        {"intel", "intel_pt/psb_period=15/u",
	                "Invalid psb_period for intel_pt. Valid values are: 0-5\n"
	                "  intel_pt/psb_period=15/u\n"
	                "                      ^^"},
	        {"intel", "intel_pt/mtc_period=15/",
	                "Invalid mtc_period for intel_pt. Valid values are: 0,3,6,9"},
	        {"intel", "intel_pt/cyc,cyc_thresh=15/",
	                "Invalid cyc_thresh for intel_pt. Valid values are: 0-12"},
	        {"intel", "intel_pt/event/", "has no 'event': caps/event_trace is 0"},
	        {"intel", "intel_pt/notnt/", "caps/tnt_disable is 0"},
	        {"hybrid", "intel_pt/psb_period=2/", "Valid values are: 0,1"},
	        {"intel", "intel_pt/psb_period=16/", "valid are 0 to 15"},
	        {"intel", "uprobe/uprobe_path/", "the term 'uprobe_path' needs a path"},
	        {"intel", "cpu/event=1,,umask=2/", "a term is missing here"},
	        {"intel", "cpu/event=z/", "'event' wants a number: 0 to 255"},
	        {"intel", "nosuch*/event=1/", "there is no PMU 'nosuch*'"},
	};
	struct fixture f;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct event_list list = {0};
		struct error err = {0};

		machine_open(&f, bad[i].machine);
		eq_u64(event_parse(&list, f.fd, bad[i].text, &err), SONDE_EARG, bad[i].text);
		ok(strstr(err.text, bad[i].says) != NULL, "says where and why");
		event_list_fini(&list);
		fixture_close(&f);
	}
}

static void test_tracepoints(void)
{
	static const char *const bad[][2] = {
	        {"sched:sched_swich",
	                "no tracepoint 'sched_swich' in its system\n  sched:sched_swich\n"
	                "        ^^^^^^^^^^^\n  did you mean 'sched_switch'"},
	        {"shed:sched_switch", "no tracepoints of a system 'shed'"},
	        {"shed:sched_switch", "did you mean 'sched'"},
	        {"sched:foo*", "no tracepoint matches 'sched:foo*'"},
	        {"ftrace:bprint", "no tracepoint 'bprint'"},
	        {"sched:", "a tracepoint is SYSTEM:NAME"},
	        {"sched:sched_switch:x", "bad modifier 'x'"},
	        {"sched:sched_switch/x=1/", "unknown term 'x'"},
	};
	struct event_list list = {0};
	struct error err = {0};
	struct fixture f;
	size_t i;

	machine_open(&f, "trace");
	ok(event_parse(&list, f.fd, "cycles,sched:sched_w*/call-graph=fp,name=w/u,raw*:sys_enter",
	           &err) == 0,
	        "tracepoints");
	eq_u64(list.n, 4, "a glob of two among them");
	ok((list.v[1].attr.config == 370 && list.v[2].attr.config == 371) ||
	                (list.v[1].attr.config == 371 && list.v[2].attr.config == 370),
	        "both, in the order of the folder");
	eq_str(list.v[3].name, "raw_syscalls:sys_enter", "called by system and name");
	eq_str(list.v[2].name, "w", "or as a term says");
	eq_u64(list.v[1].terms.call_graph, EVENT_CALL_GRAPH_FP, "with terms");
	ok(event_set_filter(&list, "id == 1", &err) == 0 &&
	                event_set_filter(&list, "a > 2", &err) == 0,
	        "filters");
	eq_str(list.v[3].filter, "(id == 1) && (a > 2)", "both hold");
	ok(list.v[1].filter == NULL, "of the last word only");
	event_list_fini(&list);
	ok(event_parse(&list, f.fd, "cycles", &err) == 0 &&
	                event_set_filter(&list, "x", &err) == SONDE_EARG,
	        "other events take none");
	event_list_fini(&list);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		eq_u64(event_parse(&list, f.fd, bad[i][0], &err), SONDE_EARG, bad[i][0]);
		if (!ok(strstr(err.text, bad[i][1]) != NULL, "says where and why")) {
			printf("# %.60s\n", err.text);
		}
		event_list_fini(&list);
	}
	fixture_close(&f);
}

static void test_pfm(void)
{
	struct event_list list = {0};
	struct error err = {0};
	int rc = event_parse(&list, -1, "perf::PERF_COUNT_SW_PAGE_FAULTS:u,cs", &err);

	if (pfm_about() == NULL) {
		eq_u64(rc, SONDE_EARG, "without libpfm4 its names are unknown");
		skip("built without libpfm4");
		return;
	}
	ok(rc == 0 && list.n == 2, "a name of libpfm4");
	eq_u64(list.v[0].attr.type, SONDE_TYPE_SOFTWARE, "is an event of the kernel");
	eq_u64(list.v[0].attr.config, SONDE_SW_PAGE_FAULTS, "that it knows the number of");
	ok(sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_KERNEL) &&
	                !sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_USER),
	        "with modifiers");
	eq_str(list.v[0].name, "perf::PERF_COUNT_SW_PAGE_FAULTS:u", "called as it was given");
	event_list_fini(&list);
}

static size_t count(const struct catalogue *c, enum catalogue_kind kind)
{
	size_t n = 0;
	size_t i;

	for (i = 0; i < c->n; i++) {
		n += c->v[i].kind == kind;
	}
	return n;
}

static void test_catalogue(void)
{
	struct catalogue c = {0};
	struct fixture f;

	machine_open(&f, "arm");
	ok(catalogue_read(&c, f.fd, ~0u), "a catalogue");
	eq_u64(count(&c, CATALOGUE_HARDWARE), 10, "hardware events");
	eq_u64(count(&c, CATALOGUE_CACHE), 32, "cache events");
	ok(count(&c, CATALOGUE_PMU) > 20 && count(&c, CATALOGUE_RAW) > 6, "PMUs");
	ok(c.v[0].available && c.no_tracefs, "with counters, without tracepoints");
	catalogue_fini(&c);
	fixture_close(&f);
	machine_open(&f, "trace");
	ok(catalogue_read(&c, f.fd, ~0u) && !c.no_tracefs, "tracefs");
	eq_u64(count(&c, CATALOGUE_TRACEPOINT), 5, "only what has a number");
	eq_u64(count(&c, CATALOGUE_SDT), 1, "a program's own apart");
	catalogue_fini(&c);
	fixture_close(&f);
	ok(catalogue_read(&c, -1, 1u << CATALOGUE_HARDWARE) && !c.v[0].available,
	        "without sysfs nothing is counted");
	catalogue_fini(&c);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		return 2;
	}
	fixtures = argv[1];
	test_values();
	test_many();
	test_probes();
	test_bad();
	test_tracepoints();
	test_pfm();
	test_catalogue();
	return tap_done();
}
