/* SPDX-License-Identifier: MIT */
/* Branch instructions carried out on a stopped thread's registers, instead of by the processor. */
#ifndef SONDE_SOFTPT_EMULATE_H
#define SONDE_SOFTPT_EMULATE_H

#include "pt/insn.h"

#include <sys/user.h>

/* Reads or writes 8 bytes of the thread's memory; false: they cannot be accessed. */
struct emulate_memory {
	bool (*load)(void *arg, uint64_t at, uint64_t *value);
	bool (*store)(void *arg, uint64_t at, uint64_t value);
	void *arg;
};

/*
 * Carries out the branch of 64-bit code at regs->rip. True: regs are as after it. False: nothing has
 * changed, and the processor has to execute it: another class of instruction, or a fault.
 */
bool emulate_branch(const struct pt_insn *insn, const uint8_t *bytes, struct user_regs_struct *regs,
        const struct emulate_memory *memory);

#endif
