/* SPDX-License-Identifier: MIT */
/*
 * The interface of filters for `sonde script --dlfilter`: shared objects that select samples. It is
 * binary compatible with that of `perf script` (version 2), so one file works in both tools; the
 * names are those that perf-dlfilter(1) describes. Source of the layout: that page, and observed
 * behaviour.
 *
 *	#include <sonde/preview/dlfilter.h>
 *
 *	struct perf_dlfilter_fns perf_dlfilter_fns;
 *
 *	int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
 *	{
 *		return sample->period < 1000; (1: leave the sample out)
 *	}
 *
 * A filter defines the functions below that it needs. The tool sets the members of
 * `perf_dlfilter_fns`, if the filter defines it, before it calls any of them. All calls come from
 * one thread, in order of time.
 */
#ifndef SONDE_PREVIEW_DLFILTER_H
#define SONDE_PREVIEW_DLFILTER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* perf_dlfilter_sample has machine_pid and vcpu. */
#define PERF_DLFILTER_HAS_MACHINE_PID

/* Bits of perf_dlfilter_sample.flags; none is set for recorded samples. */
enum {
	PERF_DLFILTER_FLAG_BRANCH = 1 << 0,
	PERF_DLFILTER_FLAG_CALL = 1 << 1,
	PERF_DLFILTER_FLAG_RETURN = 1 << 2,
	PERF_DLFILTER_FLAG_CONDITIONAL = 1 << 3,
	PERF_DLFILTER_FLAG_SYSCALLRET = 1 << 4,
	PERF_DLFILTER_FLAG_ASYNC = 1 << 5,
	PERF_DLFILTER_FLAG_INTERRUPT = 1 << 6,
	PERF_DLFILTER_FLAG_TX_ABORT = 1 << 7,
	PERF_DLFILTER_FLAG_TRACE_BEGIN = 1 << 8,
	PERF_DLFILTER_FLAG_TRACE_END = 1 << 9,
	PERF_DLFILTER_FLAG_IN_TX = 1 << 10,
	PERF_DLFILTER_FLAG_VMENTRY = 1 << 11,
	PERF_DLFILTER_FLAG_VMEXIT = 1 << 12
};

/* As in linux/perf_event.h. */
struct perf_branch_entry;
struct perf_event_attr;

/*
 * A sample, valid during the call. Values that were not recorded are 0; id, stream_id, time and cpu
 * are -1, and data_src is 0x5080021: nothing is known.
 */
struct perf_dlfilter_sample {
	uint32_t size; /* of this structure: later versions may have more members */
	uint16_t ins_lat; /* second part of the weight */
	uint16_t p_stage_cyc; /* third part of the weight */
	uint64_t ip;
	int32_t pid;
	int32_t tid;
	uint64_t time; /* ns */
	uint64_t addr; /* of the data */
	uint64_t id; /* of the event */
	uint64_t stream_id;
	uint64_t period;
	uint64_t weight;
	uint64_t transaction;
	uint64_t insn_cnt; /* instructions and cycles since the last sample; only of traces */
	uint64_t cyc_cnt;
	int32_t cpu;
	uint32_t flags; /* PERF_DLFILTER_FLAG_... */
	uint64_t data_src;
	uint64_t phys_addr;
	uint64_t data_page_size; /* bytes */
	uint64_t code_page_size; /* bytes */
	uint64_t cgroup;
	uint8_t cpumode; /* 1: kernel, 2: user, ... */
	uint8_t addr_correlates_sym; /* resolve_addr() can be called */
	uint16_t misc; /* of the record's header */
	uint32_t raw_size; /* bytes */
	const void *raw_data;
	uint64_t brstack_nr; /* entries */
	const struct perf_branch_entry *brstack;
	uint64_t raw_callchain_nr; /* entries, with marks */
	const uint64_t *raw_callchain;
	const char *event; /* name */
	int32_t machine_pid; /* of the guest's process on the host; 0: the host itself */
	int32_t vcpu; /* of the guest; -1: none */
};

/* What is known about an address. */
struct perf_dlfilter_al {
	uint32_t size; /* of this structure */
	uint32_t symoff; /* bytes from the start of the symbol */
	const char *sym; /* NULL: unknown */
	uint64_t addr; /* in the object */
	uint64_t sym_start; /* in the object */
	uint64_t sym_end;
	const char *dso; /* NULL: nothing is mapped there */
	uint8_t sym_binding; /* STB_LOCAL, STB_GLOBAL or STB_WEAK of elf.h */
	uint8_t is_64_bit; /* of the object */
	uint8_t is_kernel_ip;
	uint32_t buildid_size; /* bytes; 0: unknown */
	uint8_t *buildid;
	/* Only resolve_ip() sets these: */
	uint8_t filtered; /* other filters leave the sample out */
	const char *comm; /* name of the thread */
	void *priv; /* for al_cleanup() */
};

/* The functions of the tool. Texts that they return are valid until the end of the run. */
struct perf_dlfilter_fns {
	/* Where the sample was; valid until the next call. */
	const struct perf_dlfilter_al *(*resolve_ip)(void *ctx);
	/* The same for sample->addr; NULL if addr_correlates_sym is not set. */
	const struct perf_dlfilter_al *(*resolve_addr)(void *ctx);
	/* The arguments of --dlarg, and their number. */
	char **(*args)(void *ctx, int *dlargc);
	/* Fills *al, whose size the filter has set. 0, or -1. */
	int32_t (*resolve_address)(void *ctx, uint64_t address, struct perf_dlfilter_al *al);
	/* The bytes of the instruction at sample->ip, and their number; NULL: unknown. */
	const uint8_t *(*insn)(void *ctx, uint32_t *length);
	/* The source file of sample->ip, and the line; NULL: unknown. */
	const char *(*srcline)(void *ctx, uint32_t *line_number);
	/* The attributes of the event. */
	struct perf_event_attr *(*attr)(void *ctx);
	/* Copies code at an address: the number of bytes; -1: it is not known. */
	int32_t (*object_code)(void *ctx, uint64_t ip, void *buf, uint32_t len);
	/*
	 * Call it after resolve_address(), to free what that may have allocated. NULL in perf
	 * before 6.6.
	 */
	void (*al_cleanup)(void *ctx, struct perf_dlfilter_al *al);
	void *(*reserved[119])(void *);
};

/*
 * The functions of a filter. `data` is what start stored in *data. start runs before all others,
 * stop after all; of the tool's functions only args can be called in both. They return 0, or a
 * negative number to end the run as failed. filter_event selects samples after all other filters,
 * filter_event_early before: 0 keeps the sample, 1 leaves it out, a negative number ends the run as
 * failed. filter_description returns a line of text, and may store more text.
 */
#pragma GCC visibility push(default)
extern struct perf_dlfilter_fns perf_dlfilter_fns; /* defined by the filter, set by the tool */
int start(void **data, void *ctx);
int stop(void *data, void *ctx);
int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
const char *filter_description(const char **long_description);
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
