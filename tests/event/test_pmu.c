/* SPDX-License-Identifier: MIT */
/* Strings that are valid on saved machines only: PMUs, their checks, and messages for mistakes. */
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
			eq_u64(list.n, 1, "the string is one event");
			eq_u64(list.v[0].attr.type, cases[i].type, "the event has this type");
			eq_u64(list.v[0].attr.config, cases[i].config, "the event has this config");
			eq_u64(list.v[0].attr.config1, cases[i].config1,
			        "the event has this config1");
			eq_u64(list.v[0].attr.config2, cases[i].config2,
			        "the event has this config2");
			eq_u64(list.v[0].attr.config3, cases[i].config3,
			        "the event has this config3");
			eq_str(list.v[0].name, cases[i].text, "the event's name is the string");
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
	        "a group on two memory controllers is parsed");
	eq_u64(list.n, 4, "two events on two controllers are four events");
	eq_u64(list.v[0].members, 2, "the first controller has a group of two");
	eq_u64(list.v[2].leader, 2, "the group of the second controller has its own leader");
	eq_str(list.v[0].pmu, "uncore_imc_0", "the first group is on the first controller");
	eq_str(list.v[3].pmu, "uncore_imc_1", "the second group is on the second controller");
	eq_u64(list.v[1].attr.config, 0xc04, "the second event of a group has its config");
	eq_str(list.v[0].unit, "MiB", "an event of a controller has the unit of sysfs");
	ok(fabs(list.v[0].scale * 1024 * 1024 - 64) < 1e-9,
	        "an event of a controller has the scale of sysfs, 64 bytes");
	ok(list.v[0].uncore && strcmp(list.v[0].cpus, "0,2") == 0,
	        "an uncore event is opened on one cpu for each package");
	event_list_fini(&list);
	ok(event_parse(&list, f.fd, "uncore_cha_*/event=1/", &err) == 0 && list.n == 3,
	        "a glob selects three PMUs");
	eq_str(list.v[2].pmu, "uncore_cha_10", "PMUs of a glob are ordered by number");
	event_list_fini(&list);
	fixture_close(&f);
	machine_open(&f, "hybrid");
	ok(event_parse(&list, f.fd, "{cycles,instructions:u}", &err) == 0,
	        "a group on a machine with two kinds of cores is parsed");
	eq_u64(list.n, 4, "an event is opened for each kind of cores");
	eq_u64(list.v[0].members, 2, "each kind of cores has a group");
	eq_u64(list.v[1].attr.config, UINT64_C(0xa00000001),
	        "the first group has events of the first kind");
	eq_u64(list.v[2].attr.config, UINT64_C(0x400000000),
	        "the second group has events of the second kind");
	ok(event_cores_differ(&list, f.fd), "event_cores_differ finds two kinds of cores");
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
	        "probes are parsed");
	eq_u64(list.n, 5, "the string has five probes");
	eq_str(text_at(list.v[0].attr.config1), "do_sys_openat2",
	        "kprobe_func sets the name of the function");
	eq_u64(list.v[0].attr.config2, 4, "probe_offset sets the offset");
	eq_u64(list.v[1].attr.config2, 0xffff, "kprobe_addr sets the address");
	eq_str(text_at(list.v[2].attr.config1), "/bin/bash", "uprobe_path sets the path");
	eq_u64(list.v[2].attr.config, 1, "retprobe sets its bit");
	eq_str(text_at(list.v[3].attr.config1), "/opt/a,b", "a quoted path may contain a comma");
	eq_str(text_at(list.v[4].attr.config1), "/bin/ls", "a path may be followed by a term");
	eq_u64(list.v[4].default_period, 1, "a probe takes a sample at every hit");
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
		ok(strstr(err.text, bad[i].says) != NULL,
		        "the message about the string has the reason");
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
	        "tracepoints are parsed");
	eq_u64(list.n, 4, "a glob among tracepoints selects two");
	ok((list.v[1].attr.config == 370 && list.v[2].attr.config == 371) ||
	                (list.v[1].attr.config == 371 && list.v[2].attr.config == 370),
	        "the tracepoints of a glob are in readdir order");
	eq_str(list.v[3].name, "raw_syscalls:sys_enter",
	        "a tracepoint is named by system and name");
	eq_str(list.v[2].name, "w", "a tracepoint gets the name of its term");
	eq_u64(list.v[1].terms.call_graph, EVENT_CALL_GRAPH_FP,
	        "a tracepoint has its call-graph term");
	ok(event_set_filter(&list, "id == 1", &err) == 0 &&
	                event_set_filter(&list, "a > 2", &err) == 0,
	        "two filters are set");
	eq_str(list.v[3].filter, "(id == 1) && (a > 2)", "two filters are combined with &&");
	ok(list.v[1].filter == NULL, "a filter applies to the last word only");
	event_list_fini(&list);
	ok(event_parse(&list, f.fd, "cycles", &err) == 0 &&
	                event_set_filter(&list, "x", &err) == SONDE_EARG,
	        "a filter for an event that is no tracepoint is refused");
	event_list_fini(&list);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		eq_u64(event_parse(&list, f.fd, bad[i][0], &err), SONDE_EARG, bad[i][0]);
		if (!ok(strstr(err.text, bad[i][1]) != NULL,
		            "the message about the string has the reason")) {
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
		eq_u64(rc, SONDE_EARG, "names of libpfm4 are unknown in a build without it");
		skip("built without libpfm4");
		return;
	}
	ok(rc == 0 && list.n == 2, "names of libpfm4 are parsed");
	eq_u64(list.v[0].attr.type, SONDE_TYPE_SOFTWARE, "a name of libpfm4 is a software event");
	eq_u64(list.v[0].attr.config, SONDE_SW_PAGE_FAULTS,
	        "a name of libpfm4 has the number of page-faults");
	ok(sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_KERNEL) &&
	                !sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_USER),
	        "a name of libpfm4 may have modifiers");
	eq_str(list.v[0].name, "perf::PERF_COUNT_SW_PAGE_FAULTS:u",
	        "an event of libpfm4 has the name of its string");
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
	ok(catalogue_read(&c, f.fd, ~0u), "a catalogue is read");
	eq_u64(count(&c, CATALOGUE_HARDWARE), 10, "the catalogue has 10 hardware events");
	eq_u64(count(&c, CATALOGUE_CACHE), 32, "the catalogue has 32 cache events");
	ok(count(&c, CATALOGUE_PMU) > 20 && count(&c, CATALOGUE_RAW) > 6,
	        "the catalogue has events of PMUs and their terms");
	ok(c.v[0].available && c.no_tracefs,
	        "without tracefs the catalogue has counters and no tracepoints");
	catalogue_fini(&c);
	fixture_close(&f);
	machine_open(&f, "trace");
	ok(catalogue_read(&c, f.fd, ~0u) && !c.no_tracefs, "with tracefs a catalogue is read");
	eq_u64(count(&c, CATALOGUE_TRACEPOINT), 5, "only tracepoints with a number are listed");
	eq_u64(count(&c, CATALOGUE_SDT), 1, "static probes of a program are listed separately");
	catalogue_fini(&c);
	fixture_close(&f);
	ok(catalogue_read(&c, -1, 1u << CATALOGUE_HARDWARE) && !c.v[0].available,
	        "without sysfs no event can be counted");
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
