/* SPDX-License-Identifier: MIT */
/*
 * The header of a recording as text. Layout: perf report --header-only [-I] of 6.1, observed with
 * crafted files.
 */
#include "inspect/header.h"

#include <inttypes.h>

#include "core/escape.h"
#include "core/json.h"
#include "file/feature.h"
#include "inspect/dump.h"
#include "inspect/inspector.h"
#include "record/attr_text.h"
#include "session/file.h"

#include <stdio.h>
#include <time.h>

#define NS_PER_SEC 1000000000u

struct header_context {
	struct text *out;
	const struct file *f;
	struct arena arena;
};

/* Prints one feature. Returns 1, or a negative status if its bytes are malformed. */
typedef int (*header_fn)(struct header_context *c);

static int put_text(struct header_context *c, enum abi_feature bit, const char *label)
{
	struct layout_text value;

	TRY(FEATURE_READ(c->f, bit, &c->arena, &value));
	text_printf(c->out, "# %s : %s\n", label, value.s);
	return 1;
}

static int put_nrcpus(struct header_context *c)
{
	struct feature_cpus cpus;

	TRY(FEATURE_READ(c->f, FEATURE_NRCPUS, &c->arena, &cpus));
	text_printf(
	        c->out, "# nrcpus online : %u\n# nrcpus avail : %u\n", cpus.online, cpus.available);
	return 1;
}

static int put_total_mem(struct header_context *c)
{
	struct feature_number kb;

	TRY(FEATURE_READ(c->f, FEATURE_TOTAL_MEM, &c->arena, &kb));
	text_printf(c->out, "# total memory : %llu kB\n", (unsigned long long)kb.value);
	return 1;
}

static int put_cmdline(struct header_context *c)
{
	struct feature_list list;

	TRY(FEATURE_READ(c->f, FEATURE_CMDLINE, &c->arena, &list));
	text_str(c->out, "# cmdline : ");
	for (size_t i = 0; i < list.n; i++) {
		for (const char *p = list.items[i].s; *p != '\0'; p++) {
			if (*p == '\'') {
				text_char(c->out, '\\');
			}
			text_char(c->out, *p);
		}
		text_char(c->out, ' ');
	}
	text_char(c->out, '\n');
	return 1;
}

static int put_event_desc(struct header_context *c)
{
	static const struct record_attr_style style = {", ", ", ", " = ", 0};
	struct feature_events events;

	TRY(FEATURE_READ(c->f, FEATURE_EVENT_DESC, &c->arena, &events));
	for (size_t i = 0; i < events.n; i++) {
		const struct feature_event *e = &events.items[i];

		text_printf(c->out, "# event : name = %s, ", e->name.s);
		for (size_t id = 0; id < e->nids; id++) {
			text_str(c->out, id == 0 ? ", id = { " : ", ");
			text_u64(c->out, e->ids[id], 0, ' ');
		}
		text_str(c->out, e->nids != 0 ? " }" : "");
		record_attr_text(c->out, &e->attr.attr, &style);
		text_char(c->out, '\n');
	}
	return 1;
}

static void put_list(struct header_context *c, const char *label, const struct feature_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		text_printf(c->out, "# sibling %s : %s\n", label, list->items[i].s);
	}
}

static int put_cpu_topology(struct header_context *c)
{
	struct feature_topology t;

	TRY(FEATURE_READ(c->f, FEATURE_CPU_TOPOLOGY, &c->arena, &t));
	put_list(c, "sockets", &t.cores);
	put_list(c, "dies   ", &t.dies.lists);
	put_list(c, "threads", &t.threads);
	for (size_t i = 0; i < t.cpus.n; i++) {
		text_printf(c->out, "# CPU %zu: Core ID %d, ", i, t.cpus.items[i].core);
		if (t.has_dies) {
			text_printf(c->out, "Die ID %d, ", t.dies.items[i]);
		}
		text_printf(c->out, "Socket ID %d\n", t.cpus.items[i].socket);
	}
	if (!t.has_cpus) {
		text_str(c->out, "# Core ID and Socket ID information is not available\n");
	}
	return 1;
}

