/* SPDX-License-Identifier: MIT */
/*
 * The payloads of header features. Nothing in them is aligned.
 * Source: the format's public description, real files; doc/format.md is these tables in words.
 */
#include "record/layout_tables.h"

#include "abi/abi.h"

static const struct layout_field blob[] = {
        {"data", LAYOUT_BYTES, "in a byte order of its own", .count = {COUNT_REST}},
};

static const struct layout_field text[] = {
        {"value", LAYOUT_STRING, "text"},
};
static const struct layout text_layout = LAYOUT("text", text);

static const struct layout_field text_list[] = {
        {"nr", LAYOUT_U32, "texts", .keep = SLOT_NR},
        {"list", LAYOUT_STRUCT, "the texts", .count = {COUNT_SLOT, SLOT_NR}, .sub = &text_layout},
};
static const struct layout text_list_layout = LAYOUT("texts", text_list);

static const struct layout_field build_id[] = {
        {"type", LAYOUT_U32, "0 in a file, 67 in a pipe"},
        {"misc", LAYOUT_U16, "cpumode; bit 15: build_id_size holds", .show = SHOW_HEX},
        {"size", LAYOUT_U16, "of the entry, these 8 bytes included", "B", .keep = SLOT_SIZE},
        {"pid", LAYOUT_S32, "guest; -1: host"},
        {"build_id", LAYOUT_BYTES, "of the file", .count = {COUNT_FIXED, BUILD_ID_MAX}},
        {"build_id_size", LAYOUT_U8, "how many bytes hold; without misc bit 15: 0", "B"},
        {"reserved", LAYOUT_BYTES, "0", .show = SHOW_NEVER, .count = {COUNT_FIXED, 3}},
        {"filename", LAYOUT_CHARS, "path or name", .count = {COUNT_STRUCT_REST, SLOT_SIZE}},
};
static const struct layout build_id_layout = LAYOUT("build id", build_id);

static const struct layout_field build_ids[] = {
        {"build_ids", LAYOUT_STRUCT, "one an object", .count = {COUNT_REST},
                .sub = &build_id_layout},
};

static const struct layout_field nrcpus[] = {
        {"available", LAYOUT_U32, "CPUs present"},
        {"online", LAYOUT_U32, "CPUs on line"},
};

static const struct layout_field total_mem[] = {
        {"total_mem", LAYOUT_U64, "memory of the machine", "kB"},
};

static const struct layout_field event[] = {
        {"attr", LAYOUT_STRUCT, "the event", .sub = &layout_attr},
        {"attr_tail", LAYOUT_BYTES, "up to attr_size", .show = SHOW_NEVER,
                .count = {COUNT_STRUCT_REST, SLOT_MORE}},
        {"nr_ids", LAYOUT_U32, "ids", .keep = SLOT_SIZE},
        {"name", LAYOUT_STRING, "of the event"},
        {"ids", LAYOUT_U64, "ids of the event", .count = {COUNT_SLOT, SLOT_SIZE}},
};
static const struct layout event_layout = LAYOUT("event", event);

static const struct layout_field event_desc[] = {
        {"nr", LAYOUT_U32, "events", .keep = SLOT_NR},
        {"attr_size", LAYOUT_U32, "room of each attr", "B", .keep = SLOT_MORE},
        {"events", LAYOUT_STRUCT, "one an event", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &event_layout},
};

static const struct layout_field core_socket[] = {
        {"core_id", LAYOUT_S32, "core of the CPU"},
        {"socket_id", LAYOUT_S32, "socket of the CPU"},
};
static const struct layout core_socket_layout = LAYOUT("CPU", core_socket);

static const struct layout_field dies[] = {
        {"dies", LAYOUT_STRUCT, "lists of CPUs", .sub = &text_list_layout},
        {"die_ids", LAYOUT_S32, "die of each CPU", .when = {WHEN_LEFT_EACH, SLOT_CPUS, 4},
                .count = {COUNT_SLOT, SLOT_CPUS}},
};
static const struct layout dies_layout = LAYOUT("dies", dies);

static const struct layout_field cpu_topology[] = {
        {"cores", LAYOUT_STRUCT, "lists of CPUs", .sub = &text_list_layout},
        {"threads", LAYOUT_STRUCT, "lists of CPUs", .sub = &text_list_layout},
        {"cpus", LAYOUT_STRUCT, "one a CPU, in later revisions",
                .when = {WHEN_LEFT_EACH, SLOT_CPUS, 8}, .count = {COUNT_SLOT, SLOT_CPUS},
                .sub = &core_socket_layout},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_LEFT_EACH, SLOT_CPUS, 1}, .sub = &dies_layout},
};

