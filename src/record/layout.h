/* SPDX-License-Identifier: MIT */
/*
 * One description of the bytes of every record, feature and attr: tables of fields (layout_*.c) and
 * a walk over them, which yields each value with its name, offset and width. The dump prints the
 * values, the size check counts bytes that no field covers, conversion to the other byte order
 * swaps them, a test compares doc/format.md with the tables. Fields with a member in a C struct are
 * read into it and written from it (layout_fill, layout_store).
 *
 * A table lists fields in the order of the bytes. A field is present if its condition holds, and
 * repeated as its count says; both may depend on a number kept from an earlier field (a slot) or on
 * the attr's plan.
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
	LAYOUT_BITS, /* u64 of named parts; `mirrored`: big-endian writers count them from the
	                highest bit */
	LAYOUT_MIRRORED,
	LAYOUT_CHARS, /* text of `count` bytes, NUL-padded */
	LAYOUT_TEXT, /* text up to a NUL and its padding, to the end */
	LAYOUT_STRING, /* u32 length, then as many bytes of text, NUL-padded */
	LAYOUT_CSTRING, /* text up to a NUL */
	LAYOUT_BYTES, /* `count` bytes that have no byte order */
	LAYOUT_STRUCT, /* `sub`, `count` times */
};

enum layout_show {
	SHOW_DEC,
	SHOW_HEX,
	SHOW_NAMES, /* the name of the number, from `names` */
	SHOW_FLAGS, /* names of the bits, from `names` */
	SHOW_NEVER, /* padding: printed only if it is not all zero */
};

enum layout_slot { /* numbers that later conditions and counts use */
	SLOT_NONE,
	SLOT_NR,
	SLOT_TYPE,
	SLOT_SIZE,
	SLOT_ATTR_SIZE,
	SLOT_CPUS, /* set by the caller: available cpus of NRCPUS */
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
	WHEN_LEFT_EACH, /* at least `value` bytes are left for each item that the slot counts */
	WHEN_LEFT_ODD, /* the number of bytes left is not a multiple of `value` */
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
	COUNT_WORDS, /* as many u64 words as hold a bit for each of the number in slot n */
	COUNT_STRUCT_REST, /* bytes up to slot n, counted from the start of this struct */
	COUNT_ALIGN, /* bytes up to a multiple of 8, counted from the start */
};

struct layout_name {
	uint64_t value; /* for SHOW_FLAGS a mask; for bits the lowest bit */
	const char *name; /* NULL ends the list */
	uint8_t width; /* of LAYOUT_BITS and LAYOUT_MIRRORED parts, in bits */
	bool loose; /* a group of bits without names of their own */
};

struct layout;

/* A member of a C struct: offset and size in bytes; size 0: no member. */
struct layout_member {
	uint16_t at, size;
};

struct layout_field {
	const char *name; /* NULL: a struct whose fields are listed with those around it */
	enum layout_kind kind;
	const char *note; /* meaning and unit, for people */
	const char *unit; /* printed after numbers; NULL: none */
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
	enum layout_slot keep; /* slot in which the number is kept */
	unsigned zero; /* the value that a kept 0 means */
	enum layout_slot within; /* the slot with the bytes for the counted items: if not 0, that
	                            number is kept instead */
	const struct layout *sub;
	const struct layout_name *names;
	/*
	 * Where the value is in the layout's C struct: 1 + offset, and the size of that member in
	 * bytes. 0: not in the struct; skipped when read, written as 0. A number is an integer that
	 * is wide enough; a struct is that struct itself. Texts, bytes, arrays and lists are views
	 * in records (sonde/record_types.h), and copies in structs of layout_fill: struct
	 * layout_text, struct span, a pointer to the elements.
	 */
	uint16_t to, room;
	struct layout_member n; /* size_t: the number of elements, if no field of its own
	                           contains it */
	/*
	 * bool: the field is present. layout_fill takes a field with this member that does not fit
	 * as absent; its bytes belong to the next field, or are left over. A field without it, if
	 * it is in the struct, must be present when its condition is about bytes that are left.
	 */
	struct layout_member has;
};

struct layout {
	const char *name;
	const struct layout_field *fields;
	unsigned nfields;
	const char *note;
	size_t size; /* size of the C struct in bytes; 0: no struct */
};

enum layout_event {
	LAYOUT_END, /* the end */
	LAYOUT_VALUE, /* one number, an array of them, text or bytes */
	LAYOUT_LIST, /* a list of structs begins */
	LAYOUT_LIST_END,
	LAYOUT_ITEM, /* a struct begins */
	LAYOUT_ITEM_END,
	LAYOUT_REST, /* bytes that no field covers, or too few for the next field */
};

