/* SPDX-License-Identifier: MIT */
/*
 * Records as C structs, in host byte order; sonde_file_decode of sonde/record.h fills them. Members
 * have the names of doc/format.md; members that the record has not are 0. Structs may grow at their
 * ends. Sources: perf_event_open(2), real files.
 */
#ifndef SONDE_RECORD_TYPES_H
#define SONDE_RECORD_TYPES_H

#include <sonde/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

/* n bytes of text in any encoding, without a NUL at the end; in the file, as long as it is open. */
struct sonde_text {
	const char *p;
	size_t n;
};

/* n bytes without byte order, in the file. */
struct sonde_bytes {
	const void *p;
	size_t n;
};

/* Numbers, or structs, that follow each other in the file: sonde_list_number, _get. */
struct sonde_list {
	uint64_t count;
	const void *bytes; /* as in the file, not aligned */
	size_t size; /* bytes */
	bool swapped; /* not in this machine's byte order */
	const void *field, *plan; /* of use to sonde_list_* only */
};

/* MMAP (1), MMAP2 (10); what a record has not is 0 */
struct sonde_record_mmap {
	int32_t pid; /* process; -1: kernel */
	int32_t tid; /* thread */
	uint64_t addr; /* first address */
	uint64_t len; /* length of the mapping, bytes */
	uint64_t pgoff; /* offset in the file, bytes */
	uint32_t prot; /* PROT_ bits of mmap(2) */
	uint32_t flags; /* MAP_ bits of mmap(2) */
	struct sonde_text filename; /* path, or a name such as [vdso] or //anon */
	uint32_t maj; /* device */
	uint32_t min; /* device */
	uint64_t ino; /* inode */
	uint64_t ino_generation; /* of the inode */
	uint8_t build_id_size; /* how many bytes of build_id hold */
	struct sonde_bytes build_id; /* of the file */
};

/* LOST (2) */
struct sonde_record_lost {
	uint64_t id; /* id of the event */
	uint64_t lost; /* records lost */
};

/* COMM (3) */
struct sonde_record_comm {
	int32_t pid; /* process */
	int32_t tid; /* thread */
	struct sonde_text comm; /* new name of the thread */
};

/* EXIT (4), FORK (7) */
struct sonde_record_task {
	int32_t pid; /* process */
	int32_t ppid; /* its parent */
	int32_t tid; /* thread */
	int32_t ptid; /* its parent */
	uint64_t time; /* when, ns */
};

/* THROTTLE (5), UNTHROTTLE (6) */
struct sonde_record_throttle {
	uint64_t time; /* when, ns */
	uint64_t id; /* id of the event */
	uint64_t stream_id; /* id of the event itself */
};

/* READ (8): one value, or those of a group in `values` */
struct sonde_record_read {
	int32_t pid; /* process */
	int32_t tid; /* thread */
	uint64_t value; /* count */
	uint64_t time_enabled; /* time the event was on, ns */
	uint64_t time_running; /* time the event counted, ns */
	uint64_t id; /* id of the event */
	uint64_t lost; /* samples lost */
	uint64_t nr; /* members of the group */
	struct sonde_list values; /* one a member */
};

/* AUX (11) */
struct sonde_record_aux {
	uint64_t aux_offset; /* where the new trace begins, bytes */
	uint64_t aux_size; /* its length, bytes */
	uint64_t flags; /* loss; bits 8 to 15: the PMU's format */
};

/* ITRACE_START (12) */
struct sonde_record_thread {
	int32_t pid; /* process */
	int32_t tid; /* thread */
};

/* LOST_SAMPLES (13) */
struct sonde_record_lost_samples {
	uint64_t lost; /* samples lost */
};

/* SWITCH_CPU_WIDE (15); SWITCH (14) has no fields */
struct sonde_record_switch {
	int32_t next_prev_pid; /* process switched to (out) or from (in) */
	int32_t next_prev_tid; /* thread switched to (out) or from (in) */
};

/* An item of sonde_record_namespaces.links */
struct sonde_record_namespace {
	uint64_t dev; /* device of the namespace file */
	uint64_t ino; /* its inode */
};

