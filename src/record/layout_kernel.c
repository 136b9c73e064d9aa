/* SPDX-License-Identifier: MIT */
/*
 * Records that the kernel writes (types 1 to 22), their trailer, and samples.
 *
 * Source: perf_event_open(2), section on the ring buffer; doc/format.md has these tables in words.
 */
#include "record/layout_tables.h"

#include "abi/abi.h"

static const struct layout_field pid_tid[] = {
        {"pid", LAYOUT_S32, "process", TO(thread, pid)},
        {"tid", LAYOUT_S32, "thread", TO(thread, tid)},
};
static const struct layout pid_tid_layout =
        LAYOUT_TO("pid and tid", pid_tid, struct sonde_record_thread);

/* ---- counts, as read(2) returns them ---- */

static const struct layout_field read_one[] = {
        {"value", LAYOUT_U64, "count", TO(read, value)},
        {"time_enabled", LAYOUT_U64, "time the event was on", "ns",
                .when = {WHEN_READ, .value = SONDE_READ_ENABLED}, TO(read, time_enabled)},
        {"time_running", LAYOUT_U64, "time the event counted", "ns",
                .when = {WHEN_READ, .value = SONDE_READ_RUNNING}, TO(read, time_running)},
        {"id", LAYOUT_U64, "id of the event", .when = {WHEN_READ, .value = SONDE_READ_ID},
                TO(read, id)},
        {"lost", LAYOUT_U64, "samples lost", .when = {WHEN_READ, .value = SONDE_READ_LOST},
                TO(read, lost)},
};
static const struct layout read_one_layout =
        LAYOUT_TO("one value", read_one, struct sonde_record_read);

static const struct layout_field read_member[] = {
        {"value", LAYOUT_U64, "count", TO(read_value, value)},
        {"id", LAYOUT_U64, "id of the event", .when = {WHEN_READ, .value = SONDE_READ_ID},
                TO(read_value, id)},
        {"lost", LAYOUT_U64, "samples lost", .when = {WHEN_READ, .value = SONDE_READ_LOST},
                TO(read_value, lost)},
};
static const struct layout read_member_layout =
        LAYOUT_TO("value of a member", read_member, struct sonde_record_read_value);

static const struct layout_field read_group[] = {
        {"nr", LAYOUT_U64, "members of the group", .keep = SLOT_NR, TO(read, nr)},
        {"time_enabled", LAYOUT_U64, "time the group was on", "ns",
                .when = {WHEN_READ, .value = SONDE_READ_ENABLED}, TO(read, time_enabled)},
        {"time_running", LAYOUT_U64, "time the group counted", "ns",
                .when = {WHEN_READ, .value = SONDE_READ_RUNNING}, TO(read, time_running)},
        {"values", LAYOUT_STRUCT, "one a member", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &read_member_layout, TO(read, values)},
};
static const struct layout read_group_layout =
        LAYOUT_TO("values of a group", read_group, struct sonde_record_read);

static const struct layout_field read_values[] = {
        {NULL, LAYOUT_STRUCT, .when = {WHEN_NOT_READ, .value = SONDE_READ_GROUP},
                .sub = &read_one_layout},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_READ, .value = SONDE_READ_GROUP},
                .sub = &read_group_layout},
};
static const struct layout read_values_layout = LAYOUT("read values", read_values);

/* ---- samples ---- */

const struct layout_name layout_branch_flags[] = {
        {0, "mispred", 1},
        {1, "predicted", 1},
        {2, "in_tx", 1},
        {3, "abort", 1},
        {4, "cycles", 16},
        {20, "type", 4},
        {24, "spec", 2},
        {26, "new_type", 4},
        {30, "priv", 3},
        {33, "reserved", 31},
        {0},
};

static const struct layout_name data_src[] = {
        {0, "mem_op", 5},
        {5, "mem_lvl", 14},
        {19, "mem_snoop", 5},
        {24, "mem_lock", 2},
        {26, "mem_dtlb", 7},
        {33, "mem_lvl_num", 4},
        {37, "mem_remote", 1},
        {38, "mem_snoopx", 2},
        {40, "mem_blk", 3},
        {43, "mem_hops", 3},
        {46, "mem_region", 5},
        {51, "reserved", 13},
        {0},
};

static const struct layout_name weight_parts[] = {
        {0, "weight", 32},
        {32, "ins_lat", 16},
        {48, "p_stage_cyc", 16},
        {0},
};

