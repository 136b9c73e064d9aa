/* SPDX-License-Identifier: MIT */
/* The files of an object, for what needs more than its symbols and lines. */
#ifndef SONDE_FRAME_SEARCH_H
#define SONDE_FRAME_SEARCH_H

#include "frame/frame.h"
#include "symbol/files.h"

/* Begins the search for the files of an object; the resolver must live as long. */
void frame_search_init(
        const struct frame_resolver *f, uint32_t object, struct symbol_search *search);

/* Reads the text with the symbols of an object of the kernel, or of a perf map. */
int frame_text_read(const struct frame_resolver *f, uint32_t object, struct symbol_text *out);

#endif
