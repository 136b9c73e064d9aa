/* SPDX-License-Identifier: MIT */
/*
 * The address space of a traced process: its code as the program wrote it, blocks of that code, and
 * the breakpoints that are set in it.
 *
 * A block is the code from an address up to the first instruction whose successor only the processor
 * knows: direct jumps and calls are followed. A thread at the start of a block needs no stop before
 * its last instruction.
 */
#ifndef SONDE_SOFTPT_SPACE_H
#define SONDE_SOFTPT_SPACE_H

#include "core/arena.h"
#include "core/index.h"
#include "pt/insn.h"
#include "softpt/filter.h"

#include <stdbool.h>
#include <sys/types.h>

/* What to do at the last instruction of a block. */
enum block_end {
	BLOCK_BRANCH, /* stop before it, and carry it out on the registers */
	BLOCK_SYSCALL, /* no breakpoint: the kernel stops the thread */
	BLOCK_STEP, /* stop before it, and let the processor execute it alone */
	BLOCK_CUT /* stop before it; it begins another block */
};

struct block {
	uint64_t start, end; /* end: address of the last instruction */
	uint64_t insns; /* before the one at `end` */
	uint64_t *calls; /* return addresses that direct calls before `end` pushed */
	size_t ncalls;
	uint8_t how; /* enum block_end */
	bool patchable; /* all of it may have breakpoints */
	bool reads_clock; /* code of the vdso, which may read the clock */
	struct pt_insn last;
	uint8_t bytes[PT_INSN_MAX]; /* of the last instruction */
};

/* A mapping of code. */
struct space_map {
	uint64_t start, end, pgoff, ino;
	uint32_t maj, min;
	uint32_t prot, flags; /* as mmap(2) */
	const char *name; /* in the arena; "//anon": none */
	bool steps; /* a breakpoint could be overwritten, or reach other processes */
	bool vdso;
	bool fresh; /* not recorded yet */
};

struct space_page {
	uint64_t at;
	const uint8_t *bytes; /* SPACE_PAGE of them, without breakpoints; NULL: not readable */
};

struct space_breakpoint {
	uint64_t at;
	uint8_t byte; /* of the program */
	bool set;
};

#define SPACE_PAGE 4096u

struct space {
	size_t users; /* threads */
	int mem; /* descriptor of /proc/PID/mem */
	bool wide; /* 64-bit code; otherwise all of it is stepped */
	struct arena arena;
	struct block **blocks;
	size_t nblocks, blocks_cap;
	struct index block_index;
	struct space_page *pages;
	size_t npages, pages_cap;
	struct index page_index;
	struct space_breakpoint *breakpoints;
	size_t nbreakpoints, breakpoints_cap;
	struct index breakpoint_index;
	struct space_map *maps;
	size_t nmaps, maps_cap;
	const struct filter *filter; /* borrowed */
	struct filter_places places; /* of the filter in this space */
};

/* A space of the process; parent: breakpoints are inherited from this space; NULL: none. */
struct space *space_new(
        int root, pid_t pid, const struct filter *filter, const struct space *parent);
void space_free(struct space *space); /* NULL is fine */

/*
 * Reads the mappings again. Blocks are forgotten if code has changed; new mappings become `fresh`.
 * SONDE_ENOMEM.
 */
int space_look(struct space *space, int root, pid_t pid);

/* Whether code may be in this range; for a system call that changes mappings. */
bool space_overlaps(const struct space *space, uint64_t start, uint64_t size);

/* The map of an address; NULL: no code. */
const struct space_map *space_map_of(const struct space *space, uint64_t at);

/* The block at an address; NULL: out of memory. Valid until space_free. */
const struct block *space_block(struct space *space, uint64_t at);

/* Decodes one instruction from memory as it is now: for code that may change. False: unreadable. */
bool space_insn(struct space *space, uint64_t at, bool fresh, struct pt_insn *out, uint8_t *bytes);

/* Sets a breakpoint, or removes one; false: memory cannot be written. Nothing to do is fine. */
bool space_break(struct space *space, uint64_t at);
bool space_unbreak(struct space *space, uint64_t at);
bool space_broken(const struct space *space, uint64_t at);

/* Removes all breakpoints in [start, end) from the process. */
void space_clean(struct space *space, uint64_t start, uint64_t end);

bool space_load(const struct space *space, uint64_t at, void *out, size_t n);
bool space_store(const struct space *space, uint64_t at, const void *bytes, size_t n);

#endif
