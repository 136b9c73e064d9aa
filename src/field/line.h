/* SPDX-License-Identifier: MIT */
/*
 * A sample as text, in the layout of perf script: fields in a fixed order, then the call chain, a
 * line for each frame, and an empty line.
 */
#ifndef SONDE_FIELD_LINE_H
#define SONDE_FIELD_LINE_H

#include "field/address.h"
#include "field/field.h"
#include "field/srccode.h"
#include "field/traces.h"
#include "frame/code.h"
#include "session/pick.h"

/* How to print the samples of one event; made once, read by all workers. */
struct line_plan {
	uint64_t fields;
	uint64_t printed; /* those of the fields that have texts of their own */
	bool chain; /* print call chains */
	unsigned address_parts; /* enum address_part, without ADDRESS_LINE */
	bool stack; /* user code of chains is not unwound: show at least the sampled ip */
	unsigned inlined; /* ADDRESS_INLINED for the addresses of chains, or 0 */
	unsigned stack_inlined; /* for unwound stacks, and the sampled ip of `stack` */
	bool branch; /* each sample is a branch: print where it went, and no data */
	bool target; /* with branch: the field addr is chosen */
	uint64_t code; /* with branch: fields after the target */
	bool source_code; /* print the source code after the line */
	unsigned source_parts; /* enum address_part: a source line after the target, or 0 */
	bool run; /* with branch: line_run can print it */
	bool names_addr; /* resolve the field addr to symbol and object */
	bool timed; /* samples have times */
	const struct trace_event *trace; /* the tracepoint whose text is printed; NULL: none */
	const struct sonde_attr *attr;
	const char *event; /* name, right-aligned to the longest one */
	size_t event_size;
};

/* Fields that are equal in the lines of a run, and precede the others. */
#define LINE_RUN_FIELDS                                                                            \
	(FIELD_BIT(FIELD_MACHINE_PID) | FIELD_BIT(FIELD_VCPU) | FIELD_BIT(FIELD_COMM) |            \
	        FIELD_BIT(FIELD_PID) | FIELD_BIT(FIELD_TID) | FIELD_BIT(FIELD_CPU) |               \
	        FIELD_BIT(FIELD_TIME) | FIELD_BIT(FIELD_TOD) | FIELD_BIT(FIELD_PERIOD) |           \
	        FIELD_BIT(FIELD_EVENT))

#define LINE_FLAGS     32u
#define LINE_FLAGS_MAX 32u /* bytes */

/* What the field time prints. */
enum line_times {
	LINE_TIMES_RECORDED,
	LINE_TIMES_SINCE_START, /* since the first line with a time */
	LINE_TIMES_SINCE_LAST /* since the line before */
};

/* Times of the lines printed so far, ns; 0: none. */
struct line_clock {
	uint64_t start, last;
};

/* The text of the field flags; n 0: none is kept. */
struct line_flags {
	uint32_t flags, n;
	char text[LINE_FLAGS_MAX];
};

/* State of a worker that prints lines. */
struct line_worker {
	struct address_cache addresses;
	struct line_clock clock;
	struct field_tracer tracer; /* used if a plan has a tracepoint */
	struct srccode *source_code; /* owned; used if a plan has source code */
	struct text prefix; /* of the lines of a run */
	struct line_flags flags[LINE_FLAGS]; /* by hash of the flags */
};

/* Style of all samples. */
struct line_style {
	bool ns;
	enum line_times times;
	bool narrow; /* as perf script -L: names of threads cut to 8 bytes, processors without brackets */
	bool hide_chain;
	bool wide_object; /* callindent: objects in a wide column */
	bool kernel_path; /* ADDRESS_PATH */
	bool source_path; /* ADDRESS_SOURCE_PATH */
	bool inlined, not_inlined; /* print inlined functions in all chains, in none */
	uint64_t max_stack; /* entries of a chain */
	uint64_t max_blocks; /* pieces of code between branches; 0: all */
	struct frame_code *code; /* for fields with instructions; NULL: none is chosen */
	const struct pick *stop; /* functions that are the last entries of chains; NULL: none */
	struct field_source source;
	const char *const *regs; /* by bit; NULL: unknown */
	size_t nregs;
	size_t event_width;
};

/* Makes a plan without a tracepoint; the arena owns the padded name. SONDE_ENOMEM. */
int line_plan_make(struct line_plan *plan, const struct line_style *style, uint64_t fields,
        const struct sonde_attr *attr, const char *event, struct arena *arena);

void line_text(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct line_worker *worker, const struct session_sample *sample);

struct line_branches {
	const struct aux_branch *v;
	size_t n;
};

/*
 * Prints the lines of branches that differ from a sample by their branch only, as line_text does.
 * Only if plan->run, for samples without filters, and for LINE_TIMES_RECORDED.
 */
void line_run(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct line_worker *worker, const struct session_sample *sample,
        struct line_branches branches);

/* Prints some of the fields. */
void line_fields(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct line_worker *worker, const struct session_sample *sample, uint64_t fields);

/* Prints the field flags; flags: AUX_FLAG_*. */
void line_flags_text(struct text *out, uint32_t flags);

void line_worker_fini(struct line_worker *worker);

/*
 * Prints only thread, cpu and time, before a record that is no sample, or before what follows a
 * sample; comm: the thread's name, NULL: as for the sample.
 */
void line_head(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct line_worker *worker, const struct session_sample *sample, const char *comm);

/* Updates the clock as line_text and line_head do, without text. */
void line_pass(const struct line_plan *plan, struct line_clock *clock,
        const struct session_sample *sample);

/* Whether the address is in a function that ends call chains: 1, 0, SONDE_ENOMEM. */
int line_stops(const struct line_style *style, struct line_worker *worker,
        const struct session_sample *sample, uint32_t mode, uint64_t ip);

/* Fields of an address, which entries of call chains have too. */
#define LINE_PLACE_FIELDS                                                                          \
	(FIELD_BIT(FIELD_SYM) | FIELD_BIT(FIELD_SYMOFF) | FIELD_BIT(FIELD_DSO) |                   \
	        FIELD_BIT(FIELD_DSOFF) | FIELD_BIT(FIELD_SRCLINE))

/* Prints an object with the fields of the plan, and a newline (doc/json.md). */
void line_json(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct line_worker *worker, const struct session_sample *sample);
/* Whether line_json prints the field. */
bool line_json_has(size_t id);

/* Whether a sample's chain is printed. Those of traces may have none, though their event has. */
static inline bool line_has_chain(const struct line_plan *plan, const struct session_sample *s)
{
	return plan->chain && (s->s.callchain_len != 0 || s->extra == NULL);
}

/* Prints the raw data of an event of type synth, padded; nothing if it is too short. */
void synth_text(struct text *out, uint64_t config, struct span raw, bool swap);

#endif
