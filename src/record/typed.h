/* SPDX-License-Identifier: MIT */
/*
 * Decodes records into the structs of sonde/record_types.h, by the offsets in the tables of fields.
 */
#ifndef SONDE_RECORD_TYPED_H
#define SONDE_RECORD_TYPED_H

#include "record/layout.h"

#include <sonde/record_types.h>

/* Whether records of the type can be decoded. plan: of the record's event; NULL: none. */
bool typed_knows(uint32_t type, const struct record_plan *plan);

/*
 * Fills the union and the trailer of *out, which must be zero up to them, from any record but a
 * SAMPLE. False: a field did not fit.
 */
bool typed_decode(const struct record *r, bool swap, const struct record_plan *plan,
        struct sonde_typed_record *out);

#endif
