/* SPDX-License-Identifier: MIT */
/* Header features about the machine. Parts that cannot be read are omitted. */
#define _GNU_SOURCE
#include "host/description.h"

#include "abi/abi.h"
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

static bool put_name(const struct host_description *d, unsigned bit, struct text *t)
{
	struct utsname u;

	(void)d;
	if (uname(&u) != 0) {
		return false;
	}
	feature_put_text(t, bit == FEATURE_HOSTNAME    ? u.nodename
	                    : bit == FEATURE_OSRELEASE ? u.release
	                    : bit == FEATURE_VERSION   ? sonde_version()
	                                               : u.machine);
	return true;
}

/* Finds the value of "key : value" in /proc/cpuinfo; key ends at white space. */
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

static bool put_cpu_text(const struct host_description *d, unsigned bit, struct text *t)
{
	struct text info = {0};
	char v[4][128];
	bool good;

	good = proc_read_file(d->root, "proc/cpuinfo", &info);
	text_char(&info, '\0');
	t->failed |= info.failed;
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

static uint64_t meminfo_kb(int root, const char *path, const char *key, struct text *out)
{
	struct text t = {0};
	uint64_t v = 0;
	char *p;

	if (proc_read_file(root, path, &t)) {
		text_char(&t, '\0');
		p = t.failed ? NULL : strstr(t.p, key);
		v = p != NULL ? strtoull(p + strlen(key), NULL, 10) : 0;
	}
	out->failed |= t.failed;
	text_fini(&t);
	return v;
}

/* Number of possible cpus, on-line or not. */
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

static bool put_nrcpus(const struct host_description *d, struct text *t)
{
	feature_put_u32(t, cpus_available(d->root));
	feature_put_u32(t, (uint32_t)d->ncpus);
	return true;
}

static bool put_command(const struct host_description *d, struct text *t)
{
	char path[4096];
	ssize_t got = readlinkat(d->root, "proc/self/exe", path, sizeof(path) - 1);
	uint32_t n = 0;
	size_t i;

	path[got > 0 ? got : 0] = '\0';
	while (d->command_line != NULL && d->command_line[n] != NULL) {
		n++;
	}
	feature_put_u32(t, n + 1);
	feature_put_text(t, path);
	for (i = 0; i < n; i++) {
		feature_put_text(t, d->command_line[i]);
	}
	return n > 0;
}

/* The attrs section has attrs of the one size that perf 6.1 accepts; here larger ones are whole. */
static bool put_events(const struct host_description *d, struct text *t)
{
	uint8_t bytes[ATTR_SIZE_NOW];
	struct sonde_attr attr;
	uint32_t size = HOST_ATTR_SIZE;
	size_t i;

	for (i = 0; i < d->events->n; i++) {
		attr = d->events->v[i].attr;
		size = host_attr_size(&attr) > size ? host_attr_size(&attr) : size;
	}
	feature_put_u32(t, (uint32_t)d->events->n);
	feature_put_u32(t, size);
	for (i = 0; i < d->events->n; i++) {
		attr = d->events->v[i].attr;
		attr.size = host_attr_size(&attr);
		record_attr_encode(&attr, bytes);
		text_bytes(t, (const char *)bytes, size);
		feature_put_u32(t, (uint32_t)d->ids[i].n);
		feature_put_text(t, d->events->v[i].name);
		text_bytes(t, (const char *)d->ids[i].v, d->ids[i].n * 8);
	}
	return true;
}

/* Groups of more than one event: name, index of the leader, number of members. */
static bool put_groups(const struct host_description *d, struct text *t)
{
	struct text list = {0};
	const struct event *event;
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < d->events->n; i++) {
		event = &d->events->v[i];
		if (event->members < 2) {
			continue;
		}
		feature_put_text(
		        &list, event->group_name[0] != '\0' ? event->group_name : "{anon_group}");
		feature_put_u32(&list, (uint32_t)i);
		feature_put_u32(&list, (uint32_t)event->members);
		n++;
	}
	return feature_put_list(t, n, &list);
}

static bool cpu_line(int root, int cpu, const char *name, char *buf, size_t size)
{
	char path[PATH_ROOM];

	(void)snprintf(path, sizeof(path), CPU_PATH "%s", cpu, name);
	return proc_read_line(root, path, buf, size);
}

