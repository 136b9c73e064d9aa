/* SPDX-License-Identifier: MIT */
/*
 * Private to timeline: processes and threads, and their names and address spaces by time.
 *
 *	pid -> process generations (newest first) -> roots by time
 *	tid -> thread generations (newest first) -> names by time
 *
 * While records are played, changes are appended to one log of names and one of roots. Packing puts
 * those of a thread or process side by side, so that look-ups are binary searches.
 */
#ifndef SONDE_TIMELINE_TRACK_H
#define SONDE_TIMELINE_TRACK_H

#include "core/index.h"
#include "timeline/objects.h"
#include "timeline/space.h"
#include "timeline/timeline.h"

#define NONE       UINT32_MAX
#define KERNEL_PID UINT32_MAX /* pid of the pseudo process that owns the kernel's mappings */

/* Numbers of pseudo processes and threads: tasks in the guest of a process, and the guest's kernel. */
#define GUEST_MAX    0x40000000u /* of pids and tids */
#define GUEST_TASK   0x80000000u
#define GUEST_KERNEL 0xC0000000u

/* Of pid 0 or -1: the kernel of all guests that have none of their own. */
static inline uint32_t guest_kernel_pid(uint32_t pid)
{
	return pid < GUEST_MAX ? pid | GUEST_KERNEL : GUEST_KERNEL;
}

/* A new name of a thread, or a new root of a process. */
struct change {
	uint64_t time;
	uint32_t to; /* interned text, or root */
	uint32_t last; /* of a root: index of the last change before the next exec */
};

#define LOG_EXEC ((uint32_t)1 << 31) /* a new program begins here */

struct log_entry {
	uint64_t time;
	uint32_t to;
	uint32_t owner; /* process or thread, and LOG_EXEC */
};

struct log {
	struct log_entry *entries;
	size_t n, cap;
};

/* The changes of a process or thread, in the order of time. */
struct run {
	uint32_t first, n;
};

struct process {
	uint32_t pid, ppid; /* ppid: of its FORK record, or NONE */
	uint32_t older; /* generation before this one, or NONE */
	uint32_t main; /* the newest thread with tid == pid, or NONE */
	uint64_t start;
	uint32_t root; /* the newest */
	uint32_t entry; /* in the log, of the newest root */
	struct run roots;
};

struct thread {
	uint32_t tid;
	uint32_t ptid; /* thread that created it, from a FORK record; NONE */
	uint32_t process;
	uint32_t older;
	uint64_t start;
	uint64_t first_time; /* of its first name */
	uint64_t ended; /* time of its EXIT record; 0: not yet */
	uint32_t name; /* the newest */
	struct run names;
	struct run generations; /* of its tid, if this is the newest one and not the only one */
	bool forked; /* a FORK record started this generation */
	bool renamed; /* its first name is ":TID"; perf report counts those samples under the next */
};

/* A generation of a tid, for binary searches. */
struct generation {
	uint64_t earliest; /* start of this or a newer generation */
	uint32_t thread;
};

/* Empty when zero-initialised. */
struct track {
	struct timeline_mapping *mappings;
	size_t nmappings, mappings_cap;
	struct process *processes;
	size_t nprocesses, processes_cap;
	struct thread *threads;
	size_t nthreads, threads_cap;
	struct index pids, tids; /* newest generation by pid, by tid */
	struct space_pool pool;
	struct log name_log, root_log; /* empty after packing */
	struct change *names, *roots; /* by run */
	struct generation *generations;
	uint32_t kernel; /* index of the process KERNEL_PID */
	uint32_t first_root; /* added to roots in views, so that those of all tracks differ */
};

void track_fini(struct track *t);

/* The newest generation of a pid or tid, or NONE. */
uint32_t track_process(const struct track *t, uint32_t pid);
uint32_t track_thread(const struct track *t, uint32_t tid);

/* Start generations; NONE: out of memory. */
uint32_t track_process_new(struct track *t, uint32_t pid, uint64_t time, uint32_t root);
uint32_t track_thread_new(struct track *t, uint32_t process, uint32_t tid, uint64_t time);

/* Return the newest generation, or start one at time 0; NONE: out of memory. */
uint32_t track_process_get(struct track *t, uint32_t pid);
uint32_t track_thread_get(struct track *t, uint32_t pid, uint32_t tid);

/* Add a change; false: out of memory. exec: a new program begins. */
bool track_name(struct track *t, uint32_t thread, uint64_t time, uint32_t name);
bool track_root(struct track *t, uint32_t process, uint64_t time, uint32_t root, bool exec);

/*
 * Ends building: nothing can be added afterwards. A thread is called ":TID" until its first name, as
 * in perf; such names are among the texts of `objects`. SONDE_ENOMEM.
 */
int track_pack(struct track *t, struct objects *objects);

/*
 * Begins the track `next` (empty) with what is alive at the end of `t`, which is not packed yet: all
 * threads but those that ended at or before `ended`, or whose tid was reused, with their last names,
 * their processes and address spaces, valid from the beginning. The result depends on nothing else.
 * SONDE_ENOMEM.
 */
int track_carry(const struct track *t, struct track *next, uint64_t ended);

/* Look-ups, after packing. They narrow the view to the time in which the answer is valid. */

/* Returns the generation of v->tid at `time`, or the oldest when all start later; NONE: unknown. */
uint32_t track_thread_at(const struct track *t, struct timeline_view *v, uint64_t time);
void track_view(const struct track *t, struct timeline_view *v, uint64_t time);
/* The root of the kernel of the guest that a process runs. */
uint32_t track_guest_root(
        const struct track *t, struct timeline_view *v, uint32_t pid, uint64_t time);

#endif
