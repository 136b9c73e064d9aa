/* SPDX-License-Identifier: MIT */
/*
 * Prints the samples of a session as the rows of `sonde report`, in its layout or as JSON; rows for
 * programs: sonde/preview/profile.h. Preview: may change in any release.
 */
#ifndef SONDE_PREVIEW_REPORT_H
#define SONDE_PREVIEW_REPORT_H

#include <sonde/preview/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_report_header {
	SONDE_REPORT_HEADER_NONE = 0, /* one line with the option that prints it */
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

enum sonde_report_group {
	SONDE_REPORT_GROUP_RECORDED = 0, /* events of a recorded group in one table */
	SONDE_REPORT_GROUP_NONE, /* a table for each event */
	SONDE_REPORT_GROUP_ALL /* as recorded; without recorded groups, all events in one table */
};

enum sonde_report_branches {
	SONDE_REPORT_BRANCHES_AUTO = 0, /* if the recording was made for them */
	SONDE_REPORT_BRANCHES_OFF,
	SONDE_REPORT_BRANCHES_ON /* SONDE_EARG if no event recorded branch stacks */
};

struct sonde_report_options {
	size_t size; /* sizeof(struct sonde_report_options) of the caller */
	/* keys (SONDE_FIELD_KEY in sonde/preview/field.h), comma-separated; NULL: comm,dso,sym,
	 * or trace if all events are tracepoints */
	const char *sort;
	/* columns: keys and sums (SONDE_FIELD_TOTAL), comma-separated; after '+': added to the
	 * default columns; NULL: the default columns */
	const char *fields;
	const char *separator; /* between columns, which are not padded then; NULL: pad with
	                          blanks */
	const char *widths; /* of columns, comma-separated; 0 or NULL: as wide as needed */
	struct sonde_filter filter;
	const char *symbol_part; /* only rows whose symbol contains this; NULL: all */
	bool relative; /* percentages of the samples that pass the filters */
	bool no_children; /* count a sample for its own function only */
	bool no_graph; /* no call graphs */
	bool callee; /* graphs start at the row's function and continue with its callers */
	bool order_given; /* use `callee`; false: graphs of callees only with no_children */
	enum sonde_report_graph graph_kind;
	enum sonde_report_value graph_value;
	bool graph_address; /* different addresses of one function are different branches */
	uint32_t graph_branches; /* maximum number of branches of one branch; 0: all */
	double graph_limit; /* percent; smaller branches are not shown; 0: 0.5; negative: show all */
	double percent_limit; /* percent; smaller rows are not shown */
	bool show_samples; /* a column with the number of samples */
	bool show_period; /* a column with the sum of periods */
	uint32_t
	        max_stack; /* maximum number of frames of a chain; 0: 127, or those that the letter g
	                       of the session's itrace names, if they are more */
	bool threads; /* also counts of each thread, if they were recorded */
	bool stats; /* counts of record types instead of rows */
	enum sonde_report_header header;
	bool header_full; /* with the CPU and memory topology */
	bool quiet; /* rows only */
	bool color; /* colour escapes by overhead */
	/* as JSON, see doc/json.md: rows without call graphs, threads and header; or stats, or
	 * SONDE_REPORT_HEADER_ONLY */
	bool json;
	uint64_t time_quantum; /* ns per row of the key time; 0: 100 ms */
	bool graph_given; /* call graphs were requested: warn if there are none */
	/* the keys of `sort` as levels of a tree; keys between braces are one level. Not with
	 * `fields`, `widths` or `json`; as with `no_children`, callers are not counted */
	bool hierarchy;
	/* In the table of a group each sum has a value for each event. JSON always has a table for
	 * each event. */
	enum sonde_report_group group;
	/* number of the event in its group that rows are ordered by first, from 0; if a group has
	 * no such event, only its first one counts. SONDE_EARG if there are no groups, except 0 */
	int32_t group_sort;
	/* Extended regular expressions that match names of functions in call chains. SONDE_EARG if
	 * they are malformed, or if no chains were recorded. */
	/* the key `parent` is the first match in the order of graphs, and becomes a column; NULL:
	 * "^sys_|^do_page_fault", without a column */
	const char *parent;
	bool exclude_other; /* only samples with a match of `parent` */
	/* chains begin at the last match in the order of graphs: what it called is not shown;
	 * NULL: none */
	const char *ignore_callees;
	bool ns; /* times have nine decimals */
	bool show_modes; /* columns with the shares in the kernel and in user space */
	bool by_socket; /* only samples of the processors of `socket`, as the header lists them */
	uint32_t socket;
	/* names of events: only samples after one of switch_on, and until one of switch_off; NULL:
	 * from the beginning, to the end. SONDE_EARG if the recording has no such event */
	const char *switch_on, *switch_off;
	bool hide_unresolved; /* no samples in code without symbols, no callers without one */
	/* Samples of events that were recorded with the term call-graph=no get the chain of the
	 * sample before them, whatever thread it is of, as in perf: useful where two events are
	 * sampled at the same places. SONDE_EARG if there is no such event, or if no other one has
	 * chains. */
	bool reference_chains;
	bool tasks; /* instead of rows: all threads, each below the one that created it */
	bool mmaps; /* the same, with the mappings of each at the end of the recording */
	bool show_empty; /* tables of events without samples, and with `stats` counts of 0 */
	/* Rows of branches instead of samples, without call graphs; keys are also those of
	 * SONDE_FIELD_BRANCH_KEY, by default comm,dso_from,symbol_from,symbol_to,cycles. */
	enum sonde_report_branches branches;
	/* Rows of blocks of code between branches, by their cycles; columns are fixed. SONDE_EARG if
	 * no event recorded branch stacks, or with options of columns, levels or memory. In JSON a
	 * block begins at `addr_to` and ends at `addr_from`. */
	bool total_cycles;
	/* Sums of weights instead of periods; keys are also those of SONDE_FIELD_MEMORY_KEY.
	 * SONDE_EARG if no event recorded where data came from, or with rows of branches. */
	bool memory;
	bool graph_line; /* different source lines of one function are different branches */
	bool source_path; /* source files are shown with their paths */
	bool inlined; /* inlined functions are frames of call graphs, and rows with Children */
	bool raw_trace; /* keys that are fields of tracepoints show their values, not their texts */
	/* Branches of branch stacks are entries of call chains, before the recorded ones, and
	 * different addresses are different branches of graphs; rows are by default of
	 * srcline,sym,dso. SONDE_EARG if no event recorded branch stacks, or with `total_cycles` or
	 * `inlined`. */
	bool branch_history;
	/* Order rows by latency: the sum of their periods, each divided by the number of threads that
	 * ran at the time; as with `no_children`, callers are not counted. SONDE_EARG if no context
	 * switches were recorded. */
	bool latency;
	bool show_switches; /* also the samples of switch_on and switch_off that switch */
	bool threads_raw; /* with `threads`: a line for each count, with the number of its event */
	bool no_stack; /* samples have no call chain, whatever max_stack is */
	/* Objects are shown with their paths, and functions with the address in the object of their
	 * row's first sample, and a letter for the file that has their names; not in JSON. */
	bool verbose;
};

/*
 * Prints the report of an open session; options may be NULL. 0; 1: no sample to report; SONDE_EARG:
 * an unknown sort key, an invalid list, no branch stacks for SONDE_REPORT_BRANCHES_ON, or the
 * session is not open; SONDE_EOUTPUT; SONDE_ENOMEM; or the status of reading samples.
 * sonde_session_error(s) has the text.
 */
SONDE_API int sonde_report_print(struct sonde_session *s, const struct sonde_report_options *o,
        sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
