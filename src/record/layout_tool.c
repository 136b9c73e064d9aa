/* SPDX-License-Identifier: MIT */
/*
 * The records that the recording tool writes (types 64 and above; no trailer), and the attr.
 * Source: the format's public description, real files; doc/format.md is these tables in words.
 */
#include "record/layout_tables.h"

#include "abi/abi.h"

/* ---- perf_event_attr ---- */

static const struct layout_name attr_types[] = {
        {0, "hardware"},
        {1, "software"},
        {2, "tracepoint"},
        {3, "hw_cache"},
        {4, "raw"},
        {5, "breakpoint"},
        {0},
};

static const struct layout_name sample_bits[] = {
        {1u << 0, "IP"},
        {1u << 1, "TID"},
        {1u << 2, "TIME"},
        {1u << 3, "ADDR"},
        {1u << 4, "READ"},
        {1u << 5, "CALLCHAIN"},
        {1u << 6, "ID"},
        {1u << 7, "CPU"},
        {1u << 8, "PERIOD"},
        {1u << 9, "STREAM_ID"},
        {1u << 10, "RAW"},
        {1u << 11, "BRANCH_STACK"},
        {1u << 12, "REGS_USER"},
        {1u << 13, "STACK_USER"},
        {1u << 14, "WEIGHT"},
        {1u << 15, "DATA_SRC"},
        {1u << 16, "IDENTIFIER"},
        {1u << 17, "TRANSACTION"},
        {1u << 18, "REGS_INTR"},
        {1u << 19, "PHYS_ADDR"},
        {1u << 20, "AUX"},
        {1u << 21, "CGROUP"},
        {1u << 22, "DATA_PAGE_SIZE"},
        {1u << 23, "CODE_PAGE_SIZE"},
        {1u << 24, "WEIGHT_STRUCT"},
        {0},
};

static const struct layout_name read_bits[] = {
        {1, "TOTAL_TIME_ENABLED"},
        {2, "TOTAL_TIME_RUNNING"},
        {4, "ID"},
        {8, "GROUP"},
        {16, "LOST"},
        {0},
};

static const struct layout_name branch_bits[] = {
        {1u << 0, "USER"},
        {1u << 1, "KERNEL"},
        {1u << 2, "HV"},
        {1u << 3, "ANY"},
        {1u << 4, "ANY_CALL"},
        {1u << 5, "ANY_RETURN"},
        {1u << 6, "IND_CALL"},
        {1u << 7, "ABORT_TX"},
        {1u << 8, "IN_TX"},
        {1u << 9, "NO_TX"},
        {1u << 10, "COND"},
        {1u << 11, "CALL_STACK"},
        {1u << 12, "IND_JUMP"},
        {1u << 13, "CALL"},
        {1u << 14, "NO_FLAGS"},
        {1u << 15, "NO_CYCLES"},
        {1u << 16, "TYPE_SAVE"},
        {1u << 17, "HW_INDEX"},
        {1u << 18, "PRIV_SAVE"},
        {1u << 19, "COUNTERS"},
        {0},
};

static const struct layout_name attr_flags[] = {
        {0, "disabled", 1},
        {1, "inherit", 1},
        {2, "pinned", 1},
        {3, "exclusive", 1},
        {4, "exclude_user", 1},
        {5, "exclude_kernel", 1},
        {6, "exclude_hv", 1},
        {7, "exclude_idle", 1},
        {8, "mmap", 1},
        {9, "comm", 1},
        {10, "freq", 1},
        {11, "inherit_stat", 1},
        {12, "enable_on_exec", 1},
        {13, "task", 1},
        {14, "watermark", 1},
        {15, "precise_ip", 2},
        {17, "mmap_data", 1},
        {18, "sample_id_all", 1},
        {19, "exclude_host", 1},
        {20, "exclude_guest", 1},
        {21, "exclude_callchain_kernel", 1},
        {22, "exclude_callchain_user", 1},
        {23, "mmap2", 1},
        {24, "comm_exec", 1},
        {25, "use_clockid", 1},
        {26, "context_switch", 1},
        {27, "write_backward", 1},
        {28, "namespaces", 1},
        {29, "ksymbol", 1},
        {30, "bpf_event", 1},
        {31, "aux_output", 1},
        {32, "cgroup", 1},
        {33, "text_poke", 1},
        {34, "build_id", 1},
        {35, "inherit_thread", 1},
        {36, "remove_on_exec", 1},
        {37, "sigtrap", 1},
        {38, "defer_callchain", 1},
        {39, "defer_output", 1},
        {40, "reserved", 24, true},
        {0},
};

