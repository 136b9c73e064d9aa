/* SPDX-License-Identifier: MIT */
/*
 * Payloads of header features. None of their fields is aligned.
 *
 * Source: the format's public description, real files; doc/format.md has these tables in words.
 */
#include "abi/abi.h"
#include "record/feature.h"
#include "record/layout_tables.h"

static const struct layout_field blob[] = {
        {"data", LAYOUT_BYTES, "in a byte order of its own", .count = {COUNT_REST},
                TO_FEATURE(blob, bytes)},
};

static const struct layout_field text[] = {
        {"value", LAYOUT_STRING, "text", .to = 1, .room = sizeof(struct layout_text)},
};
static const struct layout text_layout = LAYOUT_TO("text", text, struct layout_text);

static const struct layout_field text_list[] = {
        {"nr", LAYOUT_U32, "texts", .keep = SLOT_NR, TO_FEATURE(list, n)},
        {"list", LAYOUT_STRUCT, "the texts", .count = {COUNT_SLOT, SLOT_NR}, .sub = &text_layout,
                TO_FEATURE(list, items)},
};
static const struct layout text_list_layout = LAYOUT_TO("texts", text_list, struct feature_list);

static const struct layout_field build_id[] = {
        {"type", LAYOUT_U32, "0 in a file, 67 in a pipe", TO_FEATURE(build_id, type)},
        {"misc", LAYOUT_U16, "cpumode; bit 15: build_id_size holds", .show = SHOW_HEX,
                TO_FEATURE(build_id, misc)},
        {"size", LAYOUT_U16, "of the entry, these 8 bytes included", "B", .keep = SLOT_SIZE,
                TO_FEATURE(build_id, size)},
        {"pid", LAYOUT_S32, "guest; -1: host", TO_FEATURE(build_id, pid)},
        {"build_id", LAYOUT_BYTES, "of the file", .count = {COUNT_FIXED, BUILD_ID_MAX},
                TO_FEATURE(build_id, id)},
        {"build_id_size", LAYOUT_U8, "how many bytes hold; without misc bit 15: 0", "B",
                TO_FEATURE(build_id, id_size)},
        {"reserved", LAYOUT_BYTES, "0", .show = SHOW_NEVER, .count = {COUNT_FIXED, 3},
                TO_FEATURE(build_id, reserved)},
        {"filename", LAYOUT_CHARS, "path or name", .count = {COUNT_STRUCT_REST, SLOT_SIZE},
                TO_FEATURE(build_id, name)},
};
static const struct layout build_id_layout =
        LAYOUT_TO("build id", build_id, struct feature_build_id);

static const struct layout_field build_ids[] = {
        {"build_ids", LAYOUT_STRUCT, "one an object", .count = {COUNT_REST},
                .sub = &build_id_layout, TO_FEATURE(build_ids, items), N_FEATURE(build_ids, n)},
};

static const struct layout_field nrcpus[] = {
        {"available", LAYOUT_U32, "CPUs present", TO_FEATURE(cpus, available)},
        {"online", LAYOUT_U32, "CPUs on line", TO_FEATURE(cpus, online)},
};

static const struct layout_field total_mem[] = {
        {"total_mem", LAYOUT_U64, "memory of the machine", "kB", TO_FEATURE(number, value)},
};

static const struct layout_field event[] = {
        {"attr", LAYOUT_STRUCT, "the event", .sub = &layout_attr_known,
                TO_FEATURE(event, attr.attr)},
        {"attr_tail", LAYOUT_BYTES, "of a newer attr, up to attr_size", .show = SHOW_NEVER,
                .count = {COUNT_STRUCT_REST, SLOT_MORE}, TO_FEATURE(event, attr.tail)},
        {"nr_ids", LAYOUT_U32, "ids", .keep = SLOT_SIZE, TO_FEATURE(event, nids)},
        {"name", LAYOUT_STRING, "of the event", TO_FEATURE(event, name)},
        {"ids", LAYOUT_U64, "ids of the event", .count = {COUNT_SLOT, SLOT_SIZE},
                TO_FEATURE(event, ids)},
};
static const struct layout event_layout = LAYOUT_TO("event", event, struct feature_event);

