/* SPDX-License-Identifier: MIT */
/*
 * Samples from Intel PT traces of a recording. Records are added while the recording is read; then
 * aux_open follows every trace once and finds segments: parts of a trace that can be followed alone.
 * The samples of a segment are made again each time it is read, so that memory does not grow with
 * the number of samples.
 *
 *	AUXTRACE, AUX ..   aux_add        queues: bytes of a processor or thread
 *	                   aux_open       segments of each queue, counts
 *	                   aux_read       records of a segment, in its order
 *
 * After aux_open any number of threads may read segments, each with its own room.
 */
#ifndef SONDE_AUX_AUX_H
#define SONDE_AUX_AUX_H

#include "aux/itrace.h"
#include "frame/frame.h"
#include "record/record.h"

#include <sonde/pt_packet.h>

struct aux;

/* An event whose samples are made. */
struct aux_event {
	const char *name;
	struct sonde_attr attr;
	struct record_plan plan;
	uint64_t samples, period; /* of the whole recording */
	/* The number, in the recording, of an event whose samples are in the trace; AUX_MADE_EVENT:
	   an event that only traces have. */
	uint32_t recorded;
	uint64_t id; /* of such an event, in the recording; 0: none */
};

#define AUX_MADE_EVENT UINT32_MAX

struct aux_setup {
	struct itrace itrace;
	bool swap; /* records have the other byte order */
	struct sonde_pt_cpu cpu; /* that was traced, for its errata */
	const struct timeline *timeline; /* sealed */
	const struct frame_resolver *frames; /* sealed */
	const struct sonde_attr *attrs; /* of the recording's events; [nattrs] */
	const struct record_plan *plans;
	const uint64_t *ids; /* the first one of each event; 0: none */
	size_t nattrs;
	bool guests; /* the timeline has guests: their code is known */
	struct diag_sink *diags;
};

struct aux *aux_new(void); /* NULL: out of memory */
void aux_free(struct aux *a); /* NULL is fine */

/*
 * Adds a record of type AUXTRACE_INFO, AUXTRACE, AUX, ITRACE_START or TEXT_POKE; others are ignored.
 * trace: the bytes that follow an AUXTRACE record; trailer: of the kernel's records. All bytes must
 * remain valid. SONDE_ENOMEM.
 */
int aux_add(struct aux *a, const struct record *r, bool swap, struct span trace,
        const struct record_trailer *trailer);

/*
 * Adds a number of AUX_OUTPUT_HW_ID: PEBS records with it are samples of an event of the recording.
 * false: the number is too large.
 */
bool aux_add_output(struct aux *a, uint64_t number, uint32_t event);

/* Adds the trace in a sample (PERF_SAMPLE_AUX), whose bytes must remain valid. SONDE_ENOMEM. */
int aux_add_sample(struct aux *a, const struct sonde_sample *sample);

/* A sample of the recording that the letters G and L are for. */
struct aux_point {
	uint64_t time; /* ns */
	uint32_t tid, cpu;
};

/* Adds such a sample, before aux_open. SONDE_ENOMEM. */
int aux_add_point(struct aux *a, const struct aux_point *point);

/* Whether AUXTRACE_INFO, which comes before samples, says that traces of Intel PT follow. */
bool aux_has_info(const struct aux *a);
/* Whether there are traces that can be decoded. */
bool aux_has_traces(const struct aux *a);

/* The threads of queues, for timeline_add_thread: tid of queue i; false: no more. */
bool aux_thread(const struct aux *a, size_t i, uint32_t *tid);

/* Follows all traces. SONDE_ENOMEM. */
int aux_open(struct aux *a, const struct aux_setup *setup);

/* Those that only traces have, then those of the recording whose samples are in traces. */
size_t aux_events(const struct aux *a);
const struct aux_event *aux_event(const struct aux *a, size_t i);

/* Whether samples have no times: each queue's are in its order, one queue after the other. */
bool aux_timeless(const struct aux *a);

uint64_t aux_errors(const struct aux *a); /* in all traces */

/* Bytes of traces that were lost, or could not be decoded. */
struct aux_losses {
	uint64_t bytes; /* of all traces, and `missing` */
	uint64_t missing; /* between AUXTRACE records */
	uint64_t skipped; /* after errors */
};
struct aux_losses aux_losses(const struct aux *a);

/* The calls and branches that led to a sample of the recording; words are in the host's order. */
struct aux_way {
	const uint64_t *chain, *branches; /* three words for each branch: from, to, 0 */
	size_t nchain, nbranches;
};
/* false: the traces say nothing about it. */
bool aux_way(const struct aux *a, const struct aux_point *point, struct aux_way *out);

/* Segments, queue after queue, each in order. Times are ns; all of its records are in first..last. */
struct aux_segment_times {
	uint64_t first, last;
	uint64_t records; /* samples and errors */
};
size_t aux_segments(const struct aux *a);
bool aux_is_one_queue(const struct aux *a); /* segments do not overlap */
struct aux_segment_times aux_segment_times(const struct aux *a, size_t segment);

#define AUX_ERROR_EVENT UINT32_MAX

/* A record: header and body, as in a file, then a struct aux_extra for samples. */
struct aux_made {
	uint64_t time; /* its place in the order, ns: never falls within a queue */
	size_t at; /* in the room's bytes */
	size_t first, nbranches; /* of a run, in the room's branches; nbranches 0: no run */
	uint32_t event; /* of aux_event; AUX_ERROR_EVENT: AUXTRACE_ERROR */
	uint32_t size; /* header and body */
};

