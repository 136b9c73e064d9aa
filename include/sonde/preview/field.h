/* SPDX-License-Identifier: MIT */
/*
 * The fields of samples and of rows of samples, which -F of `sonde script`, and --sort and --fields
 * of `sonde report` accept, with the names, types and texts that a program needs to list, print or
 * store them. (struct sonde_field in sonde/record.h is another one: a field of a record in the
 * file.) Preview: may change in any release.
 *
 *	const struct sonde_field_info *f;
 *
 *	for (size_t i = 0; (f = sonde_field_at(i)) != NULL; i++) {
 *		printf("%s %s: %s\n", f->name, sonde_field_sql_type(f), f->help);
 *	}
 */
#ifndef SONDE_PREVIEW_FIELD_H
#define SONDE_PREVIEW_FIELD_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options that accept a field; bits. */
enum sonde_field_use {
	SONDE_FIELD_OF_SCRIPT = 1, /* -F of `sonde script` */
	SONDE_FIELD_KEY = 2, /* --sort and --fields of `sonde report`: it distinguishes rows */
	SONDE_FIELD_TOTAL = 4, /* --sort and --fields of `sonde report`: a sum of a row's samples */
	SONDE_FIELD_BRANCH_KEY = 8, /* the same as SONDE_FIELD_KEY, if rows are of branches */
	SONDE_FIELD_MEMORY_KEY = 16 /* the same as SONDE_FIELD_KEY, if weights are summed */
};

/* What a value is. */
enum sonde_field_type {
	SONDE_FIELD_TEXT = 1, /* in any encoding */
	SONDE_FIELD_ID, /* a signed number of 32 bits; -1: none */
	SONDE_FIELD_NUMBER, /* this and the next four: an unsigned number of 64 bits */
	SONDE_FIELD_ADDRESS, /* in memory or in an object, usually printed in hexadecimal */
	SONDE_FIELD_TIME, /* ns on the recording's clock, or on the one that `help` names */
	SONDE_FIELD_SIZE, /* bytes */
	SONDE_FIELD_FLAGS, /* bits with names */
	SONDE_FIELD_SHARE, /* percent, 0 to 100 */
	SONDE_FIELD_REGISTERS /* a set of named numbers */
};

/* A field. Texts are static; later versions may add members at the end. */
struct sonde_field_info {
	const char *name; /* its word in options, and its key in JSON */
	const char *other_name; /* `sonde report` accepts this word too; NULL: none */
	const char *title; /* of a column */
	const char *help; /* a short phrase in English */
	unsigned uses; /* bits of enum sonde_field_use */
	enum sonde_field_type type;
	uint64_t needs; /* bits of enum sonde_sample_bit: a sample must have one of them; 0: none */
};

/* Returns the field at an index, from 0, in the order of `sonde script`; NULL: no more fields. */
SONDE_API const struct sonde_field_info *sonde_field_at(size_t index);

/* Returns the SQL type of a column for the field: "TEXT", "INTEGER" (64 bits) or "REAL". Static. */
SONDE_API const char *sonde_field_sql_type(const struct sonde_field_info *f);

#ifdef __cplusplus
}
#endif

#endif
