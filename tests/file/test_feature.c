/* SPDX-License-Identifier: MIT */
/* Names made from attrs, and header features: decode(encode(x)) is x in both byte orders. */
#include "file/feature.h"
#include "record/event_name.h"

#include "tap.h"

#include <stdlib.h>

#define NO_TAIL ((struct span){NULL, 0})

/* The flags an event has that counts the host in user and kernel mode only by default. */
#define PLAIN      (UINT64_C(1) << SONDE_FLAG_EXCLUDE_GUEST)
#define NO(level)  (UINT64_C(1) << SONDE_FLAG_EXCLUDE_##level)
#define PRECISE(n) ((uint64_t)(n) << SONDE_FLAG_PRECISE_IP)

/* perf 6.1's names of events in a file without names. */
static const struct {
	uint32_t type;
	uint64_t config, flags;
	const char *name;
} names[] = {
        {0, 0, 0, "cycles:HG"},
        {0, 0, PLAIN, "cycles"},
        {0, 0, NO(HOST), "cycles:G"},
        {0, 0, NO(HOST) | PLAIN, "cycles"},
        {0, 0, PRECISE(3), "cycles:ppp"},
        {0, 0, PRECISE(1) | PLAIN, "cycles:pH"},
        {0, 0, PRECISE(2) | NO(HOST), "cycles:ppG"},
        {0, 0, NO(HV), "cycles:ku"},
        {0, 0, NO(KERNEL) | NO(HV) | PLAIN, "cycles:uH"},
        {0, 0, NO(KERNEL), "cycles:uh"},
        {0, 0, NO(USER) | PRECISE(1) | NO(HOST), "cycles:khpG"},
        {0, 0, NO(USER) | NO(KERNEL) | NO(HV), "cycles"},
        {0, 0, NO(USER) | NO(KERNEL) | NO(HV) | PLAIN, "cycles:H"},
        {0, 9, PLAIN, "ref-cycles"},
        {0, 10, PLAIN, "unknown-hardware"},
        {0, 0x400000001, PLAIN, "cpu/instructions/"},
        {1, 0, 0, "cpu-clock:HG"},
        {1, 10, PLAIN, "bpf-output"},
        {1, 99, PLAIN, "unknown-software"},
        {3, 0x10002, PLAIN, "LLC-load-misses"},
        {3, 0x00201, PLAIN, "L1-icache-prefetches"},
        {3, 0x00101, PLAIN, "invalid-cache"},
        {3, 0x00300, PLAIN, "unknown-ext-hardware-cache-op"},
        {3, 0x20000, PLAIN, "unknown-ext-hardware-cache-result"},
        {3, 7, PLAIN, "unknown-ext-hardware-cache-type"},
        {4, 0x1c2, 0, "raw 0x1c2:HG"},
        {5, 0, PLAIN, "mem:0x1234:rw"},
        {5, 0, 0, "mem:0x1234:rw:HG"},
        {74, 0, 0, "unknown attr type: 74"},
};

static void test_names(void)
{
	struct arena a = {0};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sonde_attr attr = {.type = names[i].type,
		        .config = names[i].config,
		        .flags = names[i].flags,
		        .bp_type = names[i].type == SONDE_TYPE_BREAKPOINT ? 3 : 0,
		        .config1 = 0x1234};

		eq_str(record_attr_name(&a, &attr), names[i].name, names[i].name);
	}
	arena_fini(&a);
}

static struct span bytes_of(const struct text *t)
{
	return (struct span){(const uint8_t *)t->p, t->n};
}

/* Encodes, decodes and encodes again, in both byte orders; *out is the last decoded value. */
static void round_trip(
        unsigned bit, const void *value, void *out, size_t size, struct arena *a, uint32_t ncpus)
{
	for (int swap = 0; swap < 2; swap++) {
		struct text first = {0};
		struct text second = {0};
		struct span tail = {NULL, 0};
		struct feature_source source = {.swap = swap != 0, .ncpus = ncpus};
		char *copy;
		int rc;

		(void)feature_encode(&first, bit, value, NO_TAIL, swap != 0);
		copy = arena_alloc(a, first.n + 1); /* texts point into it until the end */
		memcpy(copy, first.p, first.n);
		source.bytes = (struct span){(const uint8_t *)copy, first.n};
		rc = feature_decode(&source, bit, a, out, size, &tail);
		(void)feature_encode(&second, bit, out, tail, swap != 0);
		ok(rc == 1 && tail.n == 0 && first.n == second.n &&
		                memcmp(first.p, second.p, first.n) == 0,
		        feature_name(bit));
		text_fini(&first);
		text_fini(&second);
	}
}

