/* SPDX-License-Identifier: MIT */
/* Records of hardware traces as `perf script -D` prints them. */
#ifndef SONDE_INSPECT_AUX_TEXT_H
#define SONDE_INSPECT_AUX_TEXT_H

#include "core/text.h"
#include "file/file.h"
#include "inspect/pt_text.h"

struct aux_text {
	/* set by the caller */
	const struct file *file;
	struct text *out; /* text to append to; full pieces of it go to write() */
	sonde_write_fn write;
	void *arg;
	bool want_packets;
	/* of zeros at first */
	struct pt_text *packets; /* NULL: no trace of Intel PT was announced */
	struct record_scratch scratch; /* of samples with trace data */
};

void aux_text_fini(struct aux_text *a);

/*
 * Appends the line of a record of a hardware trace, and its packets if it has some of Intel PT;
 * nothing for other records. event: of the record, may be NULL. 0; a negative status, SONDE_EOUTPUT
 * among them.
 */
int aux_text_record(struct aux_text *a, const struct record *r, const struct file_place *place,
        const struct file_event *event);

/* Appends the text of such a record and a newline, without its place; false: another record. */
bool aux_text_line(struct text *out, const struct record *r, bool swap);

#endif
