/* SPDX-License-Identifier: MIT */
#include "file/event_name.h"

#include "core/text.h"

#include <inttypes.h>

static const char *const hardware[] = {"cycles", "instructions", "cache-references", "cache-misses",
        "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend",
        "stalled-cycles-backend", "ref-cycles"};

static const char *const software[SONDE_SW_COUNT] = {
        [SONDE_SW_CPU_CLOCK] = "cpu-clock",
        [SONDE_SW_TASK_CLOCK] = "task-clock",
        [SONDE_SW_PAGE_FAULTS] = "page-faults",
        [SONDE_SW_CONTEXT_SWITCHES] = "context-switches",
        [SONDE_SW_CPU_MIGRATIONS] = "cpu-migrations",
        [SONDE_SW_PAGE_FAULTS_MIN] = "minor-faults",
        [SONDE_SW_PAGE_FAULTS_MAJ] = "major-faults",
        [SONDE_SW_ALIGNMENT_FAULTS] = "alignment-faults",
        [SONDE_SW_EMULATION_FAULTS] = "emulation-faults",
        [SONDE_SW_DUMMY] = "dummy",
        [SONDE_SW_BPF_OUTPUT] = "bpf-output",
        [SONDE_SW_CGROUP_SWITCHES] = "cgroup-switches",
};

static const char *const cache_names[] = {
        "L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
static const char *const cache_ops[][2] = {
        {"loads", "load-misses"}, {"stores", "store-misses"}, {"prefetches", "prefetch-misses"}};
/* One bit an operation: what kinds of cache can be asked for. */
static const uint8_t cache_allowed[] = {7, 5, 7, 7, 1, 1, 7};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* config: u8 cache, u8 operation, u8 result; what stands above is the number of a PMU. */
static void put_cache(struct text *t, uint64_t config)
{
	unsigned cache = config & 0xff;
	unsigned op = config >> 8 & 0xff;
	unsigned result = config >> 16 & 0xff;

	if (cache >= COUNT(cache_names)) {
		text_str(t, "unknown-ext-hardware-cache-type");
	} else if (op >= COUNT(cache_ops)) {
		text_str(t, "unknown-ext-hardware-cache-op");
	} else if (result > 1) {
		text_str(t, "unknown-ext-hardware-cache-result");
	} else if ((cache_allowed[cache] >> op & 1) == 0) {
		text_str(t, "invalid-cache");
	} else {
		text_printf(t, "%s-%s", cache_names[cache], cache_ops[op][result]);
	}
}

/* On machines with several kinds of cores the upper half says whose event it is. */
static void put_hardware(struct text *t, uint64_t config)
{
	uint32_t event = (uint32_t)config;
	const char *name = event < COUNT(hardware) ? hardware[event] : "unknown-hardware";

	text_printf(t, config >> 32 != 0 ? "cpu/%s/" : "%s", name);
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
 * ":" and letters: k, u, h what is counted, when something is left out; p as often as precise_ip
 * says; H and G whether the host or guests are counted, when that is not what goes without saying:
 * the host only for a plain event, both for one that has other letters.
 */
static void put_modifiers(struct text *t, const struct sonde_attr *a)
{
	static const struct {
		enum sonde_attr_flag flag;
		char letter;
	} levels[] = {{SONDE_FLAG_EXCLUDE_KERNEL, 'k'}, {SONDE_FLAG_EXCLUDE_USER, 'u'},
	        {SONDE_FLAG_EXCLUDE_HV, 'h'}};
	unsigned precise = (unsigned)(a->flags >> SONDE_FLAG_PRECISE_IP & 3);
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

const char *file_event_name(struct arena *arena, const struct sonde_attr *attr)
{
	struct text t = {0};
	const char *name;
	bool known = true;

	if (attr->type == SONDE_TYPE_HARDWARE) {
		put_hardware(&t, attr->config);
	} else if (attr->type == SONDE_TYPE_SOFTWARE) {
		text_str(&t, attr->config < COUNT(software) ? software[attr->config]
		                                            : "unknown-software");
	} else if (attr->type == SONDE_TYPE_HW_CACHE) {
		put_cache(&t, attr->config);
	} else if (attr->type == SONDE_TYPE_RAW) {
		text_printf(&t, "raw 0x%" PRIx64, attr->config);
	} else if (attr->type == SONDE_TYPE_BREAKPOINT) {
		put_breakpoint(&t, attr);
	} else {
		text_printf(&t, "unknown attr type: %" PRIu32, attr->type);
		known = false;
	}
	if (known) {
		put_modifiers(&t, attr);
	}
	name = t.failed ? NULL : arena_text(arena, t.p, t.n);
	text_fini(&t);
	return name;
}