#define ROUND_TRIP(bit, value, out, a, ncpus) round_trip(bit, value, out, sizeof(*(out)), a, ncpus)

static void test_texts_and_lists(void)
{
	struct arena a = {0};
	struct layout_text text = {.s = "host"};
	struct layout_text words[] = {{.s = "/usr/bin/perf"}, {.s = "record"}};
	struct feature_list list = {words, 2};
	struct feature_pair pairs[] = {{{.s = "branches"}, {.s = "32"}}};
	struct feature_caps caps[] = {{{pairs, 1}, {.s = "cpu"}}, {.pmu = {.s = "none"}}};
	struct feature_all_caps all = {caps, 2};
	struct layout_text text_out;
	struct feature_list list_out;
	struct feature_all_caps all_out;

	ROUND_TRIP(FEATURE_HOSTNAME, &text, &text_out, &a, 0);
	eq_str(text_out.s, "host", "HOSTNAME: the text is right");
	eq_u64(text_out.raw.n, 64, "HOSTNAME: a text takes 64 bytes");
	ROUND_TRIP(FEATURE_CMDLINE, &list, &list_out, &a, 0);
	eq_str(list_out.items[1].s, "record", "CMDLINE: the second text of the list is right");
	ROUND_TRIP(FEATURE_PMU_CAPS, &all, &all_out, &a, 0);
	eq_str(all_out.items[0].caps.items[0].value.s, "32",
	        "PMU_CAPS: a value of the first PMU is right");
	eq_str(all_out.items[1].pmu.s, "none", "PMU_CAPS: the PMU after a list of caps is right");
	arena_fini(&a);
}

static void test_topology(void)
{
	struct arena a = {0};
	struct layout_text lists[] = {{.s = "0-1"}};
	struct feature_cpu cpus[] = {{0, 0}, {1, -1}};
	int32_t die_of_cpu[] = {0, 7};
	struct feature_topology first = {.cores = {lists, 1}, .threads = {lists, 1}};
	struct feature_topology out;

	ROUND_TRIP(FEATURE_CPU_TOPOLOGY, &first, &out, &a, 2);
	ok(!out.has_cpus && !out.has_dies,
	        "CPU_TOPOLOGY: the first revision has no cpus and no dies");
	first.has_cpus = true;
	first.cpus = (struct feature_topology_cpus){cpus, 2};
	ROUND_TRIP(FEATURE_CPU_TOPOLOGY, &first, &out, &a, 2);
	ok(out.has_cpus && !out.has_dies && out.cpus.items[1].socket == -1,
	        "CPU_TOPOLOGY: the second revision has cpus");
	first.has_dies = true;
	first.dies = (struct feature_topology_dies){{lists, 1}, die_of_cpu, 2};
	ROUND_TRIP(FEATURE_CPU_TOPOLOGY, &first, &out, &a, 2);
	ok(out.has_dies && out.dies.items[1] == 7, "CPU_TOPOLOGY: the third revision has dies");
	arena_fini(&a);
}

static void test_events(void)
{
	struct arena a = {0};
	uint64_t ids[] = {5, 6};
	static const uint8_t more[] = "longer";
	struct feature_event event = {.name = {.s = "x"}, .ids = ids, .nids = 2};
	struct feature_events events = {.attr_size = 144, .items = &event, .n = 1};
	struct feature_events out;

	event.attr.attr = (struct sonde_attr){.type = 1,
	        .size = 144,
	        .flags = PRECISE(1) | (UINT64_C(1) << SONDE_FLAG_FREQ),
	        .reserved = 3,
	        .config4 = 9};
	ROUND_TRIP(FEATURE_EVENT_DESC, &events, &out, &a, 0);
	ok(out.items[0].attr.attr.flags == event.attr.attr.flags,
	        "EVENT_DESC: flags are right in both byte orders");
	events.attr_size = 150;
	event.attr.tail = (struct span){more, 6};
	ROUND_TRIP(FEATURE_EVENT_DESC, &events, &out, &a, 0);
	eq_u64(out.items[0].attr.tail.n, 6, "EVENT_DESC: a larger attr keeps its tail");
	events.attr_size = 64;
	event.attr.tail = NO_TAIL;
	ROUND_TRIP(FEATURE_EVENT_DESC, &events, &out, &a, 0);
	ok(out.items[0].ids[1] == 6, "EVENT_DESC: the ids after a smaller attr are right");
	arena_fini(&a);
}