#define UP_TO(end) .when = {WHEN_MIN, SLOT_ATTR_SIZE, (end)}

static const struct layout_field attr[] = {
        {"type", LAYOUT_U32, "kind of event; from 6 up a PMU's number", .show = SHOW_NAMES,
                .names = attr_types},
        {"size", LAYOUT_U32, "of this attr; 0: 64", "B", .keep = SLOT_ATTR_SIZE,
                .zero = ATTR_SIZE_VER0},
        {"config", LAYOUT_U64, "which event", .show = SHOW_HEX},
        {"sample_period", LAYOUT_U64, "events a sample, or with freq samples a second"},
        {"sample_type", LAYOUT_U64, "fields of a sample", .show = SHOW_FLAGS, .names = sample_bits},
        {"read_format", LAYOUT_U64, "fields of a count", .show = SHOW_FLAGS, .names = read_bits},
        {"flags", LAYOUT_MIRRORED, "one bit each, precise_ip two", .names = attr_flags},
        {"wakeup_events", LAYOUT_U32, "wake after as many; with watermark: bytes"},
        {"bp_type", LAYOUT_U32, "of a breakpoint", .show = SHOW_HEX},
        {"config1", LAYOUT_U64, "more of the event; address of a breakpoint", .show = SHOW_HEX,
                UP_TO(64)},
        {"config2", LAYOUT_U64, "more of the event; length of a breakpoint", .show = SHOW_HEX,
                UP_TO(72)},
        {"branch_sample_type", LAYOUT_U64, "which branches", .show = SHOW_FLAGS,
                .names = branch_bits, UP_TO(80)},
        {"sample_regs_user", LAYOUT_U64, "mask of registers", .show = SHOW_HEX, UP_TO(88)},
        {"sample_stack_user", LAYOUT_U32, "of the copied stack", "B", UP_TO(92)},
        {"clockid", LAYOUT_S32, "of clock_gettime(2), with use_clockid", UP_TO(96)},
        {"sample_regs_intr", LAYOUT_U64, "mask of registers", .show = SHOW_HEX, UP_TO(104)},
        {"aux_watermark", LAYOUT_U32, "wake after as much trace", "B", UP_TO(108)},
        {"sample_max_stack", LAYOUT_U16, "entries of a call chain", UP_TO(110)},
        {"reserved_2", LAYOUT_U16, "0", .show = SHOW_NEVER, UP_TO(112)},
        {"aux_sample_size", LAYOUT_U32, "trace in a sample", "B", UP_TO(116)},
        {"aux_action", LAYOUT_U32, "1 start paused, 2 pause, 4 resume", .show = SHOW_HEX,
                UP_TO(120)},
        {"sig_data", LAYOUT_U64, "given to the signal handler", .show = SHOW_HEX, UP_TO(128)},
        {"config3", LAYOUT_U64, "more of the event", .show = SHOW_HEX, UP_TO(136)},
        {"config4", LAYOUT_U64, "more of the event", .show = SHOW_HEX, UP_TO(144)},
        {"tail", LAYOUT_BYTES, "of a newer attr", .show = SHOW_NEVER,
                .count = {COUNT_STRUCT_REST, SLOT_ATTR_SIZE}},
};
const struct layout layout_attr = LAYOUT("attr", attr);