static int put_numa_topology(struct header_context *c)
{
	struct feature_numa numa;

	TRY(FEATURE_READ(c->f, FEATURE_NUMA_TOPOLOGY, &c->arena, &numa));
	for (size_t i = 0; i < numa.n; i++) {
		const struct feature_numa_node *node = &numa.items[i];

		text_printf(c->out,
		        "# node%u meminfo  : total = %llu kB, free = %llu kB\n# node%u cpu list : "
		        "%s\n",
		        node->node, (unsigned long long)node->total, (unsigned long long)node->free,
		        node->node, node->cpus.s);
	}
	return 1;
}

static int put_pmu_mappings(struct header_context *c)
{
	struct feature_pmus pmus;

	TRY(FEATURE_READ(c->f, FEATURE_PMU_MAPPINGS, &c->arena, &pmus));
	text_str(c->out, "# pmu mappings: ");
	for (size_t i = 0; i < pmus.n; i++) {
		text_printf(c->out, "%s%s = %u", i == 0 ? "" : ", ", pmus.items[i].name.s,
		        pmus.items[i].type);
	}
	text_str(c->out, pmus.n == 0 ? "not available\n" : "\n");
	return 1;
}

static int put_group_desc(struct header_context *c)
{
	struct feature_groups groups;

	TRY(FEATURE_READ(c->f, FEATURE_GROUP_DESC, &c->arena, &groups));
	for (size_t i = 0; i < groups.n; i++) {
		const struct feature_group *g = &groups.items[i];

		if (g->leader >= c->f->nevents || g->members > c->f->nevents - g->leader) {
			return SONDE_EFORMAT;
		}
		if (g->members < 2) {
			continue;
		}
		text_str(c->out, "# group: ");
		/* the name that recorders write if the user gave none */
		text_str(c->out, strcmp(g->name.s, "{anon_group}") == 0 ? "" : g->name.s);
		for (uint32_t m = 0; m < g->members; m++) {
			text_char(c->out, m == 0 ? '{' : ',');
			text_str(c->out, c->f->events[g->leader + m].name);
		}
		text_str(c->out, "}\n");
	}
	return 1;
}

static int put_cache(struct header_context *c)
{
	struct feature_cache cache;

	TRY(FEATURE_READ(c->f, FEATURE_CACHE, &c->arena, &cache));
	text_str(c->out, "# CPU cache info:\n");
	for (size_t i = 0; i < cache.n; i++) {
		const struct feature_cache_level *l = &cache.items[i];

		text_printf(c->out, "#  L%u %-15s %8s [%s]\n", l->level, l->type.s, l->size.s,
		        l->cpus.s);
	}
	return 1;
}

static void put_moment(struct text *out, const char *label, uint64_t ns)
{
	text_printf(out, "# time of %s sample : %llu.%06u\n", label,
	        (unsigned long long)(ns / NS_PER_SEC), (unsigned)(ns % NS_PER_SEC / 1000));
}

static int put_sample_time(struct header_context *c)
{
	struct feature_times t;

	TRY(FEATURE_READ(c->f, FEATURE_SAMPLE_TIME, &c->arena, &t));
	put_moment(c->out, "first", t.first);
	put_moment(c->out, "last", t.last);
	text_printf(c->out, "# sample duration : %10.3f ms\n", (double)(t.last - t.first) / 1e6);
	return 1;
}

static bool has_block(const struct feature_memory_node *node, uint64_t bit)
{
	return bit < node->bits && (node->words[bit / 64] >> (bit % 64) & 1) != 0;
}

static void put_blocks(struct text *out, const struct feature_memory_node *node)
{
	const char *comma = "";

	for (uint64_t bit = 0; bit < node->bits; bit++) {
		uint64_t first = bit;

		if (!has_block(node, bit)) {
			continue;
		}
		while (has_block(node, bit + 1)) {
			bit++;
		}
		text_printf(out, first == bit ? "%s%llu" : "%s%llu-%llu", comma,
		        (unsigned long long)first, (unsigned long long)bit);
		comma = ",";
	}
}

