/* SPDX-License-Identifier: MIT */
/* Header features: what this machine and this recording are. What cannot be read is left out. */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/capture.h"
#include "host/older.h"
#include "proc/proc.h"
#include "record/feature_write.h"
#include "record/record.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define CPU_PATH  "sys/devices/system/cpu/cpu%d/"
#define PATH_ROOM 512

static bool host_text(struct text *t, unsigned bit)
{
	struct utsname u;

	if (uname(&u) != 0) {
		return false;
	}
	feature_put_text(t, bit == FEATURE_HOSTNAME    ? u.nodename
	                    : bit == FEATURE_OSRELEASE ? u.release
	                    : bit == FEATURE_VERSION   ? sonde_version()
	                                               : u.machine);
	return true;
}

/* The value of "key : value" in /proc/cpuinfo; key ends where white space starts. */
static bool cpuinfo_value(const struct text *info, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);
	const char *p;

	for (p = info->p; p != NULL && *p != '\0'; p = strchr(p, '\n'), p += p != NULL) {
		if (strncmp(p, key, n) == 0 && (p[n] == '\t' || p[n] == ' ')) {
			p += strcspn(p, ":");
			p += *p == ':' ? 1 + strspn(p + 1, " \t") : 0;
			(void)snprintf(out, size, "%.*s", (int)strcspn(p, "\n"), p);
			return true;
		}
		if (p[strcspn(p, "\n")] == '\0') {
			break;
		}
	}
	return false;
}

static bool cpu_text(struct sonde_record *r, struct text *t, unsigned bit)
{
	struct text info = {0};
	char v[4][128];
	bool good;

	good = proc_read_file(r->root_fd, "proc/cpuinfo", &info);
	text_char(&info, '\0');
	good = good && !info.failed;
	if (good && bit == FEATURE_CPUDESC) {
		good = cpuinfo_value(&info, "model name", v[0], sizeof(v[0]));
		if (good) {
			feature_put_text(t, v[0]);
		}
	} else if (good) {
		good = cpuinfo_value(&info, "vendor_id", v[0], sizeof(v[0])) &&
		       cpuinfo_value(&info, "cpu family", v[1], sizeof(v[1])) &&
		       cpuinfo_value(&info, "model", v[2], sizeof(v[2])) &&
		       cpuinfo_value(&info, "stepping", v[3], sizeof(v[3]));
		if (good) {
			char id[520];

			(void)snprintf(id, sizeof(id), "%s,%s,%s,%s", v[0], v[1], v[2], v[3]);
			feature_put_text(t, id);
		}
	}
	text_fini(&info);
	return good;
}

static uint64_t meminfo_kb(int root, const char *path, const char *key)
{
	struct text t = {0};
	uint64_t v = 0;
	char *p;

	if (proc_read_file(root, path, &t)) {
		text_char(&t, '\0');
		p = t.failed ? NULL : strstr(t.p, key);
		v = p != NULL ? strtoull(p + strlen(key), NULL, 10) : 0;
	}
	text_fini(&t);
	return v;
}

/* Numbers of cpus go up to this, less one: those that are there, on-line or not. */
static uint32_t cpus_available(int root)
{
	pid_t *list;
	size_t n;
	uint32_t count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);

	if (proc_read_cpus(root, "sys/devices/system/cpu/present", &list, &n) == 0) {
		count = (uint32_t)list[n - 1] + 1;
	}
	free(list);
	return count;
}

static bool put_nrcpus(struct sonde_record *r, struct text *t)
{
	feature_put_u32(t, cpus_available(r->root_fd));
	feature_put_u32(t, (uint32_t)r->ncpus);
	return true;
}

static bool put_command(struct sonde_record *r, struct text *t)
{
	char path[4096];
	ssize_t got = readlinkat(r->root_fd, "proc/self/exe", path, sizeof(path) - 1);
	uint32_t n = 0;
	size_t i;

	path[got > 0 ? got : 0] = '\0';
	while (r->options.command_line != NULL && r->options.command_line[n] != NULL) {
		n++;
	}
	feature_put_u32(t, n + 1);
	feature_put_text(t, path);
	for (i = 0; i < n; i++) {
		feature_put_text(t, r->options.command_line[i]);
	}
	return n > 0;
}

