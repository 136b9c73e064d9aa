/* SPDX-License-Identifier: MIT */
/*
 * Records that the recording tool writes (types 64 and above; no trailer), and the attr.
 *
 * Source: the format's public description, real files; doc/format.md has these tables in words.
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
                .names = attr_types, TO_ATTR(type)},
        {"size", LAYOUT_U32, "of this attr; 0: 64", "B", .keep = SLOT_ATTR_SIZE,
                .zero = ATTR_SIZE_VER0, .within = SLOT_MORE, TO_ATTR(size)},
        {"config", LAYOUT_U64, "which event", .show = SHOW_HEX, TO_ATTR(config)},
        {"sample_period", LAYOUT_U64, "events a sample, or with freq samples a second",
                TO_ATTR(sample_period)},
        {"sample_type", LAYOUT_U64, "fields of a sample", .show = SHOW_FLAGS, .names = sample_bits,
                TO_ATTR(sample_type)},
        {"read_format", LAYOUT_U64, "fields of a count", .show = SHOW_FLAGS, .names = read_bits,
                TO_ATTR(read_format)},
        {"flags", LAYOUT_MIRRORED, "one bit each, precise_ip two", .names = attr_flags,
                TO_ATTR(flags)},
        {"wakeup_events", LAYOUT_U32, "wake after as many; with watermark: bytes",
                TO_ATTR(wakeup_events)},
        {"bp_type", LAYOUT_U32, "of a breakpoint", .show = SHOW_HEX, TO_ATTR(bp_type)},
        {"config1", LAYOUT_U64, "more of the event; address of a breakpoint", .show = SHOW_HEX,
                UP_TO(64), TO_ATTR(config1)},
        {"config2", LAYOUT_U64, "more of the event; length of a breakpoint", .show = SHOW_HEX,
                UP_TO(72), TO_ATTR(config2)},
        {"branch_sample_type", LAYOUT_U64, "which branches", .show = SHOW_FLAGS,
                .names = branch_bits, UP_TO(80), TO_ATTR(branch_sample_type)},
        {"sample_regs_user", LAYOUT_U64, "mask of registers", .show = SHOW_HEX, UP_TO(88),
                TO_ATTR(sample_regs_user)},
        {"sample_stack_user", LAYOUT_U32, "of the copied stack", "B", UP_TO(92),
                TO_ATTR(sample_stack_user)},
        {"clockid", LAYOUT_S32, "of clock_gettime(2), with use_clockid", UP_TO(96),
                TO_ATTR(clockid)},
        {"sample_regs_intr", LAYOUT_U64, "mask of registers", .show = SHOW_HEX, UP_TO(104),
                TO_ATTR(sample_regs_intr)},
        {"aux_watermark", LAYOUT_U32, "wake after as much trace", "B", UP_TO(108),
                TO_ATTR(aux_watermark)},
        {"sample_max_stack", LAYOUT_U16, "entries of a call chain", UP_TO(110),
                TO_ATTR(sample_max_stack)},
        {"reserved_2", LAYOUT_U16, "0", .show = SHOW_NEVER, UP_TO(112), TO_ATTR(reserved)},
        {"aux_sample_size", LAYOUT_U32, "trace in a sample", "B", UP_TO(116),
                TO_ATTR(aux_sample_size)},
        {"aux_action", LAYOUT_U32, "1 start paused, 2 pause, 4 resume", .show = SHOW_HEX,
                UP_TO(120), TO_ATTR(aux_action)},
        {"sig_data", LAYOUT_U64, "given to the signal handler", .show = SHOW_HEX, UP_TO(128),
                TO_ATTR(sig_data)},
        {"config3", LAYOUT_U64, "more of the event", .show = SHOW_HEX, UP_TO(136),
                TO_ATTR(config3)},
        {"config4", LAYOUT_U64, "more of the event", .show = SHOW_HEX, UP_TO(144),
                TO_ATTR(config4)},
        {"tail", LAYOUT_BYTES, "of a newer attr", .show = SHOW_NEVER,
                .count = {COUNT_STRUCT_REST, SLOT_ATTR_SIZE}},
};
static const struct layout layout_attr = LAYOUT_TO("attr", attr, struct sonde_attr);

/* Without the tail, for records that have the size of the attr elsewhere. */
const struct layout layout_attr_known = {.name = "attr",
        .fields = attr,
        .nfields = sizeof(attr) / sizeof(attr[0]) - 1,
        .size = sizeof(struct sonde_attr)};

