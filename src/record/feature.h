/* SPDX-License-Identifier: MIT */
/*
 * Header features as typed structs, decoded and encoded by their layouts (layout_feature.c).
 * Decoded texts are NUL-terminated and, like arrays, live in the caller's arena; spans point into
 * the input. Bytes after the known fields (newer revisions, padding of pipes) are kept as the tail.
 */
#ifndef SONDE_RECORD_FEATURE_H
#define SONDE_RECORD_FEATURE_H

#include "record/layout.h"

/*
 * HOSTNAME OSRELEASE VERSION ARCH CPUDESC CPUID are a layout_text; TOTAL_MEM (kB), CLOCKID (ns),
 * DIR_FORMAT a feature_number.
 */
struct feature_number {
	uint64_t value;
};

struct feature_blob { /* TRACING_DATA */
	struct span bytes;
};

struct feature_list { /* CMDLINE: path of the recorder, then its arguments */
	struct layout_text *items;
	size_t n;
};

struct feature_build_id {
	uint32_t type; /* 0 in files, 67 in pipes */
	uint16_t misc; /* cpu mode; MISC_BUILD_ID_SIZE: id_size is valid */
	uint16_t size; /* of the record, in bytes */
	int32_t pid; /* -1: the host; else a process of a guest */
	struct span id; /* 20 bytes */
	uint8_t id_size;
	struct span reserved; /* 3 bytes */
	struct layout_text name;
};

struct feature_build_ids {
	struct feature_build_id *items;
	size_t n;
};

struct feature_cpus { /* NRCPUS */
	uint32_t available, online;
};

struct feature_attr {
	struct sonde_attr attr; /* bytes after attr.size are 0 */
	struct span tail; /* bytes after the known fields, up to attr_size */
};

struct feature_event {
	struct feature_attr attr;
	struct layout_text name;
	uint64_t *ids;
	size_t nids;
};

struct feature_events { /* EVENT_DESC */
	uint32_t attr_size; /* bytes of each attr in the file */
	struct feature_event *items;
	size_t n;
};

struct feature_cpu {
	int32_t core, socket; /* as the kernel numbers them; -1: unknown */
};

struct feature_topology { /* CPU_TOPOLOGY */
	struct feature_list cores, threads; /* lists of cpus that share a core, or threads of one
	                                       core */
	bool has_cpus; /* second revision */
	struct feature_topology_cpus {
		struct feature_cpu *items;
		size_t n;
	} cpus;
	bool has_dies; /* third revision */
	struct feature_topology_dies {
		struct feature_list lists;
		int32_t *items; /* one for each cpu */
		size_t n;
	} dies;
};

struct feature_numa_node {
	uint32_t node;
	uint64_t total, free; /* kB */
	struct layout_text cpus;
};

struct feature_numa { /* NUMA_TOPOLOGY */
	struct feature_numa_node *items;
	size_t n;
};

struct feature_pmu {
	uint32_t type;
	struct layout_text name;
};

struct feature_pmus { /* PMU_MAPPINGS */
	struct feature_pmu *items;
	size_t n;
};

struct feature_group {
	struct layout_text name;
	uint32_t leader; /* index of the event */
	uint32_t members; /* leader included */
};

struct feature_groups { /* GROUP_DESC */
	struct feature_group *items;
	size_t n;
};

struct feature_section {
	uint64_t offset, size; /* bytes; size is that of the AUXTRACE record's header */
};

struct feature_sections { /* AUXTRACE */
	bool has_nr; /* false: Android's recorder omits the count */
	uint64_t nr; /* the count in the file; items holds those that were read */
	struct feature_section *items;
	size_t n;
};

struct feature_cache_level {
	uint32_t level, line, sets, ways;
	struct layout_text type, size, cpus;
};

struct feature_cache { /* CACHE */
	uint32_t version;
	struct feature_cache_level *items;
	size_t n;
};

struct feature_times { /* SAMPLE_TIME */
	uint64_t first, last; /* ns */
};

struct feature_memory_node {
	uint64_t node;
	uint64_t blocks; /* as the writer counted them */
	uint64_t bits; /* number of blocks that the bitmap has room for */
	uint64_t *words; /* bit set: the block exists */
};

struct feature_memory { /* MEM_TOPOLOGY */
	uint64_t version;
	uint64_t block_size; /* bytes */
	struct feature_memory_node *items;
	size_t n;
};