/*
 * The attrs in front of the data are of the one size that perf 6.1 takes there; here it takes larger
 * ones too, and they are whole.
 */
static bool put_events(struct sonde_record *r, struct text *t)
{
	uint8_t bytes[ATTR_SIZE_NOW];
	struct sonde_attr attr;
	uint32_t size = HOST_ATTR_SIZE;
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		attr = r->events.v[i].attr;
		size = host_attr_size(&attr) > size ? host_attr_size(&attr) : size;
	}
	feature_put_u32(t, (uint32_t)r->events.n);
	feature_put_u32(t, size);
	for (i = 0; i < r->events.n; i++) {
		attr = r->events.v[i].attr;
		attr.size = host_attr_size(&attr);
		record_attr_encode(&attr, bytes);
		text_bytes(t, (const char *)bytes, size);
		feature_put_u32(t, (uint32_t)r->opened[i].nids);
		feature_put_text(t, r->events.v[i].name);
		text_bytes(t, (const char *)r->opened[i].ids, r->opened[i].nids * 8);
	}
	return true;
}

/* Groups of more than one event: name, index of the leader, number of members. */
static bool put_groups(struct sonde_record *r, struct text *t)
{
	struct text list = {0};
	const struct event *event;
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		event = &r->events.v[i];
		if (event->members < 2) {
			continue;
		}
		feature_put_text(
		        &list, event->group_name[0] != '\0' ? event->group_name : "{anon_group}");
		feature_put_u32(&list, (uint32_t)i);
		feature_put_u32(&list, (uint32_t)event->members);
		n++;
	}
	feature_put_u32(t, n);
	text_bytes(t, list.p, list.n);
	text_fini(&list);
	return n > 0;
}

static bool cpu_line(int root, int cpu, const char *name, char *buf, size_t size)
{
	char path[PATH_ROOM];

	(void)snprintf(path, sizeof(path), CPU_PATH "%s", cpu, name);
	return proc_read_line(root, path, buf, size);
}

/* The different values that a topology file has over the cpus, as a list of texts. */
static bool put_siblings(struct sonde_record *r, struct text *t, const char *name)
{
	struct text list = {0};
	char line[512], other[512];
	uint32_t n = 0;
	size_t i, k;

	for (i = 0; i < r->ncpus; i++) {
		if (!cpu_line(r->root_fd, (int)r->cpus[i], name, line, sizeof(line))) {
			text_fini(&list);
			return false;
		}
		for (k = 0; k < i; k++) {
			if (cpu_line(r->root_fd, (int)r->cpus[k], name, other, sizeof(other)) &&
			        strcmp(line, other) == 0) {
				break;
			}
		}
		if (k == i) {
			feature_put_text(&list, line);
			n++;
		}
	}
	feature_put_u32(t, n);
	text_bytes(t, list.p, list.n);
	text_fini(&list);
	return true;
}

static void put_cpu_number(int root, struct text *t, int cpu, const char *name)
{
	char line[64];

	feature_put_u32(t, cpu_line(root, cpu, name, line, sizeof(line))
	                           ? (uint32_t)strtol(line, NULL, 10)
	                           : UINT32_MAX);
}

static bool put_cpu_topology(struct sonde_record *r, struct text *t)
{
	int n = (int)cpus_available(r->root_fd);
	int i;

	if (!put_siblings(r, t, "topology/package_cpus_list") ||
	        !put_siblings(r, t, "topology/thread_siblings_list")) {
		return false;
	}
	for (i = 0; i < n; i++) {
		put_cpu_number(r->root_fd, t, i, "topology/core_id");
		put_cpu_number(r->root_fd, t, i, "topology/physical_package_id");
	}
	if (put_siblings(r, t, "topology/die_cpus_list")) {
		for (i = 0; i < n; i++) {
			put_cpu_number(r->root_fd, t, i, "topology/die_id");
		}
	}
	return true;
}

