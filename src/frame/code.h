/* SPDX-License-Identifier: MIT */
/*
 * The bytes of code at a frame, from the file of its object, or from the kernel's (kernel.h).
 */
#ifndef SONDE_FRAME_CODE_H
#define SONDE_FRAME_CODE_H

#include "core/span.h"
#include "frame/frame.h"

struct frame_code;

#define FRAME_INSN_MAX 15u /* bytes of the longest instruction */

/* Of the object's file; zero: no file was found. */
struct frame_code_kind {
	uint16_t machine; /* e_machine of its ELF header */
	bool is64;
};

/* An instruction of an x86 processor. */
struct frame_insn {
	uint8_t size; /* bytes; 0: no instruction begins with these bytes */
	bool direct; /* it jumps to or calls the address `displacement` bytes after its end */
	int32_t displacement;
	bool leaves; /* other code may be next: a jump, a call, a system call, ... */
};

/* For a sealed resolver, which must live as long; NULL: out of memory. Safe from any worker. */
struct frame_code *frame_code_new(const struct frame_resolver *r);
void frame_code_free(struct frame_code *c); /* accepts NULL */

/*
 * Sets *out to up to n bytes from the frame's address, valid until frame_code_free; empty if the
 * file is missing, has another build id, or ends before. 0, or SONDE_ENOMEM.
 */
int frame_code_at(struct frame_code *c, const struct frame *f, size_t n,
        struct frame_code_kind *kind, struct span *out);

/* Code as it was at a time. */
struct frame_then {
	uint64_t time; /* ns */
	uint8_t *own; /* room for n bytes of code that the kernel had changed until then */
	size_t n;
};

/* The same for n bytes at a time; *out may be in `own`. */
int frame_code_then(struct frame_code *c, const struct frame *f, const struct frame_then *then,
        struct frame_code_kind *kind, struct span *out);

/* An address of an object, and what it was at run time. */
struct frame_code_place {
	uint32_t object; /* FRAME_NOWHERE: none, it has no code */
	uint64_t address, ip;
};

/* The same for such a place. */
int frame_code_of(struct frame_code *c, const struct frame_code_place *place, size_t n,
        struct frame_code_kind *kind, struct span *out);

bool frame_code_is_x86(const struct frame_code_kind *kind);
/* Decodes the instruction at the start of x86 code. */
struct frame_insn frame_insn_decode(const struct frame_code_kind *kind, struct span code);

/* Whether this build can print instructions as text. */
bool frame_insn_text_supported(void);
/*
 * Appends the instruction at the start of x86 code in AT&T syntax; ip: its run-time address, for
 * the targets of jumps. False: these bytes are no instruction.
 */
bool frame_insn_text(
        const struct frame_code_kind *kind, uint64_t ip, struct span code, struct text *out);
/* The same; intel: in Intel's syntax. */
bool frame_insn_text_as(const struct frame_code_kind *kind, bool intel, uint64_t ip,
        struct span code, struct text *out);

/* An instruction, with its bytes if they are of no file. */
struct frame_insn_bytes {
	struct span code; /* may be `own`; empty: unknown, or not that of an x86 processor */
	struct frame_code_kind kind;
	uint8_t own[FRAME_INSN_MAX];
};

/* Finds the instruction at a frame at a time, as frame_code_then. 0, or SONDE_ENOMEM. */
int frame_insn_at(
        struct frame_code *c, const struct frame *f, uint64_t time, struct frame_insn_bytes *out);

#endif
