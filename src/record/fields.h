/* SPDX-License-Identifier: MIT */
/* The state of sonde/record.h's walk, for code that starts one. */
#ifndef SONDE_RECORD_FIELDS_H
#define SONDE_RECORD_FIELDS_H

#include "record/layout.h"

#include <sonde/record.h>

struct sonde_fields {
	struct record_walk walk;
	struct layout_value value; /* of the current step */
	struct sonde_field field;
	struct sonde_field_part part;
};

/* Arguments as in record_walk_init. */
void fields_begin_record(struct sonde_fields *it, const struct record *r, bool swap,
        const struct record_plan *plan, uint32_t cpus);
/* Walks a feature's payload or an attr; layout NULL: all bytes are LAYOUT_REST. */
void fields_begin_layout(struct sonde_fields *it, const struct layout *layout, struct span bytes,
        bool swap, uint32_t cpus);

#endif