static const struct layout_name transaction[] = {
        {0, "elision", 1},
        {1, "transaction", 1},
        {2, "sync", 1},
        {3, "async", 1},
        {4, "retry", 1},
        {5, "conflict", 1},
        {6, "capacity_write", 1},
        {7, "capacity_read", 1},
        {8, "reserved", 24},
        {32, "abort_code", 32},
        {0},
};

static const struct layout_field branch[] = {
        {"from", LAYOUT_U64, "address of the branch", .show = SHOW_HEX},
        {"to", LAYOUT_U64, "its target", .show = SHOW_HEX},
        {"flags", LAYOUT_MIRRORED, "what is known of it; cycles since the last one",
                .names = layout_branch_flags},
};
static const struct layout branch_layout = LAYOUT("branch", branch);

static const struct layout_field branches[] = {
        {"nr", LAYOUT_U64, "branches, the newest first", .keep = SLOT_NR},
        {"hw_idx", LAYOUT_S64, "place of the newest in the hardware's stack, -1: unknown",
                .when = {WHEN_BRANCH, .value = 1u << 17}},
        {"entries", LAYOUT_STRUCT, "one a branch", .count = {COUNT_SLOT, SLOT_NR},
                .sub = &branch_layout},
        {"counters", LAYOUT_U64, "event counts of each branch", .show = SHOW_HEX,
                .count = {COUNT_SLOT, SLOT_NR}, .when = {WHEN_BRANCH, .value = 1u << 19}},
};
static const struct layout branches_layout = LAYOUT("branch stack", branches);

static const struct layout_field callchain[] = {
        {"nr", LAYOUT_U64, "entries, the innermost first; marks from -4095 up", .keep = SLOT_NR,
                TO(deferred, nr)},
        {"ips", LAYOUT_U64, "addresses and context marks", .show = SHOW_HEX,
                .count = {COUNT_SLOT, SLOT_NR}, TO(deferred, ips)},
};
static const struct layout callchain_layout =
        LAYOUT_TO("call chain", callchain, struct sonde_record_deferred);

static const struct layout_name regs_abi[] = {{0, "none"}, {1, "32-bit"}, {2, "64-bit"}, {0}};

#define REGS(which)                                                                                \
	{                                                                                          \
		{"abi", LAYOUT_U64, "0: none recorded", .keep = SLOT_TYPE, .show = SHOW_NAMES,     \
		        .names = regs_abi},                                                        \
		        {"regs", LAYOUT_U64, "a register for each bit of the attr's mask",         \
		                .show = SHOW_HEX, .when = {WHEN_NOT, SLOT_TYPE, 0},                \
		                .count = {which}},                                                 \
	}
static const struct layout_field user_regs[] = REGS(COUNT_USER_REGS);
static const struct layout_field intr_regs[] = REGS(COUNT_INTR_REGS);
static const struct layout user_regs_layout = LAYOUT("user registers", user_regs);
static const struct layout intr_regs_layout = LAYOUT("registers at the interrupt", intr_regs);

static const struct layout_field raw[] = {
        {"size", LAYOUT_U32, "4 + size is a multiple of 8", "B", .keep = SLOT_SIZE},
        {"data", LAYOUT_BYTES, "what the event gave, in the recorder's byte order",
                .count = {COUNT_SLOT, SLOT_SIZE}},
};
static const struct layout raw_layout = LAYOUT("raw data", raw);

static const struct layout_field stack_user[] = {
        {"size", LAYOUT_U64, "of the copy", "B", .keep = SLOT_SIZE},
        {"data", LAYOUT_BYTES, "from the stack pointer up", .when = {WHEN_NOT, SLOT_SIZE, 0},
                .count = {COUNT_SLOT, SLOT_SIZE}},
        {"dyn_size", LAYOUT_U64, "how many of them hold", "B", .when = {WHEN_NOT, SLOT_SIZE, 0}},
};
static const struct layout stack_user_layout = LAYOUT("user stack", stack_user);

static const struct layout_field aux_sample[] = {
        {"size", LAYOUT_U64, "of the trace", "B", .keep = SLOT_SIZE},
        {"data", LAYOUT_BYTES, "AUX area trace up to the sample", .count = {COUNT_SLOT, SLOT_SIZE}},
};
static const struct layout aux_sample_layout = LAYOUT("AUX area sample", aux_sample);

