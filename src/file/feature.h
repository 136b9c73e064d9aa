/* SPDX-License-Identifier: MIT */
/*
 * Header features decoded into typed structs. Texts and arrays live in the caller's arena.
 *
 * All functions return 1 when *out is filled, 0 when the feature is absent (*out is zero),
 * SONDE_EFORMAT when its bytes make no sense, SONDE_ENOMEM.
 */
#ifndef SONDE_FILE_FEATURE_H
#define SONDE_FILE_FEATURE_H

#include "core/arena.h"
#include "file/file.h"

struct feature_list {
	const char **items;
	size_t n;
};

struct feature_pair {
	const char *name;
	const char *value;
};

struct feature_caps { /* of one PMU */
	const char *pmu;
	struct feature_pair *items;
	size_t n;
};

struct feature_all_caps {
	struct feature_caps *pmus;
	size_t n;
};

struct feature_cpus {
	uint32_t available, online;
};

struct feature_cpu {
	int32_t core, socket, die;
};

struct feature_topology {
	struct feature_list cores, threads, dies; /* lists of cpus that belong together */
	struct feature_cpu *cpus;
	size_t n; /* 0: old files do not say which cpu is where */
	bool has_dies;
};

struct feature_numa_node {
	uint32_t node;
	uint64_t total, free; /* kB */
	const char *cpus;
};

struct feature_numa {
	struct feature_numa_node *nodes;
	size_t n;
};

struct feature_pmu {
	uint32_t type;
	const char *name;
};

struct feature_pmus {
	struct feature_pmu *items;
	size_t n;
};

struct feature_group {
	const char *name;
	uint32_t leader; /* index of the event */
	uint32_t members; /* leader included */
};

struct feature_groups {
	struct feature_group *items;
	size_t n;
};

struct feature_cache_level {
	uint32_t level, line, sets, ways;
	const char *type, *size, *cpus;
};

struct feature_cache {
	struct feature_cache_level *items;
	size_t n;
};

struct feature_times {
	uint64_t first, last; /* ns */
};

struct feature_memory_node {
	uint64_t node;
	uint64_t bits; /* number of blocks that the bitmap has room for */
	const uint64_t *words; /* bit: block is there */
};

struct feature_memory {
	uint64_t block_size; /* bytes */
	struct feature_memory_node *nodes;
	size_t n;
};

struct feature_compression {
	uint32_t version, type, level, ratio, mmap_len;
};

struct feature_clock {
	uint32_t clockid;
	uint64_t wall_ns, clock_ns; /* the same moment on both clocks */
};

struct feature_ids { /* of BPF programs or BTF blobs */
	uint32_t *ids;
	size_t n;
};

struct feature_event {
	struct sonde_attr attr;
	const char *name;
	const uint64_t *ids;
	size_t nids;
};

struct feature_events {
	struct feature_event *items;
	size_t n;
};

/* HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID */
int feature_text(const struct file *f, enum abi_feature bit, struct arena *a, const char **out);
/* TOTAL_MEM, CLOCKID, DIR_FORMAT */
int feature_number(const struct file *f, enum abi_feature bit, uint64_t *out);
int feature_nrcpus(const struct file *f, struct feature_cpus *out);
int feature_cmdline(const struct file *f, struct arena *a, struct feature_list *out);
int feature_topology(const struct file *f, struct arena *a, struct feature_topology *out);
int feature_numa(const struct file *f, struct arena *a, struct feature_numa *out);
int feature_pmus(const struct file *f, struct arena *a, struct feature_pmus *out);
int feature_groups(const struct file *f, struct arena *a, struct feature_groups *out);
int feature_cache(const struct file *f, struct arena *a, struct feature_cache *out);
int feature_sample_time(const struct file *f, struct feature_times *out);
int feature_memory(const struct file *f, struct arena *a, struct feature_memory *out);
int feature_compression(const struct file *f, struct feature_compression *out);
int feature_clock_data(const struct file *f, struct feature_clock *out);
int feature_hybrid(const struct file *f, struct arena *a, struct feature_caps *out);
int feature_cpu_pmu_caps(const struct file *f, struct arena *a, struct feature_caps *out);
int feature_pmu_caps(const struct file *f, struct arena *a, struct feature_all_caps *out);
/* BPF_PROG_INFO and BPF_BTF */
int feature_bpf_ids(
        const struct file *f, enum abi_feature bit, struct arena *a, struct feature_ids *out);
int feature_events(const struct file *f, struct arena *a, struct feature_events *out);

#endif