/* NAMESPACES (16) */
struct sonde_record_namespaces {
	int32_t pid; /* process */
	int32_t tid; /* thread */
	uint64_t nr_namespaces; /* namespaces */
	struct sonde_list links; /* net, uts, ipc, pid, user, mnt, cgroup */
};

/* KSYMBOL (17) */
struct sonde_record_ksymbol {
	uint64_t addr; /* first address */
	uint32_t len; /* length of the code, bytes */
	uint16_t ksym_type; /* kind of code */
	uint16_t flags; /* whether it goes */
	struct sonde_text name; /* of the function */
};

/* BPF_EVENT (18) */
struct sonde_record_bpf_event {
	uint16_t type; /* what happened */
	uint16_t flags; /* 0 */
	uint32_t id; /* id of the BPF program */
	struct sonde_bytes tag; /* of the BPF program */
};

/* CGROUP (19) */
struct sonde_record_cgroup {
	uint64_t id; /* id of the control group */
	struct sonde_text path; /* from the root of its hierarchy */
};

/* TEXT_POKE (20) */
struct sonde_record_text_poke {
	uint64_t addr; /* of the change */
	uint16_t old_len; /* length before, bytes */
	uint16_t new_len; /* length after, bytes */
	struct sonde_bytes old_bytes; /* code before */
	struct sonde_bytes new_bytes; /* code after */
};

/* AUX_OUTPUT_HW_ID (21) */
struct sonde_record_hw_id {
	uint64_t hw_id; /* which hardware event the AUX data means */
};

/* CALLCHAIN_DEFERRED (22) */
struct sonde_record_deferred {
	uint64_t cookie; /* joins it to the samples that wait for it */
	uint64_t nr; /* entries, the innermost first; marks from -4095 up */
	struct sonde_list ips; /* addresses and context marks; numbers */
};

/* ATTR (64) */
struct sonde_record_header_attr {
	struct sonde_attr attr; /* the event */
	struct sonde_list ids; /* ids of the event; numbers */
};

/* EVENT_TYPE (65) */
struct sonde_record_event_type {
	uint64_t event_id; /* attr.config */
	struct sonde_text name; /* of the event, up to 64 bytes */
};

/* TRACING_DATA (66) */
struct sonde_record_tracing_data {
	uint32_t size; /* of what follows the record, padding to 8 included, bytes */
};

/* BUILD_ID (67) */
struct sonde_record_build_id {
	int32_t pid; /* guest; -1: host */
	struct sonde_bytes build_id; /* of the file */
	uint8_t build_id_size; /* how many bytes hold; without misc bit 15: 0 */
	struct sonde_text filename; /* path or name */
};

/* An item of sonde_record_id_index.entries */
struct sonde_record_id {
	uint64_t id; /* id of an event */
	uint64_t idx; /* ring buffer */
	int64_t cpu; /* CPU, -1: any */
	int64_t tid; /* thread, -1: any */
};

/* An item of sonde_record_id_index.machines */
struct sonde_record_id_machine {
	uint64_t machine_pid; /* guest; 0: host */
	uint64_t vcpu; /* CPU of the guest */
};

/* ID_INDEX (69) */
struct sonde_record_id_index {
	uint64_t nr; /* ids */
	struct sonde_list entries; /* one an id */
	struct sonde_list machines; /* one an id, when the record is long enough */
};

/* Part of AUXTRACE_INFO; words that the recorder did not write are 0 */
struct sonde_record_intel_pt {
	uint64_t pmu_type; /* attr.type of intel_pt */
	uint64_t time_shift; /* TSC to ns */
	uint64_t time_mult; /* TSC to ns */
	uint64_t time_zero; /* TSC to ns; ns */
	uint64_t cap_user_time_zero; /* the three above hold */
	uint64_t tsc_bit; /* mask in attr.config */
	uint64_t noretcomp_bit; /* mask in attr.config */
	uint64_t have_sched_switch; /* 0 no, 1 tracepoint, 2 SWITCH, 3 SWITCH_CPU_WIDE */
	uint64_t snapshot_mode; /* trace in snapshots */
	uint64_t per_cpu_mmaps; /* a buffer a CPU, else a thread */
	uint64_t mtc_bit; /* mask in attr.config */
	uint64_t mtc_freq_bits; /* mask in attr.config */
	uint64_t tsc_ctc_ratio_n; /* TSC ticks a CTC tick, numerator */
	uint64_t tsc_ctc_ratio_d; /* denominator */
	uint64_t cyc_bit; /* mask in attr.config */
	uint64_t max_nonturbo_ratio; /* of the core's clock */
	uint64_t filter_str_len; /* of the address filter, bytes */
	struct sonde_text filter; /* address filter */
	uint64_t cap_event_trace; /* event trace is there */
};