const struct layout *layout_of_attr(void)
{
	return &layout_attr;
}

/* ---- records ---- */

static const struct layout_field header_attr[] = {
        {"attr", LAYOUT_STRUCT, "the event", .sub = &layout_attr},
        {"ids", LAYOUT_U64, "ids of the event", .count = {COUNT_REST}},
};

static const struct layout_field event_type[] = {
        {"event_id", LAYOUT_U64, "attr.config", .show = SHOW_HEX},
        {"name", LAYOUT_TEXT, "of the event, up to 64 bytes"},
};

static const struct layout_field tracing_data[] = {
        {"size", LAYOUT_U32, "of what follows the record, padding to 8 included", "B"},
        {"pad", LAYOUT_U32, "0", .show = SHOW_NEVER, .when = {WHEN_LEFT, .value = 4}},
};

static const struct layout_field build_id[] = {
        {"pid", LAYOUT_S32, "guest; -1: host"},
        {"build_id", LAYOUT_BYTES, "of the file", .count = {COUNT_FIXED, BUILD_ID_MAX}},
        {"build_id_size", LAYOUT_U8, "how many bytes hold; without misc bit 15: 0", "B"},
        {"reserved", LAYOUT_BYTES, "0", .show = SHOW_NEVER, .count = {COUNT_FIXED, 3}},
        {"filename", LAYOUT_TEXT, "path or name"},
};

static const struct layout_field id_entry[] = {
        {"id", LAYOUT_U64, "id of an event"},
        {"idx", LAYOUT_U64, "ring buffer"},
        {"cpu", LAYOUT_S64, "CPU, -1: any"},
        {"tid", LAYOUT_S64, "thread, -1: any"},
};
static const struct layout id_entry_layout = LAYOUT("id", id_entry);

static const struct layout_field id_machine[] = {
        {"machine_pid", LAYOUT_U64, "guest; 0: host"},
        {"vcpu", LAYOUT_U64, "CPU of the guest"},
};
static const struct layout id_machine_layout = LAYOUT("guest of an id", id_machine);

static const struct layout_field id_index[] = {
        {"nr", LAYOUT_U64, "ids", .keep = SLOT_NR},
        {"entries", LAYOUT_STRUCT, "one an id", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &id_entry_layout},
        {"machines", LAYOUT_STRUCT, "one an id, when the record is long enough",
                .count = {COUNT_SLOT, SLOT_NR}, .when = {WHEN_LEFT_EACH, SLOT_NR, 16},
                .sub = &id_machine_layout},
};

static const struct layout_name auxtrace_types[] = {
        {1, "intel_pt"},
        {2, "intel_bts"},
        {3, "cs_etm"},
        {4, "arm_spe"},
        {5, "s390_cpumsf"},
        {6, "hisi_ptt"},
        {7, "vpa_dtl"},
        {0},
};

#define PT_WORD .when = {WHEN_LEFT, .value = 8}