static void put_memory_node(
        struct text *out, const struct feature_memory_node *node, uint64_t block)
{
	static const char units[] = "BKMGTPE";
	uint64_t size = 0;
	unsigned unit = 0;

	for (uint64_t bit = 0; bit < node->bits; bit++) {
		size += has_block(node, bit) ? block : 0;
	}
	for (; size >= 1024; size /= 1024) {
		unit++;
	}
	text_printf(out, "# %4llu [%llu%c]: ", (unsigned long long)node->node,
	        (unsigned long long)size, units[unit]);
	put_blocks(out, node);
	text_char(out, '\n');
}

static int put_mem_topology(struct header_context *c)
{
	struct feature_memory m;

	TRY(FEATURE_READ(c->f, FEATURE_MEM_TOPOLOGY, &c->arena, &m));
	text_printf(c->out, "# memory nodes (nr %zu, block size 0x%llx):\n", m.n,
	        (unsigned long long)m.block_size);
	for (size_t i = 0; i < m.n; i++) {
		put_memory_node(c->out, &m.items[i], m.block_size);
	}
	return 1;
}

static int put_clockid(struct header_context *c)
{
	struct feature_number v;

	TRY(FEATURE_READ(c->f, FEATURE_CLOCKID, &c->arena, &v));
	text_printf(c->out, "# clockid frequency: %" PRIu64 " MHz\n", v.value * 1000);
	return 1;
}

static int put_dir_format(struct header_context *c)
{
	struct feature_number v;

	TRY(FEATURE_READ(c->f, FEATURE_DIR_FORMAT, &c->arena, &v));
	text_printf(c->out, "# directory data version : %llu\n", (unsigned long long)v.value);
	return 1;
}

static int put_bpf_programs(struct header_context *c)
{
	struct feature_programs programs;

	TRY(FEATURE_READ(c->f, FEATURE_BPF_PROG_INFO, &c->arena, &programs));
	for (size_t i = 0; i < programs.n; i++) {
		text_printf(c->out, "# bpf_prog_info %u:\n", programs.items[i].info.id);
	}
	return 1;
}

static int put_bpf_btf(struct header_context *c)
{
	struct feature_btfs btfs;

	TRY(FEATURE_READ(c->f, FEATURE_BPF_BTF, &c->arena, &btfs));
	for (size_t i = 0; i < btfs.n; i++) {
		text_printf(c->out, "# btf info of id %u\n", btfs.items[i].id);
	}
	return 1;
}

static int put_compressed(struct header_context *c)
{
	struct feature_compression z;

	TRY(FEATURE_READ(c->f, FEATURE_COMPRESSED, &c->arena, &z));
	text_printf(c->out, "# compressed : %s, level = %u, ratio = %u\n",
	        z.type == 1 ? "Zstd" : "Unknown", z.level, z.ratio);
	return 1;
}

static void put_caps(struct text *out, const char *pmu, const struct feature_pairs *caps)
{
	text_printf(out, "# %s pmu capabilities: ", pmu);
	for (size_t i = 0; i < caps->n; i++) {
		text_printf(out, "%s%s=%s", i == 0 ? "" : ", ", caps->items[i].name.s,
		        caps->items[i].value.s);
	}
	text_str(out, caps->n == 0 ? "not available\n" : "\n");
}

static int put_cpu_pmu_caps(struct header_context *c)
{
	struct feature_pairs caps;

	TRY(FEATURE_READ(c->f, FEATURE_CPU_PMU_CAPS, &c->arena, &caps));
	put_caps(c->out, "cpu", &caps);
	return 1;
}

static int put_pmu_caps(struct header_context *c)
{
	struct feature_all_caps all;

	TRY(FEATURE_READ(c->f, FEATURE_PMU_CAPS, &c->arena, &all));
	for (size_t i = 0; i < all.n; i++) {
		put_caps(c->out, all.items[i].pmu.s, &all.items[i].caps);
	}
	return 1;
}