/* AUXTRACE_INFO (70) */
struct sonde_record_auxtrace_info {
	uint32_t type; /* kind of trace */
	struct sonde_record_intel_pt intel_pt; /* later words may be missing */
	struct sonde_list priv; /* for the decoder of the type; numbers */
};

/* AUXTRACE (71); the trace is the raw record's payload */
struct sonde_record_auxtrace {
	uint64_t size; /* of the trace that follows the record, bytes */
	uint64_t offset; /* of it in the AUX area, bytes */
	uint64_t reference; /* a number to order snapshots by */
	uint32_t idx; /* buffer */
	int32_t tid; /* thread, -1: any */
	int32_t cpu; /* CPU, -1: any */
};

/* AUXTRACE_ERROR (72) */
struct sonde_record_auxtrace_error {
	uint32_t type; /* kind of error; 1: instruction trace */
	uint32_t code; /* which, by the decoder */
	int32_t cpu; /* CPU, -1: not known */
	int32_t pid; /* process, -1: not known */
	int32_t tid; /* thread, -1: not known */
	uint32_t fmt; /* layout of the rest */
	uint64_t ip; /* where */
	uint64_t time; /* when, ns */
	struct sonde_text msg; /* in words */
	uint32_t machine_pid; /* guest; 0: host */
	uint32_t vcpu; /* CPU of the guest */
};

/* An item of sonde_record_thread_map.threads */
struct sonde_record_target {
	int64_t pid; /* thread */
	struct sonde_text comm; /* its name */
};

/* THREAD_MAP (73) */
struct sonde_record_thread_map {
	uint64_t nr; /* threads */
	struct sonde_list threads; /* the targets */
};

/* CPU_MAP (74): what its type has, the rest is 0 */
struct sonde_record_cpu_map {
	uint16_t type; /* form of the list */
	uint16_t nr; /* CPUs, or words of the mask */
	struct sonde_list cpus; /* CPU numbers; 65535: any; numbers */
	uint16_t long_size; /* of a word: 4 or 8, bytes */
	struct sonde_list mask; /* bit n of the words: CPU n; numbers */
	uint8_t any_cpu; /* 1: any CPU too */
	uint16_t start_cpu; /* first CPU */
	uint16_t end_cpu; /* last CPU */
};

/* An item of sonde_record_stat_config.data */
struct sonde_record_stat_term {
	uint64_t tag; /* which setting */
	uint64_t val; /* its value */
};

/* STAT_CONFIG (75) */
struct sonde_record_stat_config {
	uint64_t nr; /* settings */
	struct sonde_list data; /* of perf stat */
};

/* STAT (76) */
struct sonde_record_stat {
	uint64_t id; /* id of the event */
	int32_t cpu; /* index of the CPU in the map */
	int32_t thread; /* index of the thread in the map */
	uint64_t val; /* count */
	uint64_t ena; /* time the event was on, ns */
	uint64_t run; /* time the event counted, ns */
};

/* STAT_ROUND (77) */
struct sonde_record_stat_round {
	uint64_t type; /* what ends here */
	uint64_t time; /* since the start, ns */
};

/* EVENT_UPDATE (78): what its type has, the rest is 0 */
struct sonde_record_event_update {
	uint64_t type; /* what the event gets */
	uint64_t id; /* id of the event */
	double scale; /* factor of counts */
	struct sonde_record_cpu_map cpus; /* where it counts */
	struct sonde_text unit; /* of counts */
	struct sonde_text name; /* of the event */
};

