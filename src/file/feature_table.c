/* SPDX-License-Identifier: MIT */
/*
 * Payloads of header features, field by field; they are not aligned and in the writer's byte order.
 *
 *	text: u32 size; char bytes[size], padded with NULs (perf: to 64, others: less)
 *
 * Sources: the format document of perf.data; files of perf 3.2 to 6.16 and of simpleperf.
 * CPU_DOMAIN_INFO, E_MACHINE and CLN_SIZE are from the document of a newer tree; no file seen.
 */
#include "file/feature_shape.h"

#include <sonde/record.h>

#define SHAPE(array, type)                                                                         \
	{                                                                                          \
		.fields = (array), .nfields = sizeof(array) / sizeof((array)[0]),                  \
		.size = sizeof(type)                                                               \
	}
#define FIELD(type, label, field_kind, member)                                                     \
	{                                                                                          \
		.name = (label), .kind = FEATURE_##field_kind, .at = offsetof(type, member)        \
	}
#define MANY(type, label, field_kind, member, count, shape)                                        \
	{                                                                                          \
		.name = (label), .kind = FEATURE_##field_kind, .at = offsetof(type, member),       \
		.n_at = offsetof(type, count), .items = (shape)                                    \
	}

static const struct feature_field text_fields[] = {{"text", FEATURE_TEXT, 0, 0, NULL}};
static const struct feature_shape text_shape = SHAPE(text_fields, struct feature_text);
static const struct feature_field s32_fields[] = {{"value", FEATURE_S32, 0, 0, NULL}};
static const struct feature_shape s32_shape = SHAPE(s32_fields, int32_t);
static const struct feature_field u64_fields[] = {{"value", FEATURE_U64, 0, 0, NULL}};
static const struct feature_shape u64_shape = SHAPE(u64_fields, uint64_t);

static const struct feature_field number_fields[] = {
        FIELD(struct feature_number, "value", U64, value)};
static const struct feature_field blob_fields[] = {FIELD(struct feature_blob, "bytes", ALL, bytes)};

static const struct feature_field list_fields[] = {FIELD(struct feature_list, NULL, COUNT32, n),
        MANY(struct feature_list, "items", ITEMS, items, n, &text_shape)};

/* {u32 type; u16 misc, size; s32 pid; u8 id[20], id_size, 0; u16 0; name} */
static const struct feature_field build_id_fields[] = {
        FIELD(struct feature_build_id, NULL, U32, type),
        FIELD(struct feature_build_id, "misc", U16, misc),
        FIELD(struct feature_build_id, NULL, RECORD_SIZE, size),
        FIELD(struct feature_build_id, "pid", S32, pid),
        FIELD(struct feature_build_id, "id", ID, id),
        FIELD(struct feature_build_id, "id_size", U8, id_size),
        FIELD(struct feature_build_id, NULL, U8, reserved1),
        FIELD(struct feature_build_id, NULL, U16, reserved2),
        FIELD(struct feature_build_id, "name", NAME, name)};
static const struct feature_shape build_id_shape = SHAPE(build_id_fields, struct feature_build_id);
static const struct feature_field build_ids_fields[] = {
        MANY(struct feature_build_ids, "items", REST_ITEMS, items, n, &build_id_shape)};

static const struct feature_field cpus_fields[] = {
        FIELD(struct feature_cpus, "available", U32, available),
        FIELD(struct feature_cpus, "online", U32, online)};

/* u32 n, attr_size; {attr; u32 nids; text name; u64 ids[nids]}[n] */
static const struct feature_field event_fields[] = {FIELD(struct feature_event, "attr", ATTR, attr),
        FIELD(struct feature_event, NULL, COUNT32, nids),
        FIELD(struct feature_event, "name", TEXT, name),
        MANY(struct feature_event, "ids", ITEMS, ids, nids, &u64_shape)};
static const struct feature_shape event_shape = SHAPE(event_fields, struct feature_event);
static const struct feature_field events_fields[] = {FIELD(struct feature_events, NULL, COUNT32, n),
        FIELD(struct feature_events, "attr_size", ATTR_SIZE, attr_size),
        MANY(struct feature_events, "items", ITEMS, items, n, &event_shape)};