static const struct layout_field event_desc[] = {
        {"nr", LAYOUT_U32, "events", .keep = SLOT_NR, TO_FEATURE(events, n)},
        {"attr_size", LAYOUT_U32, "room of each attr", "B", .keep = SLOT_MORE,
                TO_FEATURE(events, attr_size)},
        {"events", LAYOUT_STRUCT, "one an event", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &event_layout, TO_FEATURE(events, items)},
};

static const struct layout_field core_socket[] = {
        {"core_id", LAYOUT_S32, "core of the CPU", TO_FEATURE(cpu, core)},
        {"socket_id", LAYOUT_S32, "socket of the CPU", TO_FEATURE(cpu, socket)},
};
static const struct layout core_socket_layout = LAYOUT_TO("CPU", core_socket, struct feature_cpu);

static const struct layout_field dies[] = {
        {"dies", LAYOUT_STRUCT, "lists of CPUs", .sub = &text_list_layout,
                TO_FEATURE(topology_dies, lists)},
        {"die_ids", LAYOUT_S32, "die of each CPU", .when = {WHEN_LEFT_EACH, SLOT_CPUS, 4},
                .count = {COUNT_SLOT, SLOT_CPUS}, TO_FEATURE(topology_dies, items),
                N_FEATURE(topology_dies, n)},
};
static const struct layout dies_layout = LAYOUT_TO("dies", dies, struct feature_topology_dies);

static const struct layout_field cpu_topology[] = {
        {"cores", LAYOUT_STRUCT, "lists of CPUs", .sub = &text_list_layout,
                TO_FEATURE(topology, cores)},
        {"threads", LAYOUT_STRUCT, "lists of CPUs", .sub = &text_list_layout,
                TO_FEATURE(topology, threads)},
        {"cpus", LAYOUT_STRUCT, "one a CPU, in later revisions",
                .when = {WHEN_LEFT_EACH, SLOT_CPUS, 8}, .count = {COUNT_SLOT, SLOT_CPUS},
                .sub = &core_socket_layout, TO_FEATURE(topology, cpus.items),
                N_FEATURE(topology, cpus.n), HAS_FEATURE(topology, has_cpus)},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_LEFT_EACH, SLOT_CPUS, 1}, .sub = &dies_layout,
                TO_FEATURE(topology, dies), HAS_FEATURE(topology, has_dies)},
};

static const struct layout_field numa_node[] = {
        {"node", LAYOUT_U32, "node", TO_FEATURE(numa_node, node)},
        {"mem_total", LAYOUT_U64, "memory of the node", "kB", TO_FEATURE(numa_node, total)},
        {"mem_free", LAYOUT_U64, "free of it", "kB", TO_FEATURE(numa_node, free)},
        {"cpus", LAYOUT_STRING, "list of CPUs", TO_FEATURE(numa_node, cpus)},
};
static const struct layout numa_node_layout =
        LAYOUT_TO("node", numa_node, struct feature_numa_node);

static const struct layout_field numa_topology[] = {
        {"nr", LAYOUT_U32, "nodes", .keep = SLOT_NR, TO_FEATURE(numa, n)},
        {"nodes", LAYOUT_STRUCT, "one a node", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &numa_node_layout, TO_FEATURE(numa, items)},
};

static const struct layout_field pmu[] = {
        {"type", LAYOUT_U32, "attr.type of its events", TO_FEATURE(pmu, type)},
        {"name", LAYOUT_STRING, "of the PMU", TO_FEATURE(pmu, name)},
};
static const struct layout pmu_layout = LAYOUT_TO("PMU", pmu, struct feature_pmu);

static const struct layout_field pmu_mappings[] = {
        {"nr", LAYOUT_U32, "PMUs", .keep = SLOT_NR, TO_FEATURE(pmus, n)},
        {"pmus", LAYOUT_STRUCT, "one a PMU", .count = {COUNT_SLOT, SLOT_NR}, .sub = &pmu_layout,
                TO_FEATURE(pmus, items)},
};