static void test_domains(void)
{
	struct arena a = {0};
	struct feature_domain domain = {1, {.s = "MC"}, {.s = "3"}, {.s = "0-1"}};
	struct feature_cpu_domains cpus[] = {{0, &domain, 1}, {1, &domain, 1}};
	struct feature_domains domains = {16, 1, cpus, 2};
	struct feature_domains out;

	ROUND_TRIP(FEATURE_CPU_DOMAIN_INFO, &domains, &out, &a, 0);
	ok(out.n == 2 && out.items[1].items[0].name.s == NULL,
	        "CPU_DOMAIN_INFO: before version 17 domains have no name");
	domains.version = 17;
	ROUND_TRIP(FEATURE_CPU_DOMAIN_INFO, &domains, &out, &a, 0);
	eq_str(out.items[1].items[0].name.s, "MC",
	        "CPU_DOMAIN_INFO: since version 17 domains have a name");
	arena_fini(&a);
}

static void test_programs(void)
{
	static const uint8_t tag[] = "12345678", behind[] = "abc";
	struct arena a = {0};
	struct feature_program programs[] = {{.info_size = 231, .arrays = 5, .data = {behind, 3}},
	        {.info_size = 22, .info = {.id = 9, .xlated_prog_len = 70000}}};
	struct feature_programs all = {programs, 2}, out;

	programs[0].info = (struct feature_bpf_info){.id = 7,
	        .tag = {tag, 8},
	        .name = {.s = "trace"},
	        .device = 1ULL << 32 | 2,
	        .run_cnt = 6,
	        .tail = {behind, 3}};
	ROUND_TRIP(FEATURE_BPF_PROG_INFO, &all, &out, &a, 0);
	ok(out.items[0].info.id == 7 && out.items[0].info.run_cnt == 6,
	        "BPF_PROG_INFO: id and run_cnt of a program are right");
	ok(out.items[0].info.device == (1ULL << 32 | 2),
	        "BPF_PROG_INFO: the bit-field is right in both byte orders");
	eq_str(out.items[0].info.name.s, "trace", "BPF_PROG_INFO: the name is right");
	ok(out.items[0].info.tail.n == 3 && out.items[0].data.n == 3,
	        "BPF_PROG_INFO: fields of a newer kernel are the tail");
	ok(out.items[1].info.id == 9 && out.items[1].info.xlated_prog_len == 0 &&
	                out.items[1].info.tail.n == 2,
	        "BPF_PROG_INFO: info of an older kernel ends where its size says");
	arena_fini(&a);
}

static void test_tail_and_damage(void)
{
	struct arena a = {0};
	struct feature_cpus cpus = {4, 3};
	struct feature_cpus out;
	struct text t = {0};
	struct span tail;
	struct feature_source source = {0};
	static const uint8_t behind[] = {1, 2, 3};

	(void)feature_encode(&t, FEATURE_NRCPUS, &cpus, (struct span){behind, 3}, false);
	source.bytes = bytes_of(&t);
	eq_u64(feature_decode(&source, FEATURE_NRCPUS, &a, &out, sizeof(out), &tail), 1,
	        "NRCPUS with more bytes than its fields is decoded");
	ok(out.available == 4 && tail.n == 3 && tail.p[2] == 3,
	        "NRCPUS: the surplus bytes are the tail");
	source.bytes.n = 7;
	ok(feature_decode(&source, FEATURE_NRCPUS, &a, &out, sizeof(out), &tail) == SONDE_EFORMAT,
	        "NRCPUS with fewer bytes than its fields is an error");
	ok(out.available == 0 && tail.n == 7,
	        "after an error the value is zero and the tail has all bytes");
	ok(feature_decode(&source, 99, &a, &out, 0, &tail) == SONDE_EUNSUPPORTED && tail.n == 7,
	        "an unknown feature is unsupported and the tail has all bytes");
	text_fini(&t);
	arena_fini(&a);
}

/* A count may be any number: -1 does not mean "to the end". */
static void test_counts(void)
{
	static const uint64_t words[] = {1, 1 << 27, UINT64_MAX, 0, 8, 64, 5};
	const struct feature_source source = {.bytes = {(const uint8_t *)words, sizeof(words)}};
	struct arena a = {0};
	struct feature_memory out;
	struct span tail;

	eq_u64((uint64_t)feature_decode(
	               &source, FEATURE_MEM_TOPOLOGY, &a, &out, sizeof(out), &tail),
	        (uint64_t)SONDE_EFORMAT, "MEM_TOPOLOGY with more nodes than bytes is an error");
	ok(out.n == 0 && tail.n == sizeof(words),
	        "MEM_TOPOLOGY: no node of an impossible count is used");
	arena_fini(&a);
}

int main(void)
{
	test_names();
	test_texts_and_lists();
	test_topology();
	test_events();
	test_domains();
	test_programs();
	test_tail_and_damage();
	test_counts();
	return tap_done();
}