/* Numbers of entries such as "node3" under path, in rising order. */
static size_t list_numbered(int root, const char *path, const char *prefix, int *out, size_t max)
{
	size_t n = 0, len = strlen(prefix), i;
	DIR *dir = proc_open_dir(root, path);
	struct dirent *e;
	int v;

	while (dir != NULL && n < max && (e = readdir(dir)) != NULL) {
		if (strncmp(e->d_name, prefix, len) != 0 || e->d_name[len] < '0' ||
		        e->d_name[len] > '9') {
			continue;
		}
		v = (int)strtol(e->d_name + len, NULL, 10);
		for (i = n++; i > 0 && out[i - 1] > v; i--) {
			out[i] = out[i - 1];
		}
		out[i] = v;
	}
	if (dir != NULL) {
		(void)closedir(dir);
	}
	return n;
}

#define NODES_MAX 1024

static bool put_numa(struct sonde_record *r, struct text *t)
{
	int nodes[NODES_MAX];
	size_t i,
	        n = list_numbered(r->root_fd, "sys/devices/system/node", "node", nodes, NODES_MAX);
	char path[128], cpus[1024];

	feature_put_u32(t, (uint32_t)n);
	for (i = 0; i < n; i++) {
		(void)snprintf(
		        path, sizeof(path), "sys/devices/system/node/node%d/meminfo", nodes[i]);
		feature_put_u32(t, (uint32_t)nodes[i]);
		feature_put_u64(t, meminfo_kb(r->root_fd, path, "MemTotal:"));
		feature_put_u64(t, meminfo_kb(r->root_fd, path, "MemFree:"));
		(void)snprintf(
		        path, sizeof(path), "sys/devices/system/node/node%d/cpulist", nodes[i]);
		feature_put_text(
		        t, proc_read_line(r->root_fd, path, cpus, sizeof(cpus)) ? cpus : "");
	}
	return n > 0;
}

static bool put_pmus(struct sonde_record *r, struct text *t)
{
	DIR *dir = proc_open_dir(r->root_fd, "sys/bus/event_source/devices");
	struct text list = {0};
	struct dirent *e;
	uint32_t n = 0;
	char path[512];
	int64_t type;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		(void)snprintf(
		        path, sizeof(path), "sys/bus/event_source/devices/%s/type", e->d_name);
		if (e->d_name[0] != '.' && proc_read_number(r->root_fd, path, &type)) {
			feature_put_u32(&list, (uint32_t)type);
			feature_put_text(&list, e->d_name);
			n++;
		}
	}
	if (dir != NULL) {
		(void)closedir(dir);
	}
	feature_put_u32(t, n);
	text_bytes(t, list.p, list.n);
	text_fini(&list);
	return n > 0;
}

struct cache {
	int64_t level, line, sets, ways;
	char type[32], size[32], map[256];
};

static bool read_cache(int root, int cpu, int index, struct cache *c)
{
	static const char *const numbers[] = {
	        "level", "coherency_line_size", "number_of_sets", "ways_of_associativity"};
	int64_t *const out[] = {&c->level, &c->line, &c->sets, &c->ways};
	char path[PATH_ROOM];
	char name[64];
	size_t i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < 4; i++) {
		(void)snprintf(
		        path, sizeof(path), CPU_PATH "cache/index%d/%s", cpu, index, numbers[i]);
		if (!proc_read_number(root, path, out[i]) && i == 0) {
			return false;
		}
	}
	(void)snprintf(name, sizeof(name), "cache/index%d/type", index);
	(void)cpu_line(root, cpu, name, c->type, sizeof(c->type));
	(void)snprintf(name, sizeof(name), "cache/index%d/size", index);
	(void)cpu_line(root, cpu, name, c->size, sizeof(c->size));
	(void)snprintf(name, sizeof(name), "cache/index%d/shared_cpu_list", index);
	(void)cpu_line(root, cpu, name, c->map, sizeof(c->map));
	return true;
}

