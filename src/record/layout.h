/* SPDX-License-Identifier: MIT */
/*
 * One description of the bytes of every record, feature and attr: tables of fields (layout_*.c)
 * and a walk over them. The walk yields each value with its name, place and width; the dump
 * prints them, the size check counts what is left, the rewriting to the other byte order turns
 * them, typed views store them, and doc/format.md is compared with the tables by a test.
 *
 * A table is a list of fields in the order of the bytes. A field is there when its condition
 * holds, and stands as often as its count says; both may depend on a number kept from an earlier
 * field (a slot) or on the attr's plan.
 */
#ifndef SONDE_RECORD_LAYOUT_H
#define SONDE_RECORD_LAYOUT_H

#include "record/record.h"

enum layout_kind {
	LAYOUT_U8,
	LAYOUT_U16,
	LAYOUT_U32,
	LAYOUT_U64,
	LAYOUT_S32,
	LAYOUT_S64,
	LAYOUT_F64, /* IEEE double */
	LAYOUT_BITS, /* u64 of named parts; `mirrored`: a big-endian writer's stand from the top */
	LAYOUT_MIRRORED,
	LAYOUT_CHARS, /* text of `count` bytes, NUL-padded */
	LAYOUT_TEXT, /* text up to a NUL and its padding, to the end */
	LAYOUT_STRING, /* u32 length, then as many bytes of text, NUL-padded */
	LAYOUT_BYTES, /* `count` bytes without byte order */
	LAYOUT_STRUCT, /* `sub`, `count` times */
};

enum layout_show {
	SHOW_DEC,
	SHOW_HEX,
	SHOW_NAMES, /* the name of the number, from `names` */
	SHOW_FLAGS, /* names of the bits, from `names` */
	SHOW_NEVER, /* padding: not printed when all zero */
};

enum layout_slot { /* numbers kept for later conditions and counts */
	SLOT_NONE,
	SLOT_NR,
	SLOT_TYPE,
	SLOT_SIZE,
	SLOT_ATTR_SIZE,
	SLOT_CPUS, /* given from outside: NRCPUS available */
	SLOT_MORE,
	SLOTS
};

enum layout_when {
	WHEN_ALWAYS,
	WHEN_MISC, /* a bit of misc in `value` is set */
	WHEN_NOT_MISC,
	WHEN_IS, /* the slot is `value` */
	WHEN_NOT, /* the slot is not `value` */
	WHEN_MIN, /* the slot is at least `value` */
	WHEN_LEFT, /* at least `value` bytes are left */
	WHEN_LEFT_EACH, /* at least `value` bytes for each that the slot counts are left */
	WHEN_LEFT_ODD, /* the bytes left are no multiple of `value` */
	WHEN_SAMPLE, /* a bit of sample_type in `value` is set */
	WHEN_READ, /* a bit of read_format in `value` is set */
	WHEN_NOT_READ,
	WHEN_BRANCH, /* a bit of branch_sample_type in `value` is set */
};

enum layout_count {
	COUNT_ONE,
	COUNT_FIXED, /* n */
	COUNT_SLOT, /* the number in slot n */
	COUNT_REST, /* as many as are left */
	COUNT_USER_REGS,
	COUNT_INTR_REGS,
	COUNT_WORDS, /* u64 words for as many bits as slot n says */
	COUNT_STRUCT_REST, /* bytes up to slot n behind the start of this struct */
	COUNT_ALIGN, /* bytes up to a multiple of 8 from the start */
};

struct layout_name {
	uint64_t value; /* for SHOW_FLAGS a mask; for bits the lowest bit */
	const char *name; /* NULL ends the list */
	uint8_t width; /* of LAYOUT_BITS and LAYOUT_MIRRORED parts, in bits */
	bool loose; /* each bit is one of its own, not yet named */
};

struct layout;

