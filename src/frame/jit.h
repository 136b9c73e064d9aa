/* SPDX-License-Identifier: MIT */
/*
 * Code that runtimes compiled while they were recorded, from their jitdump files. A runtime maps its
 * file once, so that the recording names it; the code of each LOAD record becomes an object of its
 * own, as if perf inject had written one file for each:
 *
 *	object  "FOLDER/jitted-PID-INDEX.so"   0x80: code   after it, rounded up to 8: .eh_frame
 *
 * Files are added while the recording is read; after that everything is read-only.
 */
#ifndef SONDE_FRAME_JIT_H
#define SONDE_FRAME_JIT_H

#include "frame/code.h"
#include "frame/frame.h"

#include <sonde/record_types.h>

#define FRAME_JIT_START 0x80u /* address of the code in its object */

/* The record of a file's mapping. */
struct frame_jit_mapping {
	const char *path; /* in the recording */
	struct image_roots roots; /* folders with the files of another system */
	uint32_t pid, tid;
	uint64_t time; /* ns, or what records have instead */
	uint64_t offset; /* of the record */
	bool has_time; /* records have times */
	bool monotonic; /* times are of CLOCK_MONOTONIC */
	bool own_machine; /* the recording can be of the running system */
	const struct sonde_record_time_conv *tsc; /* to ns; NULL: unknown */
};

/* Whether this is the name of a jitdump file: "jit-NUMBER.dump", after the last slash. */
bool frame_jit_is_dump(struct span name);

/*
 * Reads a jitdump and adds its code to the timeline. What cannot be read is reported. Repeated
 * mappings are ignored. SONDE_ENOMEM.
 */
int frame_jit_add(struct frame_resolver *f, struct timeline *t,
        const struct frame_jit_mapping *mapping, struct diag_sink *diags);
void frame_jit_free(struct frame_jit *j); /* accepts NULL */

/* Adds the code of all files with after < time <= limit, see timeline_limit. SONDE_ENOMEM. */
int frame_jit_notes(const struct frame_resolver *f, uint64_t after, uint64_t limit,
        struct timeline_notes *notes);

/* The code of an object of the kind TIMELINE_JIT. */
struct frame_jit_code {
	const char *name;
	struct span bytes;
	struct span eh_frame; /* empty: none */
	struct frame_code_kind kind;
	bool swap;
};
struct frame_jit_code frame_jit_code(const struct frame_resolver *f, uint32_t object);

/* The source line at an address of an object of the kind TIMELINE_JIT. */
void frame_jit_line(
        const struct frame_resolver *f, uint32_t object, uint64_t address, struct lines_place *out);

/*
 * Makes a view of ELF from the code of an object, for its table for unwinding, and sets *bytes to
 * its bytes, which the caller frees after closing the view. Empty without .eh_frame. SONDE_ENOMEM.
 */
int frame_jit_elf(
        const struct frame_resolver *f, uint32_t object, struct image_elf *elf, uint8_t **bytes);

#endif