/* TIME_CONV (79) */
struct sonde_record_time_conv {
	uint64_t time_shift; /* TSC to ns */
	uint64_t time_mult; /* TSC to ns */
	uint64_t time_zero; /* TSC to ns; ns */
	uint64_t time_cycles; /* of the short counter */
	uint64_t time_mask; /* of the short counter */
	uint8_t cap_user_time_zero; /* time_zero holds */
	uint8_t cap_user_time_short; /* the counter is short */
};

/* FEATURE (80); sonde_file_record_fields walks over the feature */
struct sonde_record_header_feature {
	uint64_t feat_id; /* bit of the feature; the payload is the feature's */
};

/* An item of sonde_record_bpf_metadata.entries */
struct sonde_record_bpf_variable {
	struct sonde_text key; /* name */
	struct sonde_text value; /* value */
};

/* BPF_METADATA (84) */
struct sonde_record_bpf_metadata {
	struct sonde_text prog_name; /* BPF program */
	uint64_t nr_entries; /* variables */
	struct sonde_list entries; /* its metadata variables */
};

/* SCHEDSTAT_CPU (85), SCHEDSTAT_DOMAIN (86) */
struct sonde_record_schedstat {
	uint64_t timestamp; /* when */
	uint32_t cpu; /* CPU */
	uint16_t version; /* of /proc/schedstat */
	uint16_t domain; /* scheduling domain */
	struct sonde_bytes counters; /* of that version, raw bytes */
};

/*
 * The trailer of a kernel's record: where and when it was written. The same of a sample, from
 * its own fields. What the event does not record is 0.
 */
struct sonde_record_trailer {
	uint32_t pid, tid;
	uint64_t time; /* ns on the recording's clock */
	uint64_t id; /* of the event */
	uint64_t stream_id;
	uint32_t cpu; /* UINT32_MAX: not recorded */
};

/* Any record; the type says which member of the union holds. */
struct sonde_typed_record {
	uint32_t type;
	uint16_t misc;
	long event; /* index; -1: it belongs to none */
	struct sonde_record_trailer trailer;
	SONDE_EXTENSION union {
		struct sonde_record_mmap mmap; /* 1, 10 */
		struct sonde_record_lost lost; /* 2 */
		struct sonde_record_comm comm; /* 3 */
		struct sonde_record_task task; /* 4, 7 */
		struct sonde_record_throttle throttle; /* 5, 6 */
		struct sonde_record_read read; /* 8 */
		struct sonde_sample sample; /* 9 */
		struct sonde_record_aux aux; /* 11 */
		struct sonde_record_thread itrace_start; /* 12 */
		struct sonde_record_lost_samples lost_samples; /* 13 */
		struct sonde_record_switch switched; /* 15 */
		struct sonde_record_namespaces namespaces; /* 16 */
		struct sonde_record_ksymbol ksymbol; /* 17 */
		struct sonde_record_bpf_event bpf_event; /* 18 */
		struct sonde_record_cgroup cgroup; /* 19 */
		struct sonde_record_text_poke text_poke; /* 20 */
		struct sonde_record_hw_id hw_id; /* 21 */
		struct sonde_record_deferred deferred; /* 22 */
		struct sonde_record_header_attr header_attr; /* 64 */
		struct sonde_record_event_type event_type; /* 65 */
		struct sonde_record_tracing_data tracing_data; /* 66 */
		struct sonde_record_build_id build_id; /* 67 */
		struct sonde_record_id_index id_index; /* 69 */
		struct sonde_record_auxtrace_info auxtrace_info; /* 70 */
		struct sonde_record_auxtrace auxtrace; /* 71 */
		struct sonde_record_auxtrace_error auxtrace_error; /* 72 */
		struct sonde_record_thread_map thread_map; /* 73 */
		struct sonde_record_cpu_map cpu_map; /* 74 */
		struct sonde_record_stat_config stat_config; /* 75 */
		struct sonde_record_stat stat; /* 76 */
		struct sonde_record_stat_round stat_round; /* 77 */
		struct sonde_record_event_update event_update; /* 78 */
		struct sonde_record_time_conv time_conv; /* 79 */
		struct sonde_record_header_feature header_feature; /* 80 */
		struct sonde_record_bpf_metadata bpf_metadata; /* 84 */
		struct sonde_record_schedstat schedstat; /* 85, 86 */
	};
};

#ifdef __cplusplus
}
#endif

#endif