/* Three revisions: lists; then {u32 core, socket}[available]; then list dies, u32 die[available] */
static const struct feature_field cpu_fields[] = {FIELD(struct feature_cpu, "core", S32, core),
        FIELD(struct feature_cpu, "socket", S32, socket)};
static const struct feature_shape cpu_shape = SHAPE(cpu_fields, struct feature_cpu);
static const struct feature_field topology_cpus_fields[] = {
        MANY(struct feature_topology_cpus, "cpus", CPU_ITEMS, items, n, &cpu_shape)};
static const struct feature_shape topology_cpus_shape =
        SHAPE(topology_cpus_fields, struct feature_topology_cpus);
static const struct feature_field topology_dies_fields[] = {
        FIELD(struct feature_topology_dies, NULL, COUNT32, lists.n),
        MANY(struct feature_topology_dies, "dies", ITEMS, lists.items, lists.n, &text_shape),
        MANY(struct feature_topology_dies, "die_of_cpu", CPU_ITEMS, items, n, &s32_shape)};
static const struct feature_shape topology_dies_shape =
        SHAPE(topology_dies_fields, struct feature_topology_dies);
static const struct feature_field topology_fields[] = {
        FIELD(struct feature_topology, NULL, COUNT32, cores.n),
        MANY(struct feature_topology, "cores", ITEMS, cores.items, cores.n, &text_shape),
        FIELD(struct feature_topology, NULL, COUNT32, threads.n),
        MANY(struct feature_topology, "threads", ITEMS, threads.items, threads.n, &text_shape),
        MANY(struct feature_topology, NULL, PART, cpus, has_cpus, &topology_cpus_shape),
        MANY(struct feature_topology, NULL, PART, dies, has_dies, &topology_dies_shape)};

static const struct feature_field numa_node_fields[] = {
        FIELD(struct feature_numa_node, "node", U32, node),
        FIELD(struct feature_numa_node, "total_kb", U64, total),
        FIELD(struct feature_numa_node, "free_kb", U64, free),
        FIELD(struct feature_numa_node, "cpus", TEXT, cpus)};
static const struct feature_shape numa_node_shape =
        SHAPE(numa_node_fields, struct feature_numa_node);
static const struct feature_field numa_fields[] = {FIELD(struct feature_numa, NULL, COUNT32, n),
        MANY(struct feature_numa, "items", ITEMS, items, n, &numa_node_shape)};

static const struct feature_field pmu_fields[] = {FIELD(struct feature_pmu, "type", U32, type),
        FIELD(struct feature_pmu, "name", TEXT, name)};
static const struct feature_shape pmu_shape = SHAPE(pmu_fields, struct feature_pmu);
static const struct feature_field pmus_fields[] = {FIELD(struct feature_pmus, NULL, COUNT32, n),
        MANY(struct feature_pmus, "items", ITEMS, items, n, &pmu_shape)};

static const struct feature_field group_fields[] = {FIELD(struct feature_group, "name", TEXT, name),
        FIELD(struct feature_group, "leader", U32, leader),
        FIELD(struct feature_group, "members", U32, members)};
static const struct feature_shape group_shape = SHAPE(group_fields, struct feature_group);
static const struct feature_field groups_fields[] = {FIELD(struct feature_groups, NULL, COUNT32, n),
        MANY(struct feature_groups, "items", ITEMS, items, n, &group_shape)};

static const struct feature_field section_fields[] = {
        FIELD(struct feature_section, "offset", U64, offset),
        FIELD(struct feature_section, "size", U64, size)};
static const struct feature_shape section_shape = SHAPE(section_fields, struct feature_section);
static const struct feature_field sections_fields[] = {
        FIELD(struct feature_sections, NULL, COUNT64, n),
        MANY(struct feature_sections, "items", ITEMS, items, n, &section_shape)};

static const struct feature_field level_fields[] = {
        FIELD(struct feature_cache_level, "level", U32, level),
        FIELD(struct feature_cache_level, "line", U32, line),
        FIELD(struct feature_cache_level, "sets", U32, sets),
        FIELD(struct feature_cache_level, "ways", U32, ways),
        FIELD(struct feature_cache_level, "type", TEXT, type),
        FIELD(struct feature_cache_level, "size", TEXT, size),
        FIELD(struct feature_cache_level, "cpus", TEXT, cpus)};