static const struct layout_field numa_node[] = {
        {"node", LAYOUT_U32, "node"},
        {"mem_total", LAYOUT_U64, "memory of the node", "kB"},
        {"mem_free", LAYOUT_U64, "free of it", "kB"},
        {"cpus", LAYOUT_STRING, "list of CPUs"},
};
static const struct layout numa_node_layout = LAYOUT("node", numa_node);

static const struct layout_field numa_topology[] = {
        {"nr", LAYOUT_U32, "nodes", .keep = SLOT_NR},
        {"nodes", LAYOUT_STRUCT, "one a node", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &numa_node_layout},
};

static const struct layout_field pmu[] = {
        {"type", LAYOUT_U32, "attr.type of its events"},
        {"name", LAYOUT_STRING, "of the PMU"},
};
static const struct layout pmu_layout = LAYOUT("PMU", pmu);

static const struct layout_field pmu_mappings[] = {
        {"nr", LAYOUT_U32, "PMUs", .keep = SLOT_NR},
        {"pmus", LAYOUT_STRUCT, "one a PMU", .count = {COUNT_SLOT, SLOT_NR}, .sub = &pmu_layout},
};

static const struct layout_field group[] = {
        {"name", LAYOUT_STRING, "of the group"},
        {"leader_idx", LAYOUT_U32, "number of its first event"},
        {"nr_members", LAYOUT_U32, "events, the leader included"},
};
static const struct layout group_layout = LAYOUT("group", group);

static const struct layout_field group_desc[] = {
        {"nr", LAYOUT_U32, "groups", .keep = SLOT_NR},
        {"groups", LAYOUT_STRUCT, "one a group", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &group_layout},
};

static const struct layout_field auxtrace_entry[] = {
        {"file_offset", LAYOUT_U64, "of an AUXTRACE record", "B", SHOW_HEX},
        {"sz", LAYOUT_U64, "its header.size", "B"},
};
static const struct layout auxtrace_entry_layout = LAYOUT("place", auxtrace_entry);

/* Android's recorder leaves the count out. */
static const struct layout_field auxtrace_index[] = {
        {"nr", LAYOUT_U64, "AUXTRACE records", .when = {WHEN_LEFT_ODD, .value = 16}},
        {"entries", LAYOUT_STRUCT, "one a record", .count = {COUNT_REST},
                .sub = &auxtrace_entry_layout},
};

static const struct layout_field cache_level[] = {
        {"level", LAYOUT_U32, "1 is the nearest"},
        {"line_size", LAYOUT_U32, "of a line", "B"},
        {"sets", LAYOUT_U32, "sets"},
        {"ways", LAYOUT_U32, "lines of a set"},
        {"type", LAYOUT_STRING, "Data, Instruction or Unified"},
        {"size", LAYOUT_STRING, "as sysfs says"},
        {"map", LAYOUT_STRING, "CPUs that share it"},
};
static const struct layout cache_level_layout = LAYOUT("cache", cache_level);

static const struct layout_field cache[] = {
        {"version", LAYOUT_U32, "1"},
        {"nr", LAYOUT_U32, "caches", .keep = SLOT_NR},
        {"caches", LAYOUT_STRUCT, "one a cache", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &cache_level_layout},
};

static const struct layout_field sample_time[] = {
        {"first", LAYOUT_U64, "time of the first sample", "ns"},
        {"last", LAYOUT_U64, "time of the last sample", "ns"},
};

static const struct layout_field mem_node[] = {
        {"node", LAYOUT_U64, "node"},
        {"size", LAYOUT_U64, "blocks of the node"},
        {"bits", LAYOUT_U64, "bits of the map", .keep = SLOT_SIZE},
        {"map", LAYOUT_U64, "a bit a block that is there", .show = SHOW_HEX,
                .count = {COUNT_WORDS, SLOT_SIZE}},
};
static const struct layout mem_node_layout = LAYOUT("node", mem_node);

static const struct layout_field mem_topology[] = {
        {"version", LAYOUT_U64, "1"},
        {"block_size", LAYOUT_U64, "of a block", "B"},
        {"nr", LAYOUT_U64, "nodes", .keep = SLOT_NR},
        {"nodes", LAYOUT_STRUCT, "one a node", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &mem_node_layout},
};

