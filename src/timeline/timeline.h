/* SPDX-License-Identifier: MIT */
/*
 * Thread names and address spaces by time. Built once from side-band records in (time, offset)
 * order; after timeline_seal it is read-only, and any number of threads may look things up, each
 * with its own cursor.
 *
 * Address spaces are persistent trees: a change makes a new root and shares the other nodes, so a
 * fork costs nothing and an old root stays valid for look-ups at earlier times.
 */
#ifndef SONDE_TIMELINE_H
#define SONDE_TIMELINE_H

#include "abi/abi.h"
#include "core/hash.h"
#include "core/intern.h"
#include "core/status.h"
#include "record/record.h"

enum timeline_object_kind {
	TIMELINE_USER, /* an ELF file */
	TIMELINE_KERNEL, /* [kernel.kallsyms]; addresses are run-time addresses */
	TIMELINE_MODULE, /* a kernel module; addresses count from its start */
	TIMELINE_VDSO,
	TIMELINE_ANON, /* executable memory without a file: symbols from /tmp/perf-PID.map;
	                  run-time addresses */
	TIMELINE_CODE, /* code that the kernel made at run time, from a KSYMBOL record: a BPF
	                  program, a trampoline; has one symbol, named like the object; addresses
	                  count from its start */
	TIMELINE_JIT, /* code that a runtime compiled, from its jitdump file: one function, with
	                 one symbol; addresses are those of the object file that perf inject
	                 would make of it */
	TIMELINE_NONE /* data without a file, such as [stack]: no symbols; run-time addresses */
};

/* An object that can be mapped, one per distinct (name, build id); its index is its id. */
struct timeline_object {
	enum timeline_object_kind kind;
	uint32_t name; /* interned: path as recorded; /tmp/perf-PID.map for anonymous memory */
	uint32_t short_name; /* interned: "libc.so.6", "[mac80211]", "[JIT] tid PID" */
	uint32_t pid; /* TIMELINE_ANON: the process that mapped it */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: unknown */
	bool listed_id; /* the build id is of the list of build ids */
	bool listed; /* the list of build ids has this path, marked as kernel code */
	uint32_t list_number; /* position in the list of build ids, from 1; 0: not listed */
	bool plain; /* its names are ASCII without control characters */
	bool guest; /* the kernel of a guest, or a module there */
	uint32_t code; /* TIMELINE_JIT: its number, from timeline_add_jit */
	uint32_t length; /* TIMELINE_CODE: bytes; the maximum of all code of this name */
	/*
	 * TIMELINE_MODULE: run-time address of its start, from its last MMAP record.
	 * TIMELINE_KERNEL: run-time address of the symbol `reference`; 0: not recorded.
	 */
	uint64_t base;
	uint32_t reference; /* interned; TIMELINE_KERNEL: a symbol such as "_text" */
};

struct timeline_mapping {
	uint64_t start, end, pgoff; /* bytes; [start, end) */
	uint64_t time;
	uint32_t object; /* index */
	uint64_t inode; /* of the file; 0: not recorded */
	uint32_t prot, flags;
	uint32_t pid; /* process that made the mapping; UINT32_MAX: the kernel */
};

/* A process or thread, from its first record until its number is reused. */
struct timeline_life {
	uint32_t pid, tid; /* tid of a process: pid */
	uint32_t ppid; /* of a process; UINT32_MAX: not known */
	uint32_t ptid; /* of a thread: the thread that created it; UINT32_MAX: no record of that */
	uint64_t start; /* ns */
	uint64_t last; /* ns; it can be looked up until then: UINT64_MAX, or the end of its epoch */
	uint32_t comm; /* interned: last name; of a process: last name of its main thread */
	bool named; /* comm is set */
};

struct timeline;
struct track; /* private to timeline */
#define TIMELINE_NO_ROOT 0u
/* The interned name of a thread that no record names, without timeline_add_thread: "?". */
#define TIMELINE_NO_NAME 0u

struct timeline_view {
	uint32_t pid, tid;
	uint32_t comm; /* interned: the last name at or before the time, ":TID" before the first */
	uint32_t row_comm; /* as comm; before the first name, that name, as in perf report */
	uint32_t last_comm; /* the last name of the task, before its tid was reused */
	uint32_t root; /* user address space at that time; its number is used for no other one */
	uint32_t kernel_root; /* kernel address space at that time */
	uint32_t later_root; /* the address space just before the next exec */
	uint64_t from, until; /* the view is valid for from <= time < until */
	const struct track *track; /* of the roots */
	uint32_t epoch; /* mappings are valid as long as the cursor looks up in one epoch */
	bool guest; /* of timeline_guest_at: kernel_root is that of the guest */
	bool known; /* false: no record names the thread; comm is ":TID", or "?" without
	               timeline_add_thread */
};