static const struct layout_field group[] = {
        {"name", LAYOUT_STRING, "of the group", TO_FEATURE(group, name)},
        {"leader_idx", LAYOUT_U32, "number of its first event", TO_FEATURE(group, leader)},
        {"nr_members", LAYOUT_U32, "events, the leader included", TO_FEATURE(group, members)},
};
static const struct layout group_layout = LAYOUT_TO("group", group, struct feature_group);

static const struct layout_field group_desc[] = {
        {"nr", LAYOUT_U32, "groups", .keep = SLOT_NR, TO_FEATURE(groups, n)},
        {"groups", LAYOUT_STRUCT, "one a group", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &group_layout, TO_FEATURE(groups, items)},
};

static const struct layout_field auxtrace_entry[] = {
        {"file_offset", LAYOUT_U64, "of an AUXTRACE record", "B", SHOW_HEX,
                TO_FEATURE(section, offset)},
        {"sz", LAYOUT_U64, "its header.size", "B", TO_FEATURE(section, size)},
};
static const struct layout auxtrace_entry_layout =
        LAYOUT_TO("place", auxtrace_entry, struct feature_section);

/* Android's recorder omits the count. */
static const struct layout_field auxtrace_index[] = {
        {"nr", LAYOUT_U64, "AUXTRACE records", .when = {WHEN_LEFT_ODD, .value = 16},
                TO_FEATURE(sections, nr), HAS_FEATURE(sections, has_nr)},
        {"entries", LAYOUT_STRUCT, "one a record", .count = {COUNT_REST},
                .sub = &auxtrace_entry_layout, TO_FEATURE(sections, items), N_FEATURE(sections, n)},
};

static const struct layout_field cache_level[] = {
        {"level", LAYOUT_U32, "1 is the nearest", TO_FEATURE(cache_level, level)},
        {"line_size", LAYOUT_U32, "of a line", "B", TO_FEATURE(cache_level, line)},
        {"sets", LAYOUT_U32, "sets", TO_FEATURE(cache_level, sets)},
        {"ways", LAYOUT_U32, "lines of a set", TO_FEATURE(cache_level, ways)},
        {"type", LAYOUT_STRING, "Data, Instruction or Unified", TO_FEATURE(cache_level, type)},
        {"size", LAYOUT_STRING, "as sysfs says", TO_FEATURE(cache_level, size)},
        {"map", LAYOUT_STRING, "CPUs that share it", TO_FEATURE(cache_level, cpus)},
};
static const struct layout cache_level_layout =
        LAYOUT_TO("cache", cache_level, struct feature_cache_level);

static const struct layout_field cache[] = {
        {"version", LAYOUT_U32, "1", TO_FEATURE(cache, version)},
        {"nr", LAYOUT_U32, "caches", .keep = SLOT_NR, TO_FEATURE(cache, n)},
        {"caches", LAYOUT_STRUCT, "one a cache", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &cache_level_layout, TO_FEATURE(cache, items)},
};

static const struct layout_field sample_time[] = {
        {"first", LAYOUT_U64, "time of the first sample", "ns", TO_FEATURE(times, first)},
        {"last", LAYOUT_U64, "time of the last sample", "ns", TO_FEATURE(times, last)},
};

static const struct layout_field mem_node[] = {
        {"node", LAYOUT_U64, "node", TO_FEATURE(memory_node, node)},
        {"size", LAYOUT_U64, "blocks of the node", TO_FEATURE(memory_node, blocks)},
        {"bits", LAYOUT_U64, "bits of the map", .keep = SLOT_SIZE, TO_FEATURE(memory_node, bits)},
        {"map", LAYOUT_U64, "a bit a block that is there", .show = SHOW_HEX,
                .count = {COUNT_WORDS, SLOT_SIZE}, TO_FEATURE(memory_node, words)},
};
static const struct layout mem_node_layout =
        LAYOUT_TO("node", mem_node, struct feature_memory_node);

static const struct layout_field mem_topology[] = {
        {"version", LAYOUT_U64, "1", TO_FEATURE(memory, version)},
        {"block_size", LAYOUT_U64, "of a block", "B", TO_FEATURE(memory, block_size)},
        {"nr", LAYOUT_U64, "nodes", .keep = SLOT_NR, TO_FEATURE(memory, n)},
        {"nodes", LAYOUT_STRUCT, "one a node", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &mem_node_layout, TO_FEATURE(memory, items)},
};

