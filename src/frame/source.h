/* SPDX-License-Identifier: MIT */
/*
 * The source code of frames: lines of the files that debug information names. At most
 * FRAME_SOURCE_FILES files are kept in memory, so that it does not grow with their number. They are
 * read, not mapped: an editor may shorten one meanwhile. A handle belongs to one thread.
 */
#ifndef SONDE_FRAME_SOURCE_H
#define SONDE_FRAME_SOURCE_H

#include "core/span.h"
#include "frame/frame.h"

#define FRAME_SOURCE_FILES 64u
#define FRAME_SOURCE_MAX   ((size_t)16 << 20) /* bytes; larger files are not read */

struct frame_source;

/* bundle: with the files of the recorded machine; NULL: those of this one. NULL: out of memory */
struct frame_source *frame_source_new(const struct bundle *bundle);
void frame_source_free(struct frame_source *s); /* accepts NULL */

/*
 * Finds the line at a located frame, that of the innermost inlined function: sets *location, and
 * *out to its text without its end, valid until the next call. 1; 0: the line is unknown, or its
 * file cannot be read or ends before it; SONDE_ENOMEM.
 */
int frame_source_find(struct frame_source *s, const struct frame_resolver *r,
        const struct frame *frame, struct lines_frame *location, struct span *out);

/* The same for a line of a file. */
int frame_source_line(struct frame_source *s, const char *path, uint32_t line, struct span *out);

#endif