static const char *clock_name(uint32_t id)
{
	switch (id) {
	case 0: return "realtime";
	case 1: return "monotonic";
	case 4: return "monotonic_raw";
	case 7: return "boottime";
	case 11: return "tai";
	default: return "(not found)";
	}
}

static int put_clock_data(struct header_context *c)
{
	struct feature_clock clock;
	char date[64] = "?";
	struct tm tm;
	time_t seconds;

	TRY(FEATURE_READ(c->f, FEATURE_CLOCK_DATA, &c->arena, &clock));
	if (clock.version != 1) {
		return SONDE_EFORMAT;
	}
	seconds = (time_t)(clock.wall_ns / NS_PER_SEC);
	if (localtime_r(&seconds, &tm) != NULL) {
		(void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	}
	text_printf(c->out, "# clockid: %s (%u)\n", clock_name(clock.clockid), clock.clockid);
	text_printf(c->out, "# reference time: %s.%06u = %llu.%06u (TOD) = %llu.%09u (%s)\n", date,
	        (unsigned)(clock.wall_ns % NS_PER_SEC / 1000),
	        (unsigned long long)(clock.wall_ns / NS_PER_SEC),
	        (unsigned)(clock.wall_ns % NS_PER_SEC / 1000),
	        (unsigned long long)(clock.clock_ns / NS_PER_SEC),
	        (unsigned)(clock.clock_ns % NS_PER_SEC), clock_name(clock.clockid));
	return 1;
}

static int put_hybrid(struct header_context *c)
{
	struct feature_pairs hybrid;

	TRY(FEATURE_READ(c->f, FEATURE_HYBRID_TOPOLOGY, &c->arena, &hybrid));
	text_str(c->out, "# hybrid cpu system:\n");
	for (size_t i = 0; i < hybrid.n; i++) {
		text_printf(c->out, "# %s cpu list : %s\n", hybrid.items[i].name.s,
		        hybrid.items[i].value.s);
	}
	return 1;
}

/* How a feature is printed: as a text with a label, as a note, or by a function; or not at all. */
struct header_entry {
	const char *label, *note;
	header_fn put;
	bool is_long; /* only with -I */
};

static const struct header_entry entries[] = {
        [FEATURE_HOSTNAME] = {.label = "hostname"},
        [FEATURE_OSRELEASE] = {.label = "os release"},
        [FEATURE_VERSION] = {.label = "perf version"},
        [FEATURE_ARCH] = {.label = "arch"},
        [FEATURE_NRCPUS] = {.put = put_nrcpus},
        [FEATURE_CPUDESC] = {.label = "cpudesc"},
        [FEATURE_CPUID] = {.label = "cpuid"},
        [FEATURE_TOTAL_MEM] = {.put = put_total_mem},
        [FEATURE_CMDLINE] = {.put = put_cmdline},
        [FEATURE_EVENT_DESC] = {.put = put_event_desc},
        [FEATURE_CPU_TOPOLOGY] = {.put = put_cpu_topology, .is_long = true},
        [FEATURE_NUMA_TOPOLOGY] = {.put = put_numa_topology, .is_long = true},
        [FEATURE_BRANCH_STACK] = {.note = "samples with branch stack"},
        [FEATURE_PMU_MAPPINGS] = {.put = put_pmu_mappings},
        [FEATURE_GROUP_DESC] = {.put = put_group_desc},
        [FEATURE_AUXTRACE] = {.note = "AUX area data (e.g. instruction trace)"},
        [FEATURE_STAT] = {.note = "stat data"},
        [FEATURE_CACHE] = {.put = put_cache, .is_long = true},
        [FEATURE_SAMPLE_TIME] = {.put = put_sample_time},
        [FEATURE_MEM_TOPOLOGY] = {.put = put_mem_topology, .is_long = true},
        [FEATURE_CLOCKID] = {.put = put_clockid},
        [FEATURE_DIR_FORMAT] = {.put = put_dir_format},
        [FEATURE_BPF_PROG_INFO] = {.put = put_bpf_programs},
        [FEATURE_BPF_BTF] = {.put = put_bpf_btf},
        [FEATURE_COMPRESSED] = {.put = put_compressed},
        [FEATURE_CPU_PMU_CAPS] = {.put = put_cpu_pmu_caps},
        [FEATURE_CLOCK_DATA] = {.put = put_clock_data},
        [FEATURE_HYBRID_TOPOLOGY] = {.put = put_hybrid, .is_long = true},
        [FEATURE_PMU_CAPS] = {.put = put_pmu_caps},
};

#define NENTRIES (sizeof(entries) / sizeof(entries[0]))

/* Text of the recording cannot end a line: each line of the header begins with '#'. */
static void clean_lines(struct text *out, size_t start)
{
	for (size_t i = start; i < out->n; i++) {
		bool ends = i + 1 == out->n || out->p[i + 1] == '#';

		out->p[i] =
		        (char)(out->p[i] == '\t' || (out->p[i] == '\n' && !ends) ? '?' : out->p[i]);
	}
	if (out->n != start) {
		escape_plain_lines(out->p + start, out->n - start);
	}
}

static int put_entry(struct header_context *c, enum abi_feature bit, const struct header_entry *e)
{
	if (e->label != NULL) {
		return put_text(c, bit, e->label);
	}
	if (e->note != NULL) {
		text_printf(c->out, "# contains %s\n", e->note);
		return 1;
	}
	return e->put != NULL ? e->put(c) : 1;
}

static void put_feature(struct header_context *c, enum abi_feature bit, bool full)
{
	const struct header_entry *e = &entries[bit];
	size_t start = c->out->n;
	int rc;

	if (e->is_long && !full) {
		text_printf(c->out, "# %s info available, use -I to display\n", feature_name(bit));
		return;
	}
	rc = put_entry(c, bit, e);
	c->out->failed = c->out->failed || rc == SONDE_ENOMEM;
	if (rc < 0) {
		c->out->n = start;
		text_printf(c->out,
		        "# %s cannot be read: its %llu bytes at offset %llu are damaged\n",
		        feature_name(bit), (unsigned long long)c->f->features[bit].size,
		        (unsigned long long)c->f->features[bit].offset);
	}
	clean_lines(c->out, start);
}

static void put_file(struct text *out, const struct file *f)
{
	char date[64] = "?";
	time_t modified = (time_t)f->modified;
	struct tm tm;

	if (modified != 0 && localtime_r(&modified, &tm) != NULL) {
		(void)strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm);
	}
	text_printf(out, "# captured on    : %s\n", date);
	text_printf(out, "# header version : %d\n", f->old ? 0 : 1);
	/* records of a pipe have no offset in the header */
	text_printf(out, "# data offset    : %" PRIu64 "\n", f->pipe ? 0 : f->data.offset);
	text_printf(out, "# data size      : %" PRIu64 "\n", f->pipe ? 0 : f->data.size);
	text_printf(out, "# feat offset    : %" PRIu64 "\n",
	        f->pipe ? 0 : f->data.offset + f->data.size);
}