static const struct layout_field clockid[] = {
        {"resolution", LAYOUT_U64, "of the clock", "ns", TO_FEATURE(number, value)},
};

static const struct layout_field dir_format[] = {
        {"version", LAYOUT_U64, "0: data alone; 1: data.N beside it", TO_FEATURE(number, value)},
};

/* Two 32-bit words read as one u64: big-endian writers have them in the other order. */
static const struct layout_name bpf_device[] = {
        {0, "ifindex", 32},
        {32, "gpl_compatible", 1},
        {33, "reserved", 31},
        {0},
};

#define INFO_TO(end) .when = {WHEN_MIN, SLOT_SIZE, (end)}

/* struct bpf_prog_info of <linux/bpf.h>; newer kernels append fields. */
static const struct layout_field bpf_info[] = {
        {"type", LAYOUT_U32, "of program", INFO_TO(4), TO_FEATURE(bpf_info, type)},
        {"id", LAYOUT_U32, "of the program", INFO_TO(8), TO_FEATURE(bpf_info, id)},
        {"tag", LAYOUT_BYTES, "of the program", INFO_TO(16), .count = {COUNT_FIXED, 8},
                TO_FEATURE(bpf_info, tag)},
        {"jited_prog_len", LAYOUT_U32, "of the machine code", "B", INFO_TO(20),
                TO_FEATURE(bpf_info, jited_prog_len)},
        {"xlated_prog_len", LAYOUT_U32, "of the program", "B", INFO_TO(24),
                TO_FEATURE(bpf_info, xlated_prog_len)},
        {"jited_prog_insns", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(32),
                TO_FEATURE(bpf_info, jited_prog_insns)},
        {"xlated_prog_insns", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(40),
                TO_FEATURE(bpf_info, xlated_prog_insns)},
        {"load_time", LAYOUT_U64, "since boot", "ns", INFO_TO(48), TO_FEATURE(bpf_info, load_time)},
        {"created_by_uid", LAYOUT_U32, "user", INFO_TO(52), TO_FEATURE(bpf_info, created_by_uid)},
        {"nr_map_ids", LAYOUT_U32, "maps", INFO_TO(56), TO_FEATURE(bpf_info, nr_map_ids)},
        {"map_ids", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(64),
                TO_FEATURE(bpf_info, map_ids)},
        {"name", LAYOUT_CHARS, "of the program", INFO_TO(80), .count = {COUNT_FIXED, 16},
                TO_FEATURE(bpf_info, name)},
        {"device", LAYOUT_MIRRORED, "network device; licence", .names = bpf_device, INFO_TO(88),
                TO_FEATURE(bpf_info, device)},
        {"netns_dev", LAYOUT_U64, "device of the network namespace", INFO_TO(96),
                TO_FEATURE(bpf_info, netns_dev)},
        {"netns_ino", LAYOUT_U64, "its inode", INFO_TO(104), TO_FEATURE(bpf_info, netns_ino)},
        {"nr_jited_ksyms", LAYOUT_U32, "functions", INFO_TO(108),
                TO_FEATURE(bpf_info, nr_jited_ksyms)},
        {"nr_jited_func_lens", LAYOUT_U32, "functions", INFO_TO(112),
                TO_FEATURE(bpf_info, nr_jited_func_lens)},
        {"jited_ksyms", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(120),
                TO_FEATURE(bpf_info, jited_ksyms)},
        {"jited_func_lens", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(128),
                TO_FEATURE(bpf_info, jited_func_lens)},
        {"btf_id", LAYOUT_U32, "of the BTF object", INFO_TO(132), TO_FEATURE(bpf_info, btf_id)},
        {"func_info_rec_size", LAYOUT_U32, "of an entry", "B", INFO_TO(136),
                TO_FEATURE(bpf_info, func_info_rec_size)},
        {"func_info", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(144),
                TO_FEATURE(bpf_info, func_info)},
        {"nr_func_info", LAYOUT_U32, "entries", INFO_TO(148), TO_FEATURE(bpf_info, nr_func_info)},
        {"nr_line_info", LAYOUT_U32, "entries", INFO_TO(152), TO_FEATURE(bpf_info, nr_line_info)},
        {"line_info", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(160),
                TO_FEATURE(bpf_info, line_info)},
        {"jited_line_info", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(168),
                TO_FEATURE(bpf_info, jited_line_info)},
        {"nr_jited_line_info", LAYOUT_U32, "entries", INFO_TO(172),
                TO_FEATURE(bpf_info, nr_jited_line_info)},
        {"line_info_rec_size", LAYOUT_U32, "of an entry", "B", INFO_TO(176),
                TO_FEATURE(bpf_info, line_info_rec_size)},
        {"jited_line_info_rec_size", LAYOUT_U32, "of an entry", "B", INFO_TO(180),
                TO_FEATURE(bpf_info, jited_line_info_rec_size)},
        {"nr_prog_tags", LAYOUT_U32, "tags", INFO_TO(184), TO_FEATURE(bpf_info, nr_prog_tags)},
        {"prog_tags", LAYOUT_U64, "where in data", .show = SHOW_HEX, INFO_TO(192),
                TO_FEATURE(bpf_info, prog_tags)},
        {"run_time_ns", LAYOUT_U64, "of all runs", "ns", INFO_TO(200),
                TO_FEATURE(bpf_info, run_time_ns)},
        {"run_cnt", LAYOUT_U64, "runs", INFO_TO(208), TO_FEATURE(bpf_info, run_cnt)},
        {"recursion_misses", LAYOUT_U64, "runs that were refused", INFO_TO(216),
                TO_FEATURE(bpf_info, recursion_misses)},
        {"verified_insns", LAYOUT_U32, "instructions", INFO_TO(220),
                TO_FEATURE(bpf_info, verified_insns)},
        {"attach_btf_obj_id", LAYOUT_U32, "BTF object of what it is attached to", INFO_TO(224),
                TO_FEATURE(bpf_info, attach_btf_obj_id)},
        {"attach_btf_id", LAYOUT_U32, "type there", INFO_TO(228),
                TO_FEATURE(bpf_info, attach_btf_id)},
        {"tail", LAYOUT_BYTES, "of a newer info", .show = SHOW_NEVER,
                .count = {COUNT_STRUCT_REST, SLOT_SIZE}, TO_FEATURE(bpf_info, tail)},
};
static const struct layout bpf_info_layout =
        LAYOUT_TO("bpf_prog_info", bpf_info, struct feature_bpf_info);

