/* SPDX-License-Identifier: MIT */
#include "record/attr_text.h"

struct bit_name {
	uint64_t bit;
	const char *name;
};

#define NAMES_END                                                                                  \
	{                                                                                          \
		0, NULL                                                                            \
	}

/* In the order of perf's output; TRANSACTION, which perf does not know, is last. */
static const struct bit_name sample_bits[] = {{SONDE_SAMPLE_IP, "IP"}, {SONDE_SAMPLE_TID, "TID"},
        {SONDE_SAMPLE_TIME, "TIME"}, {SONDE_SAMPLE_ADDR, "ADDR"}, {SONDE_SAMPLE_READ, "READ"},
        {SONDE_SAMPLE_CALLCHAIN, "CALLCHAIN"}, {SONDE_SAMPLE_ID, "ID"}, {SONDE_SAMPLE_CPU, "CPU"},
        {SONDE_SAMPLE_PERIOD, "PERIOD"}, {SONDE_SAMPLE_STREAM_ID, "STREAM_ID"},
        {SONDE_SAMPLE_RAW, "RAW"}, {SONDE_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
        {SONDE_SAMPLE_REGS_USER, "REGS_USER"}, {SONDE_SAMPLE_STACK_USER, "STACK_USER"},
        {SONDE_SAMPLE_IDENTIFIER, "IDENTIFIER"}, {SONDE_SAMPLE_REGS_INTR, "REGS_INTR"},
        {SONDE_SAMPLE_DATA_SRC, "DATA_SRC"}, {SONDE_SAMPLE_WEIGHT, "WEIGHT"},
        {SONDE_SAMPLE_PHYS_ADDR, "PHYS_ADDR"}, {SONDE_SAMPLE_AUX, "AUX"},
        {SONDE_SAMPLE_CGROUP, "CGROUP"}, {SONDE_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE"},
        {SONDE_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE"},
        {SONDE_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"}, {SONDE_SAMPLE_TRANSACTION, "TRANSACTION"},
        NAMES_END};

static const struct bit_name read_bits[] = {{SONDE_READ_ENABLED, "TOTAL_TIME_ENABLED"},
        {SONDE_READ_RUNNING, "TOTAL_TIME_RUNNING"}, {SONDE_READ_ID, "ID"},
        {SONDE_READ_GROUP, "GROUP"}, {SONDE_READ_LOST, "LOST"}, NAMES_END};

static const struct bit_name branch_bits[] = {{1 << 0, "USER"}, {1 << 1, "KERNEL"}, {1 << 2, "HV"},
        {1 << 3, "ANY"}, {1 << 4, "ANY_CALL"}, {1 << 5, "ANY_RETURN"}, {1 << 6, "IND_CALL"},
        {1 << 7, "ABORT_TX"}, {1 << 8, "IN_TX"}, {1 << 9, "NO_TX"}, {1 << 10, "COND"},
        {1 << 11, "CALL_STACK"}, {1 << 12, "IND_JUMP"}, {1 << 13, "CALL"}, {1 << 14, "NO_FLAGS"},
        {1 << 15, "NO_CYCLES"}, {1 << 16, "TYPE_SAVE"}, {1 << 17, "HW_INDEX"},
        {1 << 18, "PRIV_SAVE"}, {1 << 19, "COUNTERS"}, NAMES_END};

static const char *const flag_names[] = {
        [SONDE_FLAG_DISABLED] = "disabled",
        [SONDE_FLAG_INHERIT] = "inherit",
        [SONDE_FLAG_PINNED] = "pinned",
        [SONDE_FLAG_EXCLUSIVE] = "exclusive",
        [SONDE_FLAG_EXCLUDE_USER] = "exclude_user",
        [SONDE_FLAG_EXCLUDE_KERNEL] = "exclude_kernel",
        [SONDE_FLAG_EXCLUDE_HV] = "exclude_hv",
        [SONDE_FLAG_EXCLUDE_IDLE] = "exclude_idle",
        [SONDE_FLAG_MMAP] = "mmap",
        [SONDE_FLAG_COMM] = "comm",
        [SONDE_FLAG_FREQ] = "freq",
        [SONDE_FLAG_INHERIT_STAT] = "inherit_stat",
        [SONDE_FLAG_ENABLE_ON_EXEC] = "enable_on_exec",
        [SONDE_FLAG_TASK] = "task",
        [SONDE_FLAG_WATERMARK] = "watermark",
        [SONDE_FLAG_PRECISE_IP] = "precise_ip",
        [SONDE_FLAG_MMAP_DATA] = "mmap_data",
        [SONDE_FLAG_SAMPLE_ID_ALL] = "sample_id_all",
        [SONDE_FLAG_EXCLUDE_HOST] = "exclude_host",
        [SONDE_FLAG_EXCLUDE_GUEST] = "exclude_guest",
        [SONDE_FLAG_EXCLUDE_CALLCHAIN_KERNEL] = "exclude_callchain_kernel",
        [SONDE_FLAG_EXCLUDE_CALLCHAIN_USER] = "exclude_callchain_user",
        [SONDE_FLAG_MMAP2] = "mmap2",
        [SONDE_FLAG_COMM_EXEC] = "comm_exec",
        [SONDE_FLAG_USE_CLOCKID] = "use_clockid",
        [SONDE_FLAG_CONTEXT_SWITCH] = "context_switch",
        [SONDE_FLAG_WRITE_BACKWARD] = "write_backward",
        [SONDE_FLAG_NAMESPACES] = "namespaces",
        [SONDE_FLAG_KSYMBOL] = "ksymbol",
        [SONDE_FLAG_BPF_EVENT] = "bpf_event",
        [SONDE_FLAG_AUX_OUTPUT] = "aux_output",
        [SONDE_FLAG_CGROUP] = "cgroup",
        [SONDE_FLAG_TEXT_POKE] = "text_poke",
        [SONDE_FLAG_BUILD_ID] = "build_id",
        [SONDE_FLAG_INHERIT_THREAD] = "inherit_thread",
        [SONDE_FLAG_REMOVE_ON_EXEC] = "remove_on_exec",
        [SONDE_FLAG_SIGTRAP] = "sigtrap",
        [SONDE_FLAG_DEFER_CALLCHAIN] = "defer_callchain",
        [SONDE_FLAG_DEFER_OUTPUT] = "defer_output",
};

struct attr_writer {
	struct text *out;
	const struct record_attr_style *style;
	bool started;
};

static void put_name(struct attr_writer *w, const char *name)
{
	text_str(w->out, w->started ? w->style->between : w->style->first);
	text_padded(w->out, name, -w->style->width);
	text_str(w->out, w->style->equals);
	w->started = true;
}

static void put_decimal(struct attr_writer *w, const char *name, uint64_t v)
{
	if (v != 0) {
		put_name(w, name);
		text_u64(w->out, v, 0, ' ');
	}
}

static void put_hex(struct attr_writer *w, const char *name, uint64_t v)
{
	if (v != 0) {
		put_name(w, name);
		text_0x(w->out, v);
	}
}

static void put_bits(
        struct attr_writer *w, const char *name, uint64_t v, const struct bit_name *names)
{
	bool first = true;

	if (v == 0) {
		return;
	}
	put_name(w, name);
	for (; names->name != NULL; names++) {
		if ((v & names->bit) != 0) {
			text_str(w->out, first ? "" : "|");
			text_str(w->out, names->name);
			first = false;
			v &= ~names->bit;
		}
	}
	if (v != 0) { /* bits that this table does not know */
		text_str(w->out, first ? "0x" : "|0x");
		text_hex(w->out, v, 0, ' ');
	}
}

static void put_flags(struct attr_writer *w, const struct sonde_attr *attr)
{
	for (unsigned bit = 0; bit < sizeof(flag_names) / sizeof(flag_names[0]); bit++) {
		uint64_t mask = bit == SONDE_FLAG_PRECISE_IP ? 3 : 1;

		if (flag_names[bit] != NULL) {
			put_decimal(w, flag_names[bit], attr->flags >> bit & mask);
		}
	}
}

void record_attr_text(
        struct text *out, const struct sonde_attr *attr, const struct record_attr_style *style)
{
	struct attr_writer w = {.out = out, .style = style};

	put_decimal(&w, "type", attr->type);
	put_decimal(&w, "size", attr->size);
	put_hex(&w, "config", attr->config);
	put_decimal(&w, "{ sample_period, sample_freq }", attr->sample_period);
	put_bits(&w, "sample_type", attr->sample_type, sample_bits);
	put_bits(&w, "read_format", attr->read_format, read_bits);
	put_flags(&w, attr);
	put_decimal(&w, "{ wakeup_events, wakeup_watermark }", attr->wakeup_events);
	put_decimal(&w, "bp_type", attr->bp_type);
	put_hex(&w, "{ bp_addr, config1 }", attr->config1);
	put_hex(&w, "{ bp_len, config2 }", attr->config2);
	put_bits(&w, "branch_sample_type", attr->branch_sample_type, branch_bits);
	put_hex(&w, "sample_regs_user", attr->sample_regs_user);
	put_decimal(&w, "sample_stack_user", attr->sample_stack_user);
	if (attr->clockid != 0) {
		put_name(&w, "clockid");
		text_printf(out, "%d", (int)attr->clockid);
	}
	put_hex(&w, "sample_regs_intr", attr->sample_regs_intr);
	put_decimal(&w, "aux_watermark", attr->aux_watermark);
	put_decimal(&w, "sample_max_stack", attr->sample_max_stack);
	put_decimal(&w, "aux_sample_size", attr->aux_sample_size);
	put_hex(&w, "aux_action", attr->aux_action);
	put_decimal(&w, "sig_data", attr->sig_data);
	put_hex(&w, "config3", attr->config3);
	put_hex(&w, "config4", attr->config4);
}

void record_attr_block(struct text *out, const struct sonde_attr *attr)
{
	static const struct record_attr_style block = {"  ", "\n  ", " ", 32};

	text_fill(out, '-', 60);
	text_str(out, "\nperf_event_attr:\n");
	record_attr_text(out, attr, &block);
	text_char(out, '\n');
	text_fill(out, '-', 60);
	text_char(out, '\n');
}
