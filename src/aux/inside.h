/* SPDX-License-Identifier: MIT */
/* Private to aux: its parts. */
#ifndef SONDE_AUX_INSIDE_H
#define SONDE_AUX_INSIDE_H

#include "aux/aux.h"
#include "aux/trail.h"
#include "core/index.h"
#include "frame/code.h"
#include "pt/place.h"
#include "record/typed.h"

#include <sonde/pt.h>

#include <pthread.h>

/* The trace of an AUXTRACE record. */
struct aux_piece {
	struct span bytes;
	uint64_t offset; /* in the AUX area */
	uint32_t idx; /* of its queue */
	int32_t tid, cpu; /* -1: any */
	size_t next; /* piece of the queue; AUX_NO_PIECE: none */
	bool sampled; /* of a sample, not of an AUXTRACE record */
};

#define AUX_NO_PIECE SIZE_MAX

#define SEGMENT_BYTES (32u << 10) /* of trace, at least, in a segment */

/* An AUX record with the flag TRUNCATED. */
struct aux_lost {
	uint64_t time; /* ns */
	uint32_t pid, tid, cpu;
};

/* The thread and code of a queue from a time on. */
struct aux_range {
	uint64_t time; /* ns */
	uint32_t pid, tid;
	uint32_t space; /* in struct aux_code */
};

/* The trace of a processor or a thread. */
struct aux_queue {
	uint32_t idx;
	int32_t tid, cpu; /* -1: any */
	uint32_t pid; /* of tid */
	size_t first, last; /* its pieces */
	struct span bytes;
	uint8_t *joined; /* NULL: bytes are the recording's */
	struct aux_range *ranges; /* in order of time; at least one */
	size_t nranges, ranges_cap;
};

/* Numbers of a queue that do not depend on its packets alone. */
struct aux_tally {
	uint64_t sampled; /* instructions executed at the last sample of instructions */
	/* At the last sample with cycles: of branches, of instructions. */
	uint64_t ipc_insns[2], ipc_cycles[2];
	uint64_t cycles, cycle_insns; /* cycles and instructions at the last sample of cycles */
	uint64_t time; /* the latest time so far, ns */
	uint64_t skip; /* events left that make no sample */
	uint64_t cbr; /* the last ratio */
	bool psb; /* there was a PSB */
	bool guest; /* a guest runs */
	bool lost_guest; /* its code is unknown, and there was an error for that */
	/* With Event Trace: whether interrupts are enabled, as in perf not before the first packet
	   says so; whether there was one; whether the next branch changed the flag. */
	bool interrupts, has_interrupts, toggled;
	bool toggles; /* the instruction at toggles_at changes it */
	uint64_t toggles_at;
	bool aborts; /* the next branch is the abort of a transaction */
	struct pt_ticks ticks;
};

struct aux_segment {
	size_t queue;
	struct pt_place start;
	struct aux_tally tally; /* at its start */
	/* As they were when the segment first came to each of its threads. */
	struct trails trails;
	size_t range; /* of the queue, at its start */
	uint64_t end; /* a flow stops after the first good PSB+ from this offset on */
	uint64_t records;
	uint64_t last; /* time of its last record, ns */
	struct aux_pebs *pebs; /* the record that is open at its start; NULL: none */
	struct aux_room *kept; /* its records, if they are few; NULL: it is followed again */
};

/* The clock: TSC to ns. */
struct aux_clock {
	uint64_t zero, mult;
	unsigned shift;
};

static inline uint64_t aux_ns(const struct aux_clock *c, uint64_t tsc)
{
	uint64_t whole = tsc >> c->shift;
	uint64_t rest = tsc & (((uint64_t)1 << c->shift) - 1);

	return c->zero + whole * c->mult + (rest * c->mult >> c->shift);
}

/* Converts a time back, to the first tick that is not before it. */
uint64_t aux_tsc(const struct aux_clock *c, uint64_t ns);

/* Kinds of samples; each is at most one event. */
enum aux_kind {
	AUX_BRANCHES,
	AUX_INSTRUCTIONS,
	AUX_CYCLES,
	AUX_TRANSACTIONS,
	AUX_PTWRITE,
	AUX_CBR,
	AUX_PSB,
	AUX_MWAIT,
	AUX_PWRE,
	AUX_EXSTOP,
	AUX_PWRX,
	AUX_EVT,
	AUX_IFLAG,
	AUX_KINDS
};