static const struct layout_field intel_pt[] = {
        {"pmu_type", LAYOUT_U64, "attr.type of intel_pt", PT_WORD},
        {"time_shift", LAYOUT_U64, "TSC to ns", PT_WORD},
        {"time_mult", LAYOUT_U64, "TSC to ns", PT_WORD},
        {"time_zero", LAYOUT_U64, "TSC to ns", "ns", PT_WORD},
        {"cap_user_time_zero", LAYOUT_U64, "the three above hold", PT_WORD},
        {"tsc_bit", LAYOUT_U64, "mask in attr.config", .show = SHOW_HEX, PT_WORD},
        {"noretcomp_bit", LAYOUT_U64, "mask in attr.config", .show = SHOW_HEX, PT_WORD},
        {"have_sched_switch", LAYOUT_U64, "0 no, 1 tracepoint, 2 SWITCH, 3 SWITCH_CPU_WIDE",
                PT_WORD},
        {"snapshot_mode", LAYOUT_U64, "trace in snapshots", PT_WORD},
        {"per_cpu_mmaps", LAYOUT_U64, "a buffer a CPU, else a thread", PT_WORD},
        {"mtc_bit", LAYOUT_U64, "mask in attr.config", .show = SHOW_HEX, PT_WORD},
        {"mtc_freq_bits", LAYOUT_U64, "mask in attr.config", .show = SHOW_HEX, PT_WORD},
        {"tsc_ctc_ratio_n", LAYOUT_U64, "TSC ticks a CTC tick, numerator", PT_WORD},
        {"tsc_ctc_ratio_d", LAYOUT_U64, "denominator", PT_WORD},
        {"cyc_bit", LAYOUT_U64, "mask in attr.config", .show = SHOW_HEX, PT_WORD},
        {"max_nonturbo_ratio", LAYOUT_U64, "of the core's clock", PT_WORD},
        {"filter_str_len", LAYOUT_U64, "of the address filter", "B", .keep = SLOT_SIZE, PT_WORD},
        {"filter", LAYOUT_CHARS, "address filter", .count = {COUNT_SLOT, SLOT_SIZE},
                .when = {WHEN_NOT, SLOT_SIZE, 0}},
        {"pad", LAYOUT_BYTES, "0, up to a multiple of 8", .show = SHOW_NEVER,
                .when = {WHEN_NOT, SLOT_SIZE, 0}, .count = {COUNT_ALIGN}},
        {"cap_event_trace", LAYOUT_U64, "event trace is there", PT_WORD},
};
static const struct layout intel_pt_layout = LAYOUT("Intel PT", intel_pt);

static const struct layout_field auxtrace_info[] = {
        {"type", LAYOUT_U32, "kind of trace", .show = SHOW_NAMES, .names = auxtrace_types,
                .keep = SLOT_TYPE},
        {"reserved", LAYOUT_U32, "0", .show = SHOW_NEVER},
        {"intel_pt", LAYOUT_STRUCT, "later words may be missing", .when = {WHEN_IS, SLOT_TYPE, 1},
                .sub = &intel_pt_layout},
        {"priv", LAYOUT_U64, "for the decoder of the type", .show = SHOW_HEX,
                .count = {COUNT_REST}},
};

static const struct layout_field auxtrace[] = {
        {"size", LAYOUT_U64, "of the trace that follows the record", "B", SHOW_HEX},
        {"offset", LAYOUT_U64, "of it in the AUX area", "B", SHOW_HEX},
        {"reference", LAYOUT_U64, "a number to order snapshots by", .show = SHOW_HEX},
        {"idx", LAYOUT_U32, "buffer"},
        {"tid", LAYOUT_S32, "thread, -1: any"},
        {"cpu", LAYOUT_S32, "CPU, -1: any"},
        {"reserved", LAYOUT_U32, "0", .show = SHOW_NEVER},
};

static const struct layout_field auxtrace_error[] = {
        {"type", LAYOUT_U32, "kind of error; 1: instruction trace"},
        {"code", LAYOUT_U32, "which, by the decoder"},
        {"cpu", LAYOUT_S32, "CPU, -1: not known"},
        {"pid", LAYOUT_S32, "process, -1: not known"},
        {"tid", LAYOUT_S32, "thread, -1: not known"},
        {"fmt", LAYOUT_U32, "layout of the rest", .keep = SLOT_TYPE},
        {"ip", LAYOUT_U64, "where", .show = SHOW_HEX},
        {"time", LAYOUT_U64, "when", "ns", .when = {WHEN_MIN, SLOT_TYPE, 1}},
        {"msg", LAYOUT_CHARS, "in words", .count = {COUNT_FIXED, 64}},
        {"machine_pid", LAYOUT_U32, "guest; 0: host", .when = {WHEN_MIN, SLOT_TYPE, 2}},
        {"vcpu", LAYOUT_U32, "CPU of the guest", .when = {WHEN_MIN, SLOT_TYPE, 2}},
};

