/* SPDX-License-Identifier: MIT */
/*
 * Call chains from registers and a copy of a stack, by the call frame information of the mapped
 * objects. Preview: may change in any release.
 */
#ifndef SONDE_PREVIEW_UNWIND_H
#define SONDE_PREVIEW_UNWIND_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_unwind_machine { SONDE_UNWIND_X86_64 = 1, SONDE_UNWIND_AARCH64 = 2 };

/* Why a chain ends. */
enum sonde_unwind_end {
	SONDE_UNWIND_OUTERMOST, /* at the first function of the thread: the chain is complete */
	SONDE_UNWIND_LIMIT, /* at the maximum number of addresses */
	SONDE_UNWIND_STACK, /* the copy of the stack is too short */
	SONDE_UNWIND_UNMAPPED, /* nothing is mapped at the caller */
	SONDE_UNWIND_NO_INFORMATION, /* the code has no call frame information, or its file was not
	                                found */
	SONDE_UNWIND_DAMAGED /* the information or the stack make no sense */
};

/* The address space of a process. It belongs to one thread at a time. */
struct sonde_unwinder;

/* Returns NULL if memory runs out. */
SONDE_API struct sonde_unwinder *sonde_unwinder_new(enum sonde_unwind_machine machine);
SONDE_API void sonde_unwinder_free(struct sonde_unwinder *u); /* accepts NULL */

/*
 * Adds code that is mapped at [start, end), from `offset` bytes of a file on; later mappings replace
 * earlier ones. path: the file, which is read when code in it is unwound, or kept out if it cannot
 * be; "[vdso]": that of this process; NULL: code without a file, such as that of a JIT compiler,
 * which is unwound by its frame pointers. 0, SONDE_EARG (empty), SONDE_ENOMEM.
 */
SONDE_API int sonde_unwinder_map(
        struct sonde_unwinder *u, uint64_t start, uint64_t end, uint64_t offset, const char *path);

/* Registers and a copy of the stack of a thread, as in samples of perf.data. */
struct sonde_unwind_stack {
	size_t size; /* sizeof(struct sonde_unwind_stack) of the caller */
	/*
	 * Bits of <asm/perf_regs.h>, and the value of each set bit, from the lowest one: at least the
	 * stack pointer and the program counter; all that a callee may save, for whole chains.
	 */
	uint64_t mask;
	const uint64_t *registers;
	const void *bytes; /* from the stack pointer on, in this machine's byte order */
	size_t nbytes;
};

/*
 * Writes a call chain, the innermost function first, to addresses[max]: the program counter, then
 * for each caller the last byte of its call instruction (after a signal: the interrupted address).
 * Returns their number and sets *end, or SONDE_EARG (registers are missing), SONDE_ENOMEM.
 */
SONDE_API int sonde_unwind(struct sonde_unwinder *u, const struct sonde_unwind_stack *stack,
        uint64_t *addresses, size_t max, enum sonde_unwind_end *end);

/* Such as "the copy of the stack is too short". */
SONDE_API const char *sonde_unwind_end_text(enum sonde_unwind_end end);

#ifdef __cplusplus
}
#endif

#endif