static const struct layout_field bpf_prog[] = {
        {"info_len", LAYOUT_U32, "of info", "B", .keep = SLOT_SIZE, TO_FEATURE(program, info_size)},
        {"data_len", LAYOUT_U32, "of data", "B", .keep = SLOT_MORE, TO_FEATURE(program, data.n)},
        {"arrays", LAYOUT_U64, "bits of the arrays in data", .show = SHOW_HEX,
                TO_FEATURE(program, arrays)},
        {"info", LAYOUT_STRUCT, "struct bpf_prog_info of the kernel", .sub = &bpf_info_layout,
                TO_FEATURE(program, info)},
        {"data", LAYOUT_BYTES, "what its pointers mean, as recorded: they are offsets in here",
                .count = {COUNT_SLOT, SLOT_MORE}, TO_FEATURE(program, data)},
};
static const struct layout bpf_prog_layout =
        LAYOUT_TO("BPF program", bpf_prog, struct feature_program);

static const struct layout_field bpf_prog_info[] = {
        {"nr", LAYOUT_U32, "programs", .keep = SLOT_NR, TO_FEATURE(programs, n)},
        {"programs", LAYOUT_STRUCT, "one a program", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &bpf_prog_layout, TO_FEATURE(programs, items)},
};

static const struct layout_field btf_entry[] = {
        {"id", LAYOUT_U32, "of the BTF object", TO_FEATURE(btf, id)},
        {"size", LAYOUT_U32, "of data", "B", .keep = SLOT_SIZE, TO_FEATURE(btf, data.n)},
        {"data", LAYOUT_BYTES, "BTF", .count = {COUNT_SLOT, SLOT_SIZE}, TO_FEATURE(btf, data)},
};
static const struct layout btf_entry_layout =
        LAYOUT_TO("BTF object", btf_entry, struct feature_btf);

