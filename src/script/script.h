/* SPDX-License-Identifier: MIT */
/* Private to script. */
#ifndef SONDE_SCRIPT_TEXT_H
#define SONDE_SCRIPT_TEXT_H

#include "core/intern.h"
#include "core/text.h"
#include "field/line.h"
#include "script/graph.h"
#include "session/pick.h"

#include <sonde/preview/script.h>

/* Lines of one event, if each event has its own output. */
struct script_dump {
	struct text out;
	uint64_t samples;
};

struct script_thread {
	uint32_t tid, name; /* name: an id in script_start.names; INTERN_NONE: none */
};

/* Names of threads by the records at the start of a recording; empty when zero-initialised. */
struct script_start {
	struct index index; /* of threads, by tid */
	struct script_thread *threads;
	size_t n, cap;
	struct intern names;
	struct text unnamed; /* the last ":TID" */
};

struct script_worker {
	struct session_worker session;
	struct line_worker line;
	struct text out;
	struct script_dump *dumps; /* by event; NULL: all lines are in `out` */
	struct script_start start;
	const char *name; /* of the thread of a record at the start; NULL: script_record_comm's */
	bool off; /* no samples are printed until the event of --switch-on */
	bool ready;
};

/* State at the start of a part. */
struct script_part {
	struct line_clock clock;
	bool off;
	bool ends_off[2]; /* the state at the end, by that at the start */
};

/* Events after which samples are printed, or are no longer printed. */
struct script_switches {
	const char *on, *off; /* names; NULL: none */
	bool shown; /* their own samples are printed too */
};

struct script {
	struct sonde_session *session;
	struct line_style style;
	bool has_tod; /* the header has CLOCK_DATA */
	struct pick pick;
	struct pick stop; /* functions that end call chains */
	struct script_switches switches;
	struct script_filter *filter; /* NULL: none; else one worker reads all samples in order */
	struct script_graph graph; /* on: one worker reads all samples in order */
	bool json;
	bool all_fields; /* every field that an event recorded */
	bool shows_source; /* an event has the field srccode; lines: one worker formats them in order */
	uint32_t cpus; /* available ones of the header; 0: unknown; only for JSON */
	bool runs; /* branches that share a record may be printed together */
	bool in_file_order; /* not by time */
	bool by_start; /* names of threads in records with time 0 depend on the records before */
	uint32_t kinds; /* bits by type of other records to print */
	struct line_plan *plans; /* by event */
	struct field_traces traces; /* tracepoints whose texts are printed */
	struct script_worker *workers;
	unsigned nworkers;
	size_t nparts;
	struct script_part *parts; /* [nparts]; NULL: workers need no state from earlier parts, or
	                              one worker formats all parts in order */
	struct arena arena;
	sonde_write_fn write;
	sonde_script_event_fn write_event; /* NULL: all lines go to `write` */
	void *arg;
};

void script_worker_fini(const struct script *s, struct script_worker *w);

/* Begins to read a part: a window, or a chunk if lines are in the order of the file. */
int script_part_open(struct script *s, struct script_worker *w, size_t part);
/* Returns the next sample or record to print: 1, 0 at the end of the part, or a negative status. */
int script_part_next(
        struct script *s, struct script_worker *w, struct record *r, struct session_sample *sample);

/*
 * Finds the state at the start of each part if the lines of a part depend on earlier ones, and
 * several workers format them. SONDE_ENOMEM.
 */
int script_parts_find(struct script *s);

/*
 * Adds a record with time 0, and sets *name to the name of its thread, valid until the next call;
 * NULL: that of script_record_comm. SONDE_ENOMEM.
 */
int script_start_add(struct script_start *s, const struct record *r, bool swap,
        const struct session_sample *sample, const char **name);
void script_start_fini(struct script_start *s);

/*
 * Returns the name of the thread in the line of a record that is no sample: a COMM record has it,
 * and a thread that nothing names is ":TID". The text may be in *scratch.
 */
const char *script_record_comm(const struct script *s, const struct record *r,
        const struct session_sample *sample, struct text *scratch);

/* Prints a record that is no sample, and a newline. */
void script_record_text(struct text *out, const struct record *r, bool swap);

/* Prints a record that is no sample as a JSON object, and a newline. */
void script_json_record(struct text *out, const struct script *s, const struct record *r,
        const struct session_sample *sample);
/*
 * Prints the first line; untimed: and the records that have no time, which are the recorder's. A
 * negative status.
 */
int script_json_begin(struct script *s, bool untimed);

/* Prints the metrics of a group of events if the sample is the last one of its record. */
void script_metrics(struct text *out, const struct script *s, struct script_worker *w,
        const struct session_sample *sample);

/*
 * Prints the counts of a `stat record` file, nothing for others. SONDE_ENOMEM, SONDE_ELIMIT (far
 * more lines than the file has bytes), or the result of write.
 */
int script_stat_print(const struct sonde_session *s, sonde_write_fn write, void *arg);

#endif