static const struct layout_field thread_entry[] = {
        {"pid", LAYOUT_S64, "thread"},
        {"comm", LAYOUT_CHARS, "its name", .count = {COUNT_FIXED, 16}},
};
static const struct layout thread_entry_layout = LAYOUT("thread", thread_entry);

static const struct layout_field thread_map[] = {
        {"nr", LAYOUT_U64, "threads", .keep = SLOT_NR},
        {"threads", LAYOUT_STRUCT, "the targets", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &thread_entry_layout},
};

static const struct layout_name cpu_map_types[] = {{0, "CPUS"}, {1, "MASK"}, {2, "RANGE"}, {0}};

static const struct layout_field cpu_list[] = {
        {"nr", LAYOUT_U16, "CPUs", .keep = SLOT_NR},
        {"cpus", LAYOUT_U16, "CPU numbers; 65535: any", .count = {COUNT_SLOT, SLOT_NR}},
};
static const struct layout cpu_list_layout = LAYOUT("CPU list", cpu_list);

static const struct layout_field cpu_mask[] = {
        {"nr", LAYOUT_U16, "words", .keep = SLOT_NR},
        {"long_size", LAYOUT_U16, "of a word: 4 or 8", "B", .keep = SLOT_SIZE},
        {"mask", LAYOUT_U32, "bit n of the words: CPU n", .show = SHOW_HEX,
                .when = {WHEN_IS, SLOT_SIZE, 4}, .count = {COUNT_SLOT, SLOT_NR}},
        {"pad", LAYOUT_U32, "0", .show = SHOW_NEVER, .when = {WHEN_IS, SLOT_SIZE, 8}},
        {"mask", LAYOUT_U64, "bit n of the words: CPU n", .show = SHOW_HEX,
                .when = {WHEN_IS, SLOT_SIZE, 8}, .count = {COUNT_SLOT, SLOT_NR}},
};
static const struct layout cpu_mask_layout = LAYOUT("CPU mask", cpu_mask);

static const struct layout_field cpu_range[] = {
        {"any_cpu", LAYOUT_U8, "1: any CPU too"},
        {"pad", LAYOUT_U8, "0", .show = SHOW_NEVER},
        {"start_cpu", LAYOUT_U16, "first CPU"},
        {"end_cpu", LAYOUT_U16, "last CPU"},
};
static const struct layout cpu_range_layout = LAYOUT("CPU range", cpu_range);

static const struct layout_field cpu_map[] = {
        {"type", LAYOUT_U16, "how the CPUs are told", .show = SHOW_NAMES, .names = cpu_map_types,
                .keep = SLOT_TYPE},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_IS, SLOT_TYPE, 0}, .sub = &cpu_list_layout},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_IS, SLOT_TYPE, 1}, .sub = &cpu_mask_layout},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_IS, SLOT_TYPE, 2}, .sub = &cpu_range_layout},
        {"pad", LAYOUT_BYTES, "0, up to a multiple of 8", .show = SHOW_NEVER,
                .count = {COUNT_REST}},
};
static const struct layout cpu_map_layout = LAYOUT("CPU map", cpu_map);

static const struct layout_name stat_tags[] = {
        {0, "aggr_mode"}, {1, "interval"}, {2, "scale"}, {3, "aggr_level"}, {0}};

static const struct layout_field stat_term[] = {
        {"tag", LAYOUT_U64, "which setting", .show = SHOW_NAMES, .names = stat_tags},
        {"val", LAYOUT_U64, "its value"},
};
static const struct layout stat_term_layout = LAYOUT("setting", stat_term);

static const struct layout_field stat_config[] = {
        {"nr", LAYOUT_U64, "settings", .keep = SLOT_NR},
        {"data", LAYOUT_STRUCT, "of perf stat", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &stat_term_layout},
};

