/* SPDX-License-Identifier: MIT */
/*
 * A kernel to record from, played by the test itself: the other end of struct host_kernel.
 *
 *	fake_reset(&options);           a machine without events
 *	fake_kernel()                   the table of functions to give to the code under test
 *	fake_on_poll(step, arg)         what happens on the machine each time the recorder waits
 *
 * Rings are real ones in shared memory, with heads and tails as the kernel keeps them: a record
 * that does not fit is lost and counted, LOST is written when there is room again, and so on.
 * Nothing happens by itself: a test makes tasks run, exec, map files, sample and trace with the
 * functions below, and the fake writes what a kernel would write for the events that are enabled,
 * where they are enabled, and wakes who polls.
 *
 * What the AUX hardware of a cpu produces is a function of (cpu, position), see fake_pt_byte: Intel
 * PT packets. What of it went into an AUX area, and what did not and was declared lost, is kept
 * as a list of pieces.
 *
 * One fake in a program; not for several threads, except fake_page_write.
 */
#ifndef SONDE_TESTS_FAKE_H
#define SONDE_TESTS_FAKE_H

#include "capture/recorder.h"

#define FAKE_FIRST_FD 100000 /* no descriptor of this process */
#define FAKE_PAGE     ((size_t)4096)

struct fake_page;

/* Zero is a machine of one cpu that refuses nothing and has no AUX. */
struct fake_options {
	unsigned ncpus; /* 0: 1 */
	uint32_t aux_type; /* the PMU that has an AUX area; 0: none */
	bool aux_head_wraps; /* overwrite mode: aux_head stays below the area's size */
	uint32_t known_type; /* one more type of event that opens; 0: none */
	uint32_t attr_size; /* an older kernel: bytes of attr it knows, then E2BIG; 0: all */
	uint64_t unknown_flags, unknown_samples, unknown_reads; /* attrs with these: EINVAL */
	bool unprivileged; /* limits hold, and no tracepoints, no other tasks */
	uint64_t mlock_kb; /* of perf_event_mlock_kb; 0: 516 */
	uint64_t memlock; /* bytes of RLIMIT_MEMLOCK */
	unsigned open_limit; /* then EMFILE; 0: none */
	unsigned late; /* polls by which each wake-up is late */
	uint64_t watermark; /* bytes in a data ring that wake; 0: any */
	const struct fake_page *page; /* what control pages say first; NULL: nothing */
	/* what tests use to see that they would see it */
	bool ignore_enable; /* an AUX event that stopped stays off whatever is done */
	bool ignore_dummy; /* the dummy event yields no side-band */
};

enum fake_cap { /* bits of the control page's capabilities */
	FAKE_CAP_RDPMC = 1 << 2,
	FAKE_CAP_TIME = 1 << 3,
	FAKE_CAP_TIME_ZERO = 1 << 4,
	FAKE_CAP_TIME_SHORT = 1 << 5
};

void fake_reset(const struct fake_options *options);
void fake_end(void); /* frees all that is left */
const struct host_kernel *fake_kernel(void);

/*
 * step is called at each poll, before it answers; when it returns false the recording is over:
 * descriptor 0 of the poll, which is the recorder's stop, becomes readable.
 */
void fake_on_poll(bool (*step)(void *arg), void *arg);

/* ---- what the recorder did ---- */

struct fake_event {
	struct sonde_attr attr;
	pid_t pid; /* -1: all */
	int cpu; /* -1: all */
	int fd;
	uint64_t id;
	int group_fd; /* -1: alone */
	bool open, enabled;
	unsigned enables; /* times that it was enabled by ioctl */
	char filter[512];
	struct fake_ring *ring; /* its own or the one it was redirected to; NULL: none */
	uint64_t count, enabled_ns, running_ns; /* what read() says */
	uint64_t lost; /* its samples that found no room */
};

struct fake_ring {
	int fd; /* of the event that mapped it */
	uint8_t *map; /* the control page, then data */
	size_t map_size;
	uint64_t size; /* bytes of data */
	uint64_t lost; /* records that no LOST tells of yet */
	uint64_t lost_id;
	uint64_t sent, dropped; /* records that are in the ring, that found no room */
	unsigned wake_in; /* polls until a reader is woken + 1; 0: nothing to tell */
	/* the AUX area */
	uint8_t *aux;
	uint64_t aux_size, aux_head; /* of what was produced, visible or not */
	uint64_t aux_shown; /* head as user space sees it */
	uint64_t aux_woken; /* head when a reader was last woken */
	uint64_t aux_record; /* head of the last AUX record */
	uint64_t aux_flags; /* for the next AUX record */
	bool aux_overwrite;
	bool aux_stopped; /* was full: off until the event is enabled again */
};

size_t fake_events(void); /* opened so far, with those that were closed */
struct fake_event *fake_event(size_t i);
struct fake_event *fake_find(uint32_t type, uint64_t config, int cpu); /* open ones; NULL */
unsigned fake_open_fds(void);
uint64_t fake_locked(void); /* bytes that are mapped */

/* ---- what happens on the machine ---- */

void fake_run(int cpu, pid_t pid, pid_t tid); /* a task switches in; 0: the cpu idles */
void fake_fork(pid_t parent, pid_t child);
void fake_exec(pid_t pid, const char *comm); /* enables what waits for it */
void fake_comm(pid_t pid, const char *comm);
void fake_mmap(pid_t pid, uint64_t addr, uint64_t size, const char *file);
void fake_exit(pid_t pid);
void fake_offline(int cpu); /* its events stop, their descriptors hang up */

/*
 * One overflow of the event on the cpu where its task runs, in the kernel where the ip is of the
 * upper half: a sample of the bits that its
 * sample_type asks for, of which only IP, TID, TIME, ADDR, ID, CPU, PERIOD, CALLCHAIN, RAW and AUX
 * are known here. False when the event is not enabled or its ring is full.
 */
bool fake_sample(struct fake_event *event, uint64_t ip);

/* The AUX hardware of the cpu runs on and makes n bytes, if an enabled event lets it. */
void fake_trace(int cpu, uint64_t n);
/* An AUX record with these flags is next: PARTIAL, COLLISION, a format. */
void fake_aux_flags(int cpu, uint64_t flags);
/* The trace pauses: what was made becomes visible, as when a task is switched out. */
void fake_aux_flush(int cpu);

/* ---- what the hardware made ---- */

uint8_t fake_pt_byte(int cpu, uint64_t at);

struct fake_piece {
	int cpu;
	uint64_t made_at; /* position in what the cpu's hardware made */
	uint64_t size;
	uint64_t aux_at; /* position in the AUX area's stream; of what is lost: where it would be */
	bool lost; /* declared as TRUNCATED */
};

size_t fake_pieces(void);
const struct fake_piece *fake_piece(size_t i);
/* The byte of cpu's AUX stream at a position; -1: never was there. */
int fake_aux_byte(int cpu, uint64_t aux_at);
uint64_t fake_aux_end(int cpu); /* bytes that ever went into the cpu's AUX area */

/* ---- the control page of a counter ---- */

struct fake_page {
	uint32_t index;
	int64_t offset;
	uint64_t enabled, running;
	uint16_t width, time_shift;
	uint32_t time_mult;
	uint64_t time_offset, time_zero, time_cycles, time_mask;
	unsigned caps; /* enum fake_cap */
};

/* By the page's seqlock; may race with readers in other threads. */
void fake_page_write(void *map, const struct fake_page *values);
void fake_page_begin(void *map); /* the two halves of the lock, for tests that stop in between */
void fake_page_end(void *map);

#endif
