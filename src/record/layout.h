/* SPDX-License-Identifier: MIT */
/*
 * One description of the bytes of every record, feature and attr: tables of fields (layout_*.c)
 * and a walk over them. The walk yields each value with its name, place and width; the dump
 * prints them, the size check counts what is left, the rewriting to the other byte order turns
 * them, and doc/format.md is compared with the tables by a test. Fields that say where they stand
 * in a C struct fill it and are written from it (layout_fill, layout_store).
 *
 * A table is a list of fields in the order of the bytes. A field is there when its condition
 * holds, and stands as often as its count says; both may depend on a number kept from an earlier
 * field (a slot) or on the attr's plan.
 */
#ifndef SONDE_RECORD_LAYOUT_H
#define SONDE_RECORD_LAYOUT_H

#include "core/arena.h"
#include "core/text.h"
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
	LAYOUT_CSTRING, /* text up to its NUL */
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

/* A member of a C struct: offset and size in bytes; size 0: none. */
struct layout_member {
	uint16_t at, size;
};

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
	enum layout_slot within; /* room for what the number counts: if not 0, it is kept instead */
	const struct layout *sub;
	const struct layout_name *names;
	/*
	 * Where the value stands in the layout's C struct: 1 + offset, and bytes of that member.
	 * 0: it is not in there, is read over and written as 0. A number: an integer that is wide
	 * enough. A struct: that struct, in place. Texts, bytes, arrays and lists are views in
	 * records (sonde/record_types.h), and copies that layout_fill makes: struct layout_text,
	 * struct span, a pointer to the elements.
	 */
	uint16_t to, room;
	struct layout_member n; /* size_t: how many, where no field of its own says it */
	/*
	 * bool: the field is there. For layout_fill a field with it that does not fit is none, and
	 * its bytes are those of what follows, or left over. Without it a field that is in the
	 * struct must be there where its condition is about bytes that are left.
	 */
	struct layout_member has;
};

struct layout {
	const char *name;
	const struct layout_field *fields;
	unsigned nfields;
	const char *note;
	size_t size; /* of the C struct, in bytes; 0: there is none */
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

/* For other walks over the tables: whether the field is there, and its value; false: no room. */
bool layout_there(const struct layout_walk *w, const struct layout_field *f);
bool layout_take(struct layout_walk *w, const struct layout_field *f, struct layout_value *out);
/* How many of it: UINT64_MAX for a list to the end. */
uint64_t layout_count(const struct layout_walk *w, const struct layout_field *f);
/* Keeps the field's number for those behind; false: there is less room. */
bool layout_keep(struct layout_walk *w, const struct layout_field *f, uint64_t number);
/* Writes a number of the field's kind to out (layout_width bytes). */
void layout_put(uint8_t *out, const struct layout_field *f, uint64_t number, bool swap);

/* ---- structs ---- */

/* Where a field's value stands, and the number there (size 0: 0, and nothing is written). */
struct layout_member layout_member_of(const struct layout_field *f);
uint64_t layout_member_load(const void *base, struct layout_member m);
void layout_member_store(void *base, struct layout_member m, uint64_t v);

struct layout_text {
	const char *s; /* NUL-terminated */
	struct span raw; /* as it stood in the input, with its padding; p is NULL for new texts,
	                    which are filled with NULs to a multiple of 64 bytes */
};

struct layout_source {
	struct span bytes;
	const struct record_plan *plan; /* may be NULL for layouts without samples */
	uint32_t cpus; /* NRCPUS available; 0: not known */
	uint16_t misc;
	bool swap;
};

/*
 * Reads bytes into *out, the layout's struct, and what no field names into *tail (may be NULL).
 * Texts and arrays live in the arena, spans point into the input. 1; SONDE_EFORMAT: the bytes do
 * not fit, *out is zero and *tail everything; SONDE_ENOMEM.
 */
int layout_fill(const struct layout *layout, const struct layout_source *source, struct arena *a,
        void *out, struct span *tail);

/* Bytes of a new text: with its NUL, filled to a multiple of 64. */
size_t layout_text_room(const char *s);

/* Appends the struct's bytes; of `source` plan, misc and swap count. */
void layout_store(struct text *t, const struct layout *layout, const struct layout_source *source,
        const void *value);

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