static const struct layout_field stat[] = {
        {"id", LAYOUT_U64, "id of the event"},
        {"cpu", LAYOUT_S32, "index of the CPU in the map"},
        {"thread", LAYOUT_S32, "index of the thread in the map"},
        {"val", LAYOUT_U64, "count"},
        {"ena", LAYOUT_U64, "time the event was on", "ns"},
        {"run", LAYOUT_U64, "time the event counted", "ns"},
};

static const struct layout_name round_types[] = {{0, "interval"}, {1, "final"}, {0}};

static const struct layout_field stat_round[] = {
        {"type", LAYOUT_U64, "what ends here", .show = SHOW_NAMES, .names = round_types},
        {"time", LAYOUT_U64, "since the start", "ns"},
};

static const struct layout_name update_types[] = {
        {0, "UNIT"}, {1, "SCALE"}, {2, "NAME"}, {3, "CPUS"}, {0}};

static const struct layout_field event_update[] = {
        {"type", LAYOUT_U64, "what the event gets", .show = SHOW_NAMES, .names = update_types,
                .keep = SLOT_MORE},
        {"id", LAYOUT_U64, "id of the event"},
        {"scale", LAYOUT_F64, "factor of counts", .when = {WHEN_IS, SLOT_MORE, 1}},
        {"cpus", LAYOUT_STRUCT, "where it counts", .when = {WHEN_IS, SLOT_MORE, 3},
                .sub = &cpu_map_layout},
        {"unit", LAYOUT_TEXT, "of counts", .when = {WHEN_IS, SLOT_MORE, 0}},
        {"name", LAYOUT_TEXT, "of the event", .when = {WHEN_IS, SLOT_MORE, 2}},
        {"pad", LAYOUT_BYTES, "0", .show = SHOW_NEVER, .count = {COUNT_REST}},
};

static const struct layout_field time_more[] = {
        {"time_cycles", LAYOUT_U64, "of the short counter"},
        {"time_mask", LAYOUT_U64, "of the short counter", .show = SHOW_HEX},
        {"cap_user_time_zero", LAYOUT_U8, "time_zero holds"},
        {"cap_user_time_short", LAYOUT_U8, "the counter is short"},
        {"reserved", LAYOUT_BYTES, "0", .show = SHOW_NEVER, .count = {COUNT_FIXED, 6}},
};
static const struct layout time_more_layout = LAYOUT("short counter", time_more);

static const struct layout_field time_conv[] = {
        {"time_shift", LAYOUT_U64, "TSC to ns"},
        {"time_mult", LAYOUT_U64, "TSC to ns"},
        {"time_zero", LAYOUT_U64, "TSC to ns", "ns"},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_LEFT, .value = 24}, .sub = &time_more_layout},
};

static const struct layout_field header_feature[] = {
        {"feat_id", LAYOUT_U64, "bit of the feature; the payload is the feature's",
                .keep = SLOT_MORE},
        {"payload", LAYOUT_BYTES, "of the feature", .count = {COUNT_REST}},
};

static const struct layout_field compressed[] = {
        {"data", LAYOUT_BYTES, "part of a zstd stream", .count = {COUNT_REST}},
};

static const struct layout_field compressed2[] = {
        {"data_size", LAYOUT_U64, "of the part", "B", .keep = SLOT_SIZE},
        {"data", LAYOUT_BYTES, "part of a zstd stream", .count = {COUNT_SLOT, SLOT_SIZE}},
        {"pad", LAYOUT_BYTES, "0, up to a multiple of 8", .show = SHOW_NEVER,
                .count = {COUNT_REST}},
};

static const struct layout_field bpf_variable[] = {
        {"key", LAYOUT_CHARS, "name", .count = {COUNT_FIXED, 64}},
        {"value", LAYOUT_CHARS, "value", .count = {COUNT_FIXED, 256}},
};
static const struct layout bpf_variable_layout = LAYOUT("BPF variable", bpf_variable);

