/* SPDX-License-Identifier: MIT */
/*
 * Prints the contents of a recording without counting samples: header, events, build ids, records,
 * damage; and the events of a machine. Preview: may change in any release.
 *
 *	struct sonde_inspector *in = sonde_inspector_new(NULL);
 *	int rc = in ? sonde_inspector_events(in, "perf.data", NULL, write, arg) : SONDE_ENOMEM;
 *
 *	if (in != NULL && rc < 0) {
 *		... sonde_inspector_error(in)->text ...
 *	}
 *	sonde_inspector_free(in);
 *
 * A handle prints any number of recordings, one at a time. Each function opens its recording, passes
 * the text to `write` on the calling thread, and closes the recording. Options may be NULL; their
 * texts are needed only during the call.
 */
#ifndef SONDE_PREVIEW_INSPECT_H
#define SONDE_PREVIEW_INSPECT_H

#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_inspector;

/* Texts must be valid as long as the handle. */
struct sonde_inspector_options {
	size_t size; /* sizeof(struct sonde_inspector_options) of the caller */
	bool json; /* print one JSON document (doc/json.md) in place of lines of text */
	bool check_owner; /* refuse a file that belongs neither to this user nor to root */
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	const char *temp_dir; /* as in struct sonde_file_options */
	/* As in struct sonde_session_options; by sonde_inspector_check and sonde_inspector_build_ids. */
	void (*on_progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
};

/* Returns a new handle; options may be NULL. NULL: out of memory. */
SONDE_API struct sonde_inspector *sonde_inspector_new(
        const struct sonde_inspector_options *options);
SONDE_API void sonde_inspector_free(struct sonde_inspector *in); /* NULL is fine */

/* The last failure; never NULL. Lives as long as the handle. */
SONDE_API const struct sonde_error *sonde_inspector_error(const struct sonde_inspector *in);

/*
 * Results of the functions that print a recording, unless their comment has more: 0; 1: printed, but
 * part of the recording is missing, as on_diag reported; SONDE_ENOENT, SONDE_EPERM, SONDE_EIO,
 * SONDE_EFORMAT, SONDE_EUNSUPPORTED or SONDE_ELIMIT, as of sonde_file_open; SONDE_EARG: invalid
 * options; SONDE_EOUTPUT; SONDE_ENOMEM.
 */

struct sonde_header_options {
	size_t size; /* sizeof(struct sonde_header_options) of the caller */
	bool full; /* with topologies, caches and memory blocks */
};

/* Prints the header in the layout of `perf report --header-only`; as JSON, all of its fields. */
SONDE_API int sonde_inspector_header(struct sonde_inspector *in, const char *path,
        const struct sonde_header_options *options, sonde_write_fn write, void *arg);

enum sonde_events_mode {
	SONDE_EVENTS_NAMES = 0,
	SONDE_EVENTS_FREQ, /* with period or frequency */
	SONDE_EVENTS_DETAIL, /* with all fields of the attr that are not 0 */
	SONDE_EVENTS_GROUPS /* groups as {a,b} */
};

struct sonde_events_options {
	size_t size; /* sizeof(struct sonde_events_options) of the caller */
	enum sonde_events_mode mode; /* JSON always has everything */
	bool trace_fields; /* with the fields of tracepoints */
};

/* Prints the events in the layout of `perf evlist`. */
SONDE_API int sonde_inspector_events(struct sonde_inspector *in, const char *path,
        const struct sonde_events_options *options, sonde_write_fn write, void *arg);

struct sonde_build_ids_options {
	size_t size; /* sizeof(struct sonde_build_ids_options) of the caller */
	bool with_hits; /* only objects that samples hit */
	/* Only objects with a build id that the cache in this folder lacks (~/.debug); NULL: all. */
	const char *missing_in;
};

/*
 * Prints build id and name of each object in the layout of `perf buildid-list`; an object without
 * build id has blanks. Without with_hits: the objects that the recorder listed; if it wrote no list,
 * those that samples hit.
 */
SONDE_API int sonde_inspector_build_ids(struct sonde_inspector *in, const char *path,
        const struct sonde_build_ids_options *options, sonde_write_fn write, void *arg);

/* An object and its build id; valid during the call. */
struct sonde_build_id {
	const uint8_t *id;
	size_t id_size; /* bytes, at most 20; 0: it has none */
	const char *name; /* path, or a name such as "[vdso]" */
};

/* Called for each object; a negative result ends the listing. */
typedef int (*sonde_build_id_fn)(void *arg, const struct sonde_build_id *object);

/* Passes the objects that sonde_inspector_build_ids prints to a function. As that; or fn's result. */
SONDE_API int sonde_inspector_list_build_ids(struct sonde_inspector *in, const char *path,
        const struct sonde_build_ids_options *options, sonde_build_id_fn fn, void *arg);

/*
 * Prints build id, first and last address and name of the running kernel's code, and of each of its
 * modules. SONDE_EPERM: the kernel hides its addresses.
 */
SONDE_API int sonde_inspector_kernel_maps(
        struct sonde_inspector *in, sonde_write_fn write, void *arg);

struct sonde_records_options {
	size_t size; /* sizeof(struct sonde_records_options) of the caller */
	bool raw; /* with the bytes of each record */
	const char *types; /* print these types only: "SAMPLE,MMAP2,71"; NULL: all */
	/* As text: after each record of a hardware trace also the line of `perf script -D` ... */
	bool traces;
	bool packets; /* ... and the packets of Intel PT */
};

/* Prints every record: offset, type, size, event and fields by name. SONDE_EARG: an unknown type. */
SONDE_API int sonde_inspector_records(struct sonde_inspector *in, const char *path,
        const struct sonde_records_options *options, sonde_write_fn write, void *arg);

enum sonde_check_verdict {
	SONDE_CHECK_WHOLE = 0, /* nothing is missing or damaged */
	SONDE_CHECK_USABLE = 1, /* damaged or incomplete; the rest is readable */
	SONDE_CHECK_UNUSABLE = 2 /* nothing is readable */
};

struct sonde_check_options {
	size_t size; /* sizeof(struct sonde_check_options) of the caller */
	uint64_t most; /* list at most this many problems (0: 100); all are counted */
	/* As text: instead of records that are older than a finished round, and of the verdict, print
	 * samples that follow newer ones in the output of readers that trust the marks of rounds, and
	 * the number of such places, as perf script -d */
	bool samples;
};

/*
 * Reads the whole recording and prints its damage, and the losses that the recorder reported. The
 * problems are part of the text: on_diag is not called. Returns an enum sonde_check_verdict, or
 * SONDE_EARG, SONDE_EOUTPUT, SONDE_ENOMEM.
 */
SONDE_API int sonde_inspector_check(struct sonde_inspector *in, const char *path,
        const struct sonde_check_options *options, sonde_write_fn write, void *arg);

struct sonde_list_options {
	size_t size; /* sizeof(struct sonde_list_options) of the caller */
	const char *root; /* folder that contains proc and sys; NULL: "/" */
	bool names_only; /* names in one line; JSON always has everything */
	bool details; /* with descriptions, units and cpus of events, and the terms of PMUs */
	/*
	 * Which events: kinds (hw, sw, cache, pmu, tracepoint, sdt, raw, breakpoint, or their long
	 * forms), globs of names, or parts of names where a glob has no match. nwords 0: all.
	 */
	const char *const *words;
	size_t nwords;
};

/*
 * Prints the names of the events of a machine, like `perf list`. 0; 1: printed, but a word matches
 * no event, or tracepoints cannot be read, as on_diag reported (SONDE_DIAG_NOTE); SONDE_EIO: root
 * cannot be opened; SONDE_EARG, SONDE_EOUTPUT, SONDE_ENOMEM.
 */
SONDE_API int sonde_inspector_list(struct sonde_inspector *in,
        const struct sonde_list_options *options, sonde_write_fn write, void *arg);

/*
 * Prints the samples of an open session in order of time, with parts of the header, as JSON in the
 * layout of `perf data convert --to-json`. *samples: their number. 0, SONDE_ENOMEM, SONDE_EOUTPUT;
 * SONDE_EARG: the session is not open.
 */
SONDE_API int sonde_perf_json_print(
        struct sonde_session *s, uint64_t *samples, sonde_write_fn write, void *arg);

/*
 * Writes the build id of an ELF file, or of the running kernel if path is NULL, to hex: hexadecimal
 * digits, at most size - 1 of them, and a NUL. 41 bytes are enough for the build ids of today's
 * linkers. Returns the number of digits; 0: the file has no build id, is no ELF file, or cannot be
 * read.
 */
SONDE_API size_t sonde_buildid_of(const char *path, char *hex, size_t size);

#ifdef __cplusplus
}
#endif

#endif