#define AUX_NO_EVENT UINT32_MAX

/* Numbers of AUX_OUTPUT_HW_ID: bits of a mask in PEBS records. */
#define AUX_OUTPUTS 64u

/* Blocks of a PEBS record. */
enum aux_pebs_block {
	AUX_PEBS_BASIC,
	AUX_PEBS_REGS,
	AUX_PEBS_MEMORY,
	AUX_PEBS_BRANCHES, /* the newest ones, .. */
	AUX_PEBS_BRANCHES_2, /* .. older ones, .. */
	AUX_PEBS_BRANCHES_3, /* .. and the oldest */
	AUX_PEBS_XMM,
	AUX_PEBS_BLOCKS
};

/* The blocks of a PEBS record so far. */
struct aux_pebs {
	bool open; /* its end was not yet */
	uint32_t has[AUX_PEBS_BLOCKS]; /* items by number, bits */
	uint64_t items[AUX_PEBS_BLOCKS][32];
};

/* Samples of an event that opening has counted. */
struct aux_count {
	uint64_t samples, period;
};

/* A sample of the recording, and what a trace says about the way to it. */
struct aux_past {
	struct aux_point point;
	uint32_t nchain, nbranches;
	size_t at; /* of its words: the chain, then three for each branch */
};

struct aux_pasts {
	struct aux_past *items; /* sorted by time, thread and processor after aux_pasts_begin */
	size_t n, cap;
	uint64_t *words;
	size_t nwords, words_cap;
};

void aux_pasts_fini(struct aux_pasts *p);
/* Sorts the samples, or forgets them if the letters G and L cannot be followed. SONDE_ENOMEM. */
int aux_pasts_begin(struct aux *a);
struct aux_follower;
/* A queue is followed to a time: keeps what its samples before that time need. SONDE_ENOMEM. */
int aux_pasts_reach(struct aux_follower *f, uint64_t time);

/* The code of a thread as long as it does not change. */
struct aux_space {
	struct timeline_view view;
	struct timeline_view guest; /* zero: guests are not known */
	size_t pokes; /* so many of the pokes are done */
};

/* A unit of the engine: a mapping of an object, or the kernel. */
struct aux_unit {
	bool kernel;
	/* A mapping: object, and its addresses there, both inclusive. The kernel: its root, and the
	   epoch and the pokes of a space that has it. */
	uint32_t object, epoch;
	uint64_t first, last;
	uint32_t space; /* of the kernel */
};

/* The code of all address spaces of a recording. */
struct aux_code {
	struct aux_space *spaces;
	size_t nspaces, cap;
	pthread_mutex_t finding; /* for the next three */
	struct aux_unit *units;
	size_t nunits, units_cap;
	struct index by_unit;
	const struct frame_resolver *frames;
	struct frame_code *code;
	struct sonde_pt_image *image;
	struct sonde_pt_graph *graph;
};

int aux_code_init(struct aux_code *c, const struct frame_resolver *frames);
void aux_code_fini(struct aux_code *c);
/* Sets *space to the number of an address space. SONDE_ENOMEM. */
int aux_code_space(struct aux_code *c, const struct aux_space *key, uint32_t *space);

struct aux {
	struct sonde_record_intel_pt info;
	bool has_info;
	struct aux_piece *pieces; /* in the order of the recording */
	size_t npieces, pieces_cap;
	struct timeline_thread *starts; /* of ITRACE_START records */
	size_t nstarts, starts_cap;
	struct aux_pasts pasts;
	struct aux_lost *lost; /* in the order of the recording */
	size_t nlost, lost_cap;
	uint64_t skipped; /* bytes of queues after errors */
	struct aux_setup setup;
	struct aux_clock clock;
	const struct sonde_attr *attr; /* of intel_pt */
	bool timeless, event_trace;
	bool cycles; /* there are CYC packets */
	uint64_t khz; /* frequency of the TSC */
	uint64_t period; /* of instructions: their number, or TSC ticks */
	struct sonde_pt_flow_options flow; /* of every flow */
	struct aux_queue *queues;
	size_t nqueues, queues_cap;
	struct index by_idx; /* of queues */
	struct aux_segment *segments;
	size_t nsegments, segments_cap;
	struct aux_event *events; /* of the kinds that are wanted, then those of PEBS records */
	char names[AUX_KINDS][32];
	size_t nevents;
	uint32_t event_of[AUX_KINDS]; /* AUX_NO_EVENT: not wanted */
	uint32_t output_of[AUX_OUTPUTS]; /* 1 + the recording's event, by number; 0: none */
	size_t outputs; /* in events: the first one of PEBS records */
	uint64_t unnamed; /* PEBS records of no known event */
	bool batches; /* branches that need no steps are followed in batches */
	bool counts; /* opening only counts these */
	uint16_t flags_of[256]; /* AUX_FLAG_* by class, as in struct pt_branch */
	uint64_t errors;
	size_t kept; /* bytes of the records that segments keep */
	struct aux_code code;
};