/* The kernel's struct bpf_prog_info up to info_size; its pointers are offsets into data. */
struct feature_bpf_info {
	uint32_t type, id;
	struct span tag; /* 8 bytes */
	uint32_t jited_prog_len, xlated_prog_len;
	uint64_t jited_prog_insns, xlated_prog_insns, load_time;
	uint32_t created_by_uid, nr_map_ids;
	uint64_t map_ids;
	struct layout_text name; /* 16 bytes in the file */
	uint64_t device; /* low half: network device; bit 32: the licence is compatible */
	uint64_t netns_dev, netns_ino;
	uint32_t nr_jited_ksyms, nr_jited_func_lens;
	uint64_t jited_ksyms, jited_func_lens;
	uint32_t btf_id, func_info_rec_size;
	uint64_t func_info;
	uint32_t nr_func_info, nr_line_info;
	uint64_t line_info, jited_line_info;
	uint32_t nr_jited_line_info, line_info_rec_size, jited_line_info_rec_size;
	uint32_t nr_prog_tags;
	uint64_t prog_tags, run_time_ns, run_cnt, recursion_misses;
	uint32_t verified_insns, attach_btf_obj_id, attach_btf_id;
	struct span tail; /* fields of a newer kernel */
};

struct feature_program {
	uint32_t info_size; /* bytes of info in the file */
	uint64_t arrays; /* bits: which arrays data contains */
	struct feature_bpf_info info;
	struct span data;
};

struct feature_programs { /* BPF_PROG_INFO */
	struct feature_program *items;
	size_t n;
};

struct feature_btf {
	uint32_t id;
	struct span data;
};

struct feature_btfs { /* BPF_BTF */
	struct feature_btf *items;
	size_t n;
};

struct feature_compression { /* COMPRESSED */
	uint32_t version, type, level, ratio, mmap_len;
};

struct feature_pair {
	struct layout_text name, value;
};

struct feature_pairs { /* CPU_PMU_CAPS; HYBRID_TOPOLOGY: PMU and its cpus; META_INFO of simpleperf
	                */
	struct feature_pair *items;
	size_t n;
};

struct feature_caps {
	struct feature_pairs caps;
	struct layout_text pmu;
};

struct feature_all_caps { /* PMU_CAPS */
	struct feature_caps *items;
	size_t n;
};

struct feature_clock { /* CLOCK_DATA */
	uint32_t version;
	uint32_t clockid;
	uint64_t wall_ns, clock_ns; /* the same moment on both clocks */
};

struct feature_domain {
	uint32_t domain;
	struct layout_text name; /* since version 17 */
	struct layout_text mask, cpus;
};

struct feature_cpu_domains {
	uint32_t cpu;
	struct feature_domain *items;
	size_t n;
};

struct feature_domains { /* CPU_DOMAIN_INFO */
	uint32_t version; /* of /proc/schedstat */
	uint32_t max;
	struct feature_cpu_domains *items;
	size_t n;
};

struct feature_machine { /* E_MACHINE */
	uint32_t machine, flags; /* as in an ELF header */
};

struct feature_line { /* CLN_SIZE */
	uint32_t bytes;
};

struct feature_chunk {
	struct span bytes;
};

struct feature_chunks { /* FILE and FILE2 of simpleperf */
	struct feature_chunk *items;
	size_t n;
};

/* "HOSTNAME"; NULL: unknown. */
const char *feature_name(unsigned bit);
/* Size of the feature's struct; 0: unknown, or a feature that is only a flag. */
size_t feature_size(unsigned bit);

struct feature_source {
	struct span bytes;
	bool swap;
	uint32_t ncpus; /* the available cpus of NRCPUS; 0: unknown */
};

/*
 * Decodes a payload into *out, the feature's struct of `size` bytes, and the remaining bytes into
 * *tail (may be NULL). Returns 1; SONDE_EFORMAT: the payload is malformed, *out is zero and *tail
 * has all bytes; SONDE_EUNSUPPORTED: unknown feature; SONDE_ENOMEM.
 */
int feature_decode(const struct feature_source *source, unsigned bit, struct arena *a, void *out,
        size_t size, struct span *tail);

/* Appends a payload in host byte order or, with swap, in the other one. False: unknown feature. */
bool feature_encode(struct text *t, unsigned bit, const void *value, struct span tail, bool swap);

/*
 * An entry of BUILD_ID, or a record of that type. Very old recorders wrote no pid: then the name
 * begins where the size is today. An impossible size counts as 20 bytes.
 */
struct feature_build_id_view {
	uint16_t misc;
	int32_t pid; /* process of a guest; -1: the host */
	struct span id, name;
	bool damaged; /* the size was impossible */
};

/* body: the bytes after the 8-byte record header. False: too short. */
bool feature_build_id_view(
        struct span body, uint16_t misc, bool swap, struct feature_build_id_view *out);
/* Reads the next entry of the feature; false: no more; c->bad: the last one is cut off. */
bool feature_build_id_next(struct cursor *c, struct feature_build_id_view *out);

#endif
