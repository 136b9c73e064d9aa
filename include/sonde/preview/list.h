/* SPDX-License-Identifier: MIT */
/* The names of events that a machine has, as `perf list` prints them. */
#ifndef SONDE_PREVIEW_LIST_H
#define SONDE_PREVIEW_LIST_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_list_form {
	SONDE_LIST_TEXT = 0, /* a line each: name, kind */
	SONDE_LIST_NAMES, /* names only, all in one line */
	SONDE_LIST_JSON /* see doc/json.md */
};

struct sonde_list_options {
	size_t size; /* sizeof(struct sonde_list_options) of the caller */
	const char *root; /* the folder that has proc and sys in it; NULL: "/" */
	enum sonde_list_form form;
	bool details; /* also the meaning of each, its unit and cpus, and the terms of PMUs */
	/*
	 * Kinds (hw, sw, cache, pmu, tracepoint, sdt, raw, breakpoint, and the long words for them), globs
	 * of names, or parts of names where a glob matches nothing; none: all. The texts must live until
	 * the call returns.
	 */
	const char *const *words;
	size_t nwords;
	char *message; /* NULL, or room for words about what is missing */
	size_t message_size;
};

/*
 * Prints them. 0; 1: printed, but a word matched nothing, or tracepoints were asked for and cannot
 * be read (the message says which); SONDE_EIO: root cannot be opened; SONDE_ENOMEM;
 * SONDE_EOUTPUT.
 */
SONDE_API int sonde_list_print(
        const struct sonde_list_options *options, sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