struct layout_field {
	const char *name; /* NULL: a struct whose fields stand with those around it */
	enum layout_kind kind;
	const char *note; /* meaning and unit, for people */
	const char *unit; /* behind printed numbers; NULL: none */
	enum layout_show show;
	struct {
		enum layout_when is;
		enum layout_slot slot;
		uint64_t value;
	} when;
	struct {
		enum layout_count is;
		unsigned n;
	} count;
	enum layout_slot keep; /* where the number is kept */
	unsigned zero; /* what a kept 0 stands for */
	const struct layout *sub;
	const struct layout_name *names;
	uint16_t to; /* 1 + the value's offset in the typed struct; 0: it is not in there */
	uint16_t room; /* bytes of that member */
};

struct layout {
	const char *name;
	const struct layout_field *fields;
	unsigned nfields;
	const char *note;
	size_t size; /* of the typed struct; 0: there is none */
};

enum layout_event {
	LAYOUT_END, /* nothing more */
	LAYOUT_VALUE, /* one number, an array of them, text or bytes */
	LAYOUT_LIST, /* a list of structs begins */
	LAYOUT_LIST_END,
	LAYOUT_ITEM, /* a struct begins */
	LAYOUT_ITEM_END,
	LAYOUT_REST, /* bytes that no field names, or that are too few for the next one */
};

struct layout_value {
	const struct layout_field *field; /* NULL for LAYOUT_REST */
	uint64_t number; /* of a single number, in host order; parts of MIRRORED from the lowest */
	uint64_t count; /* numbers of an array; items of a list */
	struct span bytes; /* as they stand in the input; texts with their padding */
	bool array; /* printed in brackets */
};

#define LAYOUT_DEPTH 5

struct layout_frame {
	const struct layout *layout;
	const struct layout_field *field; /* that opened this one; NULL for the outermost */
	const uint8_t *start;
	uint64_t items; /* still to come, this one included; UINT64_MAX: to the end */
	unsigned next; /* field */
	uint8_t state;
};

struct layout_walk {
	struct cursor c;
	const uint8_t *start;
	const struct record_plan *plan; /* may be NULL for layouts without samples */
	uint64_t slots[SLOTS];
	struct layout_frame frames[LAYOUT_DEPTH];
	unsigned depth;
	uint16_t misc;
	bool bad; /* a field did not fit */
	bool done;
};

void layout_walk_init(struct layout_walk *w, const struct layout *layout, struct span bytes,
        bool swap, const struct record_plan *plan, uint16_t misc);
enum layout_event layout_next(struct layout_walk *w, struct layout_value *out);

/* Bytes of one number of a kind; 1 for texts and bytes, 0 for structs. */
unsigned layout_width(enum layout_kind kind);

/* Number i of an array value. */
uint64_t layout_number(const struct layout_value *v, uint64_t i, bool swap);

/*
 * Writes the value's bytes in the other byte order to `out` (as many bytes as v->bytes has).
 * Texts and bytes are copied.
 */
void layout_turn(const struct layout_value *v, bool swap, uint8_t *out);

/* The layout of a record type's body; NULL when the type is unknown. */
const struct layout *layout_of_record(uint32_t type);
const struct layout *layout_of_trailer(void);
/* The layout of a header feature's payload; NULL when the feature is unknown. */
const struct layout *layout_of_feature(uint32_t feature);
const struct layout *layout_of_attr(void);

/*
 * A record's body, then what stands behind it as a struct of its own: the trailer as "sample_id",
 * the payload of a FEATURE record under the feature's name.
 */
struct record_walk {
	struct layout_walk walk;
	struct span then; /* the second part's bytes */
	struct layout_field then_field; /* and layout */
	enum { WALK_BODY, WALK_THEN, WALK_DONE } part;
	bool bad; /* a field did not fit */
};

/*
 * plan: that of the record's attr, NULL when there is none (then a sample is all LAYOUT_REST and
 * there is no trailer). cpus: NRCPUS available, 0 when not known.
 */
void record_walk_init(struct record_walk *w, const struct record *r, bool swap,
        const struct record_plan *plan, uint32_t cpus);
enum layout_event record_walk_next(struct record_walk *w, struct layout_value *out);

/*
 * Writes the record in the other byte order, header included, to out (r->size bytes, header in
 * front of r->body). False when the record did not fit its layout: what no field names was copied
 * as it stood.
 */
bool record_turn(const struct record *r, bool swap, const struct record_plan *plan, uint32_t cpus,
        uint8_t *out);

#endif