const struct layout *layout_of_attr(void)
{
	return &layout_attr;
}

/* ---- records ---- */

static const struct layout_field header_attr[] = {
        {"attr", LAYOUT_STRUCT, "the event", .sub = &layout_attr, TO(header_attr, attr)},
        {"ids", LAYOUT_U64, "ids of the event", .count = {COUNT_REST}, TO(header_attr, ids)},
};

static const struct layout_field event_type[] = {
        {"event_id", LAYOUT_U64, "attr.config", .show = SHOW_HEX, TO(event_type, event_id)},
        {"name", LAYOUT_TEXT, "of the event, up to 64 bytes", TO(event_type, name)},
};

static const struct layout_field tracing_data[] = {
        {"size", LAYOUT_U32, "of what follows the record, padding to 8 included", "B",
                TO(tracing_data, size)},
        {"pad", LAYOUT_U32, "0", .show = SHOW_NEVER, .when = {WHEN_LEFT, .value = 4}},
};

static const struct layout_field build_id[] = {
        {"pid", LAYOUT_S32, "guest; -1: host", TO(build_id, pid)},
        {"build_id", LAYOUT_BYTES, "of the file", .count = {COUNT_FIXED, BUILD_ID_MAX},
                TO(build_id, build_id)},
        {"build_id_size", LAYOUT_U8, "how many bytes hold; without misc bit 15: 0", "B",
                TO(build_id, build_id_size)},
        {"reserved", LAYOUT_BYTES, "0", .show = SHOW_NEVER, .count = {COUNT_FIXED, 3}},
        {"filename", LAYOUT_TEXT, "path or name", TO(build_id, filename)},
};

static const struct layout_field id_entry[] = {
        {"id", LAYOUT_U64, "id of an event", TO(id, id)},
        {"idx", LAYOUT_U64, "ring buffer", TO(id, idx)},
        {"cpu", LAYOUT_S64, "CPU, -1: any", TO(id, cpu)},
        {"tid", LAYOUT_S64, "thread, -1: any", TO(id, tid)},
};
static const struct layout id_entry_layout = LAYOUT_TO("id", id_entry, struct sonde_record_id);

static const struct layout_field id_machine[] = {
        {"machine_pid", LAYOUT_U64, "guest; 0: host", TO(id_machine, machine_pid)},
        {"vcpu", LAYOUT_U64, "CPU of the guest", TO(id_machine, vcpu)},
};
static const struct layout id_machine_layout =
        LAYOUT_TO("guest of an id", id_machine, struct sonde_record_id_machine);