static const struct layout_field bpf_btf[] = {
        {"nr", LAYOUT_U32, "objects", .keep = SLOT_NR, TO_FEATURE(btfs, n)},
        {"objects", LAYOUT_STRUCT, "one an object", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &btf_entry_layout, TO_FEATURE(btfs, items)},
};

static const struct layout_field compressed[] = {
        {"version", LAYOUT_U32, "1", TO_FEATURE(compression, version)},
        {"type", LAYOUT_U32, "1: zstd", TO_FEATURE(compression, type)},
        {"level", LAYOUT_U32, "of compression", TO_FEATURE(compression, level)},
        {"ratio", LAYOUT_U32, "bytes before, a byte after", TO_FEATURE(compression, ratio)},
        {"mmap_len", LAYOUT_U32, "of a ring buffer", "B", TO_FEATURE(compression, mmap_len)},
};

static const struct layout_field cap[] = {
        {"name", LAYOUT_STRING, "of the capability", TO_FEATURE(pair, name)},
        {"value", LAYOUT_STRING, "of the capability", TO_FEATURE(pair, value)},
};
static const struct layout cap_layout = LAYOUT_TO("capability", cap, struct feature_pair);

static const struct layout_field cpu_pmu_caps[] = {
        {"nr", LAYOUT_U32, "capabilities", .keep = SLOT_SIZE, TO_FEATURE(pairs, n)},
        {"caps", LAYOUT_STRUCT, "of the PMU cpu", .count = {COUNT_SLOT, SLOT_SIZE},
                .sub = &cap_layout, TO_FEATURE(pairs, items)},
};

static const struct layout_field clock_data[] = {
        {"version", LAYOUT_U32, "1", TO_FEATURE(clock, version)},
        {"clockid", LAYOUT_S32, "of clock_gettime(2)", TO_FEATURE(clock, clockid)},
        {"wall_clock_ns", LAYOUT_U64, "time of day", "ns", TO_FEATURE(clock, wall_ns)},
        {"clockid_time_ns", LAYOUT_U64, "time of the clock at that moment", "ns",
                TO_FEATURE(clock, clock_ns)},
};

static const struct layout_field hybrid[] = {
        {"pmu", LAYOUT_STRING, "of the PMU", TO_FEATURE(pair, name)},
        {"cpus", LAYOUT_STRING, "its CPUs", TO_FEATURE(pair, value)},
};
static const struct layout hybrid_layout = LAYOUT_TO("kind of core", hybrid, struct feature_pair);

static const struct layout_field hybrid_topology[] = {
        {"nr", LAYOUT_U32, "kinds", .keep = SLOT_NR, TO_FEATURE(pairs, n)},
        {"kinds", LAYOUT_STRUCT, "one a kind", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &hybrid_layout, TO_FEATURE(pairs, items)},
};

static const struct layout_field pmu_caps[] = {
        {NULL, LAYOUT_STRUCT,
                .sub = &(const struct layout)LAYOUT_TO(
                        "capabilities", cpu_pmu_caps, struct feature_pairs),
                TO_FEATURE(caps, caps)},
        {"pmu_name", LAYOUT_STRING, "of the PMU", TO_FEATURE(caps, pmu)},
};
static const struct layout pmu_caps_layout = LAYOUT_TO("PMU", pmu_caps, struct feature_caps);

static const struct layout_field all_pmu_caps[] = {
        {"nr_pmu", LAYOUT_U32, "PMUs", .keep = SLOT_NR, TO_FEATURE(all_caps, n)},
        {"pmus", LAYOUT_STRUCT, "one a PMU", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &pmu_caps_layout, TO_FEATURE(all_caps, items)},
};

static const struct layout_field domain[] = {
        {"domain", LAYOUT_U32, "number", TO_FEATURE(domain, domain)},
        {"name", LAYOUT_STRING, "of the domain", .when = {WHEN_MIN, SLOT_TYPE, 17},
                TO_FEATURE(domain, name)},
        {"cpumask", LAYOUT_STRING, "CPUs as a mask", TO_FEATURE(domain, mask)},
        {"cpulist", LAYOUT_STRING, "CPUs as a list", TO_FEATURE(domain, cpus)},
};
static const struct layout domain_layout = LAYOUT_TO("domain", domain, struct feature_domain);

