/* SPDX-License-Identifier: MIT */
/* Samples as text, one after the other in time order, in the layout of perf script. */
#ifndef SONDE_PREVIEW_SCRIPT_H
#define SONDE_PREVIEW_SCRIPT_H

#include <sonde/preview/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_script_options {
	size_t size; /* sizeof(struct sonde_script_options) of the caller */
	const char *const *fields; /* arguments of -F, in order; NULL: the usual fields */
	size_t nfields;
	bool hide_call_graph; /* the sample's own address instead of its call chain */
	bool ns; /* times with nine digits */
	uint64_t max_stack; /* entries of a call chain that are printed; 0: 127 */
	struct sonde_filter filter; /* of the samples that are printed */
	bool show_tasks; /* also records of new names, forks and exits, */
	bool show_mmaps; /* of mappings, */
	bool show_switches; /* of switches between threads, */
	bool show_lost; /* of lost events */
	int header; /* 1: print the header of the file first; 2: with all its details */
	bool show_cgroups; /* also records of new control groups */
	bool kernel_path; /* kernel modules by the paths of their files */
};

/*
 * Prints all samples of an opened session, formatting on as many threads as the session has jobs.
 * The text does not depend on their number. 0; SONDE_EARG for a field list that makes no sense
 * (sonde_session_error has the words), SONDE_ENOMEM, or what write returned.
 */
SONDE_API int sonde_script_print(struct sonde_session *s,
        const struct sonde_script_options *options, sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