static const struct layout_field id_index[] = {
        {"nr", LAYOUT_U64, "ids", .keep = SLOT_NR, TO(id_index, nr)},
        {"entries", LAYOUT_STRUCT, "one an id", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &id_entry_layout, TO(id_index, entries)},
        {"machines", LAYOUT_STRUCT, "one an id, when the record is long enough",
                .count = {COUNT_SLOT, SLOT_NR}, .when = {WHEN_LEFT_EACH, SLOT_NR, 16},
                .sub = &id_machine_layout, TO(id_index, machines)},
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
        {"pmu_type", LAYOUT_U64, "attr.type of intel_pt", PT_WORD, TO(intel_pt, pmu_type)},
        {"time_shift", LAYOUT_U64, "TSC to ns", PT_WORD, TO(intel_pt, time_shift)},
        {"time_mult", LAYOUT_U64, "TSC to ns", PT_WORD, TO(intel_pt, time_mult)},
        {"time_zero", LAYOUT_U64, "TSC to ns", "ns", PT_WORD, TO(intel_pt, time_zero)},
        {"cap_user_time_zero", LAYOUT_U64, "the three above hold", PT_WORD,
                TO(intel_pt, cap_user_time_zero)},
        {"tsc_bit", LAYOUT_U64, "mask in attr.config", .show = SHOW_HEX, PT_WORD,
                TO(intel_pt, tsc_bit)},
        {"noretcomp_bit", LAYOUT_U64, "mask in attr.config", .show = SHOW_HEX, PT_WORD,
                TO(intel_pt, noretcomp_bit)},
        {"have_sched_switch", LAYOUT_U64, "0 no, 1 tracepoint, 2 SWITCH, 3 SWITCH_CPU_WIDE",
                PT_WORD, TO(intel_pt, have_sched_switch)},
        {"snapshot_mode", LAYOUT_U64, "trace in snapshots", PT_WORD, TO(intel_pt, snapshot_mode)},
        {"per_cpu_mmaps", LAYOUT_U64, "a buffer a CPU, else a thread", PT_WORD,
                TO(intel_pt, per_cpu_mmaps)},
        {"mtc_bit", LAYOUT_U64, "mask in attr.config", .show = SHOW_HEX, PT_WORD,
                TO(intel_pt, mtc_bit)},
        {"mtc_freq_bits", LAYOUT_U64, "mask in attr.config", .show = SHOW_HEX, PT_WORD,
                TO(intel_pt, mtc_freq_bits)},
        {"tsc_ctc_ratio_n", LAYOUT_U64, "TSC ticks a CTC tick, numerator", PT_WORD,
                TO(intel_pt, tsc_ctc_ratio_n)},
        {"tsc_ctc_ratio_d", LAYOUT_U64, "denominator", PT_WORD, TO(intel_pt, tsc_ctc_ratio_d)},
        {"cyc_bit", LAYOUT_U64, "mask in attr.config", .show = SHOW_HEX, PT_WORD,
                TO(intel_pt, cyc_bit)},
        {"max_nonturbo_ratio", LAYOUT_U64, "of the core's clock", PT_WORD,
                TO(intel_pt, max_nonturbo_ratio)},
        {"filter_str_len", LAYOUT_U64, "of the address filter", "B", .keep = SLOT_SIZE, PT_WORD,
                TO(intel_pt, filter_str_len)},
        {"filter", LAYOUT_CHARS, "address filter", .count = {COUNT_SLOT, SLOT_SIZE},
                .when = {WHEN_NOT, SLOT_SIZE, 0}, TO(intel_pt, filter)},
        {"pad", LAYOUT_BYTES, "0, up to a multiple of 8", .show = SHOW_NEVER,
                .when = {WHEN_NOT, SLOT_SIZE, 0}, .count = {COUNT_ALIGN}},
        {"cap_event_trace", LAYOUT_U64, "event trace is there", PT_WORD,
                TO(intel_pt, cap_event_trace)},
};
static const struct layout intel_pt_layout =
        LAYOUT_TO("Intel PT", intel_pt, struct sonde_record_intel_pt);

static const struct layout_field auxtrace_info[] = {
        {"type", LAYOUT_U32, "kind of trace", .show = SHOW_NAMES, .names = auxtrace_types,
                .keep = SLOT_TYPE, TO(auxtrace_info, type)},
        {"reserved", LAYOUT_U32, "0", .show = SHOW_NEVER},
        {"intel_pt", LAYOUT_STRUCT, "later words may be missing", .when = {WHEN_IS, SLOT_TYPE, 1},
                .sub = &intel_pt_layout, TO(auxtrace_info, intel_pt)},
        {"priv", LAYOUT_U64, "for the decoder of the type", .show = SHOW_HEX, .count = {COUNT_REST},
                TO(auxtrace_info, priv)},
};