static const struct layout_field domain_cpu[] = {
        {"cpu", LAYOUT_U32, "CPU", TO_FEATURE(cpu_domains, cpu)},
        {"nr_domains", LAYOUT_U32, "domains", .keep = SLOT_NR, TO_FEATURE(cpu_domains, n)},
        {"domains", LAYOUT_STRUCT, "one a domain", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &domain_layout, TO_FEATURE(cpu_domains, items)},
};
static const struct layout domain_cpu_layout =
        LAYOUT_TO("CPU", domain_cpu, struct feature_cpu_domains);

static const struct layout_field cpu_domain_info[] = {
        {"schedstat_version", LAYOUT_U32, "of /proc/schedstat", .keep = SLOT_TYPE,
                TO_FEATURE(domains, version)},
        {"max_sched_domains", LAYOUT_U32, "most domains of a CPU", TO_FEATURE(domains, max)},
        {"cpus", LAYOUT_STRUCT, "to the end", .count = {COUNT_REST}, .sub = &domain_cpu_layout,
                TO_FEATURE(domains, items), N_FEATURE(domains, n)},
};

static const struct layout_field e_machine[] = {
        {"e_machine", LAYOUT_U32, "of ELF headers", TO_FEATURE(machine, machine)},
        {"e_flags", LAYOUT_U32, "of ELF headers", .show = SHOW_HEX, TO_FEATURE(machine, flags)},
};

static const struct layout_field cln_size[] = {
        {"cacheline_size", LAYOUT_U32, "of a cache line", "B", TO_FEATURE(line, bytes)},
};

/* Android's simpleperf */
static const struct layout_field chunk[] = {
        {"size", LAYOUT_U32, "of data", "B", .keep = SLOT_SIZE, TO_FEATURE(chunk, bytes.n)},
        {"data", LAYOUT_BYTES, "about one file: structs, or in FILE2 a protocol buffer",
                .count = {COUNT_SLOT, SLOT_SIZE}, TO_FEATURE(chunk, bytes)},
};
static const struct layout chunk_layout = LAYOUT_TO("file", chunk, struct feature_chunk);

static const struct layout_field chunks[] = {
        {"files", LAYOUT_STRUCT, "one a file that was sampled", .count = {COUNT_REST},
                .sub = &chunk_layout, TO_FEATURE(chunks, items), N_FEATURE(chunks, n)},
};

static const struct layout_field meta[] = {
        {"name", LAYOUT_CSTRING, "name of the property", TO_FEATURE(pair, name)},
        {"value", LAYOUT_CSTRING, "as text", TO_FEATURE(pair, value)},
};
static const struct layout meta_layout = LAYOUT_TO("pair", meta, struct feature_pair);

static const struct layout_field meta_info[] = {
        {"pairs", LAYOUT_STRUCT, "to the end", .count = {COUNT_REST}, .sub = &meta_layout,
                TO_FEATURE(pairs, items), N_FEATURE(pairs, n)},
};

