/* SPDX-License-Identifier: MIT */
/*
 * A sample as text, in the layout of perf script: fields in a fixed order, then the call chain, one
 * line a frame, and an empty line.
 */
#ifndef SONDE_FIELD_LINE_H
#define SONDE_FIELD_LINE_H

#include "field/address.h"
#include "field/field.h"

/* How the samples of one event are printed; made once, read by all workers. */
struct line_plan {
	uint64_t fields;
	uint64_t printed; /* those of them that have a text of their own */
	bool chain; /* print call chains */
	unsigned address_parts; /* enum address_part, without ADDRESS_LINE */
	bool stack; /* user code of chains is not unwound: at least the sample's ip is shown */
	bool names_addr; /* the field addr has symbol and object too */
	bool timed; /* samples have times */
	const struct sonde_attr *attr;
	const char *event; /* name, right-aligned to the longest one */
	size_t event_size;
};

/* What is the same for all samples. */
struct line_style {
	bool ns;
	bool hide_chain;
	bool kernel_path; /* ADDRESS_PATH */
	uint64_t max_stack; /* entries of a chain */
	struct field_source source;
	const char *const *regs; /* names by bit; NULL where none is known */
	size_t nregs;
	size_t event_width;
};

/* The arena keeps the padded name. SONDE_ENOMEM. */
int line_plan_make(struct line_plan *plan, const struct line_style *style, uint64_t fields,
        const struct sonde_attr *attr, const char *event, struct arena *arena);

void line_text(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct address_cache *addresses, const struct session_sample *sample);

/* Only who, where and when: what stands in front of a record that is no sample. */
void line_head(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct address_cache *addresses, const struct session_sample *sample);

/* "|OP LOAD|LVL L1 hit|..." for the value of PERF_SAMPLE_DATA_SRC. */
void data_src_text(struct text *out, uint64_t value);

#endif