static const struct layout_field auxtrace[] = {
        {"size", LAYOUT_U64, "of the trace that follows the record", "B", SHOW_HEX,
                TO(auxtrace, size)},
        {"offset", LAYOUT_U64, "of it in the AUX area", "B", SHOW_HEX, TO(auxtrace, offset)},
        {"reference", LAYOUT_U64, "a number to order snapshots by", .show = SHOW_HEX,
                TO(auxtrace, reference)},
        {"idx", LAYOUT_U32, "buffer", TO(auxtrace, idx)},
        {"tid", LAYOUT_S32, "thread, -1: any", TO(auxtrace, tid)},
        {"cpu", LAYOUT_S32, "CPU, -1: any", TO(auxtrace, cpu)},
        {"reserved", LAYOUT_U32, "0", .show = SHOW_NEVER},
};

static const struct layout_field auxtrace_error[] = {
        {"type", LAYOUT_U32, "kind of error; 1: instruction trace", TO(auxtrace_error, type)},
        {"code", LAYOUT_U32, "which, by the decoder", TO(auxtrace_error, code)},
        {"cpu", LAYOUT_S32, "CPU, -1: not known", TO(auxtrace_error, cpu)},
        {"pid", LAYOUT_S32, "process, -1: not known", TO(auxtrace_error, pid)},
        {"tid", LAYOUT_S32, "thread, -1: not known", TO(auxtrace_error, tid)},
        {"fmt", LAYOUT_U32, "layout of the rest", .keep = SLOT_TYPE, TO(auxtrace_error, fmt)},
        {"ip", LAYOUT_U64, "where", .show = SHOW_HEX, TO(auxtrace_error, ip)},
        {"time", LAYOUT_U64, "when", "ns", .when = {WHEN_MIN, SLOT_TYPE, 1},
                TO(auxtrace_error, time)},
        {"msg", LAYOUT_CHARS, "in words", .count = {COUNT_FIXED, 64}, TO(auxtrace_error, msg)},
        {"machine_pid", LAYOUT_U32, "guest; 0: host", .when = {WHEN_MIN, SLOT_TYPE, 2},
                TO(auxtrace_error, machine_pid)},
        {"vcpu", LAYOUT_U32, "CPU of the guest", .when = {WHEN_MIN, SLOT_TYPE, 2},
                TO(auxtrace_error, vcpu)},
};

static const struct layout_field thread_entry[] = {
        {"pid", LAYOUT_S64, "thread", TO(target, pid)},
        {"comm", LAYOUT_CHARS, "its name", .count = {COUNT_FIXED, 16}, TO(target, comm)},
};
static const struct layout thread_entry_layout =
        LAYOUT_TO("thread", thread_entry, struct sonde_record_target);

static const struct layout_field thread_map[] = {
        {"nr", LAYOUT_U64, "threads", .keep = SLOT_NR, TO(thread_map, nr)},
        {"threads", LAYOUT_STRUCT, "the targets", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &thread_entry_layout, TO(thread_map, threads)},
};

static const struct layout_name cpu_map_types[] = {{0, "CPUS"}, {1, "MASK"}, {2, "RANGE"}, {0}};

static const struct layout_field cpu_list[] = {
        {"nr", LAYOUT_U16, "CPUs", .keep = SLOT_NR, TO(cpu_map, nr)},
        {"cpus", LAYOUT_U16, "CPU numbers; 65535: any", .count = {COUNT_SLOT, SLOT_NR},
                TO(cpu_map, cpus)},
};
static const struct layout cpu_list_layout =
        LAYOUT_TO("CPU list", cpu_list, struct sonde_record_cpu_map);

