/* SPDX-License-Identifier: MIT */
/*
 * Programs generated from a seed, an execution of each, and the Intel PT trace of that execution.
 *
 * program_code.c generates the code: functions of 16, 32 and 64 bits in four regions far from one
 * another, with branches of every class. program_run.c executes it, records each instruction, and
 * writes packets of every kind that can occur.
 *
 * A program that is made to run has only 64-bit code, which reads the direction of each branch from
 * a tape, and only events that do not change the execution.
 */
#ifndef SONDE_TESTS_PT_PROGRAM_H
#define SONDE_TESTS_PT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAM_REGIONS   4
#define PROGRAM_FUNCTIONS 24
#define PROGRAM_INSNS     4096
#define PROGRAM_CODE      (1u << 16) /* bytes of a region */
#define PROGRAM_TRACE     (1u << 17)
#define PROGRAM_WAY       20000 /* executed instructions, at most */
#define PROGRAM_TAPE      ((size_t)PROGRAM_WAY * 8)
#define PROGRAM_NONE      UINT32_MAX

enum program_op {
	OP_PLAIN = 0,
	OP_COND,
	OP_JUMP,
	OP_CALL,
	OP_CALL_NEXT, /* to the next instruction: not a call in the trace */
	OP_JUMP_IND,
	OP_CALL_IND,
	OP_RET,
	OP_RET_ANYWHERE, /* its return address was pushed before it */
	OP_FAR,
	OP_SYSCALL,
	OP_PTWRITE,
	OP_MOV_CR3,
	OP_VMPTRLD,
	OP_TAPE /* an ordinary one that reads the tape for the next branch */
};

struct program_insn {
	uint64_t ip;
	uint32_t target; /* an instruction; PROGRAM_NONE: none, or not direct */
	uint8_t bytes[15];
	uint8_t size;
	uint8_t rel; /* bytes of displacement at the end */
	uint8_t op; /* enum program_op */
	uint8_t cc; /* COND: 0..15, 16: loopne, 17: loope, 18: loop, 19: jcxz, 20: je after test
	               al,al */
	uint8_t function;
	bool starts; /* a block starts here */
};

struct program_function {
	uint32_t first, end; /* instructions */
	uint8_t mode; /* 16, 32, 64 */
	uint8_t region;
	bool outside; /* outside of the filters */
};

struct program {
	uint64_t random;
	bool real;
	struct program_insn insns[PROGRAM_INSNS];
	uint32_t count;
	struct program_function functions[PROGRAM_FUNCTIONS];
	unsigned nfunctions;

	struct {
		uint64_t base;
		size_t size;
		uint8_t code[PROGRAM_CODE];
	} regions[PROGRAM_REGIONS];
	unsigned filters; /* 0: everything is traced */
	struct {
		uint64_t first, last;
	} filter[PROGRAM_REGIONS];

	uint8_t trace[PROGRAM_TRACE];
	size_t trace_size;
	uint64_t way[PROGRAM_WAY]; /* addresses of instructions executed while tracing was on */
	size_t way_size;
	uint8_t tape[PROGRAM_TAPE];
	size_t tape_size;
	unsigned packets[64]; /* written packets, by kind */
	unsigned compressions[8]; /* written IPs, by compression */
	bool pops_always; /* some returns are compressed for which libipt would find another
	                     target */
	unsigned left_without_ip; /* direct branches out of the filters whose TIP.PGD has no IP */
};

/* 0..n - 1. */
uint32_t program_pick(struct program *p, uint32_t n);

/*
 * Generates the code of a seed's program, then its execution. p is the caller's, with any contents.
 */
void program_make(struct program *p, uint64_t seed, bool real);

/* Its parts. */
void program_make_code(struct program *p);
void program_run(struct program *p);

#endif