/* Appends the distinct values of a topology file over all cpus, as a list of texts. */
static bool put_siblings(const struct host_description *d, struct text *t, const char *name)
{
	struct text list = {0};
	char line[512], other[512];
	uint32_t n = 0;
	size_t i, k;

	for (i = 0; i < d->ncpus; i++) {
		if (!cpu_line(d->root, (int)d->cpus[i], name, line, sizeof(line))) {
			text_fini(&list);
			return false;
		}
		for (k = 0; k < i; k++) {
			if (cpu_line(d->root, (int)d->cpus[k], name, other, sizeof(other)) &&
			        strcmp(line, other) == 0) {
				break;
			}
		}
		if (k == i) {
			feature_put_text(&list, line);
			n++;
		}
	}
	(void)feature_put_list(t, n, &list);
	return true;
}

static void put_cpu_number(int root, struct text *t, int cpu, const char *name)
{
	char line[64];

	feature_put_u32(t, cpu_line(root, cpu, name, line, sizeof(line))
	                           ? (uint32_t)strtol(line, NULL, 10)
	                           : UINT32_MAX);
}

static bool put_cpu_topology(const struct host_description *d, struct text *t)
{
	int n = (int)cpus_available(d->root);
	int i;

	if (!put_siblings(d, t, "topology/package_cpus_list") ||
	        !put_siblings(d, t, "topology/thread_siblings_list")) {
		return false;
	}
	for (i = 0; i < n; i++) {
		put_cpu_number(d->root, t, i, "topology/core_id");
		put_cpu_number(d->root, t, i, "topology/physical_package_id");
	}
	if (put_siblings(d, t, "topology/die_cpus_list")) {
		for (i = 0; i < n; i++) {
			put_cpu_number(d->root, t, i, "topology/die_id");
		}
	}
	return true;
}