static const struct layout_field cpu_mask[] = {
        {"nr", LAYOUT_U16, "words", .keep = SLOT_NR, TO(cpu_map, nr)},
        {"long_size", LAYOUT_U16, "of a word: 4 or 8", "B", .keep = SLOT_SIZE,
                TO(cpu_map, long_size)},
        {"mask", LAYOUT_U32, "bit n of the words: CPU n", .show = SHOW_HEX,
                .when = {WHEN_IS, SLOT_SIZE, 4}, .count = {COUNT_SLOT, SLOT_NR}, TO(cpu_map, mask)},
        {"pad", LAYOUT_U32, "0", .show = SHOW_NEVER, .when = {WHEN_IS, SLOT_SIZE, 8}},
        {"mask", LAYOUT_U64, "bit n of the words: CPU n", .show = SHOW_HEX,
                .when = {WHEN_IS, SLOT_SIZE, 8}, .count = {COUNT_SLOT, SLOT_NR}, TO(cpu_map, mask)},
};
static const struct layout cpu_mask_layout =
        LAYOUT_TO("CPU mask", cpu_mask, struct sonde_record_cpu_map);

static const struct layout_field cpu_range[] = {
        {"any_cpu", LAYOUT_U8, "1: any CPU too", TO(cpu_map, any_cpu)},
        {"pad", LAYOUT_U8, "0", .show = SHOW_NEVER},
        {"start_cpu", LAYOUT_U16, "first CPU", TO(cpu_map, start_cpu)},
        {"end_cpu", LAYOUT_U16, "last CPU", TO(cpu_map, end_cpu)},
};
static const struct layout cpu_range_layout =
        LAYOUT_TO("CPU range", cpu_range, struct sonde_record_cpu_map);

static const struct layout_field cpu_map[] = {
        {"type", LAYOUT_U16, "form of the list", .show = SHOW_NAMES, .names = cpu_map_types,
                .keep = SLOT_TYPE, TO(cpu_map, type)},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_IS, SLOT_TYPE, 0}, .sub = &cpu_list_layout},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_IS, SLOT_TYPE, 1}, .sub = &cpu_mask_layout},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_IS, SLOT_TYPE, 2}, .sub = &cpu_range_layout},
        {"pad", LAYOUT_BYTES, "0, up to a multiple of 8", .show = SHOW_NEVER,
                .count = {COUNT_REST}},
};
static const struct layout cpu_map_layout =
        LAYOUT_TO("CPU map", cpu_map, struct sonde_record_cpu_map);

static const struct layout_name stat_tags[] = {
        {0, "aggr_mode"}, {1, "interval"}, {2, "scale"}, {3, "aggr_level"}, {0}};

static const struct layout_field stat_term[] = {
        {"tag", LAYOUT_U64, "which setting", .show = SHOW_NAMES, .names = stat_tags,
                TO(stat_term, tag)},
        {"val", LAYOUT_U64, "its value", TO(stat_term, val)},
};
static const struct layout stat_term_layout =
        LAYOUT_TO("setting", stat_term, struct sonde_record_stat_term);

static const struct layout_field stat_config[] = {
        {"nr", LAYOUT_U64, "settings", .keep = SLOT_NR, TO(stat_config, nr)},
        {"data", LAYOUT_STRUCT, "of perf stat", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &stat_term_layout, TO(stat_config, data)},
};

static const struct layout_field stat[] = {
        {"id", LAYOUT_U64, "id of the event", TO(stat, id)},
        {"cpu", LAYOUT_S32, "index of the CPU in the map", TO(stat, cpu)},
        {"thread", LAYOUT_S32, "index of the thread in the map", TO(stat, thread)},
        {"val", LAYOUT_U64, "count", TO(stat, val)},
        {"ena", LAYOUT_U64, "time the event was on", "ns", TO(stat, ena)},
        {"run", LAYOUT_U64, "time the event counted", "ns", TO(stat, run)},
};

static const struct layout_name round_types[] = {{0, "interval"}, {1, "final"}, {0}};

static const struct layout_field stat_round[] = {
        {"type", LAYOUT_U64, "what ends here", .show = SHOW_NAMES, .names = round_types,
                TO(stat_round, type)},
        {"time", LAYOUT_U64, "since the start", "ns", TO(stat_round, time)},
};

static const struct layout_name update_types[] = {
        {0, "UNIT"}, {1, "SCALE"}, {2, "NAME"}, {3, "CPUS"}, {0}};