/* Each cache once, by level, then cpu: perf's order. */
static bool put_caches(struct sonde_record *r, struct text *t)
{
	struct cache *list = calloc(r->ncpus * 8, sizeof(*list));
	size_t cpu, i, k, n = 0;
	struct cache c;
	int index;

	for (cpu = 0; list != NULL && cpu < r->ncpus; cpu++) {
		for (index = 0; index < 8 && read_cache(r->root_fd, (int)r->cpus[cpu], index, &c);
		        index++) {
			for (k = 0; k < n && memcmp(&list[k], &c, sizeof(c)) != 0; k++) {
			}
			if (k < n) {
				continue;
			}
			for (k = n++; k > 0 && list[k - 1].level > c.level; k--) {
				list[k] = list[k - 1];
			}
			list[k] = c;
		}
	}
	feature_put_u32(t, 1);
	feature_put_u32(t, (uint32_t)n);
	for (i = 0; i < n; i++) {
		list[i].type[sizeof(list[i].type) - 1] = '\0';
		feature_put_u32(t, (uint32_t)list[i].level);
		feature_put_u32(t, (uint32_t)list[i].line);
		feature_put_u32(t, (uint32_t)list[i].sets);
		feature_put_u32(t, (uint32_t)list[i].ways);
		feature_put_text(t, list[i].type);
		feature_put_text(t, list[i].size);
		feature_put_text(t, list[i].map);
	}
	free(list);
	return n > 0;
}

#define BLOCKS_MAX 4096

