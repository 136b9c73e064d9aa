/* SPDX-License-Identifier: MIT */
/* Private to edit: several recordings as one. */
#ifndef SONDE_EDIT_MERGE_H
#define SONDE_EDIT_MERGE_H

#include "edit/inside.h"

/* An id of an input and the one that the output has in its place. */
struct merge_id {
	uint64_t from, to;
};

struct merge_input {
	struct sonde_file *handle; /* NULL: the first recording, which the rewriter reads */
	const struct file *f;
	const char *name;
	uint32_t *events; /* number in the output, by number in the input */
	uint64_t *fill; /* for records without an id, by number of the event in the input */
	struct merge_id *ids; /* sorted by `from` */
	size_t nids;
	uint64_t shift; /* added to times, modulo 2^64; ns */
	uint64_t first, last; /* times of SAMPLE_TIME, ns; 0: unknown */
	bool traced; /* a record belongs to a hardware trace */
	bool counted; /* a record belongs to counts of `stat` */
};

struct merge_event {
	struct sonde_attr attr;
	uint8_t bytes[ATTR_SIZE_NOW];
	const char *name;
	uint64_t *ids;
	size_t nids, ids_cap;
	bool grouped; /* its recording describes groups, which are not shared */
};

struct edit_merge {
	struct sonde_editor *e;
	struct merge_input *inputs; /* the first is that of the rewriter */
	size_t ninputs;
	struct merge_event *events;
	size_t nevents, events_cap;
	uint64_t *used; /* ids of the output, sorted */
	size_t nused, used_cap;
	uint64_t next; /* the next id that no input has */
	struct text words; /* the bytes of a feature */
};

/* Finds what to add to the times of an input. SONDE_EFORMAT: the clocks cannot be aligned. */
int merge_clock(struct edit_merge *m, struct merge_input *in);

/* Sets the formats of tracepoints of the output. SONDE_EFORMAT: a number has two meanings. */
int merge_formats(struct edit_merge *m, struct sonde_rewriter *rw);

/* Sets the header features of the output; numbers of events must be known. */
int merge_features(struct edit_merge *m, struct sonde_rewriter *rw);

#endif