#define IN_SAMPLE(bit) .when = {WHEN_SAMPLE, .value = SONDE_SAMPLE_##bit}

static const struct layout_field sample[] = {
        {"identifier", LAYOUT_U64, "id of the event", IN_SAMPLE(IDENTIFIER)},
        {"ip", LAYOUT_U64, "instruction", .show = SHOW_HEX, IN_SAMPLE(IP)},
        {NULL, LAYOUT_STRUCT, .sub = &pid_tid_layout, IN_SAMPLE(TID)},
        {"time", LAYOUT_U64, "of the event's clock", "ns", IN_SAMPLE(TIME)},
        {"addr", LAYOUT_U64, "data address, or what the event says", .show = SHOW_HEX,
                IN_SAMPLE(ADDR)},
        {"id", LAYOUT_U64, "id of the event or its group leader", IN_SAMPLE(ID)},
        {"stream_id", LAYOUT_U64, "id of the event itself", IN_SAMPLE(STREAM_ID)},
        {"cpu", LAYOUT_U32, "CPU", IN_SAMPLE(CPU)},
        {"res", LAYOUT_U32, "0", .show = SHOW_NEVER, IN_SAMPLE(CPU)},
        {"period", LAYOUT_U64, "events since the last sample", IN_SAMPLE(PERIOD)},
        {"read", LAYOUT_STRUCT, "counts", .sub = &read_values_layout, IN_SAMPLE(READ)},
        {"callchain", LAYOUT_STRUCT, "who called", .sub = &callchain_layout, IN_SAMPLE(CALLCHAIN)},
        {"raw", LAYOUT_STRUCT, "raw data", .sub = &raw_layout, IN_SAMPLE(RAW)},
        {"branch_stack", LAYOUT_STRUCT, "last branches", .sub = &branches_layout,
                IN_SAMPLE(BRANCH_STACK)},
        {"regs_user", LAYOUT_STRUCT, "registers in user space", .sub = &user_regs_layout,
                IN_SAMPLE(REGS_USER)},
        {"stack_user", LAYOUT_STRUCT, "copy of the user stack", .sub = &stack_user_layout,
                IN_SAMPLE(STACK_USER)},
        {"weight", LAYOUT_U64, "cost, mostly in cycles", IN_SAMPLE(WEIGHT)},
        {"weight", LAYOUT_BITS, "costs, mostly in cycles", .names = weight_parts,
                IN_SAMPLE(WEIGHT_STRUCT)},
        {"data_src", LAYOUT_BITS, "where the data came from", .names = data_src,
                IN_SAMPLE(DATA_SRC)},
        {"transaction", LAYOUT_BITS, "transactional memory", .names = transaction,
                IN_SAMPLE(TRANSACTION)},
        {"regs_intr", LAYOUT_STRUCT, "registers at the interrupt", .sub = &intr_regs_layout,
                IN_SAMPLE(REGS_INTR)},
        {"phys_addr", LAYOUT_U64, "physical address of addr", .show = SHOW_HEX,
                IN_SAMPLE(PHYS_ADDR)},
        {"cgroup", LAYOUT_U64, "id of the control group", IN_SAMPLE(CGROUP)},
        {"data_page_size", LAYOUT_U64, "of addr's page", "B", IN_SAMPLE(DATA_PAGE_SIZE)},
        {"code_page_size", LAYOUT_U64, "of ip's page", "B", IN_SAMPLE(CODE_PAGE_SIZE)},
        {"aux", LAYOUT_STRUCT, "AUX area trace", .sub = &aux_sample_layout, IN_SAMPLE(AUX)},
};

/* ---- the other records ---- */

static const struct layout_field trailer[] = {
        {NULL, LAYOUT_STRUCT, .sub = &pid_tid_layout, IN_SAMPLE(TID)},
        {"time", LAYOUT_U64, "of the event's clock", "ns", IN_SAMPLE(TIME)},
        {"id", LAYOUT_U64, "id of the event", IN_SAMPLE(ID)},
        {"stream_id", LAYOUT_U64, "id of the event itself", IN_SAMPLE(STREAM_ID)},
        {"cpu", LAYOUT_U32, "CPU", IN_SAMPLE(CPU)},
        {"res", LAYOUT_U32, "0", .show = SHOW_NEVER, IN_SAMPLE(CPU)},
        {"identifier", LAYOUT_U64, "id of the event", IN_SAMPLE(IDENTIFIER)},
};
static const struct layout trailer_layout = LAYOUT("sample_id", trailer);

