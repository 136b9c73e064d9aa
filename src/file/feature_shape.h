/* SPDX-License-Identifier: MIT */
/*
 * The table of header features: what fields a payload has, in order, and where they stand in the
 * structs of feature.h. Decoding, encoding and showing all follow it.
 */
#ifndef SONDE_FILE_FEATURE_SHAPE_H
#define SONDE_FILE_FEATURE_SHAPE_H

#include "file/feature.h"

enum feature_kind {
	FEATURE_U8,
	FEATURE_U16,
	FEATURE_U32,
	FEATURE_S32,
	FEATURE_U64,
	FEATURE_TEXT, /* struct feature_text: u32 size; char bytes[size] */
	FEATURE_TEXT_OF_17, /* the same, there only when FEATURE_VERSION_NUMBER read 17 or more */
	FEATURE_C_TEXT, /* struct feature_text: bytes up to a NUL */
	FEATURE_NAME, /* struct feature_text: what is left of the record */
	FEATURE_COUNT32, /* size_t: u32 number of the elements or bytes of a field that follows */
	FEATURE_COUNT64, /* the same as u64 */
	FEATURE_BYTES, /* struct span whose n a count before it gave */
	FEATURE_ID, /* struct span: 20 bytes */
	FEATURE_ALL, /* struct span: everything that is left */
	FEATURE_ITEMS, /* pointer to elements of shape `items`, as many as the size_t at n_at says
	                */
	FEATURE_CPU_ITEMS, /* the same, one for each cpu that feature NRCPUS names */
	FEATURE_REST_ITEMS, /* the same, as many as there are */
	FEATURE_BITMAP, /* uint64_t *: as many words as the bits of the uint64_t at n_at need */
	FEATURE_PART, /* a struct of shape `items` that revisions added: the bool at n_at says
	                 whether it is there; without it its bytes are part of the tail */
	FEATURE_RECORD_SIZE, /* u16: bytes of this element, from 6 bytes before */
	FEATURE_VERSION_NUMBER, /* u32 that FEATURE_TEXT_OF_17 asks for */
	FEATURE_ATTR_SIZE, /* u32: bytes of each FEATURE_ATTR */
	FEATURE_ATTR, /* struct feature_attr */
	FEATURE_KINDS
};

struct feature_shape;

struct feature_field {
	const char *name; /* as shown; NULL: not shown */
	enum feature_kind kind;
	uint16_t at, n_at; /* offsets in the struct, in bytes */
	const struct feature_shape *items;
};

struct feature_shape {
	const struct feature_field *fields;
	size_t nfields;
	size_t size; /* of the struct, in bytes */
};

struct feature_desc {
	const char *name; /* "HOSTNAME" */
	struct feature_shape shape; /* no fields: an empty payload, or one that is kept as bytes */
};

/* NULL: not known. */
const struct feature_desc *feature_desc(unsigned bit);

#endif
