/* SPDX-License-Identifier: MIT */
/*
 * The tables of an exported recording, and as text of SQL: how to make them, their views and indexes.
 * Names and order of columns are those of the databases that perf's scripts write: viewers and
 * people's queries use them.
 */
#ifndef SONDE_EXPORT_SCHEMA_H
#define SONDE_EXPORT_SCHEMA_H

#include "core/text.h"

#include <sonde/preview/export.h>

enum export_table {
	EXPORT_EVENTS,
	EXPORT_MACHINES,
	EXPORT_THREADS,
	EXPORT_COMMS,
	EXPORT_COMM_THREADS,
	EXPORT_DSOS,
	EXPORT_SYMBOLS,
	EXPORT_BRANCH_TYPES,
	EXPORT_SAMPLES,
	EXPORT_PATHS, /* with calls or callchains */
	EXPORT_CALLS, /* with calls */
	EXPORT_HOSTS,
	EXPORT_RECORDINGS,
	EXPORT_PTWRITE, /* this and all later ones: dropped if empty, see export_schema_kept */
	EXPORT_CBR,
	EXPORT_MWAIT,
	EXPORT_PWRE,
	EXPORT_EXSTOP,
	EXPORT_PWRX,
	EXPORT_SWITCHES,
	EXPORT_TABLES
};

#define EXPORT_COLUMNS_MAX 25u

enum export_engine { EXPORT_SQLITE, EXPORT_POSTGRESQL };

/* Fills in tables[EXPORT_TABLES]; those that the options do not want have no columns. */
void export_schema_tables(
        const struct sonde_export_options *options, struct sonde_export_table *tables);

/*
 * Which tables remain, by which have rows: those of power events remain together, with that of the
 * clock ratio. Returns whether there are power events, and so power_events_view.
 */
bool export_schema_kept(const bool *has_rows, bool *kept);

/* Append statements, separated by ";\n". */
void export_schema_create(
        struct text *out, enum export_engine engine, const struct sonde_export_table *table);
/* " (COLUMN, ...)": a table may have more. */
void export_schema_columns(struct text *out, const struct sonde_export_table *table);
/* The view of a table, if it has one. */
void export_schema_view(struct text *out, enum export_engine engine, size_t table);
void export_schema_call_indexes(struct text *out);
/* Sets comms.has_calls of comms after this id; -1: of all. */
void export_schema_has_calls(struct text *out, int64_t after);
const char *export_table_name(size_t table);
void export_schema_power_view(struct text *out, enum export_engine engine);
/* Foreign keys of a table, all in one statement for the table `name`; nothing if it has none. */
void export_schema_references(struct text *out, size_t table, const char *name);
/* Whether a table grows with the length of a recording: PostgreSQL has a partition for each. */
bool export_schema_grows(size_t table);

/* The i-th type of branches; *name becomes its text, with a NUL. False: no more. */
bool export_branch_type(size_t i, struct text *name, int64_t *id);

#endif
