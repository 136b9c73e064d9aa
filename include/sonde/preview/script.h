/* SPDX-License-Identifier: MIT */
/* Prints samples as text in time order, in the layout of perf script. */
#ifndef SONDE_PREVIEW_SCRIPT_H
#define SONDE_PREVIEW_SCRIPT_H

#include <sonde/preview/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Receives lines of `samples` samples of an event, numbered as in sonde_session_event_name, in their
 * order; arg is that of sonde_script_print. A negative return stops the printing.
 */
typedef int (*sonde_script_event_fn)(
        void *arg, size_t event, const char *text, size_t n, uint64_t samples);

struct sonde_script_options {
	size_t size; /* sizeof(struct sonde_script_options) of the caller */
	const char *const *fields; /* arguments of -F, in order; NULL: the default fields */
	size_t nfields;
	bool hide_call_graph; /* print the sampled address instead of the call chain */
	bool ns; /* times with nine digits */
	uint64_t
	        max_stack; /* maximum number of printed entries of a call chain; 0: 127, or those that
	                       the letter g of the session's itrace names, if they are more */
	struct sonde_filter filter; /* of samples */
	bool show_tasks; /* also print records of names, forks and exits */
	bool show_mmaps; /* also print records of mappings */
	bool show_switches; /* also print records of context switches */
	bool show_lost; /* also print records of lost events */
	/* 1: print the header of the file first; 2: with all its details; 3: only the features
	 * of a pipe stream, with all their details */
	int header;
	bool show_cgroups; /* also print records of new control groups */
	bool kernel_path; /* print the paths of kernel modules instead of their names */
	bool show_namespaces; /* also print records of new namespaces */
	bool show_bpf; /* also print records of BPF programs, and of code that the kernel made */
	bool show_text_pokes; /* also print changes of kernel code, and code that the kernel made */
	const char *stop_at; /* names of functions, with commas: the last entries of call chains */
	const char *switch_on; /* print only samples after one of this event */
	const char *switch_off; /* print no samples after one of this event, until switch_on */
	bool show_on_off; /* print the samples of these events too */
	bool relative_times; /* print times since the first printed line */
	bool time_differences; /* print times since the line before */
	sonde_script_event_fn write_event; /* not NULL: receives the lines of samples; only other
	                                      lines go to `write` */
	bool json; /* print objects, one a line (doc/json.md): without show_..., every record */
	/*
	 * A shared object that selects samples (preview/dlfilter.h), by path, or by a name without
	 * '/' that is searched in the current folder and in those of perf; NULL: none. It is loaded
	 * into this process. One thread then formats all lines, and `write` is called after each.
	 */
	const char *dlfilter;
	const char *const *dlargs; /* its arguments */
	size_t ndlargs;
	bool show_rounds; /* also print where the recorder ended a round, all in the file's order */
	bool source_path; /* srcline: print the paths of source files instead of their names */
	/* Print inlined functions in all call chains; or in none. Neither: only where a user stack
	 * was recorded. */
	bool inlined, not_inlined;
	bool narrow; /* cut names of threads to 8 bytes, and print processors without brackets */
	uint64_t max_blocks; /* brstackinsn: newest blocks of code of a sample to print; 0: all */
	bool wide_object; /* callindent without addresses: objects in a wide column */
	bool no_stack; /* call chains are empty, whatever max_stack is */
	/*
	 * Names of functions, with commas: only their calls in Intel PT traces, and what happens until
	 * they return; NULL: everything. The session needs trace_calls. One thread then formats all
	 * lines.
	 */
	const char *graph_functions;
};

/*
 * Prints the samples of an open session. As many threads as the session has jobs format the text,
 * which does not depend on their number. 0; SONDE_EARG: an invalid list of fields
 * (sonde_session_error has the text); SONDE_ENOMEM; or the result of `write`.
 */
SONDE_API int sonde_script_print(struct sonde_session *s,
        const struct sonde_script_options *options, sonde_write_fn write, void *arg);

/* Whether the letters of the option itrace ask for a log of the decoder (d), and where it goes. */
enum sonde_trace_log {
	SONDE_TRACE_LOG_NONE = 0, /* or the recording has no traces */
	SONDE_TRACE_LOG_FILE,
	SONDE_TRACE_LOG_OUTPUT /* d+o: standard output */
};
SONDE_API enum sonde_trace_log sonde_trace_log(const struct sonde_session *s);

/*
 * Passes the log of an open session to `write`: packets, instructions, errors, and the records of
 * threads and mappings (not with d-a). With d+e it has only what leads to each error. 0,
 * SONDE_ENOMEM, SONDE_EOUTPUT.
 */
SONDE_API int sonde_trace_log_write(struct sonde_session *s, sonde_write_fn write, void *arg);

/* Receives an installed filter; texts are valid during the call, "": none. */
typedef void (*sonde_dlfilter_fn)(
        void *arg, const char *name, const char *description, const char *long_description);

/*
 * Calls fn for each filter that is installed in perf's folders, in order of name, after loading it.
 * 0; SONDE_EUNSUPPORTED: a static build cannot load filters.
 */
SONDE_API int sonde_dlfilters(sonde_dlfilter_fn fn, void *arg);

#ifdef __cplusplus
}
#endif

#endif
