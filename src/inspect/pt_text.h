/* SPDX-License-Identifier: MIT */
/* Packets of Intel PT as lines of text, in the layout of `perf script -D`. */
#ifndef SONDE_INSPECT_PT_TEXT_H
#define SONDE_INSPECT_PT_TEXT_H

#include "core/span.h"
#include "core/text.h"
#include "pt/packet.h"

#define PT_LINE_MAX 160 /* bytes of the longest line; a TNT of 47 bits has 116 */

struct pt_text {
	struct pt_cursor cursor;
	struct {
		char text[PT_LINE_MAX];
		uint8_t size; /* bytes; 0: the byte is no short TNT */
	} tnt[256]; /* lines of TNT packets of one byte, by the byte; without the offset */
};

/* Prepares the lines of short TNTs: once for any number of traces. */
void pt_text_init(struct pt_text *t);

/* Begins a trace; the bytes must live until the last line is written. */
void pt_text_begin(struct pt_text *t, struct span trace);

/* Appends lines until `out` has at least `full` bytes. False: the trace ends. */
bool pt_text_lines(struct pt_text *t, struct text *out, size_t full);

/*
 * Appends the lines of the packets that begin before an offset in the trace, as in perf's log: with
 * a blank in place of the dot. They are as long as the packets from the last call on.
 */
void pt_text_until(struct pt_text *t, struct text *out, uint64_t offset);

#endif