/* A cache of recent look-ups for one worker. Empty when zero-initialised. */
#define TIMELINE_CURSOR_SLOTS 256
struct timeline_cursor {
	struct timeline_view views[TIMELINE_CURSOR_SLOTS];
	const struct track *track; /* of the epoch, held by the cursor; NULL: none */
	uint32_t epoch;
	int failed; /* status of the last look-up in another epoch: 0, or it could not be read */
};

/* Call it before timeline_free if the timeline has a limit. */
void timeline_cursor_fini(const struct timeline *t, struct timeline_cursor *c);

struct timeline *timeline_new(struct diag_sink *diags); /* NULL: out of memory */
void timeline_free(struct timeline *t);

/* Types of records that a timeline is made of, as bits. */
#define TIMELINE_RECORDS                                                                           \
	(1u << RECORD_MMAP | 1u << RECORD_MMAP2 | 1u << RECORD_COMM | 1u << RECORD_FORK |          \
	        1u << RECORD_EXIT | 1u << RECORD_KSYMBOL)

/*
 * Long recordings. With a limit, the timeline is made in epochs of about so many side-band records
 * each, of which few are in memory at a time. It reads records again when look-ups need them:
 *
 *  - threads that ended a second before the end of an epoch are forgotten then;
 *  - a name or mapping that only a later epoch has is not known in an earlier one.
 *
 * `reread` adds the records of TIMELINE_RECORDS with after < time <= limit by timeline_notes_add,
 * in input order, several threads may call it at once; 0 or a negative status. It is called until
 * timeline_free; the bytes of records must be valid until then.
 */
struct timeline_notes;
int timeline_notes_add(struct timeline_notes *notes, const struct record *r, uint64_t time);
typedef int (*timeline_reread_fn)(
        void *arg, uint64_t after, uint64_t limit, struct timeline_notes *notes);
void timeline_limit(struct timeline *t, size_t records, timeline_reread_fn reread, void *arg);
/* All records at or before `time` were added: an epoch may end there. Negative: out of memory. */
int timeline_settled(struct timeline *t, uint64_t time);
/* Calls of timeline_settled were wrong: there will be one epoch. */
void timeline_unsettle(struct timeline *t);

/*
 * Adds one side-band record, in file order; types that are not in TIMELINE_RECORDS are ignored.
 * `time` is from the record's trailer (0: synthesised state). The bytes of r must remain valid until
 * timeline_seal. Negative: out of memory.
 */
int timeline_add(struct timeline *t, const struct record *r, bool swap, uint64_t time);

/* Code that a runtime compiled, or moved to another address. */
struct timeline_jit {
	uint32_t pid, tid; /* of the process that can run it */
	uint64_t start, length, pgoff; /* bytes */
	const char *name; /* of the object */
	uint32_t code; /* the caller's number of the object */
};

/*
 * Adds JIT-compiled code from `time` on. *jit must live until timeline_free. Later records of
 * anonymous memory in the process do not replace the code, as memory is mapped before code is put
 * there, and each change of its protection makes such a record. Negative: out of memory.
 */
int timeline_add_jit(struct timeline *t, const struct timeline_jit *jit, uint64_t time);
/* The same for `reread`. */
int timeline_notes_add_jit(
        struct timeline_notes *notes, const struct timeline_jit *jit, uint64_t time);
/* Adds an entry of a list of build ids; kernel: it is for kernel code. Negative: out of memory. */
int timeline_add_build_id(
        struct timeline *t, const char *name, const uint8_t *id, size_t size, bool kernel);
/* Adds the thread of a sample, before timeline_seal; repeats are ignored. Without a COMM record its
 * name is ":TID". Negative: out of memory. */
int timeline_add_thread(struct timeline *t, uint32_t pid, uint32_t tid);

/*
 * Call before records are added: mappings of guests' kernels are kept, and each thread has one in
 * the guest, too.
 */
void timeline_with_guests(struct timeline *t);