static const struct layout_field mmap_fields[] = {
        {"pid", LAYOUT_S32, "process; -1: kernel", TO(mmap, pid)},
        {"tid", LAYOUT_S32, "thread", TO(mmap, tid)},
        {"addr", LAYOUT_U64, "first address", .show = SHOW_HEX, TO(mmap, addr)},
        {"len", LAYOUT_U64, "length of the mapping", "B", SHOW_HEX, TO(mmap, len)},
        {"pgoff", LAYOUT_U64, "offset in the file", "B", SHOW_HEX, TO(mmap, pgoff)},
        {"filename", LAYOUT_TEXT, "path, or a name such as [vdso] or //anon", TO(mmap, filename)},
};

static const struct layout_field lost[] = {
        {"id", LAYOUT_U64, "id of the event", TO(lost, id)},
        {"lost", LAYOUT_U64, "records lost", TO(lost, lost)},
};

static const struct layout_field comm[] = {
        {"pid", LAYOUT_S32, "process", TO(comm, pid)},
        {"tid", LAYOUT_S32, "thread", TO(comm, tid)},
        {"comm", LAYOUT_TEXT, "new name of the thread", TO(comm, comm)},
};

static const struct layout_field task[] = {
        {"pid", LAYOUT_S32, "process", TO(task, pid)},
        {"ppid", LAYOUT_S32, "its parent", TO(task, ppid)},
        {"tid", LAYOUT_S32, "thread", TO(task, tid)},
        {"ptid", LAYOUT_S32, "its parent", TO(task, ptid)},
        {"time", LAYOUT_U64, "when", "ns", TO(task, time)},
};

static const struct layout_field throttle[] = {
        {"time", LAYOUT_U64, "when", "ns", TO(throttle, time)},
        {"id", LAYOUT_U64, "id of the event", TO(throttle, id)},
        {"stream_id", LAYOUT_U64, "id of the event itself", TO(throttle, stream_id)},
};

static const struct layout_field read_fields[] = {
        {"pid", LAYOUT_S32, "process", TO(read, pid)},
        {"tid", LAYOUT_S32, "thread", TO(read, tid)},
        {NULL, LAYOUT_STRUCT, .sub = &read_values_layout},
};

static const struct layout_field mmap_inode[] = {
        {"maj", LAYOUT_U32, "device", TO(mmap, maj)},
        {"min", LAYOUT_U32, "device", TO(mmap, min)},
        {"ino", LAYOUT_U64, "inode", TO(mmap, ino)},
        {"ino_generation", LAYOUT_U64, "of the inode", TO(mmap, ino_generation)},
};
static const struct layout mmap_inode_layout =
        LAYOUT_TO("inode", mmap_inode, struct sonde_record_mmap);

static const struct layout_field mmap_build_id[] = {
        {"build_id_size", LAYOUT_U8, "how many bytes of build_id hold", "B",
                TO(mmap, build_id_size)},
        {"reserved", LAYOUT_BYTES, "0", .show = SHOW_NEVER, .count = {COUNT_FIXED, 3}},
        {"build_id", LAYOUT_BYTES, "of the file", .count = {COUNT_FIXED, BUILD_ID_MAX},
                TO(mmap, build_id)},
};
static const struct layout mmap_build_id_layout =
        LAYOUT_TO("build id", mmap_build_id, struct sonde_record_mmap);

static const struct layout_field mmap2[] = {
        {"pid", LAYOUT_S32, "process; -1: kernel", TO(mmap, pid)},
        {"tid", LAYOUT_S32, "thread", TO(mmap, tid)},
        {"addr", LAYOUT_U64, "first address", .show = SHOW_HEX, TO(mmap, addr)},
        {"len", LAYOUT_U64, "length of the mapping", "B", SHOW_HEX, TO(mmap, len)},
        {"pgoff", LAYOUT_U64, "offset in the file", "B", SHOW_HEX, TO(mmap, pgoff)},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_NOT_MISC, .value = MISC_MMAP_BUILD_ID},
                .sub = &mmap_inode_layout},
        {NULL, LAYOUT_STRUCT, .when = {WHEN_MISC, .value = MISC_MMAP_BUILD_ID},
                .sub = &mmap_build_id_layout},
        {"prot", LAYOUT_U32, "PROT_ bits of mmap(2)", .show = SHOW_HEX, TO(mmap, prot)},
        {"flags", LAYOUT_U32, "MAP_ bits of mmap(2)", .show = SHOW_HEX, TO(mmap, flags)},
        {"filename", LAYOUT_TEXT, "path, or a name such as [vdso] or //anon", TO(mmap, filename)},
};

