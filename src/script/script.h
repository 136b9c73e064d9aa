/* SPDX-License-Identifier: MIT */
/* Private to script. */
#ifndef SONDE_SCRIPT_TEXT_H
#define SONDE_SCRIPT_TEXT_H

#include "core/text.h"
#include "record/record.h"

#include <sonde/preview/script.h>

/* Prints a record that is no sample, and a newline. */
void script_record_text(struct text *out, const struct record *r, bool swap);

/*
 * Prints the counts of a `stat record` file, nothing for others. SONDE_ENOMEM, SONDE_ELIMIT (far
 * more lines than the file has bytes), or the result of write.
 */
int script_stat_print(const struct sonde_session *s, sonde_write_fn write, void *arg);

#endif
