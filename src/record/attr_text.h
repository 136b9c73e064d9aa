/* SPDX-License-Identifier: MIT */
/* Prints an attr as text: the fields that are not zero, with perf's names. */
#ifndef SONDE_RECORD_ATTR_TEXT_H
#define SONDE_RECORD_ATTR_TEXT_H

#include "core/text.h"

#include <sonde/attr.h>

/*
 * `first` is printed before the first field, `between` before the others; names are padded to
 * `width`.
 */
struct record_attr_style {
	const char *first, *between, *equals;
	int width; /* in columns; 0: no padding */
};

void record_attr_text(
        struct text *out, const struct sonde_attr *attr, const struct record_attr_style *style);

/* One field a line between two rules, as perf -vv prints the events it opens. */
void record_attr_block(struct text *out, const struct sonde_attr *attr);

#endif
