/* SPDX-License-Identifier: MIT */
/* Private to annotate: samples counted by address, and what is printed of them. */
#ifndef SONDE_ANNOTATE_INSIDE_H
#define SONDE_ANNOTATE_INSIDE_H

#include "core/index.h"
#include "core/json.h"
#include "frame/code.h"
#include "frame/disassembler.h"
#include "frame/source.h"
#include "session/pick.h"
#include "session/session.h"

#include <sonde/preview/annotate.h>

struct annotate_count {
	uint64_t samples, period;
};

/* An address of an object that samples hit, or that branches came from. */
struct annotate_place {
	uint32_t object;
	uint32_t number; /* of its counts, before sorting */
	uint64_t address, ip;
	uint64_t cycles, branches; /* sum of cycles of `branches` branches from here */
};

/* Samples by address. Empty when zero-initialised, but for nevents. */
struct annotate_table {
	size_t nevents;
	struct annotate_place *places; /* sorted by object and address when complete */
	size_t n, cap;
	struct annotate_count *counts; /* [nevents] for each place, by its number */
	size_t counts_cap;
	struct annotate_count *totals; /* [nevents]: of all samples */
	struct index index;
};

/* Counts the samples of a session that a filter selects; SONDE_ENOMEM and others. */
int annotate_count(struct sonde_session *s, const struct pick *pick, struct annotate_table *out);
void annotate_table_fini(struct annotate_table *t);

static inline const struct annotate_count *annotate_counts(
        const struct annotate_table *t, const struct annotate_place *p)
{
	return &t->counts[p->number * t->nevents];
}

/* A function with samples: places [first, first + n) of the table. */
struct annotate_function {
	uint32_t object;
	const struct symbol *symbol;
	size_t first, n;
};

/* An instruction. */
struct annotate_insn {
	uint64_t address; /* in the object */
	uint64_t shown; /* as in its disassembly */
	struct span bytes;
	const char *text;
	const char *target; /* symbol that it jumps to or calls; NULL: none */
	uint64_t target_offset;
	double cycles; /* average of the branches from here; 0: unknown */
	struct lines_place lines;
};

struct annotate {
	struct sonde_session *session;
	struct sonde_annotate_options options;
	sonde_write_fn write;
	void *arg;
	struct pick pick;
	struct annotate_table table;
	struct annotate_function *functions;
	size_t nfunctions, functions_cap;
	struct frame_code *code;
	struct frame_code_kind kind; /* of `disassembler` */
	struct frame_disassembler *disassembler; /* for code of other processors than x86 */
	struct frame_source *source;
	struct text out, insn_text;
	struct json json;
	/* the events of the current section */
	uint32_t *events;
	size_t nevents;
	struct annotate_count
	        *sums; /* [nevents] of the function; then [nevents] of an instruction */
	bool any; /* a function was printed */
};

/* Adds counts of a place, of the section's events. */
void annotate_add(
        const struct annotate *a, const struct annotate_place *p, struct annotate_count *sums);

/* The share of a count of event i of the section, by the options. */
double annotate_percent(const struct annotate *a, size_t i, const struct annotate_count *count);

/* Receives the instructions of a function; counts: [nevents]. */
typedef int (*annotate_insn_fn)(
        void *arg, const struct annotate_insn *insn, const struct annotate_count *counts);

/* Calls fn for each instruction: 1, 0: there is no code, which was reported, or negative. */
int annotate_each(
        struct annotate *a, const struct annotate_function *f, annotate_insn_fn fn, void *arg);

/* Passes the text so far to `write` if it is at least n bytes. */
int annotate_flush(struct annotate *a, size_t n);

/* Print a function: 0, or negative. */
int annotate_text(struct annotate *a, const struct annotate_function *f);
int annotate_json(struct annotate *a, const struct annotate_function *f);

const char *annotate_name(const struct annotate *a, const struct annotate_function *f);
const char *annotate_object(const struct annotate *a, const struct annotate_function *f);

#endif