/*
 * Sets *out to the number of bytes at the end of `before` that `after` begins with, if there is a PSB
 * among them; else to 0. SONDE_ENOMEM.
 */
int aux_overlap(struct span before, struct span after, size_t *out);

/* filter.c */
struct aux_filter {
	uint64_t start, size;
	const char *path; /* not terminated */
	size_t path_size; /* 0: of the kernel */
};
#define AUX_FILTER_OTHER 2 /* it does not limit tracing to a range */
/* Parses the next filter of a text, and moves *p past it. 1; 0: the end; AUX_FILTER_OTHER. */
int aux_filter_next(const char **p, const char *end, struct aux_filter *out);
/* Sets the filters of flows. SONDE_ENOMEM, or a failure of reading again. */
int aux_filters_set(struct aux *a);

/* lost.c */
int aux_lost_add(
        struct aux *a, const struct record *r, bool swap, const struct record_trailer *trailer);
/* The errors of lost traces: a segment after all others. */
size_t aux_lost_errors(const struct aux *a);
struct aux_segment_times aux_lost_times(const struct aux *a);
int aux_lost_read(const struct aux *a, struct aux_room *room);

/* queue.c */
int aux_queues_make(struct aux *a);
void aux_queues_free(struct aux *a);

/* event.c */
int aux_events_make(struct aux *a);

/* aux.c: adds the changes of code from a range on; those before the flow's position apply at once. */
int aux_add_moves(
        const struct aux *a, const struct aux_queue *q, size_t range, struct sonde_pt_flow *flow);
/* Whether the letters c and r select a branch. */
static inline bool aux_is_chosen(const struct itrace *w, uint32_t flags)
{
	if (!w->calls && !w->returns) {
		return true;
	}
	return (w->calls && (flags & (AUX_FLAG_CALL | AUX_FLAG_ASYNC | AUX_FLAG_END)) != 0) ||
	       (w->returns && (flags & (AUX_FLAG_RETURN | AUX_FLAG_BEGIN)) != 0);
}

/* Sets flags_of. */
void aux_flags_make(struct aux *a);

/* follow.c */

/* Codes and texts of errors are perf's. */
enum aux_error {
	AUX_ERROR_PACKET = 3,
	AUX_ERROR_CODE = 5,
	AUX_ERROR_MISMATCH = 6,
	AUX_ERROR_OVERFLOW = 7,
	AUX_ERROR_LOST = 8,
	AUX_ERROR_LOOP = 10
};
enum aux_error aux_error_code(int error); /* of enum sonde_pt_error */
const char *aux_error_text(enum aux_error code);

struct aux_follower {
	const struct aux *a;
	const struct aux_queue *queue;
	struct sonde_pt_flow *flow;
	struct aux_tally tally;
	struct trails trails; /* of the threads so far, if they are wanted */
	size_t thread; /* in trails: of the current step */
	struct trails *keeps; /* of the segment that is found; NULL: none */
	const struct trails *kept; /* of the segment that is read; NULL: none */
	size_t range; /* of the queue, for the current step */
	struct aux_pasts *pasts; /* are filled; NULL: not */
	size_t past; /* the next one */
	struct aux_room *room; /* NULL: samples are only counted */
	size_t room_max; /* bytes after which they are only counted; 0: any number */
	uint64_t made; /* records that the room has got */
	struct sonde_pt_step waiting; /* a branch, until it is known whether tracing ended there, or
	                                 a guest was entered or left */
	uint32_t waiting_flags;
	bool waits;
	struct sonde_pt_step cause; /* a CFE, until the branch that it belongs to */
	bool has_cause;
	struct aux_pebs pebs;
	struct pt_passed seen; /* of the flow's branches without steps, those that are counted */
	uint64_t records, errors;
	uint64_t skipped; /* bytes of packets after errors */
	bool failed; /* an error is what the next gap follows; a trace can begin with a gap too */
	struct aux_count *counts; /* by event; NULL: samples are not counted */
	uint64_t unnamed; /* PEBS records of no known event */
};