static const struct layout_field event_update[] = {
        {"type", LAYOUT_U64, "what the event gets", .show = SHOW_NAMES, .names = update_types,
                .keep = SLOT_MORE, TO(event_update, type)},
        {"id", LAYOUT_U64, "id of the event", TO(event_update, id)},
        {"scale", LAYOUT_F64, "factor of counts", .when = {WHEN_IS, SLOT_MORE, 1},
                TO(event_update, scale)},
        {"cpus", LAYOUT_STRUCT, "where it counts", .when = {WHEN_IS, SLOT_MORE, 3},
                .sub = &cpu_map_layout, TO(event_update, cpus)},
        {"unit", LAYOUT_TEXT, "of counts", .when = {WHEN_IS, SLOT_MORE, 0}, TO(event_update, unit)},
        {"name", LAYOUT_TEXT, "of the event", .when = {WHEN_IS, SLOT_MORE, 2},
                TO(event_update, name)},
        {"pad", LAYOUT_BYTES, "0", .show = SHOW_NEVER, .count = {COUNT_REST}},
};

static const struct layout_field time_more[] = {
        {"time_cycles", LAYOUT_U64, "of the short counter", TO(time_conv, time_cycles)},
        {"time_mask", LAYOUT_U64, "of the short counter", .show = SHOW_HEX,
                TO(time_conv, time_mask)},
        {"cap_user_time_zero", LAYOUT_U8, "time_zero holds", TO(time_conv, cap_user_time_zero)},
        {"cap_user_time_short", LAYOUT_U8, "the counter is short",
                TO(time_conv, cap_user_time_short)},
        {"reserved", LAYOUT_BYTES, "0", .show = SHOW_NEVER, .count = {COUNT_FIXED, 6}},
};
static const struct layout time_more_layout =
        LAYOUT_TO("short counter", time_more, struct sonde_record_time_conv);

static const struct layout_field time_conv[] = {
        {"time_shift", LAYOUT_U64, "TSC to ns", TO(time_conv, time_shift)},
        {"time_mult", LAYOUT_U64, "TSC to ns", TO(time_conv, time_mult)},
        {"time_zero", LAYOUT_U64, "TSC to ns", "ns", TO(time_conv, time_zero)},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_LEFT, .value = 24}, .sub = &time_more_layout},
};

static const struct layout_field header_feature[] = {
        {"feat_id", LAYOUT_U64, "bit of the feature; the payload is the feature's",
                .keep = SLOT_MORE, TO(header_feature, feat_id)},
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
        {"key", LAYOUT_CHARS, "name", .count = {COUNT_FIXED, 64}, TO(bpf_variable, key)},
        {"value", LAYOUT_CHARS, "value", .count = {COUNT_FIXED, 256}, TO(bpf_variable, value)},
};
static const struct layout bpf_variable_layout =
        LAYOUT_TO("BPF variable", bpf_variable, struct sonde_record_bpf_variable);

static const struct layout_field bpf_metadata[] = {
        {"prog_name", LAYOUT_CHARS, "BPF program", .count = {COUNT_FIXED, 512},
                TO(bpf_metadata, prog_name)},
        {"nr_entries", LAYOUT_U64, "variables", .keep = SLOT_NR, TO(bpf_metadata, nr_entries)},
        {"entries", LAYOUT_STRUCT, "its metadata variables", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &bpf_variable_layout, TO(bpf_metadata, entries)},
};

static const struct layout_field schedstat_cpu[] = {
        {"timestamp", LAYOUT_U64, "when", TO(schedstat, timestamp)},
        {"cpu", LAYOUT_U32, "CPU", TO(schedstat, cpu)},
        {"version", LAYOUT_U16, "of /proc/schedstat", TO(schedstat, version)},
        {"pad", LAYOUT_U16, "0", .show = SHOW_NEVER},
        {"counters", LAYOUT_BYTES, "of that version, raw bytes", .count = {COUNT_REST},
                TO(schedstat, counters)},
};