/* Ids of a thread; TIMELINE_NO_THREAD: unknown. */
#define TIMELINE_NO_THREAD UINT32_MAX
struct timeline_thread {
	uint32_t pid, tid;
};

/*
 * Adds a context switch of a processor from one thread to another, before timeline_seal and in any
 * order. Either thread, or only its pid, may be unknown. Negative: out of memory.
 */
int timeline_add_switch(struct timeline *t, uint32_t cpu, uint64_t time,
        struct timeline_thread from, struct timeline_thread to);

/*
 * Sorts the records and builds the trees; after that the timeline is read-only. SONDE_ENOMEM, or
 * with a limit SONDE_ELIMIT or a failure of reading again.
 */
int timeline_seal(struct timeline *t);

/* Fills in the cursor's slot for a thread; see timeline_at. */
void timeline_view_make(const struct timeline *t, struct timeline_cursor *c, uint32_t pid,
        uint32_t tid, uint64_t time, struct timeline_view *slot);

/*
 * Never NULL, for any thread and time; valid until the next call with the same cursor. If
 * c->failed is set, nothing is known because of that failure.
 */
static inline const struct timeline_view *timeline_at(const struct timeline *t,
        struct timeline_cursor *c, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct timeline_view *v = &c->views[hash_u64(tid) & (TIMELINE_CURSOR_SLOTS - 1)];

	if (v->tid != tid || v->pid != pid || time < v->from || time >= v->until ||
	        v->epoch != c->epoch || v->guest) {
		timeline_view_make(t, c, pid, tid, time, v);
	}
	return v;
}

/*
 * As timeline_at, in the guest that a process of the host runs: its kernel's code, and threads with
 * the host's numbers that have no names.
 */
const struct timeline_view *timeline_guest_at(const struct timeline *t, struct timeline_cursor *c,
        uint32_t pid, uint32_t tid, uint64_t time);

/* Time of the first context switch of a processor after `time`; UINT64_MAX: none. */
uint64_t timeline_switch_after(const struct timeline *t, uint32_t cpu, uint64_t time);

struct timeline_range {
	uint64_t start, end; /* [start, end) */
};

/*
 * Returns the thread that ran on a processor at `time`: the new thread of the last context switch
 * at or before `time`; before the first switch, its old thread. Unknown if no switch records it,
 * or if the next switch has another old thread, because the recording lacks a switch.
 */
struct timeline_thread timeline_running(
        const struct timeline *t, struct timeline_cursor *c, uint32_t cpu, uint64_t time);

/*
 * Returns the mapping that covers addr in cpumode (enum abi_misc: MISC_KERNEL, MISC_USER; of a guest
 * MISC_GUEST_KERNEL), or NULL.
 * When no mapping covers it at that time, the view's later_root is searched too. *out: the range of
 * addresses around addr with the same answer (empty: only addr).
 */
const struct timeline_mapping *timeline_find(const struct timeline_view *view, uint32_t cpumode,
        uint64_t addr, struct timeline_range *out);

/*
 * Returns the first mapping of the view's process that ends above addr, in the order of addresses,
 * and the part of it that no other mapping covers; NULL: none.
 */
const struct timeline_mapping *timeline_next(
        const struct timeline_view *view, uint64_t addr, struct timeline_range *out);

/* Converts an address in mapping m to an address in its object (see enum timeline_object_kind). */
uint64_t timeline_object_address(
        const struct timeline *t, const struct timeline_mapping *m, uint64_t addr);

/*
 * Lists of all processes, threads and mappings, by index; valid until the next call with the same
 * cursor. The kernel is a process with pid UINT32_MAX. 0, or a failure of reading again.
 */
size_t timeline_processes(const struct timeline *t);
int timeline_process(
        const struct timeline *t, struct timeline_cursor *c, size_t i, struct timeline_life *life);
size_t timeline_threads(const struct timeline *t);
int timeline_thread(
        const struct timeline *t, struct timeline_cursor *c, size_t i, struct timeline_life *life);
size_t timeline_mappings(const struct timeline *t);
int timeline_mapping(const struct timeline *t, struct timeline_cursor *c, size_t i,
        const struct timeline_mapping **mapping);
size_t timeline_objects(const struct timeline *t);
const struct timeline_object *timeline_object(const struct timeline *t, uint32_t index);
/* The text of an interned name (comm or file name). */
const char *timeline_text(const struct timeline *t, uint32_t id);
size_t timeline_texts(const struct timeline *t);

#endif