/* Moves to the range of the queue at a time. SONDE_ENOMEM. */
int aux_follow_range(struct aux_follower *f, uint64_t tsc);
/* Makes the trail of the range's thread the current one. SONDE_ENOMEM. */
int aux_follow_thread(struct aux_follower *f);
/* Follows a flow to its pause, or to the end. 0 or a negative status. */
int aux_follow(struct aux_follower *f);

/* Adds the samples of an EVENT. */
int aux_follow_event(struct aux_follower *f, const struct sonde_pt_step *s);
/* Adds an error of enum sonde_pt_error, if it is wanted. */
int aux_follow_error(struct aux_follower *f, int error, uint64_t ip, uint64_t tsc);
/* Whether `s` of the options lets an event pass; the first ones make no sample. */
bool aux_follow_passes(struct aux_follower *f, enum aux_kind kind);

/* quick.c: finds the segments of a queue, and reads one, without code. */
int aux_quick_scan(struct aux *a, struct aux_follower *f, size_t queue);
int aux_quick_read(struct aux_follower *f, const struct aux_segment *s);
/* room.c */
/* Whether a room keeps no more records. */
bool aux_room_is_full(const struct aux_follower *f);
size_t aux_room_bytes(const struct aux_room *room);
/* Appends the records of another room. SONDE_ENOMEM. */
int aux_room_append(struct aux_room *room, const struct aux_room *from);
/* Returns a copy without spare memory; NULL: out of memory. */
struct aux_room *aux_room_copy(const struct aux_room *room);

/* pebs.c */
/* Adds a packet of a PEBS record; its end makes the samples. */
int aux_pebs_event(struct aux_follower *f, const struct sonde_pt_step *s);
/* Keeps the record that is open where a segment begins. SONDE_ENOMEM. */
int aux_pebs_keep(const struct aux_follower *f, struct aux_segment *s);
/* Reports the records that name no event of the recording. */
void aux_pebs_report(const struct aux *a);

/* sample.c */
struct aux_sample {
	enum aux_kind kind;
	uint64_t ip, addr, tsc, period;
	const uint8_t *raw;
	size_t raw_size;
	struct aux_extra extra;
};
/* follow.c: adds a branch, if it is wanted. */
int aux_branch_add(struct aux_follower *f, const struct aux_sample *s);
/* Makes a branch that of an abort, and adds the sample of the transaction. */
int aux_abort_add(struct aux_follower *f, struct aux_sample *branch);
int aux_sample_add(struct aux_follower *f, const struct aux_sample *s);
/* Counts a sample of an event, and returns its place in the order, ns. */
uint64_t aux_sample_count(struct aux_follower *f, uint32_t event, uint64_t tsc, uint64_t period);
/* Returns room for a record of `size` bytes, and for the extra that follows it; NULL: out of memory. */
uint8_t *aux_record_make(struct aux_room *room, uint64_t time, uint32_t event, uint32_t size);
void aux_header_put(uint8_t *p, uint32_t type, uint32_t misc, uint32_t size, bool swap);
/* Sets the words of a call chain at an address; returns their number. */
size_t aux_chain_words(const struct aux_follower *f, uint64_t ip, uint64_t *out);
const struct trail *aux_trail(const struct aux_follower *f);
/* An AUXTRACE_ERROR record. */
struct aux_error_of {
	uint32_t code;
	const char *text;
	uint32_t cpu, pid, tid;
	uint64_t ip, time; /* ns */
};
/* order: its place in the order, ns. SONDE_ENOMEM. */
int aux_error_write(
        const struct aux *a, struct aux_room *room, const struct aux_error_of *e, uint64_t order);
/*
 * Adds samples of n branches of a step, without those that the letters c and r leave out. Only where
 * the samples have no parts of varying size.
 */
int aux_branches_add(struct aux_follower *f, const struct sonde_pt_step *s,
        const struct pt_branch *branches, size_t n);
/* Counts samples of branches, the latest one at a time, that are not made. */
void aux_branches_count(struct aux_follower *f, uint64_t n, uint64_t tsc);
int aux_error_add(
        struct aux_follower *f, uint32_t code, const char *text, uint64_t ip, uint64_t tsc);

#endif
