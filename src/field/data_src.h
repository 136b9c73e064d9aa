/* SPDX-License-Identifier: MIT */
/* Texts of PERF_SAMPLE_DATA_SRC, and its parts as keys of rows. */
#ifndef SONDE_FIELD_DATA_SRC_H
#define SONDE_FIELD_DATA_SRC_H

#include "core/text.h"

enum data_src_part {
	DATA_SRC_LEVEL, /* of caches and memory */
	DATA_SRC_SNOOP,
	DATA_SRC_TLB,
	DATA_SRC_LOCK,
	DATA_SRC_BLOCKED
};

/* Prints "|OP LOAD|LVL L1 hit|..." for a value of PERF_SAMPLE_DATA_SRC. */
void data_src_text(struct text *out, uint64_t value);

/* Returns a number that distinguishes, and orders as perf does, the texts of a part. */
uint64_t data_src_key(enum data_src_part part, uint64_t value);
/* Appends the text of a part, such as "L1 hit", for its number. */
void data_src_key_text(struct text *out, enum data_src_part part, uint64_t key);

#endif