static const struct layout_name aux_flags[] = {
        {1, "TRUNCATED"},
        {2, "OVERWRITE"},
        {4, "PARTIAL"},
        {8, "COLLISION"},
        {0},
};

static const struct layout_field aux[] = {
        {"aux_offset", LAYOUT_U64, "where the new trace begins", "B", SHOW_HEX,
                TO(aux, aux_offset)},
        {"aux_size", LAYOUT_U64, "its length", "B", SHOW_HEX, TO(aux, aux_size)},
        {"flags", LAYOUT_U64, "loss; bits 8 to 15: the PMU's format", .show = SHOW_FLAGS,
                .names = aux_flags, TO(aux, flags)},
};

static const struct layout_field lost_samples[] = {
        {"lost", LAYOUT_U64, "samples lost", TO(lost_samples, lost)},
};

static const struct layout_field switch_cpu_wide[] = {
        {"next_prev_pid", LAYOUT_S32, "process switched to (out) or from (in)",
                TO(switch, next_prev_pid)},
        {"next_prev_tid", LAYOUT_S32, "thread switched to (out) or from (in)",
                TO(switch, next_prev_tid)},
};

static const struct layout_field namespace_link[] = {
        {"dev", LAYOUT_U64, "device of the namespace file", .show = SHOW_HEX, TO(namespace, dev)},
        {"ino", LAYOUT_U64, "its inode", TO(namespace, ino)},
};
static const struct layout namespace_link_layout =
        LAYOUT_TO("namespace", namespace_link, struct sonde_record_namespace);

static const struct layout_field namespaces[] = {
        {"pid", LAYOUT_S32, "process", TO(namespaces, pid)},
        {"tid", LAYOUT_S32, "thread", TO(namespaces, tid)},
        {"nr_namespaces", LAYOUT_U64, "namespaces", .keep = SLOT_NR, TO(namespaces, nr_namespaces)},
        {"links", LAYOUT_STRUCT, "net, uts, ipc, pid, user, mnt, cgroup",
                .count = {COUNT_SLOT, SLOT_NR}, .sub = &namespace_link_layout,
                TO(namespaces, links)},
};

static const struct layout_name ksym_types[] = {
        {0, "unknown"}, {1, "bpf"}, {2, "out_of_line"}, {0}};
static const struct layout_name ksym_flags[] = {{1, "unregister"}, {0}};

static const struct layout_field ksymbol[] = {
        {"addr", LAYOUT_U64, "first address", .show = SHOW_HEX, TO(ksymbol, addr)},
        {"len", LAYOUT_U32, "length of the code", "B", TO(ksymbol, len)},
        {"ksym_type", LAYOUT_U16, "kind of code", .show = SHOW_NAMES, .names = ksym_types,
                TO(ksymbol, ksym_type)},
        {"flags", LAYOUT_U16, "whether it goes", .show = SHOW_FLAGS, .names = ksym_flags,
                TO(ksymbol, flags)},
        {"name", LAYOUT_TEXT, "of the function", TO(ksymbol, name)},
};

static const struct layout_name bpf_types[] = {{0, "unknown"}, {1, "load"}, {2, "unload"}, {0}};

static const struct layout_field bpf_event[] = {
        {"type", LAYOUT_U16, "what happened", .show = SHOW_NAMES, .names = bpf_types,
                TO(bpf_event, type)},
        {"flags", LAYOUT_U16, "0", .show = SHOW_HEX, TO(bpf_event, flags)},
        {"id", LAYOUT_U32, "id of the BPF program", TO(bpf_event, id)},
        {"tag", LAYOUT_BYTES, "of the BPF program", .count = {COUNT_FIXED, 8}, TO(bpf_event, tag)},
};

static const struct layout_field cgroup[] = {
        {"id", LAYOUT_U64, "id of the control group", TO(cgroup, id)},
        {"path", LAYOUT_TEXT, "from the root of its hierarchy", TO(cgroup, path)},
};

