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
#include "image/jitdump.h"

#include <sonde/record_types.h>

#define FRAME_JIT_START 0x80u /* address of the code in its object */

/* The record of a file's mapping. */
struct frame_jit_mapping {
	const char *path; /* in the recording */
	struct image_roots roots; /* folders with the files of another system */
	const struct bundle *bundle; /* with the file; NULL: it is on this machine */
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

/* File i that was read, as the recording names it; false: there are no more. */
bool frame_jit_file(
        const struct frame_resolver *f, size_t i, const char **path, struct span *bytes);

/* The code of an object of the kind TIMELINE_JIT. */
struct frame_jit_code {
	const char *name;
	struct span bytes;
	struct span eh_frame, eh_frame_hdr; /* empty: none */
	uint64_t
	        mapped; /* bytes that are mapped: of the code, or up to its unwinding tables' end */
	struct frame_code_kind kind;
	bool swap;
};
struct frame_jit_code frame_jit_code(const struct frame_resolver *f, uint32_t object);
/* The same by the number in struct timeline_jit. */
struct frame_jit_code frame_jit_code_at(const struct frame_resolver *f, uint32_t code);

/* The source line at an address of an object of the kind TIMELINE_JIT. */
void frame_jit_line(
        const struct frame_resolver *f, uint32_t object, uint64_t address, struct lines_place *out);

/*
 * Makes a view of ELF from the code of an object, for its table for unwinding, and sets *bytes to
 * its bytes, which the caller frees after closing the view. Empty without .eh_frame. SONDE_ENOMEM.
 */
int frame_jit_elf(
        const struct frame_resolver *f, uint32_t object, struct image_elf *elf, uint8_t **bytes);

/* ---- for writing the code to files ---- */

/* Code from a time on. */
struct frame_jit_change {
	uint64_t time;
	const struct timeline_jit *jit;
};

/* The code of all files, in the order of each file. */
const struct frame_jit_change *frame_jit_changes(const struct frame_resolver *f, size_t *n);

/* Whether the file `path` of a process was read. */
bool frame_jit_was_read(const struct frame_resolver *f, uint32_t pid, struct span path);

/* A line of the code with a number; zero before the first. */
struct frame_jit_lines {
	uint64_t read; /* lines so far */
	struct span rest;
	struct image_jit_line line;
	uint64_t
	        address; /* of the line in the object; may be outside of the code in damaged files */
};
/* Reads the next line. False: no more. */
bool frame_jit_next_line(
        const struct frame_resolver *f, uint32_t code, struct frame_jit_lines *lines);

/* The first reports on files, which the session's sink got too. */
struct frame_jit_report {
	enum sonde_diag_kind kind;
	uint64_t offset;
	const char *text;
};
const struct frame_jit_report *frame_jit_reports(const struct frame_resolver *f, size_t *n);

#endif