/* Lists the numbers of entries such as "node3" under path, in rising order. */
static size_t list_numbered(int root, const char *path, const char *prefix, int *out, size_t max)
{
	size_t n = 0, len = strlen(prefix), i;
	DIR *dir = proc_open_dir(root, path);
	const struct dirent *e;
	int v;

	while (n < max && (e = proc_next_entry(dir)) != NULL) {
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
	proc_close_dir(dir);
	return n;
}

#define NODES_MAX 1024

static bool put_numa(const struct host_description *d, struct text *t)
{
	int nodes[NODES_MAX];
	size_t i, n = list_numbered(d->root, "sys/devices/system/node", "node", nodes, NODES_MAX);
	char path[128], cpus[1024];

	feature_put_u32(t, (uint32_t)n);
	for (i = 0; i < n; i++) {
		(void)snprintf(
		        path, sizeof(path), "sys/devices/system/node/node%d/meminfo", nodes[i]);
		feature_put_u32(t, (uint32_t)nodes[i]);
		feature_put_u64(t, meminfo_kb(d->root, path, "MemTotal:", t));
		feature_put_u64(t, meminfo_kb(d->root, path, "MemFree:", t));
		(void)snprintf(
		        path, sizeof(path), "sys/devices/system/node/node%d/cpulist", nodes[i]);
		feature_put_text(t, proc_read_line(d->root, path, cpus, sizeof(cpus)) ? cpus : "");
	}
	return n > 0;
}

static bool put_pmus(const struct host_description *d, struct text *t)
{
	DIR *dir = proc_open_dir(d->root, "sys/bus/event_source/devices");
	struct text list = {0};
	const struct dirent *e;
	uint32_t n = 0;
	char path[512];
	int64_t type;

	while ((e = proc_next_entry(dir)) != NULL) {
		(void)snprintf(
		        path, sizeof(path), "sys/bus/event_source/devices/%s/type", e->d_name);
		if (proc_read_number(d->root, path, &type)) {
			feature_put_u32(&list, (uint32_t)type);
			feature_put_text(&list, e->d_name);
			n++;
		}
	}
	proc_close_dir(dir);
	return feature_put_list(t, n, &list);
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

/* Each cache once, by level, then by cpu, as in perf. */
static bool put_caches(const struct host_description *d, struct text *t)
{
	struct cache *list = calloc(d->ncpus * 8, sizeof(*list));
	size_t cpu, i, k, n = 0;
	struct cache c;
	int index;

	t->failed |= list == NULL;
	for (cpu = 0; list != NULL && cpu < d->ncpus; cpu++) {
		for (index = 0; index < 8 && read_cache(d->root, (int)d->cpus[cpu], index, &c);
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

static bool put_memory(const struct host_description *d, struct text *t)
{
	int nodes[NODES_MAX];
	size_t i, k,
	        n = list_numbered(d->root, "sys/devices/system/node", "node", nodes, NODES_MAX);
	int *blocks = calloc(BLOCKS_MAX, sizeof(int));
	uint64_t words[BLOCKS_MAX / 64], bits;
	char line[64] = "0", path[128];
	size_t nblocks;

	(void)proc_read_line(
	        d->root, "sys/devices/system/memory/block_size_bytes", line, sizeof(line));
	feature_put_u64(t, 1);
	feature_put_u64(t, strtoull(line, NULL, 16));
	feature_put_u64(t, n);
	t->failed |= blocks == NULL;
	for (i = 0; blocks != NULL && i < n; i++) {
		(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%d", nodes[i]);
		nblocks = list_numbered(d->root, path, "memory", blocks, BLOCKS_MAX);
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

static bool put_branches(const struct host_description *d, struct text *t)
{
	size_t i;

	(void)t; /* the feature has no payload */
	for (i = 0; i < d->events->n; i++) {
		if ((d->events->v[i].attr.sample_type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
			return true;
		}
	}
	return false;
}

static bool put_times(const struct host_description *d, struct text *t)
{
	feature_put_u64(t, d->first);
	feature_put_u64(t, d->last);
	return true;
}

static bool put_programs(const struct host_description *d, struct text *t)
{
	host_bpf_put_programs(d->bpf, t);
	return true;
}

static bool put_program_types(const struct host_description *d, struct text *t)
{
	host_bpf_put_types(d->bpf, t);
	return true;
}

static bool put_total_memory(const struct host_description *d, struct text *t)
{
	feature_put_u64(t, meminfo_kb(d->root, "proc/meminfo", "MemTotal:", t));
	return true;
}

bool host_feature_put(const struct host_description *d, unsigned bit, struct text *out)
{
	static bool (*const put[FEATURE_LAST])(const struct host_description *, struct text *) = {
	        [FEATURE_TRACING_DATA] = host_put_tracing,
	        [FEATURE_NRCPUS] = put_nrcpus,
	        [FEATURE_TOTAL_MEM] = put_total_memory,
	        [FEATURE_CMDLINE] = put_command,
	        [FEATURE_EVENT_DESC] = put_events,
	        [FEATURE_CPU_TOPOLOGY] = put_cpu_topology,
	        [FEATURE_NUMA_TOPOLOGY] = put_numa,
	        [FEATURE_PMU_MAPPINGS] = put_pmus,
	        [FEATURE_GROUP_DESC] = put_groups,
	        [FEATURE_CACHE] = put_caches,
	        [FEATURE_SAMPLE_TIME] = put_times,
	        [FEATURE_MEM_TOPOLOGY] = put_memory,
	        [FEATURE_BRANCH_STACK] = put_branches,
	        [FEATURE_CPU_PMU_CAPS] = host_put_cpu_caps,
	        [FEATURE_HYBRID_TOPOLOGY] = host_put_hybrid,
	        [FEATURE_BPF_PROG_INFO] = put_programs,
	        [FEATURE_BPF_BTF] = put_program_types,
	        [FEATURE_PMU_CAPS] = host_put_pmu_caps,
	};
	static bool (*const put_text[FEATURE_LAST])(
	        const struct host_description *, unsigned bit, struct text *) = {
	        [FEATURE_HOSTNAME] = put_name,
	        [FEATURE_OSRELEASE] = put_name,
	        [FEATURE_VERSION] = put_name,
	        [FEATURE_ARCH] = put_name,
	        [FEATURE_CPUDESC] = put_cpu_text,
	        [FEATURE_CPUID] = put_cpu_text,
	};

	return put_text[bit] != NULL ? put_text[bit](d, bit, out)
	                             : put[bit] != NULL && put[bit](d, out);
}
