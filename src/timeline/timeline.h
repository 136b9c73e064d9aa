/* SPDX-License-Identifier: MIT */
/*
 * Who ran where, with which address space, when. Built once from side-band records in (time,
 * offset) order, then only looked at: look-ups are pure and safe from any number of threads, each
 * with its own cursor.
 *
 * Address spaces are persistent trees: a change makes a new root and shares the rest, so a fork
 * costs nothing and an old root stays valid for look-ups at an earlier time.
 */
#ifndef SONDE_TIMELINE_H
#define SONDE_TIMELINE_H

#include "core/intern.h"
#include "core/status.h"
#include "file/file.h"

enum timeline_object_kind {
	TIMELINE_USER, /* an ELF file */
	TIMELINE_KERNEL, /* [kernel.kallsyms]; addresses are run-time addresses */
	TIMELINE_MODULE, /* a kernel module; addresses count from its start */
	TIMELINE_VDSO,
	TIMELINE_ANON, /* executable memory without a file: symbols from /tmp/perf-PID.map;
	                  run-time addresses */
	TIMELINE_NONE /* data without a file, such as [stack]: no symbols; run-time addresses */
};

/* What can be mapped: one per distinct (name, build id), named by its index. */
struct timeline_object {
	enum timeline_object_kind kind;
	uint32_t name; /* interned: path as recorded; /tmp/perf-PID.map for anonymous memory */
	uint32_t short_name; /* interned: "libc.so.6", "[mac80211]", "[JIT] tid PID" */
	uint32_t pid; /* of TIMELINE_ANON */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: not known */
	bool listed; /* a list of build ids has the path of this module, as code of the kernel */
	uint32_t list_number; /* place in the list of build ids, from 1 on; 0: it is not there */
	/*
	 * TIMELINE_MODULE: run-time address of its start when last mapped. TIMELINE_KERNEL: that of
	 * the symbol `reference`, such as _text; 0: not recorded.
	 */
	uint64_t base;
	uint32_t reference; /* interned */
};

struct timeline_mapping {
	uint64_t start, end, pgoff; /* bytes; [start, end) */
	uint64_t time;
	uint32_t object; /* index */
	uint32_t prot, flags;
};

/* The address in the object that an address in a mapping stands for (see enum
 * timeline_object_kind). */
struct timeline;
#define TIMELINE_NO_ROOT 0u

struct timeline_view {
	uint32_t pid, tid;
	uint32_t comm; /* interned: the last name at or before the time, ":TID" before the first */
	uint32_t
	        row_comm; /* the same, but before the first name that name: as perf report counts */
	uint32_t last_comm; /* its last name, before the number was given to another task */
	uint32_t root; /* user address space at that time */
	uint32_t kernel_root; /* kernel address space at that time */
	uint32_t later_root; /* the last state of the same program (until the next exec) */
	uint64_t from, until; /* the view holds for from <= time < until */
	bool known; /* false: no side-band ever named the thread; comm is ":TID", or "?" when it was
	               never added */
};

/* A per-worker memory of recent look-ups. Zero-initialised is valid; no fini. */
#define TIMELINE_CURSOR_SLOTS 256
struct timeline_cursor {
	struct timeline_view views[TIMELINE_CURSOR_SLOTS];
};

struct timeline *timeline_new(struct diag_sink *diags); /* NULL: no memory */
void timeline_free(struct timeline *t);

/*
 * Takes a record of types MMAP, MMAP2, COMM, FORK, EXIT, KSYMBOL, in file order; `time` is that of
 * the trailer (0 for synthesised state). The bytes of r must stay until timeline_seal. Others are
 * ignored. Entries of a list of build ids come through timeline_add_build_id; kernel: it is for
 * code of the kernel. Negative: no memory.
 */
int timeline_add(struct timeline *t, const struct record *r, bool swap, uint64_t time);
int timeline_add_build_id(
        struct timeline *t, const char *name, const uint8_t *id, size_t size, bool kernel);
/* A thread of a sample, before sealing, any number of times: without a COMM record its name is
 * ":TID". Negative: no memory. */
int timeline_add_thread(struct timeline *t, uint32_t pid, uint32_t tid);

/* Sorts what was added and builds the trees; after that the timeline is read-only. */
int timeline_seal(struct timeline *t);

/* Always fills *out. Valid for any time. */
const struct timeline_view *timeline_at(const struct timeline *t, struct timeline_cursor *c,
        uint32_t pid, uint32_t tid, uint64_t time);

struct timeline_range {
	uint64_t start, end; /* [start, end) */
};

/*
 * The mapping that covers addr for code that runs in cpumode (enum abi_misc: MISC_KERNEL,
 * MISC_USER); NULL: none. When none covers it at that time, the program's last state is asked. *out:
 * the addresses around it for which the answer is the same (empty: only this one).
 */
const struct timeline_mapping *timeline_find(const struct timeline *t,
        const struct timeline_view *view, uint32_t cpumode, uint64_t addr,
        struct timeline_range *out);

uint64_t timeline_object_address(
        const struct timeline *t, const struct timeline_mapping *m, uint64_t addr);

size_t timeline_objects(const struct timeline *t);
const struct timeline_object *timeline_object(const struct timeline *t, uint32_t index);
/* The text of an interned name (comm or file name). */
const char *timeline_text(const struct timeline *t, uint32_t id);
size_t timeline_texts(const struct timeline *t);

#endif
