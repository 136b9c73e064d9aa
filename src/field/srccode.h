/* SPDX-License-Identifier: MIT */
/*
 * Source code in lines of `script`. As in perf, a line that is the last one printed for its thread
 * is not printed again, so one worker must format all samples in order.
 *
 *	|7        	sink ^= sink << 1;
 */
#ifndef SONDE_FIELD_SRCCODE_H
#define SONDE_FIELD_SRCCODE_H

#include "core/span.h"
#include "core/text.h"
#include "frame/frame.h"

struct srccode;

/* bundle: with the source files, see frame_source_new; NULL: out of memory */
struct srccode *srccode_new(const struct bundle *bundle);
void srccode_free(struct srccode *c); /* accepts NULL */

/*
 * Finds the source code at a frame: sets *out to its line, valid until the next call. 1; 0: it is
 * unknown; SONDE_ENOMEM.
 */
int srccode_find(struct srccode *c, const struct frame_resolver *r, const struct frame *at,
        struct span *out);

/* Appends a line with the source code at a frame, if it is another one than that before. */
void srccode_text(struct srccode *c, const struct frame_resolver *r, const struct frame *at,
        uint32_t tid, struct text *out);

#endif
