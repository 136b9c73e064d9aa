/* SPDX-License-Identifier: MIT */
/* The text of `sonde report`. Preview: may change in any release. */
#ifndef SONDE_PREVIEW_REPORT_H
#define SONDE_PREVIEW_REPORT_H

#include <sonde/preview/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_report_header {
	SONDE_REPORT_HEADER_NONE = 0, /* one line says how to see it */
	SONDE_REPORT_HEADER, /* before the rows */
	SONDE_REPORT_HEADER_ONLY
};

enum sonde_report_graph {
	SONDE_REPORT_GRAPH_TREE = 0, /* shares are of the whole event */
	SONDE_REPORT_GRAPH_FRACTAL, /* a tree, shares are of the branch above */
	SONDE_REPORT_GRAPH_FLAT, /* one call chain after the other, one function a line */
	SONDE_REPORT_GRAPH_FOLDED /* one call chain a line, functions between semicolons */
};

enum sonde_report_value {
	SONDE_REPORT_VALUE_PERCENT = 0,
	SONDE_REPORT_VALUE_PERIOD,
	SONDE_REPORT_VALUE_COUNT /* of samples */
};

struct sonde_report_options {
	size_t size; /* sizeof(struct sonde_report_options) of the caller */
	/* keys, comma-separated, see SONDE_FIELD_KEY in sonde/preview/field.h; NULL: comm,dso,sym */
	const char *sort;
	/* columns, comma-separated: keys and sums (SONDE_FIELD_TOTAL); with '+' in front: added to the
	 * usual ones; NULL: the usual ones */
	const char *fields;
	const char *separator; /* between columns, which are not padded with blanks then; NULL:
	                          blanks */
	const char *widths; /* of columns, comma-separated, 0: as wide as needed; NULL */
	struct sonde_filter filter;
	const char *symbol_part; /* only rows whose symbol has this in its name; NULL: all */
	bool relative; /* percentages of what the filters leave */
	bool no_children; /* count a sample for its own function only */
	bool no_graph; /* no call graphs */
	bool callee; /* graphs start at the row's function and go to its callers */
	bool order_given; /* `callee` was asked for; 0: callee only without children */
	enum sonde_report_graph graph_kind;
	enum sonde_report_value graph_value;
	bool graph_address; /* addresses of one function make different branches */
	uint32_t graph_branches; /* of one branch that are shown at most; 0: all */
	double graph_limit; /* percent; branches below are not shown */
	double percent_limit; /* percent; rows below are not shown */
	bool show_samples; /* a column with the number of samples */
	bool show_period; /* a column with the sum of periods */
	uint32_t max_stack; /* frames of a chain that count; 0: 127 */
	bool threads; /* also what each thread counted, when that was recorded */
	bool stats; /* counts of record types instead of rows */
	enum sonde_report_header header;
	bool header_full; /* with the CPU and memory topology */
	bool quiet; /* rows only */
	bool color; /* colour escapes by overhead */
	/* as JSON, see doc/json.md: rows without call graphs, threads and header; or stats, or
	 * SONDE_REPORT_HEADER_ONLY */
	bool json;
	uint64_t time_quantum; /* ns that make one row of the key time; 0: 100 ms */
	bool graph_given; /* call graphs were asked for; a warning when there are none */
};

/* Fills *o with what `sonde report` does without options. */
SONDE_API void sonde_report_options_init(struct sonde_report_options *o);

/*
 * Writes the report of an open session in pieces through `write` (a negative return stops: SONDE_EOUTPUT). 0;
 * 1 when there was no sample to report; or SONDE_EARG (an unknown sort key, a list that makes no
 * sense), SONDE_ENOMEM, or what the reading of samples says;
 * sonde_session_error(s) has the words.
 */
SONDE_API int sonde_report_print(struct sonde_session *s, const struct sonde_report_options *o,
        sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