static const struct layout_field clockid[] = {
        {"resolution", LAYOUT_U64, "of the clock", "ns"},
};

static const struct layout_field dir_format[] = {
        {"version", LAYOUT_U64, "0: data alone; 1: data.N beside it"},
};

/* Two words of 32 bits: as one of 64, both stand from the other end of a big-endian writer's. */
static const struct layout_name bpf_device[] = {
        {0, "ifindex", 32},
        {32, "gpl_compatible", 1},
        {33, "reserved", 31},
        {0},
};

#define INFO_TO(end) .when = {WHEN_MIN, SLOT_SIZE, (end)}

/* struct bpf_prog_info of <linux/bpf.h>; newer kernels add to its end. */
static const struct layout_field bpf_info[] = {
        {"type", LAYOUT_U32, "of program", INFO_TO(4)},
        {"id", LAYOUT_U32, "of the program", INFO_TO(8)},
        {"tag", LAYOUT_BYTES, "of the program", INFO_TO(16), .count = {COUNT_FIXED, 8}},
        {"jited_prog_len", LAYOUT_U32, "of the machine code", "B", INFO_TO(20)},
        {"xlated_prog_len", LAYOUT_U32, "of the program", "B", INFO_TO(24)},
        {"jited_prog_insns", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(32)},
        {"xlated_prog_insns", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(40)},
        {"load_time", LAYOUT_U64, "since boot", "ns", INFO_TO(48)},
        {"created_by_uid", LAYOUT_U32, "user", INFO_TO(52)},
        {"nr_map_ids", LAYOUT_U32, "maps", INFO_TO(56)},
        {"map_ids", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(64)},
        {"name", LAYOUT_CHARS, "of the program", INFO_TO(80), .count = {COUNT_FIXED, 16}},
        {"device", LAYOUT_MIRRORED, "network device; licence", .names = bpf_device, INFO_TO(88)},
        {"netns_dev", LAYOUT_U64, "device of the network namespace", INFO_TO(96)},
        {"netns_ino", LAYOUT_U64, "its inode", INFO_TO(104)},
        {"nr_jited_ksyms", LAYOUT_U32, "functions", INFO_TO(108)},
        {"nr_jited_func_lens", LAYOUT_U32, "functions", INFO_TO(112)},
        {"jited_ksyms", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(120)},
        {"jited_func_lens", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(128)},
        {"btf_id", LAYOUT_U32, "of the BTF object", INFO_TO(132)},
        {"func_info_rec_size", LAYOUT_U32, "of an entry", "B", INFO_TO(136)},
        {"func_info", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(144)},
        {"nr_func_info", LAYOUT_U32, "entries", INFO_TO(148)},
        {"nr_line_info", LAYOUT_U32, "entries", INFO_TO(152)},
        {"line_info", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(160)},
        {"jited_line_info", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(168)},
        {"nr_jited_line_info", LAYOUT_U32, "entries", INFO_TO(172)},
        {"line_info_rec_size", LAYOUT_U32, "of an entry", "B", INFO_TO(176)},
        {"jited_line_info_rec_size", LAYOUT_U32, "of an entry", "B", INFO_TO(180)},
        {"nr_prog_tags", LAYOUT_U32, "tags", INFO_TO(184)},
        {"prog_tags", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(192)},
        {"run_time_ns", LAYOUT_U64, "of all runs", "ns", INFO_TO(200)},
        {"run_cnt", LAYOUT_U64, "runs", INFO_TO(208)},
        {"recursion_misses", LAYOUT_U64, "runs that were refused", INFO_TO(216)},
        {"verified_insns", LAYOUT_U32, "instructions", INFO_TO(220)},
        {"attach_btf_obj_id", LAYOUT_U32, "BTF object of what it is attached to", INFO_TO(224)},
        {"attach_btf_id", LAYOUT_U32, "type there", INFO_TO(228)},
        {"tail", LAYOUT_BYTES, "of a newer info", .show = SHOW_NEVER,
                .count = {COUNT_STRUCT_REST, SLOT_SIZE}},
};
static const struct layout bpf_info_layout = LAYOUT("bpf_prog_info", bpf_info);