static void put_missing(struct text *out, const struct file *f)
{
	text_str(out, "# missing features: ");
	for (unsigned bit = 1; bit < NENTRIES; bit++) {
		if (!file_has_feature(f, (enum abi_feature)bit)) {
			text_str(out, feature_name(bit));
			text_char(out, ' ');
		}
	}
	text_char(out, '\n');
}

static void put_features(struct text *out, const struct file *f, bool full)
{
	struct header_context c = {.out = out, .f = f};

	for (unsigned bit = 1; bit < NENTRIES; bit++) {
		if (file_has_feature(f, (enum abi_feature)bit)) {
			put_feature(&c, (enum abi_feature)bit, full);
		}
	}
	arena_fini(&c.arena);
}

/* Features of a pipe are among its records: printed after the frame, and none is missing. */
void inspect_header(struct text *out, const struct file *f, bool full)
{
	static const char frame[] = "# ========\n#\n";

	text_str(out, "# ========\n");
	put_file(out, f);
	text_str(out, f->pipe ? frame : "");
	put_features(out, f, full);
	if (!f->pipe) {
		put_missing(out, f);
		text_str(out, frame);
	}
}

void inspect_session_header(struct text *out, const struct sonde_session *s, bool full)
{
	inspect_header(out, session_file(s), full);
}

