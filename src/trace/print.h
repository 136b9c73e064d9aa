/* SPDX-License-Identifier: MIT */
/* Values as print formats show them, private to trace. */
#ifndef SONDE_TRACE_PRINT_H
#define SONDE_TRACE_PRINT_H

#include "core/text.h"
#include "trace/instruction.h"

void print_number(struct text *out, struct style style, uint64_t v);
void print_pointer(struct text *out, uint64_t v); /* 0x1f or (nil) */

/* A text, cut to the style's precision and padded to its width. */
void print_padded(struct text *out, struct style style, const void *p, size_t n);

void print_uuid(struct text *out, const uint8_t *p); /* 16 bytes */
void print_ipv4(struct text *out, const uint8_t *p); /* 4 bytes */
void print_ipv6(struct text *out, const uint8_t *p); /* 16 bytes */

#endif
