/* SPDX-License-Identifier: MIT */
#include "output/evlist.h"

#include "file/feature.h"
#include "file/tracing.h"
#include "output/json.h"

#include <sonde/preview/evlist.h>
#include <stdio.h>

struct bit_name {
	uint64_t bit;
	const char *name;
};

#define NAMES_END                                                                                  \
	{                                                                                          \
		0, NULL                                                                            \
	}

/* In the order of perf's output; TRANSACTION, which it does not know, at the end. */
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
	const struct output_attr_style *style;
	bool started;
};

static void put_name(struct attr_writer *w, const char *name)
{
	text_str(w->out, w->started ? w->style->between : w->style->first);
	text_str(w->out, name);
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
		text_str(w->out, "0x");
		text_hex(w->out, v, 0, ' ');
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
	if (v != 0) { /* bits that are newer than this table */
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

void output_attr(
        struct text *out, const struct sonde_attr *attr, const struct output_attr_style *style)
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

/* What the recorder copied from tracefs; n is 0 when there is nothing. */
static struct span tracing_blob(const struct file *f)
{
	uint64_t position = file_begin(f);
	struct record r;

	if (!f->pipe) {
		return file_feature(f, FEATURE_TRACING_DATA);
	}
	while (file_next(f, &position, &r, NULL) > 0) {
		if (r.type == RECORD_TRACING_DATA) {
			return file_outside(f, &r);
		}
	}
	return (struct span){NULL, 0};
}

static bool is_tracepoint(const struct file_event *e)
{
	return e->attr.type == SONDE_TYPE_TRACEPOINT;
}

static bool has_tracepoints(const struct file *f)
{
	for (size_t i = 0; i < f->nevents; i++) {
		if (is_tracepoint(&f->events[i])) {
			return true;
		}
	}
	return false;
}

static void put_trace_fields(struct text *out, const struct file_event *e, struct span blob)
{
	struct tracing_format format;
	struct span name;
	size_t at = 0;
	bool first = true;

	if (!is_tracepoint(e)) {
		text_str(out, "(not a tracepoint)");
		return;
	}
	text_str(out, "trace_fields: ");
	if (!tracing_find(blob, e->attr.config, &format)) {
		text_str(out, "(the recording does not say)");
		return;
	}
	while (tracing_next_field(&format, &at, &name)) {
		text_str(out, first ? "" : ",");
		text_bytes(out, (const char *)name.p, name.n);
		first = false;
	}
}

static void put_event(struct text *out, const struct file_event *e, enum output_evlist_mode mode)
{
	static const struct output_attr_style detail = {": ", ", ", ": "};

	text_str(out, e->name);
	if (mode == EVLIST_DETAIL) {
		output_attr(out, &e->attr, &detail);
	} else if (mode == EVLIST_FREQ) {
		text_str(out, sonde_attr_has(&e->attr, SONDE_FLAG_FREQ) ? ": sample_freq="
		                                                        : ": sample_period=");
		text_u64(out, e->attr.sample_period, 0, ' ');
	}
}

/* The number of members of the group that event i leads; 0: it leads none. */
static size_t group_size(const struct feature_groups *groups, size_t i, size_t nevents)
{
	for (size_t g = 0; g < groups->n; g++) {
		uint32_t members = groups->items[g].members;

		if (groups->items[g].leader == i && members > 1 && members <= nevents - i) {
			return members;
		}
	}
	return 0;
}

static void put_groups(struct text *out, const struct file *f)
{
	struct feature_groups groups;
	struct arena arena = {0};
	size_t n;

	if (FEATURE_READ(f, FEATURE_GROUP_DESC, &arena, &groups) <= 0) {
		groups.n = 0;
	}
	for (size_t i = 0; i < f->nevents; i += n == 0 ? 1 : n) {
		n = group_size(&groups, i, f->nevents);
		if (n != 0) {
			text_char(out, '{');
		}
		text_str(out, f->events[i].name);
		for (size_t j = 1; j < n; j++) {
			text_char(out, ',');
			text_str(out, f->events[i + j].name);
		}
		text_str(out, n != 0 ? "}\n" : "\n");
	}
	arena_fini(&arena);
}

static void put_events(
        struct text *out, const struct file *f, enum output_evlist_mode mode, bool trace_fields)
{
	struct span blob = trace_fields ? tracing_blob(f) : (struct span){NULL, 0};

	for (size_t i = 0; i < f->nevents; i++) {
		put_event(out, &f->events[i], mode);
		if (trace_fields) {
			text_str(out, mode == EVLIST_NAMES ? ": " : ", ");
			put_trace_fields(out, &f->events[i], blob);
		}
		text_char(out, '\n');
	}
}

void output_evlist(
        struct text *out, const struct file *f, enum output_evlist_mode mode, bool trace_fields)
{
	if (mode == EVLIST_GROUPS) {
		put_groups(out, f);
	} else {
		put_events(out, f, mode, trace_fields);
	}
	if (!trace_fields && has_tracepoints(f)) {
		text_str(out, "# Tip: use 'sonde evlist --trace-fields' to show fields for "
		              "tracepoint events\n");
	}
}

static void json_event(struct json *j, const struct file *f, const struct file_event *e)
{
	struct layout_walk w;

	json_object(j, NULL);
	json_text(j, "name", e->name);
	layout_walk_init(&w, layout_of_attr(), e->bytes, f->swap, NULL, 0);
	(void)json_fields(j, "attr", &w);
	json_array(j, "ids");
	for (size_t i = 0; i < e->nids; i++) {
		json_u64(j, NULL, e->ids[i]);
	}
	json_close(j);
	json_close(j);
}

static void put_json(struct text *out, const struct file *f)
{
	struct json j = {.out = out};
	struct feature_groups groups;
	struct arena arena = {0};

	(void)FEATURE_READ(f, FEATURE_GROUP_DESC, &arena, &groups);
	json_begin(&j, "evlist", 1);
	json_array(&j, "events");
	for (size_t i = 0; i < f->nevents; i++) {
		json_event(&j, f, &f->events[i]);
	}
	json_close(&j);
	json_array(&j, "groups");
	for (size_t i = 0; i < groups.n; i++) {
		json_object(&j, NULL);
		json_text(&j, "name", groups.items[i].name.s);
		json_u64(&j, "leader", groups.items[i].leader);
		json_u64(&j, "members", groups.items[i].members);
		json_close(&j);
	}
	json_end(&j);
	arena_fini(&arena);
}

int sonde_evlist_print(const char *path, const struct sonde_evlist_options *options,
        sonde_evlist_write_fn write, void *arg)
{
	static const enum output_evlist_mode modes[] = {
	        [SONDE_EVLIST_NAMES] = EVLIST_NAMES,
	        [SONDE_EVLIST_FREQ] = EVLIST_FREQ,
	        [SONDE_EVLIST_DETAIL] = EVLIST_DETAIL,
	        [SONDE_EVLIST_GROUPS] = EVLIST_GROUPS,
	};
	struct diag_sink diags = {.fn = options->on_diag, .arg = options->diag_arg};
	struct file f = {.diags = &diags, .check_owner = options->check_owner != 0};
	struct text out = {0};
	int rc = file_open(&f, path);

	if (rc >= 0) {
		if (options->json != 0) {
			put_json(&out, &f);
		} else {
			output_evlist(&out, &f, modes[options->mode], options->trace_fields != 0);
		}
		rc = out.failed ? error_nomem(&f.error) : write(arg, out.p, out.n);
	}
	if (rc < 0 && options->message != NULL) {
		(void)snprintf(options->message, options->message_size, "%s", f.error.text);
	}
	if (rc >= 0 && diags.counts[SONDE_DIAG_TRUNCATED] + diags.counts[SONDE_DIAG_DAMAGED] != 0) {
		rc = 1;
	}
	text_fini(&out);
	file_close(&f);
	return rc;
}