static const struct layout_field bpf_prog[] = {
        {"info_len", LAYOUT_U32, "of info", "B", .keep = SLOT_SIZE},
        {"data_len", LAYOUT_U32, "of data", "B", .keep = SLOT_MORE},
        {"arrays", LAYOUT_U64, "bits of the arrays in data", .show = SHOW_HEX},
        {"info", LAYOUT_STRUCT, "struct bpf_prog_info of the kernel", .sub = &bpf_info_layout},
        {"data", LAYOUT_BYTES, "what its pointers mean, as recorded: they are offsets in here",
                .count = {COUNT_SLOT, SLOT_MORE}},
};
static const struct layout bpf_prog_layout = LAYOUT("BPF program", bpf_prog);

static const struct layout_field bpf_prog_info[] = {
        {"nr", LAYOUT_U32, "programs", .keep = SLOT_NR},
        {"programs", LAYOUT_STRUCT, "one a program", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &bpf_prog_layout},
};

static const struct layout_field btf_entry[] = {
        {"id", LAYOUT_U32, "of the BTF object"},
        {"size", LAYOUT_U32, "of data", "B", .keep = SLOT_SIZE},
        {"data", LAYOUT_BYTES, "BTF", .count = {COUNT_SLOT, SLOT_SIZE}},
};
static const struct layout btf_entry_layout = LAYOUT("BTF object", btf_entry);

static const struct layout_field bpf_btf[] = {
        {"nr", LAYOUT_U32, "objects", .keep = SLOT_NR},
        {"objects", LAYOUT_STRUCT, "one an object", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &btf_entry_layout},
};

static const struct layout_field compressed[] = {
        {"version", LAYOUT_U32, "1"},
        {"type", LAYOUT_U32, "1: zstd"},
        {"level", LAYOUT_U32, "of compression"},
        {"ratio", LAYOUT_U32, "bytes before, a byte after"},
        {"mmap_len", LAYOUT_U32, "of a ring buffer", "B"},
};

static const struct layout_field cap[] = {
        {"name", LAYOUT_STRING, "of the capability"},
        {"value", LAYOUT_STRING, "of the capability"},
};
static const struct layout cap_layout = LAYOUT("capability", cap);

static const struct layout_field cpu_pmu_caps[] = {
        {"nr", LAYOUT_U32, "capabilities", .keep = SLOT_SIZE},
        {"caps", LAYOUT_STRUCT, "of the PMU cpu", .count = {COUNT_SLOT, SLOT_SIZE},
                .sub = &cap_layout},
};

static const struct layout_field clock_data[] = {
        {"version", LAYOUT_U32, "1"},
        {"clockid", LAYOUT_S32, "of clock_gettime(2)"},
        {"wall_clock_ns", LAYOUT_U64, "time of day", "ns"},
        {"clockid_time_ns", LAYOUT_U64, "time of the clock at that moment", "ns"},
};

static const struct layout_field hybrid[] = {
        {"pmu", LAYOUT_STRING, "of the PMU"},
        {"cpus", LAYOUT_STRING, "its CPUs"},
};
static const struct layout hybrid_layout = LAYOUT("kind of core", hybrid);

static const struct layout_field hybrid_topology[] = {
        {"nr", LAYOUT_U32, "kinds", .keep = SLOT_NR},
        {"kinds", LAYOUT_STRUCT, "one a kind", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &hybrid_layout},
};

static const struct layout_field pmu_caps[] = {
        {NULL, LAYOUT_STRUCT, .sub = &(const struct layout)LAYOUT("capabilities", cpu_pmu_caps)},
        {"pmu_name", LAYOUT_STRING, "of the PMU"},
};
static const struct layout pmu_caps_layout = LAYOUT("PMU", pmu_caps);

static const struct layout_field all_pmu_caps[] = {
        {"nr_pmu", LAYOUT_U32, "PMUs", .keep = SLOT_NR},
        {"pmus", LAYOUT_STRUCT, "one a PMU", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &pmu_caps_layout},
};

static const struct layout_field domain[] = {
        {"domain", LAYOUT_U32, "number"},
        {"name", LAYOUT_STRING, "of the domain", .when = {WHEN_MIN, SLOT_TYPE, 17}},
        {"cpumask", LAYOUT_STRING, "CPUs as a mask"},
        {"cpulist", LAYOUT_STRING, "CPUs as a list"},
};
static const struct layout domain_layout = LAYOUT("domain", domain);

static const struct layout_field domain_cpu[] = {
        {"cpu", LAYOUT_U32, "CPU"},
        {"nr_domains", LAYOUT_U32, "domains", .keep = SLOT_NR},
        {"domains", LAYOUT_STRUCT, "one a domain", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &domain_layout},
};
static const struct layout domain_cpu_layout = LAYOUT("CPU", domain_cpu);