static const struct feature_shape level_shape = SHAPE(level_fields, struct feature_cache_level);
static const struct feature_field cache_fields[] = {
        FIELD(struct feature_cache, "version", U32, version),
        FIELD(struct feature_cache, NULL, COUNT32, n),
        MANY(struct feature_cache, "items", ITEMS, items, n, &level_shape)};

static const struct feature_field times_fields[] = {
        FIELD(struct feature_times, "first_ns", U64, first),
        FIELD(struct feature_times, "last_ns", U64, last)};

/* u64 version, block_size, n; {u64 node, blocks, bits; u64 words[bits / 64 rounded up]}[n] */
static const struct feature_field memory_node_fields[] = {
        FIELD(struct feature_memory_node, "node", U64, node),
        FIELD(struct feature_memory_node, "blocks", U64, blocks),
        FIELD(struct feature_memory_node, "bits", U64, bits),
        MANY(struct feature_memory_node, "words", BITMAP, words, bits, &u64_shape)};
static const struct feature_shape memory_node_shape =
        SHAPE(memory_node_fields, struct feature_memory_node);
static const struct feature_field memory_fields[] = {
        FIELD(struct feature_memory, "version", U64, version),
        FIELD(struct feature_memory, "block_size", U64, block_size),
        FIELD(struct feature_memory, NULL, COUNT64, n),
        MANY(struct feature_memory, "items", ITEMS, items, n, &memory_node_shape)};

/* u32 n; {u32 info_len, data_len; u64 arrays; info[info_len]; data[data_len]}[n] */
static const struct feature_field program_fields[] = {
        FIELD(struct feature_program, NULL, COUNT32, info.n),
        FIELD(struct feature_program, NULL, COUNT32, data.n),
        FIELD(struct feature_program, "arrays", U64, arrays),
        FIELD(struct feature_program, "info", BYTES, info),
        FIELD(struct feature_program, "data", BYTES, data)};
static const struct feature_shape program_shape = SHAPE(program_fields, struct feature_program);
static const struct feature_field programs_fields[] = {
        FIELD(struct feature_programs, NULL, COUNT32, n),
        MANY(struct feature_programs, "items", ITEMS, items, n, &program_shape)};

static const struct feature_field btf_fields[] = {FIELD(struct feature_btf, "id", U32, id),
        FIELD(struct feature_btf, NULL, COUNT32, data.n),
        FIELD(struct feature_btf, "data", BYTES, data)};
static const struct feature_shape btf_shape = SHAPE(btf_fields, struct feature_btf);
static const struct feature_field btfs_fields[] = {FIELD(struct feature_btfs, NULL, COUNT32, n),
        MANY(struct feature_btfs, "items", ITEMS, items, n, &btf_shape)};

static const struct feature_field compression_fields[] = {
        FIELD(struct feature_compression, "version", U32, version),
        FIELD(struct feature_compression, "type", U32, type),
        FIELD(struct feature_compression, "level", U32, level),
        FIELD(struct feature_compression, "ratio", U32, ratio),
        FIELD(struct feature_compression, "mmap_len", U32, mmap_len)};

static const struct feature_field pair_fields[] = {FIELD(struct feature_pair, "name", TEXT, name),
        FIELD(struct feature_pair, "value", TEXT, value)};
static const struct feature_shape pair_shape = SHAPE(pair_fields, struct feature_pair);
static const struct feature_field pairs_fields[] = {FIELD(struct feature_pairs, NULL, COUNT32, n),
        MANY(struct feature_pairs, "items", ITEMS, items, n, &pair_shape)};

/* u32 n; {u32 m; {text name, value}[m]; text pmu}[n] */
static const struct feature_field caps_fields[] = {
        FIELD(struct feature_caps, NULL, COUNT32, caps.n),
        MANY(struct feature_caps, "caps", ITEMS, caps.items, caps.n, &pair_shape),
        FIELD(struct feature_caps, "pmu", TEXT, pmu)};
static const struct feature_shape caps_shape = SHAPE(caps_fields, struct feature_caps);
static const struct feature_field all_caps_fields[] = {
        FIELD(struct feature_all_caps, NULL, COUNT32, n),
        MANY(struct feature_all_caps, "items", ITEMS, items, n, &caps_shape)};