static const struct layout_field schedstat_domain[] = {
        {"timestamp", LAYOUT_U64, "when", TO(schedstat, timestamp)},
        {"cpu", LAYOUT_U32, "CPU", TO(schedstat, cpu)},
        {"version", LAYOUT_U16, "of /proc/schedstat", TO(schedstat, version)},
        {"domain", LAYOUT_U16, "scheduling domain", TO(schedstat, domain)},
        {"counters", LAYOUT_BYTES, "of that version, raw bytes", .count = {COUNT_REST},
                TO(schedstat, counters)},
};

static const struct layout tool_layouts[RECORD_TYPE_MAX] = {
        [RECORD_HEADER_ATTR] = LAYOUT_TO("ATTR", header_attr, struct sonde_record_header_attr),
        [RECORD_HEADER_EVENT_TYPE] =
                LAYOUT_TO("EVENT_TYPE", event_type, struct sonde_record_event_type),
        [RECORD_TRACING_DATA] =
                LAYOUT_TO("TRACING_DATA", tracing_data, struct sonde_record_tracing_data),
        [RECORD_BUILD_ID] = LAYOUT_TO("BUILD_ID", build_id, struct sonde_record_build_id),
        [RECORD_FINISHED_ROUND] = {.name = "FINISHED_ROUND"},
        [RECORD_ID_INDEX] = LAYOUT_TO("ID_INDEX", id_index, struct sonde_record_id_index),
        [RECORD_AUXTRACE_INFO] =
                LAYOUT_TO("AUXTRACE_INFO", auxtrace_info, struct sonde_record_auxtrace_info),
        [RECORD_AUXTRACE] = LAYOUT_TO("AUXTRACE", auxtrace, struct sonde_record_auxtrace),
        [RECORD_AUXTRACE_ERROR] =
                LAYOUT_TO("AUXTRACE_ERROR", auxtrace_error, struct sonde_record_auxtrace_error),
        [RECORD_THREAD_MAP] = LAYOUT_TO("THREAD_MAP", thread_map, struct sonde_record_thread_map),
        [RECORD_CPU_MAP] = LAYOUT_TO("CPU_MAP", cpu_map, struct sonde_record_cpu_map),
        [RECORD_STAT_CONFIG] =
                LAYOUT_TO("STAT_CONFIG", stat_config, struct sonde_record_stat_config),
        [RECORD_STAT] = LAYOUT_TO("STAT", stat, struct sonde_record_stat),
        [RECORD_STAT_ROUND] = LAYOUT_TO("STAT_ROUND", stat_round, struct sonde_record_stat_round),
        [RECORD_EVENT_UPDATE] =
                LAYOUT_TO("EVENT_UPDATE", event_update, struct sonde_record_event_update),
        [RECORD_TIME_CONV] = LAYOUT_TO("TIME_CONV", time_conv, struct sonde_record_time_conv),
        [RECORD_HEADER_FEATURE] =
                LAYOUT_TO("FEATURE", header_feature, struct sonde_record_header_feature),
        [RECORD_COMPRESSED] = LAYOUT("COMPRESSED", compressed),
        [RECORD_FINISHED_INIT] = {.name = "FINISHED_INIT"},
        [RECORD_COMPRESSED2] = LAYOUT("COMPRESSED2", compressed2),
        [RECORD_BPF_METADATA] =
                LAYOUT_TO("BPF_METADATA", bpf_metadata, struct sonde_record_bpf_metadata),
        [RECORD_SCHEDSTAT_CPU] =
                LAYOUT_TO("SCHEDSTAT_CPU", schedstat_cpu, struct sonde_record_schedstat),
        [RECORD_SCHEDSTAT_DOMAIN] =
                LAYOUT_TO("SCHEDSTAT_DOMAIN", schedstat_domain, struct sonde_record_schedstat),
};

const struct layout *layout_of_tool_record(uint32_t type)
{
	return type < RECORD_TYPE_MAX && tool_layouts[type].name != NULL ? &tool_layouts[type]
	                                                                 : NULL;
}
