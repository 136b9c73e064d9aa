/* SPDX-License-Identifier: MIT */
/* A decoded sample: what the kernel wrote when an event fired. */
#ifndef SONDE_SAMPLE_H
#define SONDE_SAMPLE_H

#include <sonde/attr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The mode in which code ran: the low bits of a record's misc. */
enum sonde_cpumode {
	SONDE_CPUMODE_UNKNOWN = 0,
	SONDE_CPUMODE_KERNEL = 1,
	SONDE_CPUMODE_USER = 2,
	SONDE_CPUMODE_HYPERVISOR = 3,
	SONDE_CPUMODE_GUEST_KERNEL = 4,
	SONDE_CPUMODE_GUEST_USER = 5
};

/*
 * Marks among the addresses of a call chain, as 64-bit words: all from SONDE_CONTEXT_FIRST on. The
 * addresses after a mark are in its mode. sonde_session_frames returns chains without them. (enum
 * perf_callchain_context of linux/perf_event.h)
 */
enum sonde_context_mark {
	SONDE_CONTEXT_FIRST = -4095,
	SONDE_CONTEXT_GUEST_USER = -2560,
	SONDE_CONTEXT_GUEST_KERNEL = -2176,
	SONDE_CONTEXT_GUEST = -2048,
	SONDE_CONTEXT_USER_DEFERRED = -640, /* a cookie follows; see CALLCHAIN_DEFERRED */
	SONDE_CONTEXT_USER = -512,
	SONDE_CONTEXT_KERNEL = -128,
	SONDE_CONTEXT_HYPERVISOR = -32
};

/* A count of an event; also an item of sonde_record_read.values. */
struct sonde_record_read_value {
	uint64_t value; /* count */
	uint64_t id; /* id of the event; 0: read_format has no ID */
	uint64_t lost; /* samples lost; 0: read_format has no LOST */
};

/*
 * Fields that the event did not record are 0 (cpu: UINT32_MAX); `present` has the recorded ones.
 * Pointers are valid until the next sample of the same iterator.
 */
struct sonde_sample {
	uint64_t present; /* bits of enum sonde_sample_bit */
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t time; /* ns on the recording's clock */
	uint64_t addr;
	uint64_t id; /* of the event instance: IDENTIFIER or ID */
	uint64_t stream_id;
	uint32_t cpu;
	uint64_t period; /* number of events that the sample represents; 1 if not recorded */
	uint64_t callchain_len; /* marks included */
	const uint64_t *callchain; /* leaf first; with marks, see enum sonde_context_mark */
	uint32_t raw_len;
	const void *raw; /* bytes in the recorder's byte order */
	uint64_t branch_len;
	const uint64_t *branches; /* from, to, flags per entry, newest first; the flags of struct
	                             perf_branch_entry, from the lowest bit in either byte order */
	uint64_t user_regs_abi;
	const uint64_t *user_regs;
	uint64_t user_stack_len; /* bytes that are valid */
	const void *user_stack;
	uint64_t weight;
	uint64_t data_src;
	uint64_t transaction;
	uint64_t intr_regs_abi;
	const uint64_t *intr_regs;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
	uint64_t read_value; /* count of the event, or of its group's leader; 0: not recorded */
	uint64_t
	        read_enabled; /* ns for which the event or its group was enabled; 0: not recorded */
	uint64_t read_running; /* ns for which it counted */
	uint64_t read_len; /* counts: 0 without READ, 1 for an event alone, else members */
	const struct sonde_record_read_value *read_values; /* the leader's first */
	uint64_t branch_hw_index; /* of the newest branch; UINT64_MAX: unknown or not recorded */
	const uint64_t *branch_counters; /* a word for each branch; NULL: not recorded */
	uint64_t aux_len; /* bytes */
	const void *aux; /* trace data up to the sample, in the processor's format */
};

#ifdef __cplusplus
}
#endif

#endif
