/* SPDX-License-Identifier: MIT */
#include "record/event_name.h"

#include "core/text.h"
#include "record/record.h"

#include <inttypes.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct record_event_name names[] = {
        {"cpu-clock", SONDE_TYPE_SOFTWARE, SONDE_SW_CPU_CLOCK, NULL, false},
        {"task-clock", SONDE_TYPE_SOFTWARE, SONDE_SW_TASK_CLOCK, NULL, false},
        {"page-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_PAGE_FAULTS, NULL, false},
        {"faults", SONDE_TYPE_SOFTWARE, SONDE_SW_PAGE_FAULTS, "page-faults", false},
        {"minor-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_PAGE_FAULTS_MIN, NULL, false},
        {"major-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_PAGE_FAULTS_MAJ, NULL, false},
        {"context-switches", SONDE_TYPE_SOFTWARE, SONDE_SW_CONTEXT_SWITCHES, NULL, false},
        {"cs", SONDE_TYPE_SOFTWARE, SONDE_SW_CONTEXT_SWITCHES, "context-switches", false},
        {"cpu-migrations", SONDE_TYPE_SOFTWARE, SONDE_SW_CPU_MIGRATIONS, NULL, false},
        {"migrations", SONDE_TYPE_SOFTWARE, SONDE_SW_CPU_MIGRATIONS, "cpu-migrations", false},
        {"alignment-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_ALIGNMENT_FAULTS, NULL, false},
        {"emulation-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_EMULATION_FAULTS, NULL, false},
        {"cgroup-switches", SONDE_TYPE_SOFTWARE, SONDE_SW_CGROUP_SWITCHES, NULL, false},
        {"bpf-output", SONDE_TYPE_SOFTWARE, SONDE_SW_BPF_OUTPUT, NULL, false},
        {"dummy", SONDE_TYPE_SOFTWARE, SONDE_SW_DUMMY, NULL, false},
        {"cpu-cycles", SONDE_TYPE_HARDWARE, 0, NULL, false},
        {"cycles", SONDE_TYPE_HARDWARE, 0, "cpu-cycles", true},
        {"instructions", SONDE_TYPE_HARDWARE, 1, NULL, false},
        {"cache-references", SONDE_TYPE_HARDWARE, 2, NULL, false},
        {"cache-misses", SONDE_TYPE_HARDWARE, 3, NULL, false},
        {"branch-instructions", SONDE_TYPE_HARDWARE, 4, NULL, false},
        {"branches", SONDE_TYPE_HARDWARE, 4, "branch-instructions", true},
        {"branch-misses", SONDE_TYPE_HARDWARE, 5, NULL, false},
        {"bus-cycles", SONDE_TYPE_HARDWARE, 6, NULL, false},
        {"stalled-cycles-frontend", SONDE_TYPE_HARDWARE, 7, NULL, false},
        {"idle-cycles-frontend", SONDE_TYPE_HARDWARE, 7, "stalled-cycles-frontend", false},
        {"stalled-cycles-backend", SONDE_TYPE_HARDWARE, 8, NULL, false},
        {"idle-cycles-backend", SONDE_TYPE_HARDWARE, 8, "stalled-cycles-backend", false},
        {"ref-cycles", SONDE_TYPE_HARDWARE, 9, NULL, false},
};

const struct record_event_name *record_event_names(size_t *n)
{
	*n = COUNT(names);
	return names;
}

const struct record_cache_word record_caches[RECORD_CACHES] = {
        {{"L1-dcache", "l1-d", "l1d", "L1-data"}},
        {{"L1-icache", "l1-i", "l1i", "L1-instruction"}},
        {{"LLC", "L2"}},
        {{"dTLB", "d-tlb", "Data-TLB"}},
        {{"iTLB", "i-tlb", "Instruction-TLB"}},
        {{"branch", "bpu", "btb", "bpc"}},
        {{"node"}},
};
const struct record_cache_word record_cache_operations[RECORD_CACHE_OPERATIONS] = {
        {{"loads", "load", "read"}},
        {{"stores", "store", "write"}},
        {{"prefetches", "prefetch", "speculative-read", "speculative-load"}},
};
const struct record_cache_word record_cache_results[RECORD_CACHE_RESULTS] = {
        {{"refs", "Reference", "ops", "access"}},
        {{"misses", "miss"}},
};
/* Operation and result in the usual name. */
static const char *const usual[RECORD_CACHE_OPERATIONS][RECORD_CACHE_RESULTS] = {
        {"loads", "load-misses"}, {"stores", "store-misses"}, {"prefetches", "prefetch-misses"}};
/*
 * A bit for each operation that a cache supports: the instruction cache has no stores, the iTLB
 * loads only.
 */
static const uint8_t allowed[RECORD_CACHES] = {7, 5, 7, 7, 1, 1, 7};

bool record_cache_allowed(unsigned cache, unsigned operation)
{
	return (allowed[cache] >> operation & 1) != 0;
}

const char *record_cache_usual(unsigned operation, unsigned result)
{
	return usual[operation][result];
}

static const char *common_name(uint32_t type, uint64_t config)
{
	const char *name = NULL;

	for (size_t i = 0; i < COUNT(names); i++) {
		if (names[i].type == type && names[i].config == config &&
		        (name == NULL || names[i].preferred)) {
			name = names[i].name;
		}
	}
	return name;
}

/* Bits above the three parts are the number of a PMU. */
static void put_cache(struct text *t, uint64_t config)
{
	unsigned cache = config & 0xff;
	unsigned op = config >> 8 & 0xff;
	unsigned result = config >> 16 & 0xff;

	if (cache >= RECORD_CACHES) {
		text_str(t, "unknown-ext-hardware-cache-type");
	} else if (op >= RECORD_CACHE_OPERATIONS) {
		text_str(t, "unknown-ext-hardware-cache-op");
	} else if (result >= RECORD_CACHE_RESULTS) {
		text_str(t, "unknown-ext-hardware-cache-result");
	} else if (!record_cache_allowed(cache, op)) {
		text_str(t, "invalid-cache");
	} else {
		text_printf(t, "%s-%s", record_caches[cache].names[0], usual[op][result]);
	}
}

/* On machines with several kinds of cores the upper half is the number of the PMU. */
static void put_hardware(struct text *t, uint64_t config)
{
	const char *name = common_name(SONDE_TYPE_HARDWARE, (uint32_t)config);

	text_printf(
	        t, config >> 32 != 0 ? "cpu/%s/" : "%s", name != NULL ? name : "unknown-hardware");
}

static void put_breakpoint(struct text *t, const struct sonde_attr *a)
{
	text_printf(t, "mem:0x%" PRIx64 ":", a->config1);
	for (unsigned i = 0; i < 3; i++) {
		if ((a->bp_type >> i & 1) != 0) {
			text_char(t, "rwx"[i]);
		}
	}
}

/*
 * ":" and letters: k, u, h for what is counted, if something is excluded; p as often as precise_ip;
 * H and G for host and guests unless it is the default, which is host only for an event without
 * other letters, and both with other letters.
 */
static void put_modifiers(struct text *t, const struct sonde_attr *a)
{
	static const struct {
		enum sonde_attr_flag flag;
		char letter;
	} levels[] = {{SONDE_FLAG_EXCLUDE_KERNEL, 'k'}, {SONDE_FLAG_EXCLUDE_USER, 'u'},
	        {SONDE_FLAG_EXCLUDE_HV, 'h'}};
	unsigned precise = record_attr_precision(a);
	bool host = !sonde_attr_has(a, SONDE_FLAG_EXCLUDE_HOST);
	bool guest = !sonde_attr_has(a, SONDE_FLAG_EXCLUDE_GUEST);
	char letters[12];
	size_t n = 0;
	bool plain;

	for (size_t i = 0; i < COUNT(levels); i++) {
		if (!sonde_attr_has(a, levels[i].flag)) {
			letters[n++] = levels[i].letter;
		}
	}
	plain = n == COUNT(levels) && precise == 0;
	n = n == COUNT(levels) ? 0 : n;
	for (; precise > 0; precise--) {
		letters[n++] = 'p';
	}
	if (!host || guest == plain) {
		if (host) {
			letters[n++] = 'H';
		}
		if (guest) {
			letters[n++] = 'G';
		}
	}
	if (n != 0) {
		text_char(t, ':');
		text_bytes(t, letters, n);
	}
}

const char *record_attr_name(struct arena *arena, const struct sonde_attr *attr)
{
	struct text t = {0};
	const char *name = common_name(attr->type, attr->config);
	bool known = true;

	if (attr->type == SONDE_TYPE_HARDWARE) {
		put_hardware(&t, attr->config);
	} else if (attr->type == SONDE_TYPE_SOFTWARE) {
		text_str(&t, name != NULL ? name : "unknown-software");
	} else if (attr->type == SONDE_TYPE_HW_CACHE) {
		put_cache(&t, attr->config);
	} else if (attr->type == SONDE_TYPE_RAW) {
		text_printf(&t, "raw 0x%" PRIx64, attr->config);
	} else if (attr->type == SONDE_TYPE_BREAKPOINT) {
		put_breakpoint(&t, attr);
	} else {
		text_printf(&t, "unknown attr type: %" PRId32, (int32_t)attr->type);
		known = false;
	}
	if (known) {
		put_modifiers(&t, attr);
	}
	name = t.failed ? NULL : arena_text(arena, t.p, t.n);
	text_fini(&t);
	return name;
}