static const struct feature_field clock_fields[] = {
        FIELD(struct feature_clock, "version", U32, version),
        FIELD(struct feature_clock, "clockid", U32, clockid),
        FIELD(struct feature_clock, "wall_ns", U64, wall_ns),
        FIELD(struct feature_clock, "clock_ns", U64, clock_ns)};

/* u32 version, max; {u32 cpu, n; {u32 domain; text name (from 17), mask, cpus}[n]}[to the end] */
static const struct feature_field domain_fields[] = {
        FIELD(struct feature_domain, "domain", U32, domain),
        FIELD(struct feature_domain, "name", TEXT_OF_17, name),
        FIELD(struct feature_domain, "mask", TEXT, mask),
        FIELD(struct feature_domain, "cpus", TEXT, cpus)};
static const struct feature_shape domain_shape = SHAPE(domain_fields, struct feature_domain);
static const struct feature_field cpu_domains_fields[] = {
        FIELD(struct feature_cpu_domains, "cpu", U32, cpu),
        FIELD(struct feature_cpu_domains, NULL, COUNT32, n),
        MANY(struct feature_cpu_domains, "domains", ITEMS, items, n, &domain_shape)};
static const struct feature_shape cpu_domains_shape =
        SHAPE(cpu_domains_fields, struct feature_cpu_domains);
static const struct feature_field domains_fields[] = {
        FIELD(struct feature_domains, "version", VERSION_NUMBER, version),
        FIELD(struct feature_domains, "max", U32, max),
        MANY(struct feature_domains, "items", REST_ITEMS, items, n, &cpu_domains_shape)};

static const struct feature_field machine_fields[] = {
        FIELD(struct feature_machine, "machine", U32, machine),
        FIELD(struct feature_machine, "flags", U32, flags)};
static const struct feature_field line_fields[] = {FIELD(struct feature_line, "bytes", U32, bytes)};

/* simpleperf: {u32 size; size bytes}, up to the end; {name NUL value NUL}, up to the end */
static const struct feature_field chunk_fields[] = {
        FIELD(struct feature_chunk, NULL, COUNT32, bytes.n),
        FIELD(struct feature_chunk, "bytes", BYTES, bytes)};
static const struct feature_shape chunk_shape = SHAPE(chunk_fields, struct feature_chunk);
static const struct feature_field chunks_fields[] = {
        MANY(struct feature_chunks, "items", REST_ITEMS, items, n, &chunk_shape)};
static const struct feature_field info_fields[] = {FIELD(struct feature_pair, "name", C_TEXT, name),
        FIELD(struct feature_pair, "value", C_TEXT, value)};
static const struct feature_shape info_shape = SHAPE(info_fields, struct feature_pair);
static const struct feature_field infos_fields[] = {
        MANY(struct feature_pairs, "items", REST_ITEMS, items, n, &info_shape)};

