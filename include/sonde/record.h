/* SPDX-License-Identifier: MIT */
/*
 * The contents of records, header features and attrs: every field by name, in the order of the
 * bytes, in host byte order. doc/format.md describes the same fields.
 *
 *	struct sonde_fields *fields = sonde_fields_new();
 *	const struct sonde_field *v;
 *
 *	if (sonde_file_record_fields(f, r, fields) == 0) {
 *		while (sonde_fields_next(fields, &v) > 0) {
 *			... v->what, v->name, v->number, v->text ...
 *		}
 *	}
 *	sonde_fields_free(fields);
 *
 * The fields of a kernel's record are followed by its trailer as a struct "sample_id", those of a
 * FEATURE record by the feature as a struct of its name.
 */
#ifndef SONDE_RECORD_PUBLIC_H
#define SONDE_RECORD_PUBLIC_H

#include <sonde/file.h>
#include <sonde/record_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names ---- */

/* "MMAP2", "FINISHED_ROUND": the name of a record type; NULL: unknown. Static. */
SONDE_API const char *sonde_record_type_name(uint32_t type);

/*
 * Names for the misc word of a record: number i (0, 1, ...) of the names of its cpu mode and of the
 * bits that are set, such as "kernel" and "COMM_EXEC"; NULL: no more names. Static.
 */
SONDE_API const char *sonde_record_misc_name(uint32_t type, uint16_t misc, unsigned i);

/* "HOSTNAME": the name of header feature `bit`; NULL: unknown. Static. */
SONDE_API const char *sonde_feature_name(unsigned bit);

/* ---- fields ---- */

/* An iterator over fields, for any number of records, one at a time. */
struct sonde_fields;

enum sonde_field_what {
	SONDE_FIELD_VALUE = 1, /* a number, an array of numbers, text or bytes */
	SONDE_FIELD_LIST, /* a list of structs begins; each of them is a STRUCT without name */
	SONDE_FIELD_LIST_END,
	SONDE_FIELD_STRUCT, /* a struct begins */
	SONDE_FIELD_STRUCT_END,
	SONDE_FIELD_REST /* bytes that no field describes, or too few for the next field */
};

enum sonde_field_kind {
	SONDE_KIND_NONE = 0, /* not a VALUE */
	SONDE_KIND_UNSIGNED,
	SONDE_KIND_SIGNED, /* `number` is its two's complement in 64 bits */
	SONDE_KIND_REAL, /* `number` has the bits of an IEEE double, `real` its value */
	SONDE_KIND_PARTS, /* a word of bit-fields: sonde_fields_part */
	SONDE_KIND_TEXT,
	SONDE_KIND_BYTES /* without byte order */
};

enum sonde_field_show { /* how to print the number for people */
	SONDE_SHOW_DECIMAL = 0,
	SONDE_SHOW_HEX,
	SONDE_SHOW_NAME, /* numbers have names: `meaning` */
	SONDE_SHOW_FLAGS, /* bits have names: sonde_fields_part */
	SONDE_SHOW_PADDING
};

/* A step of the iterator. Names, notes and units are static; bytes live as long as the file. */
struct sonde_field {
	enum sonde_field_what what;
	enum sonde_field_kind kind;
	enum sonde_field_show show;
	bool array; /* `count` numbers, see sonde_fields_number */
	bool empty; /* padding of zeros, or no bytes: nothing to show */
	unsigned width; /* bytes of one number in the file; 0: no number */
	const char *name; /* NULL for items of a list and for REST */
	const char *note; /* meaning, in words; NULL for REST */
	const char *unit; /* "ns", "B", ...; NULL: none */
	uint64_t number; /* in host order; of an array the first; 0: no number */
	double real;
	const char *meaning; /* name of the number; NULL: none */
	uint64_t count; /* numbers of an array; items of a list; 0: a list up to the end */
	const char *text; /* of TEXT: `text_size` bytes in any encoding, without a NUL */
	size_t text_size;
	const void *bytes; /* as in the file, texts with padding; not aligned */
	size_t size; /* bytes */
};

/* A named bit (or bits) of a number. */
struct sonde_field_part {
	const char *name; /* static */
	uint64_t mask; /* its bits in the number */
	uint64_t value; /* shifted to bit 0; 0: not set */
};

/* A new iterator, at its end. NULL: out of memory. Free with sonde_fields_free. */
SONDE_API struct sonde_fields *sonde_fields_new(void);
SONDE_API void sonde_fields_free(struct sonde_fields *it); /* NULL is fine */

/*
 * Moves to the first field of a record from sonde_file_next. The iterator uses bytes of the file,
 * which must stay open. The whole body is REST if its type, or the event of a sample, is unknown. 0;
 * SONDE_EARG: r is a gap.
 */
SONDE_API int sonde_file_record_fields(
        const struct sonde_file *f, const struct sonde_raw_record *r, struct sonde_fields *it);

/* The same for header feature `bit` (0 .. 255); all REST if it is unknown. 0; SONDE_ENOENT. */
SONDE_API int sonde_file_feature_fields(
        const struct sonde_file *f, unsigned bit, struct sonde_fields *it);

/* The same for the attr of event `event` (0 .. sonde_file_events() - 1). 0; SONDE_ENOENT. */
SONDE_API int sonde_file_event_fields(
        const struct sonde_file *f, size_t event, struct sonde_fields *it);

/* The next step. 1: *field is valid until the next call; 0: end, *field is NULL. */
SONDE_API int sonde_fields_next(struct sonde_fields *it, const struct sonde_field **field);

/* Not 0: so far, a field was longer than the remaining bytes. */
SONDE_API int sonde_fields_cut(const struct sonde_fields *it);

/* Number i of the current field; 0: the field has no such number. */
SONDE_API uint64_t sonde_fields_number(const struct sonde_fields *it, uint64_t i);

/* Copies up to n numbers of the current field, from number `first` on, to out; returns their number. */
SONDE_API size_t sonde_fields_numbers(
        const struct sonde_fields *it, uint64_t first, uint64_t *out, size_t n);

/*
 * Part i (0, 1, ...) of the current field's number, for SONDE_KIND_PARTS and SONDE_SHOW_FLAGS, also
 * parts that are not set. 1: *part is valid until the next call; 0: no more parts.
 */
SONDE_API int sonde_fields_part(
        struct sonde_fields *it, unsigned i, const struct sonde_field_part **part);

/* ---- structs ---- */

/*
 * Decodes a record from sonde_file_next into a C struct. 1; 0: the record is too short, and missing
 * members are 0. *record is valid until the next call, the data that it points to until the file is
 * closed (arrays of a sample: until the next call). SONDE_EUNSUPPORTED: an unknown type, or a SAMPLE
 * or READ of an unknown event; SONDE_EARG: r is a gap; SONDE_ENOMEM.
 */
SONDE_API int sonde_file_decode(struct sonde_file *f, const struct sonde_raw_record *r,
        const struct sonde_typed_record **record);

/* Number i of a list of numbers, sign-extended; 0: no such number. */
SONDE_API uint64_t sonde_list_number(const struct sonde_list *list, uint64_t i);

/*
 * Copies struct i of a list of structs to *item, which has `size` bytes: the sizeof of the type that
 * the list's comment names. 1; 0: no such struct, *item is all 0.
 */
SONDE_API int sonde_list_get(const struct sonde_list *list, uint64_t i, void *item, size_t size);

#ifdef __cplusplus
}
#endif

#endif