void inspect_stream_features(struct text *out, const struct sonde_session *s, bool full)
{
	if (session_file(s)->pipe) {
		put_features(out, session_file(s), full);
	}
}

/* simpleperf's META_INFO: names with their values. */
static void json_pairs(struct json *j, const struct file *f)
{
	struct arena arena = {0};
	struct feature_pairs pairs;

	if (FEATURE_READ(f, FEATURE_SIMPLEPERF_META_INFO, &arena, &pairs) == SONDE_ENOMEM) {
		j->out->failed = true;
	}
	json_object(j, "fields");
	for (size_t i = 0; i < pairs.n; i++) {
		json_text(j, pairs.items[i].name.s, pairs.items[i].value.s);
	}
	json_close(j);
	arena_fini(&arena);
}

static void json_feature(struct json *j, const struct file *f, unsigned bit, uint32_t ncpus)
{
	const struct layout *layout = layout_of_feature(bit);
	struct span bytes = file_feature(f, (enum abi_feature)bit);
	struct record_walk w = {0};

	json_object(j, NULL);
	json_u64(j, "feature", bit);
	json_text(j, "name", feature_name(bit));
	json_u64(j, "size", bytes.n);
	if (bit == FEATURE_SIMPLEPERF_META_INFO) {
		json_pairs(j, f);
	} else if (layout != NULL && bit < FEATURE_LAST) { /* simpleperf's features are printed
	                                                      as bytes */
		layout_walk_init(&w.walk, layout, bytes, f->swap, NULL, 0);
		w.walk.slots[SLOT_CPUS] = ncpus;
		if (!dump_fields_json(j, "fields", &w, false)) {
			json_bool(j, "damaged", true);
		}
	}
	json_close(j);
}

static void header_json(struct text *out, const struct file *f)
{
	struct json j = {.out = out};
	struct arena arena = {0};
	struct feature_cpus cpus;

	json_begin(&j, "header", 1);
	json_text(&j, "file", f->path);
	if (f->modified != 0) {
		json_s64(&j, "captured_on", f->modified);
	}
	json_bool(&j, "big_endian", f->swap != HOST_BIG_ENDIAN);
	json_u64(&j, "attr_size", f->attr_size);
	json_u64(&j, "data_offset", f->data.offset);
	json_u64(&j, "data_size", f->data.size);
	json_array(&j, "features");
	(void)FEATURE_READ(f, FEATURE_NRCPUS, &arena, &cpus);
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		if (file_has_feature(f, (enum abi_feature)bit)) {
			json_feature(&j, f, bit, cpus.available);
		}
	}
	json_end(&j);
	arena_fini(&arena);
}

void inspect_session_header_json(struct text *out, const struct sonde_session *s)
{
	header_json(out, session_file(s));
}

static void put(struct text *out, const struct file *f, const void *arg)
{
	const struct sonde_header_options *options = arg;

	inspect_header(out, f, options->full);
}

static void put_as_json(struct text *out, const struct file *f, const void *arg)
{
	(void)arg;
	header_json(out, f);
}

int sonde_inspector_header(struct sonde_inspector *in, const char *path,
        const struct sonde_header_options *options, sonde_write_fn write, void *arg)
{
	struct sonde_header_options o = {0};

	TRY(inspector_begin(in, &o, sizeof(o), options));
	return inspector_print(in, path, in->options.json ? put_as_json : put, &o, write, arg);
}
