/* SPDX-License-Identifier: MIT */
/*
 * Questions about the calls and branches of an exported recording (export.h), or of a database that
 * perf's export-to-sqlite.py or export-to-postgresql.py wrote. The SQL is the same text on all
 * engines. Preview: may change in any release.
 *
 *	struct sonde_db *d = sonde_db_new();
 *	struct sonde_db_options o = {.size = sizeof(o), .question = SONDE_DB_TOP};
 *	if (d != NULL && sonde_db_open(d, "perf.db") >= 0 && sonde_db_write(d, &o, write, arg) >= 0) ...
 *	sonde_db_free(d);
 */
#ifndef SONDE_PREVIEW_DB_H
#define SONDE_PREVIEW_DB_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_db_question {
	SONDE_DB_TOP, /* functions, with the number and time of their calls */
	SONDE_DB_GRAPH, /* call paths, with the same: a tree */
	SONDE_DB_TREE, /* each call: a tree by thread, in the order of time */
	SONDE_DB_SLOW, /* calls of `function`, the longest first */
	SONDE_DB_BETWEEN, /* times from each entry of `function` to the next one of `to` */
	SONDE_DB_BRANCHES, /* branches that arrive in `function` from elsewhere, by source */
	SONDE_DB_QUESTIONS
};

enum sonde_db_sort { /* rows of SONDE_DB_TOP; the largest first */
	SONDE_DB_BY_TOTAL,
	SONDE_DB_BY_SELF,
	SONDE_DB_BY_CALLS,
	SONDE_DB_BY_MAX
};

struct sonde_db_options {
	size_t size; /* sizeof(struct sonde_db_options) of the caller */
	enum sonde_db_question question;
	enum sonde_db_sort sort;
	bool json; /* schema sonde-db, see doc/json.md; else text */
	const char *function, *to; /* whole names, as in the table symbols */
	uint64_t limit; /* rows; 0: all */
	uint64_t depth; /* levels of trees; 0: all */
	/* Only calls and branches of these threads: */
	const char *comm; /* name of the process or thread; NULL: all */
	uint64_t pid, tid;
	bool has_pid, has_tid;
	/* Only calls that overlap [start, end], branches in it; ns of the recording's clock. end 0: no end. */
	uint64_t start, end;
	uint64_t min_time; /* only calls, or times between calls, that take at least so long; ns */
};

struct sonde_db;

/* NULL: out of memory. */
SONDE_API struct sonde_db *sonde_db_new(void);
SONDE_API void sonde_db_free(struct sonde_db *d); /* NULL is fine */
SONDE_API const struct sonde_error *sonde_db_error(const struct sonde_db *d);

/*
 * Opens a database for reading: the path of a SQLite file, or a connection string of libpq, as
 * "dbname=perf host=/tmp" or "postgresql:///perf". 0; SONDE_ENOENT, SONDE_EPERM, SONDE_EIO;
 * SONDE_EFORMAT: it is no database; SONDE_EUNSUPPORTED: this build cannot read such databases.
 */
SONDE_API int sonde_db_open(struct sonde_db *d, const char *name);

/*
 * Passes the answer to `write` in pieces. 1; 0: the answer has no rows; SONDE_EARG: wrong options, the
 * database is not open, or has no function of that name; SONDE_EFORMAT: the database is damaged or
 * lacks tables; SONDE_ENOMEM; SONDE_EOUTPUT.
 */
SONDE_API int sonde_db_write(struct sonde_db *d, const struct sonde_db_options *options,
        sonde_write_fn write, void *arg);

/*
 * Passes the SQL of a question to `write`, with the values of its parameters as comments before it.
 * Needs no open database. 0, or as sonde_db_write.
 */
SONDE_API int sonde_db_write_sql(struct sonde_db *d, const struct sonde_db_options *options,
        sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