/* A sample of a branch in a run. */
struct aux_branch {
	uint64_t ip, addr;
	uint32_t flags; /* AUX_FLAG_* */
	uint32_t insn_size; /* bytes; 0: no instruction */
};

/*
 * What a sample has besides its record; directly after it. A record may be a run: samples of
 * branches at the same time, of which the record is the first one.
 */
struct aux_extra {
	uint32_t flags; /* AUX_FLAG_* */
	uint32_t insn_size; /* bytes; 0: no instruction */
	uint64_t insns, cycles; /* since the last such sample with cycles; 0: unknown */
	/* Calls around a branch, without itself, but with the one that it makes or ends; only with
	   `depth` of the options. */
	uint32_t depth;
	uint32_t unused;
	uint64_t addr; /* where control went; the record has it only in samples of branches */
	/* A run: all its branches, the first one too; set by aux_record. */
	const struct aux_branch *branches;
	size_t nbranches; /* 0: no run */
};

#define AUX_FLAG_BRANCH    (1u << 0)
#define AUX_FLAG_CALL      (1u << 1)
#define AUX_FLAG_RETURN    (1u << 2)
#define AUX_FLAG_COND      (1u << 3)
#define AUX_FLAG_SYSCALL   (1u << 4)
#define AUX_FLAG_ASYNC     (1u << 5)
#define AUX_FLAG_INTERRUPT (1u << 6)
#define AUX_FLAG_ABORT     (1u << 7)
#define AUX_FLAG_BEGIN     (1u << 8) /* the trace begins */
#define AUX_FLAG_END       (1u << 9) /* the trace ends */
#define AUX_FLAG_IN_TX     (1u << 10)
#define AUX_FLAG_VM_ENTRY  (1u << 11) /* a guest begins, or continues, to run */
#define AUX_FLAG_VM_EXIT   (1u << 12)
#define AUX_FLAG_DISABLED  (1u << 13) /* interrupts are disabled */
#define AUX_FLAG_TOGGLE    (1u << 14) /* that changes here */

/* Records of segments, by one reader. Empty when zero-initialised. */
struct aux_room {
	uint8_t *bytes;
	size_t nbytes, bytes_cap;
	struct aux_made *made;
	size_t nmade, made_cap;
	struct aux_branch *branches;
	size_t nbranches, branches_cap;
	uint64_t run_tsc; /* of the last run ... */
	const void *run_range; /* ... its thread, and whether a guest ran */
	bool run_guest;
};

void aux_room_fini(struct aux_room *room);
void aux_room_clear(struct aux_room *room);

/* Returns record i, after the last segment was read. */
const uint8_t *aux_record(struct aux_room *room, size_t i);

/* The misc of a branch's record: where its code is. */
static inline uint32_t aux_misc(uint64_t ip, uint64_t addr, bool guest)
{
	bool kernel = (ip != 0 ? ip : addr) >> 63 != 0;

	if (guest) {
		return kernel ? MISC_GUEST_KERNEL : MISC_GUEST_USER;
	}
	return kernel ? MISC_KERNEL : MISC_USER;
}

static inline bool aux_misc_is_guest(uint32_t cpumode)
{
	return cpumode == MISC_GUEST_KERNEL || cpumode == MISC_GUEST_USER;
}

/*
 * Appends the records of a segment. SONDE_ENOMEM. Records move when more are added: read them after
 * the last segment.
 */
int aux_read(const struct aux *a, size_t segment, struct aux_room *room);

/* ---- the steps of a decoder, for a log ---- */

struct aux_watched_clock {
	uint64_t hz; /* of the TSC */
	uint64_t max_nonturbo_ratio;
	unsigned mtc_shift;
	uint32_t tsc_ctc_n, tsc_ctc_d;
};

struct aux_watched_queue {
	uint32_t number;
	int32_t cpu; /* -1: any */
	uint32_t pid, tid; /* at its start */
	struct span bytes;
};

struct aux_watched_insn {
	uint64_t ip;
	const uint8_t *bytes;
	uint32_t size;
	int32_t disp; /* of direct branches */
	uint8_t class, special; /* enum pt_class, enum pt_special */
};

struct aux_watched_error {
	int32_t cpu;
	uint32_t pid, tid, code;
	uint64_t ip, time;
	const char *text;
};

/* Functions that receive the steps of a queue, in their order; a negative result stops. */
struct aux_watcher {
	void *arg;
	int (*begin)(void *arg, const struct aux_watched_queue *queue);
	int (*packets)(void *arg, uint64_t end); /* the packets up to this offset were read */
	int (*time)(void *arg, uint64_t tsc); /* a packet changed the time */
	int (*insn)(void *arg, const struct aux_watched_insn *insn); /* was executed */
	int (*error)(void *arg, const struct aux_watched_error *error);
};

struct aux_watched_clock aux_watched_clock(const struct aux *a);
size_t aux_queue_count(const struct aux *a);
/* Converts ns to TSC ticks, rounded down. */
uint64_t aux_time_tsc(const struct aux *a, uint64_t ns);
/* Follows a queue from its start. SONDE_ENOMEM, or the negative result of a function of w. */
int aux_watch(const struct aux *a, size_t queue, const struct aux_watcher *w);

#endif
