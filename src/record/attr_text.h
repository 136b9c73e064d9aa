/* SPDX-License-Identifier: MIT */
/* An attr in words: the fields that are not zero, named as perf names them. */
#ifndef SONDE_RECORD_ATTR_TEXT_H
#define SONDE_RECORD_ATTR_TEXT_H

#include "core/text.h"

#include <sonde/attr.h>

/* `first` stands before the first field, `between` before the others; names fill `width`. */
struct record_attr_style {
	const char *first, *between, *equals;
	int width; /* in columns; 0: as long as they are */
};

void record_attr_text(
        struct text *out, const struct sonde_attr *attr, const struct record_attr_style *style);

/* Several lines, a field a line between two rules: how perf -vv shows what it opens. */
void record_attr_block(struct text *out, const struct sonde_attr *attr);

#endif