static const struct layout_field text_poke[] = {
        {"addr", LAYOUT_U64, "of the change", .show = SHOW_HEX, TO(text_poke, addr)},
        {"old_len", LAYOUT_U16, "length before", "B", .keep = SLOT_NR, TO(text_poke, old_len)},
        {"new_len", LAYOUT_U16, "length after", "B", .keep = SLOT_SIZE, TO(text_poke, new_len)},
        {"old_bytes", LAYOUT_BYTES, "code before", .count = {COUNT_SLOT, SLOT_NR},
                TO(text_poke, old_bytes)},
        {"new_bytes", LAYOUT_BYTES, "code after", .count = {COUNT_SLOT, SLOT_SIZE},
                TO(text_poke, new_bytes)},
        {"pad", LAYOUT_BYTES, "0, up to a multiple of 8", .show = SHOW_NEVER,
                .count = {COUNT_REST}},
};

static const struct layout_field hw_id[] = {
        {"hw_id", LAYOUT_U64, "which hardware event the AUX data means", .show = SHOW_HEX,
                TO(hw_id, hw_id)},
};

static const struct layout_field deferred[] = {
        {"cookie", LAYOUT_U64, "joins it to the samples that wait for it", .show = SHOW_HEX,
                TO(deferred, cookie)},
        {NULL, LAYOUT_STRUCT, .sub = &callchain_layout},
};

static const struct layout kernel_layouts[RECORD_KERNEL_MAX] = {
        [RECORD_MMAP] = LAYOUT_TO("MMAP", mmap_fields, struct sonde_record_mmap),
        [RECORD_LOST] = LAYOUT_TO("LOST", lost, struct sonde_record_lost),
        [RECORD_COMM] = LAYOUT_TO("COMM", comm, struct sonde_record_comm),
        [RECORD_EXIT] = LAYOUT_TO("EXIT", task, struct sonde_record_task),
        [RECORD_THROTTLE] = LAYOUT_TO("THROTTLE", throttle, struct sonde_record_throttle),
        [RECORD_UNTHROTTLE] = LAYOUT_TO("UNTHROTTLE", throttle, struct sonde_record_throttle),
        [RECORD_FORK] = LAYOUT_TO("FORK", task, struct sonde_record_task),
        [RECORD_READ] = LAYOUT_TO("READ", read_fields, struct sonde_record_read),
        [RECORD_SAMPLE] = LAYOUT("SAMPLE", sample),
        [RECORD_MMAP2] = LAYOUT_TO("MMAP2", mmap2, struct sonde_record_mmap),
        [RECORD_AUX] = LAYOUT_TO("AUX", aux, struct sonde_record_aux),
        [RECORD_ITRACE_START] = LAYOUT_TO("ITRACE_START", pid_tid, struct sonde_record_thread),
        [RECORD_LOST_SAMPLES] =
                LAYOUT_TO("LOST_SAMPLES", lost_samples, struct sonde_record_lost_samples),
        [RECORD_SWITCH] = {.name = "SWITCH"},
        [RECORD_SWITCH_CPU_WIDE] =
                LAYOUT_TO("SWITCH_CPU_WIDE", switch_cpu_wide, struct sonde_record_switch),
        [RECORD_NAMESPACES] = LAYOUT_TO("NAMESPACES", namespaces, struct sonde_record_namespaces),
        [RECORD_KSYMBOL] = LAYOUT_TO("KSYMBOL", ksymbol, struct sonde_record_ksymbol),
        [RECORD_BPF_EVENT] = LAYOUT_TO("BPF_EVENT", bpf_event, struct sonde_record_bpf_event),
        [RECORD_CGROUP] = LAYOUT_TO("CGROUP", cgroup, struct sonde_record_cgroup),
        [RECORD_TEXT_POKE] = LAYOUT_TO("TEXT_POKE", text_poke, struct sonde_record_text_poke),
        [RECORD_AUX_OUTPUT_HW_ID] = LAYOUT_TO("AUX_OUTPUT_HW_ID", hw_id, struct sonde_record_hw_id),
        [RECORD_CALLCHAIN_DEFERRED] =
                LAYOUT_TO("CALLCHAIN_DEFERRED", deferred, struct sonde_record_deferred),
};

const struct layout *layout_of_kernel_record(uint32_t type)
{
	return type < RECORD_KERNEL_MAX && kernel_layouts[type].name != NULL ? &kernel_layouts[type]
	                                                                     : NULL;
}

const struct layout *layout_of_trailer(void)
{
	return &trailer_layout;
}