static bool put_memory(struct sonde_record *r, struct text *t)
{
	int nodes[NODES_MAX];
	size_t i, k,
	        n = list_numbered(r->root_fd, "sys/devices/system/node", "node", nodes, NODES_MAX);
	int *blocks = calloc(BLOCKS_MAX, sizeof(int));
	uint64_t words[BLOCKS_MAX / 64], bits;
	char line[64] = "0", path[128];
	size_t nblocks;

	(void)proc_read_line(
	        r->root_fd, "sys/devices/system/memory/block_size_bytes", line, sizeof(line));
	feature_put_u64(t, 1);
	feature_put_u64(t, strtoull(line, NULL, 16));
	feature_put_u64(t, n);
	for (i = 0; blocks != NULL && i < n; i++) {
		(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%d", nodes[i]);
		nblocks = list_numbered(r->root_fd, path, "memory", blocks, BLOCKS_MAX);
		bits = nblocks > 0 && blocks[nblocks - 1] < BLOCKS_MAX
		               ? (uint64_t)blocks[nblocks - 1] + 1
		               : 0;
		memset(words, 0, sizeof(words));
		for (k = 0; bits > 0 && k < nblocks; k++) {
			words[blocks[k] / 64] |= 1ull << (blocks[k] % 64);
		}
		feature_put_u64(t, (uint64_t)nodes[i]);
		feature_put_u64(t, bits);
		feature_put_u64(t, bits);
		text_bytes(t, (const char *)words, (bits + 63) / 64 * 8);
	}
	free(blocks);
	return n > 0 && strtoull(line, NULL, 16) != 0;
}

static bool put_clock(struct sonde_record *r, struct text *t, unsigned bit)
{
	struct timespec res = {0};

	if (!r->options.use_clockid) {
		return false;
	}
	if (bit == FEATURE_CLOCKID) {
		(void)clock_getres(r->options.clockid, &res);
		feature_put_u64(t, (uint64_t)res.tv_nsec + (uint64_t)res.tv_sec * 1000000000u);
		return true;
	}
	feature_put_u32(t, 1);
	feature_put_u32(t, (uint32_t)r->options.clockid);
	feature_put_u64(t, r->clock_wall_ns);
	feature_put_u64(t, r->clock_ns);
	return true;
}

/* version, kind (1: zstd), level, ratio, the most that one record holds when inflated */
static bool put_compressed(const struct sonde_record *r, struct text *t)
{
	const struct sonde_record_result *res = &r->result;

	feature_put_u32(t, 1);
	feature_put_u32(t, 1);
	feature_put_u32(t, (uint32_t)r->options.compress);
	feature_put_u32(t, res->packed > 0 ? (uint32_t)(res->unpacked / res->packed) : 0);
	feature_put_u32(t, PACKER_INFLATED_MAX);
	return r->options.compress != 0;
}

static bool has_branches(const struct sonde_record *r)
{
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		if ((r->events.v[i].attr.sample_type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
			return true;
		}
	}
	return false;
}

/* Zeros where perf does not look for build ids of samples, unless somebody asks for the times. */
static bool put_times(const struct sonde_record *r, const struct capture_scan *scan, struct text *t)
{
	const struct sonde_record_options *o = &r->options;
	bool looks = !o->no_build_ids && !o->all_build_ids && !o->mapping_build_ids;
	bool known = looks || o->sample_times;

	feature_put_u64(t, known ? scan->first : 0);
	feature_put_u64(t, known ? scan->last : 0);
	return true;
}

static bool put_feature(
        struct sonde_record *r, const struct capture_scan *scan, unsigned bit, struct text *t)
{
	switch (bit) {
	case FEATURE_TRACING_DATA: return capture_tracing_put(r, t);
	case FEATURE_BUILD_ID:
		text_bytes(t, scan->build_ids.p, scan->build_ids.n);
		return scan->build_ids.n > 0;
	case FEATURE_HOSTNAME:
	case FEATURE_OSRELEASE:
	case FEATURE_VERSION:
	case FEATURE_ARCH: return host_text(t, bit);
	case FEATURE_NRCPUS: return put_nrcpus(r, t);
	case FEATURE_CPUDESC:
	case FEATURE_CPUID: return cpu_text(r, t, bit);
	case FEATURE_TOTAL_MEM:
		feature_put_u64(t, meminfo_kb(r->root_fd, "proc/meminfo", "MemTotal:"));
		return true;
	case FEATURE_CMDLINE: return put_command(r, t);
	case FEATURE_EVENT_DESC: return put_events(r, t);
	case FEATURE_CPU_TOPOLOGY: return put_cpu_topology(r, t);
	case FEATURE_NUMA_TOPOLOGY: return put_numa(r, t);
	case FEATURE_PMU_MAPPINGS: return put_pmus(r, t);
	case FEATURE_GROUP_DESC: return put_groups(r, t);
	case FEATURE_AUXTRACE: return capture_aux_put_index(r, t);
	case FEATURE_CACHE: return put_caches(r, t);
	case FEATURE_SAMPLE_TIME: return put_times(r, scan, t);
	case FEATURE_MEM_TOPOLOGY: return put_memory(r, t);
	case FEATURE_CLOCKID:
	case FEATURE_CLOCK_DATA: return put_clock(r, t, bit);
	case FEATURE_DIR_FORMAT:
		feature_put_u64(t, r->streams != NULL ? 1 : 0);
		return r->output.directory;
	case FEATURE_COMPRESSED: return put_compressed(r, t);
	case FEATURE_BRANCH_STACK: return has_branches(r);
	case FEATURE_CPU_PMU_CAPS: return capture_cpu_caps_put(r, t);
	case FEATURE_HYBRID_TOPOLOGY: return capture_hybrid_put(r, t);
	case FEATURE_BPF_PROG_INFO: return capture_bpf_put_programs(r, t);
	case FEATURE_BPF_BTF: return capture_bpf_put_types(r, t);
	case FEATURE_PMU_CAPS: return capture_pmu_caps_put(r, t);
	default: return false;
	}
}

size_t capture_features(struct sonde_record *r, const struct capture_scan *scan,
        struct file_writer_feature out[CAPTURE_FEATURES_MAX])
{
	struct text t;
	size_t n = 0;
	unsigned bit;

	for (bit = 1; bit < FEATURE_LAST && n < CAPTURE_FEATURES_MAX; bit++) {
		t = (struct text){0};
		if (put_feature(r, scan, bit, &t) && !t.failed) {
			out[n++] = (struct file_writer_feature){.bit = bit, .bytes = t};
		} else {
			text_fini(&t);
		}
	}
	return n;
}
