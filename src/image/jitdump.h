/* SPDX-License-Identifier: MIT */
/*
 * Jitdump files: what a runtime wrote about the code that it compiled while it was recorded. One
 * thread at a time reads a file; what a record points to lives as long as the file's bytes.
 */
#ifndef SONDE_IMAGE_JITDUMP_H
#define SONDE_IMAGE_JITDUMP_H

#include "core/span.h"
#include "core/status.h"

#define IMAGE_JIT_TSC 1u /* flag: times are of the processor's counter, not ns */

/* A file whose header was read. */
struct image_jitdump {
	struct span bytes;
	bool swap; /* it has the other byte order */
	uint32_t machine; /* as e_machine of ELF */
	uint32_t pid; /* in the process's own PID namespace */
	uint64_t time; /* of the header */
	uint64_t flags; /* IMAGE_JIT_TSC */
	size_t first; /* offset of the first record */
};

enum image_jit_type {
	IMAGE_JIT_LOAD = 0,
	IMAGE_JIT_MOVE = 1,
	IMAGE_JIT_LINES = 2,
	IMAGE_JIT_CLOSE = 3,
	IMAGE_JIT_UNWINDING = 4
};

/* A record; members of other types are zero. */
struct image_jit_record {
	uint32_t type; /* enum image_jit_type; others are of newer versions */
	uint32_t pid, tid; /* LOAD, MOVE */
	uint64_t offset; /* of the record */
	uint64_t time;
	uint64_t address; /* of the code: LOAD, MOVE (the new one), LINES */
	uint64_t from; /* MOVE: the old address */
	uint64_t size; /* of the code in bytes: LOAD, MOVE */
	uint64_t index; /* number of the code: LOAD, MOVE */
	uint64_t count; /* LINES: entries */
	const char *name; /* LOAD: NUL-terminated, in the file */
	struct span code; /* LOAD: instructions */
	struct span lines; /* LINES: for image_jit_line_next */
	/* UNWINDING: .eh_frame, and .eh_frame_hdr after it, as placed after the code, rounded up to 8 */
	struct span eh_frame, eh_frame_hdr;
	uint64_t mapped; /* UNWINDING: bytes of both that the runtime mapped after the code */
};

/* A source line: code from `address` on belongs to it. */
struct image_jit_line {
	uint64_t address;
	uint32_t line, discriminator;
	const char *file; /* NUL-terminated, in the file */
};

/* Reads the header. SONDE_EFORMAT: it is not a jitdump file, or one of another version. */
int image_jitdump_open(struct image_jitdump *j, struct span bytes, struct error *err);

/*
 * Reads the record at *at (at first j->first) and advances. Returns 1; 0 at the end; SONDE_EFORMAT:
 * a damaged record: one whose size is right is passed, and reading can continue; else *at is the
 * end of the file.
 */
int image_jitdump_next(
        const struct image_jitdump *j, size_t *at, struct image_jit_record *out, struct error *err);

/*
 * Reads the next line of r->lines: *rest is the rest of it. before: the line before it, NULL for
 * the first. False: no more, or damage.
 */
bool image_jit_line_next(const struct image_jitdump *j, struct span *rest,
        const struct image_jit_line *before, struct image_jit_line *out);

#endif