static const struct layout_field bpf_metadata[] = {
        {"prog_name", LAYOUT_CHARS, "BPF program", .count = {COUNT_FIXED, 512}},
        {"nr_entries", LAYOUT_U64, "variables", .keep = SLOT_NR},
        {"entries", LAYOUT_STRUCT, "its metadata variables", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &bpf_variable_layout},
};

static const struct layout_field schedstat_cpu[] = {
        {"timestamp", LAYOUT_U64, "when"},
        {"cpu", LAYOUT_U32, "CPU"},
        {"version", LAYOUT_U16, "of /proc/schedstat"},
        {"pad", LAYOUT_U16, "0", .show = SHOW_NEVER},
        {"counters", LAYOUT_BYTES, "of that version, as they stand", .count = {COUNT_REST}},
};

static const struct layout_field schedstat_domain[] = {
        {"timestamp", LAYOUT_U64, "when"},
        {"cpu", LAYOUT_U32, "CPU"},
        {"version", LAYOUT_U16, "of /proc/schedstat"},
        {"domain", LAYOUT_U16, "scheduling domain"},
        {"counters", LAYOUT_BYTES, "of that version, as they stand", .count = {COUNT_REST}},
};

static const struct layout tool_layouts[RECORD_TYPE_MAX] = {
        [RECORD_HEADER_ATTR] = LAYOUT("ATTR", header_attr),
        [RECORD_HEADER_EVENT_TYPE] = LAYOUT("EVENT_TYPE", event_type),
        [RECORD_TRACING_DATA] = LAYOUT("TRACING_DATA", tracing_data),
        [RECORD_BUILD_ID] = LAYOUT("BUILD_ID", build_id),
        [RECORD_FINISHED_ROUND] = {.name = "FINISHED_ROUND"},
        [RECORD_ID_INDEX] = LAYOUT("ID_INDEX", id_index),
        [RECORD_AUXTRACE_INFO] = LAYOUT("AUXTRACE_INFO", auxtrace_info),
        [RECORD_AUXTRACE] = LAYOUT("AUXTRACE", auxtrace),
        [RECORD_AUXTRACE_ERROR] = LAYOUT("AUXTRACE_ERROR", auxtrace_error),
        [RECORD_THREAD_MAP] = LAYOUT("THREAD_MAP", thread_map),
        [RECORD_CPU_MAP] = LAYOUT("CPU_MAP", cpu_map),
        [RECORD_STAT_CONFIG] = LAYOUT("STAT_CONFIG", stat_config),
        [RECORD_STAT] = LAYOUT("STAT", stat),
        [RECORD_STAT_ROUND] = LAYOUT("STAT_ROUND", stat_round),
        [RECORD_EVENT_UPDATE] = LAYOUT("EVENT_UPDATE", event_update),
        [RECORD_TIME_CONV] = LAYOUT("TIME_CONV", time_conv),
        [RECORD_HEADER_FEATURE] = LAYOUT("FEATURE", header_feature),
        [RECORD_COMPRESSED] = LAYOUT("COMPRESSED", compressed),
        [RECORD_FINISHED_INIT] = {.name = "FINISHED_INIT"},
        [RECORD_COMPRESSED2] = LAYOUT("COMPRESSED2", compressed2),
        [RECORD_BPF_METADATA] = LAYOUT("BPF_METADATA", bpf_metadata),
        [RECORD_SCHEDSTAT_CPU] = LAYOUT("SCHEDSTAT_CPU", schedstat_cpu),
        [RECORD_SCHEDSTAT_DOMAIN] = LAYOUT("SCHEDSTAT_DOMAIN", schedstat_domain),
};

const struct layout *layout_of_tool_record(uint32_t type)
{
	return type < RECORD_TYPE_MAX && tool_layouts[type].name != NULL ? &tool_layouts[type]
	                                                                 : NULL;
}
