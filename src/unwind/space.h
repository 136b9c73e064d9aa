/* SPDX-License-Identifier: MIT */
/*
 * The code that processes have mapped now, for unwinding while they run: mappings change as records
 * of them arrive, and files are opened when code in them is unwound first.
 *
 * Used by one thread.
 */
#ifndef SONDE_UNWIND_SPACE_H
#define SONDE_UNWIND_SPACE_H

#include "unwind/unwind.h"

struct unwind_spaces;

struct unwind_spaces *unwind_spaces_new(void); /* NULL: out of memory */
void unwind_spaces_free(struct unwind_spaces *s); /* accepts NULL */

/* Code that a process mapped, as in an MMAP2 record. */
struct unwind_mapped {
	uint32_t pid;
	uint64_t start, size, offset; /* bytes; offset: in the file */
	uint64_t inode, generation; /* of the file; 0: not known */
	struct span path;
};

/* SONDE_ENOMEM. A fork copies mappings, an exec removes them all; an exit may be early. */
int unwind_spaces_map(struct unwind_spaces *s, const struct unwind_mapped *m);
int unwind_spaces_fork(struct unwind_spaces *s, uint32_t pid, uint32_t parent);
void unwind_spaces_exec(struct unwind_spaces *s, uint32_t pid);
/* The mappings are kept for samples that follow, until `time` (ns) is a while ago. */
void unwind_spaces_exit(struct unwind_spaces *s, uint32_t pid, uint64_t time);

/*
 * As unwind_stack, for a stack of a process; sets find and arg of the stack. Returns enum
 * unwind_end, or SONDE_ENOMEM.
 */
int unwind_spaces_stack(struct unwind_spaces *s, uint32_t pid, struct unwind_stack *stack,
        uint64_t *ips, size_t max, size_t *n);

#endif
