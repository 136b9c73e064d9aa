/* SPDX-License-Identifier: MIT */
/* Inside of the text of `sonde script`. */
#ifndef SONDE_OUTPUT_SCRIPT_H
#define SONDE_OUTPUT_SCRIPT_H

#include "core/text.h"
#include "record/record.h"

/* The words for a record of types MMAP, MMAP2, COMM, FORK, EXIT, SWITCH, SWITCH_CPU_WIDE, LOST. */
void script_record_text(struct text *out, const struct record *r, bool swap);

#endif