static const struct layout_field cpu_domain_info[] = {
        {"schedstat_version", LAYOUT_U32, "of /proc/schedstat", .keep = SLOT_TYPE},
        {"max_sched_domains", LAYOUT_U32, "most domains of a CPU"},
        {"cpus", LAYOUT_STRUCT, "to the end", .count = {COUNT_REST}, .sub = &domain_cpu_layout},
};

static const struct layout_field e_machine[] = {
        {"e_machine", LAYOUT_U32, "of ELF headers"},
        {"e_flags", LAYOUT_U32, "of ELF headers", .show = SHOW_HEX},
};

static const struct layout_field cln_size[] = {
        {"cacheline_size", LAYOUT_U32, "of a cache line", "B"},
};

static const struct layout feature_layouts[FEATURE_LAST] = {
        [FEATURE_TRACING_DATA] = LAYOUT("TRACING_DATA", blob),
        [FEATURE_BUILD_ID] = LAYOUT("BUILD_ID", build_ids),
        [FEATURE_HOSTNAME] = LAYOUT("HOSTNAME", text),
        [FEATURE_OSRELEASE] = LAYOUT("OSRELEASE", text),
        [FEATURE_VERSION] = LAYOUT("VERSION", text),
        [FEATURE_ARCH] = LAYOUT("ARCH", text),
        [FEATURE_NRCPUS] = LAYOUT("NRCPUS", nrcpus),
        [FEATURE_CPUDESC] = LAYOUT("CPUDESC", text),
        [FEATURE_CPUID] = LAYOUT("CPUID", text),
        [FEATURE_TOTAL_MEM] = LAYOUT("TOTAL_MEM", total_mem),
        [FEATURE_CMDLINE] = LAYOUT("CMDLINE", text_list),
        [FEATURE_EVENT_DESC] = LAYOUT("EVENT_DESC", event_desc),
        [FEATURE_CPU_TOPOLOGY] = LAYOUT("CPU_TOPOLOGY", cpu_topology),
        [FEATURE_NUMA_TOPOLOGY] = LAYOUT("NUMA_TOPOLOGY", numa_topology),
        [FEATURE_BRANCH_STACK] = {.name = "BRANCH_STACK"},
        [FEATURE_PMU_MAPPINGS] = LAYOUT("PMU_MAPPINGS", pmu_mappings),
        [FEATURE_GROUP_DESC] = LAYOUT("GROUP_DESC", group_desc),
        [FEATURE_AUXTRACE] = LAYOUT("AUXTRACE", auxtrace_index),
        [FEATURE_STAT] = {.name = "STAT"},
        [FEATURE_CACHE] = LAYOUT("CACHE", cache),
        [FEATURE_SAMPLE_TIME] = LAYOUT("SAMPLE_TIME", sample_time),
        [FEATURE_MEM_TOPOLOGY] = LAYOUT("MEM_TOPOLOGY", mem_topology),
        [FEATURE_CLOCKID] = LAYOUT("CLOCKID", clockid),
        [FEATURE_DIR_FORMAT] = LAYOUT("DIR_FORMAT", dir_format),
        [FEATURE_BPF_PROG_INFO] = LAYOUT("BPF_PROG_INFO", bpf_prog_info),
        [FEATURE_BPF_BTF] = LAYOUT("BPF_BTF", bpf_btf),
        [FEATURE_COMPRESSED] = LAYOUT("COMPRESSED", compressed),
        [FEATURE_CPU_PMU_CAPS] = LAYOUT("CPU_PMU_CAPS", cpu_pmu_caps),
        [FEATURE_CLOCK_DATA] = LAYOUT("CLOCK_DATA", clock_data),
        [FEATURE_HYBRID_TOPOLOGY] = LAYOUT("HYBRID_TOPOLOGY", hybrid_topology),
        [FEATURE_PMU_CAPS] = LAYOUT("PMU_CAPS", all_pmu_caps),
        [FEATURE_CPU_DOMAIN_INFO] = LAYOUT("CPU_DOMAIN_INFO", cpu_domain_info),
        [FEATURE_E_MACHINE] = LAYOUT("E_MACHINE", e_machine),
        [FEATURE_CLN_SIZE] = LAYOUT("CLN_SIZE", cln_size),
};

const struct layout *layout_of_feature(uint32_t feature)
{
	return feature < FEATURE_LAST && feature_layouts[feature].name != NULL
	               ? &feature_layouts[feature]
	               : NULL;
}