static const struct layout feature_layouts[] = {
        [FEATURE_TRACING_DATA] = LAYOUT_TO("TRACING_DATA", blob, struct feature_blob),
        [FEATURE_BUILD_ID] = LAYOUT_TO("BUILD_ID", build_ids, struct feature_build_ids),
        [FEATURE_HOSTNAME] = LAYOUT_TO("HOSTNAME", text, struct layout_text),
        [FEATURE_OSRELEASE] = LAYOUT_TO("OSRELEASE", text, struct layout_text),
        [FEATURE_VERSION] = LAYOUT_TO("VERSION", text, struct layout_text),
        [FEATURE_ARCH] = LAYOUT_TO("ARCH", text, struct layout_text),
        [FEATURE_NRCPUS] = LAYOUT_TO("NRCPUS", nrcpus, struct feature_cpus),
        [FEATURE_CPUDESC] = LAYOUT_TO("CPUDESC", text, struct layout_text),
        [FEATURE_CPUID] = LAYOUT_TO("CPUID", text, struct layout_text),
        [FEATURE_TOTAL_MEM] = LAYOUT_TO("TOTAL_MEM", total_mem, struct feature_number),
        [FEATURE_CMDLINE] = LAYOUT_TO("CMDLINE", text_list, struct feature_list),
        [FEATURE_EVENT_DESC] = LAYOUT_TO("EVENT_DESC", event_desc, struct feature_events),
        [FEATURE_CPU_TOPOLOGY] = LAYOUT_TO("CPU_TOPOLOGY", cpu_topology, struct feature_topology),
        [FEATURE_NUMA_TOPOLOGY] = LAYOUT_TO("NUMA_TOPOLOGY", numa_topology, struct feature_numa),
        [FEATURE_BRANCH_STACK] = {.name = "BRANCH_STACK"},
        [FEATURE_PMU_MAPPINGS] = LAYOUT_TO("PMU_MAPPINGS", pmu_mappings, struct feature_pmus),
        [FEATURE_GROUP_DESC] = LAYOUT_TO("GROUP_DESC", group_desc, struct feature_groups),
        [FEATURE_AUXTRACE] = LAYOUT_TO("AUXTRACE", auxtrace_index, struct feature_sections),
        [FEATURE_STAT] = {.name = "STAT"},
        [FEATURE_CACHE] = LAYOUT_TO("CACHE", cache, struct feature_cache),
        [FEATURE_SAMPLE_TIME] = LAYOUT_TO("SAMPLE_TIME", sample_time, struct feature_times),
        [FEATURE_MEM_TOPOLOGY] = LAYOUT_TO("MEM_TOPOLOGY", mem_topology, struct feature_memory),
        [FEATURE_CLOCKID] = LAYOUT_TO("CLOCKID", clockid, struct feature_number),
        [FEATURE_DIR_FORMAT] = LAYOUT_TO("DIR_FORMAT", dir_format, struct feature_number),
        [FEATURE_BPF_PROG_INFO] =
                LAYOUT_TO("BPF_PROG_INFO", bpf_prog_info, struct feature_programs),
        [FEATURE_BPF_BTF] = LAYOUT_TO("BPF_BTF", bpf_btf, struct feature_btfs),
        [FEATURE_COMPRESSED] = LAYOUT_TO("COMPRESSED", compressed, struct feature_compression),
        [FEATURE_CPU_PMU_CAPS] = LAYOUT_TO("CPU_PMU_CAPS", cpu_pmu_caps, struct feature_pairs),
        [FEATURE_CLOCK_DATA] = LAYOUT_TO("CLOCK_DATA", clock_data, struct feature_clock),
        [FEATURE_HYBRID_TOPOLOGY] =
                LAYOUT_TO("HYBRID_TOPOLOGY", hybrid_topology, struct feature_pairs),
        [FEATURE_PMU_CAPS] = LAYOUT_TO("PMU_CAPS", all_pmu_caps, struct feature_all_caps),
        [FEATURE_CPU_DOMAIN_INFO] =
                LAYOUT_TO("CPU_DOMAIN_INFO", cpu_domain_info, struct feature_domains),
        [FEATURE_E_MACHINE] = LAYOUT_TO("E_MACHINE", e_machine, struct feature_machine),
        [FEATURE_CLN_SIZE] = LAYOUT_TO("CLN_SIZE", cln_size, struct feature_line),
        [FEATURE_SIMPLEPERF_FILE] = LAYOUT_TO("SIMPLEPERF_FILE", chunks, struct feature_chunks),
        [FEATURE_SIMPLEPERF_META_INFO] =
                LAYOUT_TO("SIMPLEPERF_META_INFO", meta_info, struct feature_pairs),
        [FEATURE_SIMPLEPERF_FILE2] = LAYOUT_TO("SIMPLEPERF_FILE2", chunks, struct feature_chunks),
};

const struct layout *layout_of_feature(uint32_t feature)
{
	return feature < sizeof(feature_layouts) / sizeof(feature_layouts[0]) &&
	                       feature_layouts[feature].name != NULL
	               ? &feature_layouts[feature]
	               : NULL;
}
