/* SPDX-License-Identifier: MIT */
/*
 * A recording as rows of tables:
 *
 *	session, in order of time -> run.c -> tasks.c    threads and their names
 *	                                      names.c    objects, symbols, call paths
 *	                                      calls.c    calls, from branches
 *	                                   -> a sink     sqlite.c, or the caller's
 *
 * Rows of threads, objects, symbols and so on are written when a sample first refers to them.
 */
#ifndef SONDE_EXPORT_H
#define SONDE_EXPORT_H

#include "core/index.h"
#include "core/intern.h"
#include "core/text.h"
#include "export/schema.h"
#include "frame/frame.h"
#include "session/session.h"

#include <sonde/preview/export.h>

#define EXPORT_NO_COMM UINT32_MAX
#define EXPORT_TEXTS   4u /* columns of text in a row, at most */
#define EXPORT_ROOT    1u /* id of the root of all call paths */

/* A name of a thread, from the time of its COMM or FORK record. */
struct export_comm {
	uint32_t text; /* in names */
	bool exec; /* a new program began with it */
	uint64_t time; /* ns */
	uint64_t id; /* of its row; 0: none yet */
};

/* A thread, from its FORK record until its tid is used again. */
struct export_task {
	uint32_t pid, tid;
	uint64_t id; /* of its row; 0: none yet */
	uint32_t first, second, exec, now; /* comms: the oldest two, the last exec, the newest */
	bool named; /* by a record, or by its parent */
};

/* A symbol that has a row; `symbol` NULL: the address has none. */
struct export_symbol {
	uint64_t address; /* without a symbol */
	const struct symbol *symbol;
	uint32_t object;
};

struct export_path {
	uint64_t parent, ip; /* id; ip only without a symbol */
	uint64_t symbol; /* id */
	uint32_t hash;
};

struct export_entry { /* of a call chain */
	uint64_t ip;
	uint32_t mode;
	uint32_t hash; /* of its call path */
	uint64_t symbol; /* id */
};

struct export_calls;

/* What a database has before an export; ids of its new rows begin after the last ones. */
struct export_start {
	bool exists[EXPORT_TABLES];
	uint64_t last[EXPORT_TABLES];
	/* Sets *id to that of a row of hosts with these values but for the id, or to 0. */
	int (*find_host)(void *arg, const struct sonde_export_value *row, uint64_t *id);
	void *arg;
};

struct export
{
	struct sonde_session *session;
	struct sonde_export_options options;
	const struct sonde_export_sink *sink;
	struct sonde_export_table tables[EXPORT_TABLES];
	const struct export_start *start;
	uint64_t bases[EXPORT_TABLES]; /* ids of a table begin after this one */
	uint64_t ids[EXPORT_TABLES]; /* the last one of each table */
	struct sonde_export_counts counts;
	uint64_t first_time, last_time; /* of samples, ns; NO_TIME: none has one */
	struct frame_reader frames;
	struct text escaped[EXPORT_TEXTS]; /* texts of a row that are not plain ASCII */
	/* tasks.c */
	struct export_task *tasks;
	size_t ntasks, tasks_cap;
	struct index tids; /* the newest task of each tid */
	struct export_comm *comms;
	size_t ncomms, comms_cap;
	struct intern names;
	/* names.c */
	uint64_t *events; /* ids, by event of the session */
	uint64_t *objects; /* ids, by object of the timeline */
	struct export_symbol *symbols; /* by id - base - 1 */
	size_t nsymbols, symbols_cap;
	struct index symbol_index;
	struct export_path *paths; /* by id - base - 1 */
	size_t npaths, paths_cap;
	struct index path_index;
	struct export_entry *chain; /* of a sample */
	size_t chain_cap;
	struct export_calls *calls; /* NULL: not wanted */
};

/* Values of a row. */
#define EXPORT_NUMBER(n)                                                                           \
	(struct sonde_export_value)                                                                \
	{                                                                                          \
		.number = (int64_t)(n)                                                             \
	}

/* run.c: writes all rows; start: NULL: a new database */
int export_run(struct sonde_session *s, const struct sonde_export_options *options,
        const struct sonde_export_sink *sink, const struct export_start *start);
/* Copies the options of a caller; SONDE_EARG: they are wrong, or the session is not open. */
int export_options(struct sonde_session *s, const struct sonde_export_options *given,
        struct sonde_export_options *own);
/* SONDE_EARG, with what to do: samples of the database have other columns than the options want. */
int export_check_columns(struct sonde_session *s, const char *database,
        const struct sonde_export_options *options, bool all_columns);
int export_row(struct export *x, enum export_table table, const struct sonde_export_value *values);
static inline uint64_t export_id(struct export *x, enum export_table table)
{
	return ++x->ids[table];
}

/* The value of a text; the `slot`-th of its row. SONDE_ENOMEM: text NULL. */
struct sonde_export_value export_text(struct export *x, unsigned slot, const char *text);

/* hosts.c: rows of hosts and recordings, after all others */
#define EXPORT_NO_TIME UINT64_MAX /* the recording has none: -1, as in perf */
int export_recording(struct export *x);

/* tasks.c */
int export_tasks_add(struct export *x, const struct record *r, uint64_t time);
/* Returns the task with these numbers, which may be new; negative: out of memory. Tasks may move. */
int64_t export_task_find(struct export *x, uint32_t pid, uint32_t tid);
bool export_task_exists(const struct export *x, uint32_t pid, uint32_t tid);
void export_tasks_fini(struct export *x);

/* The ids of rows that a sample or context switch of a thread refers to. */
struct export_who {
	uint64_t machine, thread, comm; /* comm: with which the process began its program */
};
int export_who(struct export *x, uint32_t pid, uint32_t tid, struct export_who *out);

/* names.c: a code location as ids */
struct export_place {
	uint64_t object, symbol; /* ids; 0: unknown */
	uint64_t offset; /* from the start of the symbol, bytes */
	bool start; /* it is the first address of its symbol */
};
int export_place(struct export *x, const struct timeline_view *view, uint32_t mode, uint64_t ip,
        struct export_place *out);
/* Sets *id to that of the call path; parent 0: the root. */
int export_path(struct export *x, uint64_t parent, uint64_t symbol, uint64_t ip, uint64_t *id);
static inline uint64_t export_path_symbol(const struct export *x, uint64_t path)
{
	return x->paths[path - x->bases[EXPORT_PATHS] - 1].symbol;
}
/* The ids and offsets of a sample's row. */
struct export_ids {
	uint64_t id, event, path;
	struct export_who who;
	struct export_place from, to;
};

/* calls.c */
struct export_calls *export_calls_new(void); /* NULL: out of memory */
void export_calls_free(struct export_calls *c); /* NULL is fine */
/* Adds a sample of a branch, before its row. */
int export_calls_add(
        struct export *x, const struct session_sample *s, const struct export_ids *ids);
/* Ends all open calls. */
int export_calls_end(struct export *x);

int export_event(struct export *x, uint32_t event, uint64_t *id);
/* The call path of the call chain of a sample; 0: it has none. */
int export_chain(struct export *x, const struct session_sample *s, uint64_t *path);
void export_names_fini(struct export *x);
int export_names_init(struct export *x);

#endif