static const struct feature_desc table[] = {
        [FEATURE_TRACING_DATA] = {"TRACING_DATA", SHAPE(blob_fields, struct feature_blob)},
        [FEATURE_BUILD_ID] = {"BUILD_ID", SHAPE(build_ids_fields, struct feature_build_ids)},
        [FEATURE_HOSTNAME] = {"HOSTNAME", SHAPE(text_fields, struct feature_text)},
        [FEATURE_OSRELEASE] = {"OSRELEASE", SHAPE(text_fields, struct feature_text)},
        [FEATURE_VERSION] = {"VERSION", SHAPE(text_fields, struct feature_text)},
        [FEATURE_ARCH] = {"ARCH", SHAPE(text_fields, struct feature_text)},
        [FEATURE_NRCPUS] = {"NRCPUS", SHAPE(cpus_fields, struct feature_cpus)},
        [FEATURE_CPUDESC] = {"CPUDESC", SHAPE(text_fields, struct feature_text)},
        [FEATURE_CPUID] = {"CPUID", SHAPE(text_fields, struct feature_text)},
        [FEATURE_TOTAL_MEM] = {"TOTAL_MEM", SHAPE(number_fields, struct feature_number)},
        [FEATURE_CMDLINE] = {"CMDLINE", SHAPE(list_fields, struct feature_list)},
        [FEATURE_EVENT_DESC] = {"EVENT_DESC", SHAPE(events_fields, struct feature_events)},
        [FEATURE_CPU_TOPOLOGY] = {"CPU_TOPOLOGY", SHAPE(topology_fields, struct feature_topology)},
        [FEATURE_NUMA_TOPOLOGY] = {"NUMA_TOPOLOGY", SHAPE(numa_fields, struct feature_numa)},
        [FEATURE_BRANCH_STACK] = {.name = "BRANCH_STACK"},
        [FEATURE_PMU_MAPPINGS] = {"PMU_MAPPINGS", SHAPE(pmus_fields, struct feature_pmus)},
        [FEATURE_GROUP_DESC] = {"GROUP_DESC", SHAPE(groups_fields, struct feature_groups)},
        [FEATURE_AUXTRACE] = {"AUXTRACE", SHAPE(sections_fields, struct feature_sections)},
        [FEATURE_STAT] = {.name = "STAT"},
        [FEATURE_CACHE] = {"CACHE", SHAPE(cache_fields, struct feature_cache)},
        [FEATURE_SAMPLE_TIME] = {"SAMPLE_TIME", SHAPE(times_fields, struct feature_times)},
        [FEATURE_MEM_TOPOLOGY] = {"MEM_TOPOLOGY", SHAPE(memory_fields, struct feature_memory)},
        [FEATURE_CLOCKID] = {"CLOCKID", SHAPE(number_fields, struct feature_number)},
        [FEATURE_DIR_FORMAT] = {"DIR_FORMAT", SHAPE(number_fields, struct feature_number)},
        [FEATURE_BPF_PROG_INFO] = {"BPF_PROG_INFO",
                SHAPE(programs_fields, struct feature_programs)},
        [FEATURE_BPF_BTF] = {"BPF_BTF", SHAPE(btfs_fields, struct feature_btfs)},
        [FEATURE_COMPRESSED] = {"COMPRESSED",
                SHAPE(compression_fields, struct feature_compression)},
        [FEATURE_CPU_PMU_CAPS] = {"CPU_PMU_CAPS", SHAPE(pairs_fields, struct feature_pairs)},
        [FEATURE_CLOCK_DATA] = {"CLOCK_DATA", SHAPE(clock_fields, struct feature_clock)},
        [FEATURE_HYBRID_TOPOLOGY] = {"HYBRID_TOPOLOGY", SHAPE(pairs_fields, struct feature_pairs)},
        [FEATURE_PMU_CAPS] = {"PMU_CAPS", SHAPE(all_caps_fields, struct feature_all_caps)},
        [FEATURE_CPU_DOMAIN_INFO] = {"CPU_DOMAIN_INFO",
                SHAPE(domains_fields, struct feature_domains)},
        [FEATURE_E_MACHINE] = {"E_MACHINE", SHAPE(machine_fields, struct feature_machine)},
        [FEATURE_CLN_SIZE] = {"CLN_SIZE", SHAPE(line_fields, struct feature_line)},
        [FEATURE_SIMPLEPERF_FILE] = {"SIMPLEPERF_FILE",
                SHAPE(chunks_fields, struct feature_chunks)},
        [FEATURE_SIMPLEPERF_META_INFO] = {"SIMPLEPERF_META_INFO",
                SHAPE(infos_fields, struct feature_pairs)},
        [FEATURE_SIMPLEPERF_FILE2] = {"SIMPLEPERF_FILE2",
                SHAPE(chunks_fields, struct feature_chunks)},
};

const struct feature_desc *feature_desc(unsigned bit)
{
	return bit < sizeof(table) / sizeof(table[0]) && table[bit].name != NULL ? &table[bit]
	                                                                         : NULL;
}

const char *feature_name(unsigned bit)
{
	const struct feature_desc *d = feature_desc(bit);

	return d != NULL ? d->name : NULL;
}

size_t feature_size(unsigned bit)
{
	const struct feature_desc *d = feature_desc(bit);

	return d != NULL ? d->shape.size : 0;
}

const char *sonde_feature_name(unsigned bit)
{
	return feature_name(bit);
}
