/* SPDX-License-Identifier: MIT */
/*
 * Whether the text of a format is as the kernel writes it:
 *
 *	name: sched_switch
 *	ID: 316
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		...
 *
 *	print fmt: "prev_comm=%s", REC->prev_comm
 *
 * libtraceevent expects such a text: it crashes on some others.
 */
#ifndef SONDE_TRACE_SOUND_H
#define SONDE_TRACE_SOUND_H

#include "core/span.h"

/* Checks the lines, and in the print format quotes, brackets, their depth, and divisors. */
bool trace_format_is_sound(struct span text);

/*
 * Whether the text is sound, and has nothing else: two groups of fields with an empty line after
 * each, whose declarations are words, stars and the length of an array, and a print format of one
 * line. libtraceevent reads others in ways of its own.
 */
bool trace_format_is_plain(struct span text);

#endif
