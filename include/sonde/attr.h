/* SPDX-License-Identifier: MIT */
/*
 * The attributes of an event, as in perf_event_open(2) and in perf.data, in host byte order, with the
 * flags as bits of one word. perf_event_open(2) describes the fields.
 */
#ifndef SONDE_ATTR_H
#define SONDE_ATTR_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_attr_type {
	SONDE_TYPE_HARDWARE = 0,
	SONDE_TYPE_SOFTWARE = 1,
	SONDE_TYPE_TRACEPOINT = 2,
	SONDE_TYPE_HW_CACHE = 3,
	SONDE_TYPE_RAW = 4,
	SONDE_TYPE_BREAKPOINT = 5 /* 6 and above: "type" of a PMU in sysfs */
};

/* attr.config of software events */
enum sonde_sw_event {
	SONDE_SW_CPU_CLOCK = 0,
	SONDE_SW_TASK_CLOCK,
	SONDE_SW_PAGE_FAULTS,
	SONDE_SW_CONTEXT_SWITCHES,
	SONDE_SW_CPU_MIGRATIONS,
	SONDE_SW_PAGE_FAULTS_MIN,
	SONDE_SW_PAGE_FAULTS_MAJ,
	SONDE_SW_ALIGNMENT_FAULTS,
	SONDE_SW_EMULATION_FAULTS,
	SONDE_SW_DUMMY,
	SONDE_SW_BPF_OUTPUT,
	SONDE_SW_CGROUP_SWITCHES,
	SONDE_SW_COUNT
};

/* attr.sample_type */
enum sonde_sample_bit {
	SONDE_SAMPLE_IP = 1 << 0,
	SONDE_SAMPLE_TID = 1 << 1,
	SONDE_SAMPLE_TIME = 1 << 2,
	SONDE_SAMPLE_ADDR = 1 << 3,
	SONDE_SAMPLE_READ = 1 << 4,
	SONDE_SAMPLE_CALLCHAIN = 1 << 5,
	SONDE_SAMPLE_ID = 1 << 6,
	SONDE_SAMPLE_CPU = 1 << 7,
	SONDE_SAMPLE_PERIOD = 1 << 8,
	SONDE_SAMPLE_STREAM_ID = 1 << 9,
	SONDE_SAMPLE_RAW = 1 << 10,
	SONDE_SAMPLE_BRANCH_STACK = 1 << 11,
	SONDE_SAMPLE_REGS_USER = 1 << 12,
	SONDE_SAMPLE_STACK_USER = 1 << 13,
	SONDE_SAMPLE_WEIGHT = 1 << 14,
	SONDE_SAMPLE_DATA_SRC = 1 << 15,
	SONDE_SAMPLE_IDENTIFIER = 1 << 16,
	SONDE_SAMPLE_TRANSACTION = 1 << 17,
	SONDE_SAMPLE_REGS_INTR = 1 << 18,
	SONDE_SAMPLE_PHYS_ADDR = 1 << 19,
	SONDE_SAMPLE_AUX = 1 << 20,
	SONDE_SAMPLE_CGROUP = 1 << 21,
	SONDE_SAMPLE_DATA_PAGE_SIZE = 1 << 22,
	SONDE_SAMPLE_CODE_PAGE_SIZE = 1 << 23,
	SONDE_SAMPLE_WEIGHT_STRUCT = 1 << 24
};

/* attr.read_format */
enum sonde_read_bit {
	SONDE_READ_ENABLED = 1,
	SONDE_READ_RUNNING = 2,
	SONDE_READ_ID = 4,
	SONDE_READ_GROUP = 8,
	SONDE_READ_LOST = 16
};

/* Bit numbers in attr.flags; precise_ip is two bits wide. */
enum sonde_attr_flag {
	SONDE_FLAG_DISABLED = 0,
	SONDE_FLAG_INHERIT = 1,
	SONDE_FLAG_PINNED = 2,
	SONDE_FLAG_EXCLUSIVE = 3,
	SONDE_FLAG_EXCLUDE_USER = 4,
	SONDE_FLAG_EXCLUDE_KERNEL = 5,
	SONDE_FLAG_EXCLUDE_HV = 6,
	SONDE_FLAG_EXCLUDE_IDLE = 7,
	SONDE_FLAG_MMAP = 8,
	SONDE_FLAG_COMM = 9,
	SONDE_FLAG_FREQ = 10,
	SONDE_FLAG_INHERIT_STAT = 11,
	SONDE_FLAG_ENABLE_ON_EXEC = 12,
	SONDE_FLAG_TASK = 13,
	SONDE_FLAG_WATERMARK = 14,
	SONDE_FLAG_PRECISE_IP = 15, /* bits 15 and 16 */
	SONDE_FLAG_MMAP_DATA = 17,
	SONDE_FLAG_SAMPLE_ID_ALL = 18,
	SONDE_FLAG_EXCLUDE_HOST = 19,
	SONDE_FLAG_EXCLUDE_GUEST = 20,
	SONDE_FLAG_EXCLUDE_CALLCHAIN_KERNEL = 21,
	SONDE_FLAG_EXCLUDE_CALLCHAIN_USER = 22,
	SONDE_FLAG_MMAP2 = 23,
	SONDE_FLAG_COMM_EXEC = 24,
	SONDE_FLAG_USE_CLOCKID = 25,
	SONDE_FLAG_CONTEXT_SWITCH = 26,
	SONDE_FLAG_WRITE_BACKWARD = 27,
	SONDE_FLAG_NAMESPACES = 28,
	SONDE_FLAG_KSYMBOL = 29,
	SONDE_FLAG_BPF_EVENT = 30,
	SONDE_FLAG_AUX_OUTPUT = 31,
	SONDE_FLAG_CGROUP = 32,
	SONDE_FLAG_TEXT_POKE = 33,
	SONDE_FLAG_BUILD_ID = 34,
	SONDE_FLAG_INHERIT_THREAD = 35,
	SONDE_FLAG_REMOVE_ON_EXEC = 36,
	SONDE_FLAG_SIGTRAP = 37,
	SONDE_FLAG_DEFER_CALLCHAIN = 38,
	SONDE_FLAG_DEFER_OUTPUT = 39
};

struct sonde_attr {
	uint32_t type; /* enum sonde_attr_type or a PMU's number */
	uint32_t size; /* bytes, according to the writer of the file; 0 in very old files */
	uint64_t config;
	uint64_t sample_period; /* in events; or in Hz when SONDE_FLAG_FREQ is set */
	uint64_t sample_type; /* enum sonde_sample_bit */
	uint64_t read_format; /* enum sonde_read_bit */
	uint64_t flags; /* bits of enum sonde_attr_flag */
	uint32_t wakeup_events; /* or wakeup_watermark in bytes with SONDE_FLAG_WATERMARK */
	uint32_t bp_type;
	uint64_t config1; /* or bp_addr */
	uint64_t config2; /* or bp_len */
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint16_t reserved; /* 0 today; a read value is kept */
	uint32_t aux_sample_size;
	uint32_t aux_action;
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
};

static inline int sonde_attr_has(const struct sonde_attr *attr, enum sonde_attr_flag flag)
{
	return (int)(attr->flags >> flag & 1);
}

#ifdef __cplusplus
}
#endif

#endif
