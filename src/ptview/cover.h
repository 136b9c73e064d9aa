/* SPDX-License-Identifier: MIT */
/*
 * Code that the traces of a recording ran, and how often.
 *
 *	branches of a thread    to A, from B; to C, from D        code ran from A to B and from C to D
 *	runs                    [A, B] 5 times, [C, D] twice      distinct ones, counted (cover.c)
 *	blocks                  stretches of code that no branch enters or leaves inside (blocks.c)
 *	lines                   rows of line tables, with the counts of their code (lines.c)
 *
 * Memory grows with the distinct code that ran, not with the length of the traces.
 */
#ifndef SONDE_PTVIEW_COVER_H
#define SONDE_PTVIEW_COVER_H

#include "frame/code.h"
#include "ptview/names.h"
#include "ptview/walk.h"

/* Code that ran from its first to its last instruction. Addresses are those in the object. */
struct cover_run {
	uint64_t start, end;
	uint64_t ip; /* run-time address of `start`, when it ran first */
	uint32_t object;
	uint32_t function; /* of its start */
	bool entry; /* it starts at the beginning of a function */
	uint64_t count;
};

#define COVER_CACHE 8192u

struct cover_thread {
	uint64_t at; /* where the current run began; 0: not known */
	uint64_t from; /* the branch that began it; 0: tracing started */
	uint32_t flags; /* of the branch that began it */
	/* a run that was interrupted before its first instruction, and the branch that began it */
	uint64_t resume, resume_from;
	uint32_t resume_flags;
};

struct cover_block {
	uint64_t start, end;
	uint64_t count;
	uint32_t object, function;
	uint32_t insns;
	bool unknown; /* its code is not known, nor `insns` */
};

struct cover_function {
	uint64_t calls; /* entries from other functions, and calls of itself */
	uint64_t insns; /* executed instructions */
	uint64_t blocks; /* that ran */
	bool unknown; /* the code of a block is not known */
};

struct cover_line {
	uint32_t file, line;
	uint64_t count;
};

struct cover_file {
	const char *path;
	size_t first, n; /* of lines */
	size_t ran; /* lines that ran */
};

/* A function of a source file. */
struct cover_place {
	uint32_t file, line, function;
};

struct cover {
	struct ptview_walk walk;
	struct ptview_names names;
	const char *objects; /* list of names, separated by commas; NULL: all */
	struct cover_thread *threads;
	size_t nthreads, threads_cap;
	struct cover_run *runs;
	size_t nruns, runs_cap;
	struct index by_place; /* of runs */
	struct { /* by run-time addresses, direct-mapped */
		uint64_t start, end;
		uint32_t root, run;
	} cache[COVER_CACHE];
	uint64_t *calls; /* by function */
	size_t calls_cap;
	/* made by cover_blocks */
	struct frame_code *code;
	struct cover_block *blocks; /* by object and address */
	size_t nblocks, blocks_cap;
	/* made by cover_lines */
	struct intern paths;
	struct cover_file *files;
	size_t nfiles;
	struct cover_line *lines; /* by path and number */
	size_t nlines, lines_cap;
	struct cover_place *places; /* by path, line and function */
	size_t nplaces, places_cap;
	/* made by cover_sum */
	struct cover_function *functions; /* by function */
	size_t nfunctions;
	uint64_t insns;
};

/* Each returns 0 or a negative status. Call cover_fini in any case. */
int cover_init(struct cover *c, struct sonde_session *s);
void cover_fini(struct cover *c);
int cover_read(struct cover *c);
/* For callers with a walk of their own, as members of struct ptview_walk. */
int cover_branch(void *arg, size_t thread, const struct ptview_branch *b);
int cover_lost(void *arg, size_t thread);
int cover_ended(void *arg, size_t thread, uint64_t time, bool exec);

int cover_blocks(struct cover *c);
/* all: also files of which no line ran. */
int cover_lines(struct cover *c, bool all);
int cover_sum(struct cover *c); /* the last one */

/* Whether an object is one of `objects`, by its path or the last part of it. */
bool cover_is_wanted(const struct cover *c, uint32_t object);

/* The first block of an object that ends after an address; nblocks: none. */
size_t cover_block_after(const struct cover *c, uint32_t object, uint64_t address);

#endif