struct layout_value {
	const struct layout_field *field; /* NULL for LAYOUT_REST */
	uint64_t number; /* a single number, in host order; MIRRORED: parts counted from the
	                    lowest bit */
	uint64_t count; /* numbers of an array; items of a list */
	struct span bytes; /* as in the input; texts with their padding */
	bool array; /* printed in brackets */
};

#define LAYOUT_DEPTH 5

struct layout_frame {
	const struct layout *layout;
	const struct layout_field *field; /* the field that began this frame; NULL: the outermost
	                                     frame */
	const uint8_t *start;
	uint64_t items; /* items left, this one included; UINT64_MAX: to the end */
	unsigned next; /* index of the next field */
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

/* Size in bytes of one number of a kind; 1 for texts and bytes, 0 for structs. */
unsigned layout_width(enum layout_kind kind);

/* Returns number i of an array. */
uint64_t layout_number(const struct layout_value *v, uint64_t i, bool swap);

/*
 * Writes v->bytes in the other byte order to `out`, which has room for as many bytes. Texts and
 * bytes are copied.
 */
void layout_turn(const struct layout_value *v, bool swap, uint8_t *out);

/* For other walks over the tables: whether the field is present; its value; false: no room. */
bool layout_there(const struct layout_walk *w, const struct layout_field *f);
bool layout_take(struct layout_walk *w, const struct layout_field *f, struct layout_value *out);
/* Number of items; UINT64_MAX: a list to the end. */
uint64_t layout_count(const struct layout_walk *w, const struct layout_field *f);
/* Keeps the field's number for later fields; false: the input is too short for it. */
bool layout_keep(struct layout_walk *w, const struct layout_field *f, uint64_t number);
/* Writes a number of the field's kind, layout_width bytes. */
void layout_put(uint8_t *out, const struct layout_field *f, uint64_t number, bool swap);

/* ---- structs ---- */

/* The member of a field, and the number in it. Size 0: load returns 0, store does nothing. */
struct layout_member layout_member_of(const struct layout_field *f);
uint64_t layout_member_load(const void *base, struct layout_member m);
void layout_member_store(void *base, struct layout_member m, uint64_t v);

struct layout_text {
	const char *s; /* NUL-terminated */
	struct span raw; /* as in the input, with padding; p is NULL for new texts, which are
	                    padded with NULs to a multiple of 64 bytes */
};

struct layout_source {
	struct span bytes;
	const struct record_plan *plan; /* may be NULL for layouts without samples */
	uint32_t cpus; /* available cpus of NRCPUS; 0: unknown */
	uint16_t misc;
	bool swap;
};

/*
 * Decodes bytes into *out, the layout's struct, and bytes that no field covers into *tail (may be
 * NULL). Texts and arrays live in the arena, spans point into the input. Returns 1; SONDE_EFORMAT:
 * the bytes do not fit the layout, *out is zero and *tail has all bytes; SONDE_ENOMEM.
 */
int layout_fill(const struct layout *layout, const struct layout_source *source, struct arena *a,
        void *out, struct span *tail);

/* Size of a new text in the file: with its NUL, padded to a multiple of 64. */
size_t layout_text_room(const char *s);

/* Appends the struct's bytes; only plan, misc and swap of `source` are used. */
void layout_store(struct text *t, const struct layout *layout, const struct layout_source *source,
        const void *value);

/* The layout of a record type's body; NULL when the type is unknown. */
const struct layout *layout_of_record(uint32_t type);
const struct layout *layout_of_trailer(void);
/* The layout of a header feature's payload; NULL when the feature is unknown. */
const struct layout *layout_of_feature(uint32_t feature);
const struct layout *layout_of_attr(void);

/*
 * A record's body, then the part after it as a struct of its own: the trailer as "sample_id", or
 * the payload of a FEATURE record under the feature's name.
 */
struct record_walk {
	struct layout_walk walk;
	struct span then; /* bytes of the second part */
	struct layout_field then_field; /* its layout */
	enum { WALK_BODY, WALK_THEN, WALK_DONE } part;
	bool bad; /* a field did not fit */
};

/*
 * plan: of the record's attr; NULL: none (then a sample is all LAYOUT_REST and there is no
 * trailer). cpus: available cpus of NRCPUS; 0: unknown.
 */
void record_walk_init(struct record_walk *w, const struct record *r, bool swap,
        const struct record_plan *plan, uint32_t cpus);
enum layout_event record_walk_next(struct record_walk *w, struct layout_value *out);

/*
 * Writes the record, header included, in the other byte order to out (r->size bytes; the header is
 * before r->body). False: the record did not fit its layout; bytes that no field covers were copied
 * unchanged.
 */
bool record_turn(const struct record *r, bool swap, const struct record_plan *plan, uint32_t cpus,
        uint8_t *out);

#endif
