/* SPDX-License-Identifier: MIT */
/*
 * Reading a recording: open, walk samples in time order, or map over them on all cores; names for
 * addresses. One handle is used by one thread at a time, except where a function says otherwise.
 *
 *	struct sonde_session *s = sonde_session_new(NULL);
 *	const struct sonde_event *e;
 *	int rc = s ? sonde_session_open(s, "perf.data") : SONDE_ENOMEM;
 *
 *	while (rc >= 0 && (rc = sonde_session_next(s, &e)) > 0) {
 *		... e->sample->period, e->thread.comm ...
 *	}
 *	sonde_session_free(s);
 */
#ifndef SONDE_SESSION_H
#define SONDE_SESSION_H

#include <sonde/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_session;

/* A file that is fetched from a debuginfod server. */
struct sonde_download {
	const char *object; /* name of the object that it is of, in the recording */
	uint64_t done, total; /* bytes */
	const char *failure; /* why no more files are asked for; NULL while it works */
	bool debug_file; /* its debug file, not the object itself */
};

/* Called by one thread at a time, which can be any worker. */
typedef void (*sonde_download_fn)(void *arg, const struct sonde_download *d);

struct sonde_session_options {
	size_t size; /* sizeof(struct sonde_session_options) of the caller */
	unsigned jobs; /* workers; 0: one for each processor */
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	bool strict; /* damaged input is an error */
	const char *symfs; /* look for objects below this directory; NULL: / */
	const char *kallsyms; /* symbols of the kernel from this file; NULL: /proc/kallsyms */
	bool no_demangle; /* names as in the object */
	/* Called at times during long work, with parts done of total, on one thread at a time. Work
	   has several steps, which begin with 0 parts. */
	void (*on_progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	bool check_owner; /* refuse a file that belongs neither to this user nor to root */
	/* Records are only counted, in memory that does not grow with the file: for
	   sonde_report_print with `stats` or a header. The session has no samples. */
	bool counts_only;
	/* Folder for data that is kept between runs, such as the symbols of the running kernel; it
	   is made if needed. NULL: nothing is stored or read. */
	const char *cache;
	/* Objects are also looked for by build id in `.debug` of this folder, perf's cache; NULL: no. */
	const char *home;
	const char *temp_dir; /* as in struct sonde_file_options */
	/* Symbols of the kernel from this ELF file, looked for below symfs, unless `kallsyms` is set;
	   none if its build id is not the recorded one. SONDE_ENOENT at opening: it cannot be read.
	   NULL: as without it. */
	const char *vmlinux;
	bool demangle_kernel; /* names of the kernel too */
	const char *build_ids; /* perf's cache, if it is another folder; NULL: `.debug` of home */
	/* Complete LBR call stacks by those of earlier samples of the thread. One worker then reads
	   all samples, in order of time. SONDE_EARG at opening: the recording has no such stacks, or
	   its header does not have their size. */
	bool stitch_call_stacks;
	/* Make samples of Intel PT traces, by the letters of `script --itrace` ("be", "i10us"); "":
	   all kinds. They follow those of the file in the table of events. NULL: no samples. SONDE_EARG
	   at opening: the letters are wrong. */
	const char *itrace;
	/* Names and code of the kernel of guests, as kallsyms and vmlinux; only with one of them
	   have traces samples of guests. NULL: none */
	const char *guest_kallsyms;
	const char *guest_vmlinux;
	bool trace_calls; /* count the calls around each branch of traces, for the field callindent */
	/* Ask the servers that $DEBUGINFOD_URLS names for objects in which samples are, and for
	   their debug files, if they are not here; needs libdebuginfod. After the first server that
	   fails none is asked again. */
	bool debuginfod;
	sonde_download_fn on_download; /* NULL: not called */
	void *download_arg;
	/* More directories like symfs, in the order of the search; the last pointer is NULL. NULL:
	   none. Not without symfs. */
	const char *const *more_symfs;
};

struct sonde_thread {
	uint32_t pid;
	uint32_t tid;
	const char *comm; /* name at the time of the sample; ":TID" when no record names it */
};

struct sonde_event {
	const struct sonde_sample *sample;
	struct sonde_thread thread;
	uint32_t event; /* 0 .. sonde_session_events() - 1 */
	uint32_t cpumode; /* of enum sonde_cpumode */
	uint64_t offset; /* of the record in the file, in bytes; 0: made of a trace */
	void *inside; /* for sonde_session_frames and sonde_session_resolve */
	/* Type of the record: 9, a sample; others if sonde_session_choose selected them, see
	   preview/session.h. Their `sample` has pid, tid, time and cpu of the task that caused the
	   record, and `thread` is the thread that the record is about. */
	uint32_t type;
};

/* A code location: of a sample, or of a caller. Texts live as long as the session. */
struct sonde_frame {
	const struct sonde_frame *caller; /* of this frame; NULL: the outermost */
	const char *dso; /* path of the object; NULL: nothing is mapped there */
	const char *symbol; /* NULL: unknown */
	uint64_t symbol_offset; /* bytes from the symbol's start */
	uint64_t ip; /* run-time address */
	uint64_t address; /* in the object: file offset for user objects, bytes from the start of a
	                     kernel module, run-time address for the kernel */
	uint32_t cpumode; /* of enum sonde_cpumode */
	uint32_t inline_depth; /* functions that this one was inlined into at its address; 0 until
	                          inlined functions are expanded */
};

/* Returns a new handle; options may be NULL. NULL: out of memory. Free with sonde_session_free. */
SONDE_API struct sonde_session *sonde_session_new(const struct sonde_session_options *options);
SONDE_API void sonde_session_free(struct sonde_session *s); /* NULL is fine */

/* The last failure; never NULL. */
SONDE_API const struct sonde_error *sonde_session_error(const struct sonde_session *s);

/*
 * Opens a perf.data file and reads its side-band. 0, or SONDE_ENOENT, SONDE_EPERM, SONDE_EIO,
 * SONDE_EFORMAT, SONDE_ENOMEM. Once per handle.
 */
SONDE_API int sonde_session_open(struct sonde_session *s, const char *path);

/*
 * The same for a recording in memory: n bytes of a file or of a pipe stream. They stay the caller's
 * and must not change until the session is freed.
 */
SONDE_API int sonde_session_open_memory(struct sonde_session *s, const void *bytes, size_t n);

/*
 * The same for an open descriptor, which stays open and may be closed after the call: a file, from
 * its start wherever the descriptor is, or a pipe or socket, read to its end.
 */
SONDE_API int sonde_session_open_fd(struct sonde_session *s, int fd);

/* The number of diagnostics of a kind. If not 0 for TRUNCATED or DAMAGED, input was not read. */
SONDE_API uint64_t sonde_session_diags(const struct sonde_session *s, enum sonde_diag_kind kind);

/* The events (attrs) of the recording. Texts and structs live as long as the session. */
SONDE_API size_t sonde_session_events(const struct sonde_session *s);
SONDE_API const char *sonde_session_event_name(const struct sonde_session *s, size_t event);
SONDE_API const struct sonde_attr *sonde_session_event_attr(
        const struct sonde_session *s, size_t event);

/*
 * The next sample in time order, but one that PEBS wrote to a trace (an event with aux_output) is
 * where the trace has it, which may be after its time. A sample with counts (PERF_SAMPLE_READ with ids) is returned as
 * several: one for each event whose count rose since its last such sample, with the event's id, and
 * the increase as period. 1: *e is valid until the next call; 0: end; SONDE_EARG: the session is not
 * open; SONDE_ENOMEM.
 */
SONDE_API int sonde_session_next(struct sonde_session *s, const struct sonde_event **e);

/*
 * Calls fn for every sample, on `jobs` threads at once (as set in the options), in no order; worker
 * is 0 .. sonde_session_jobs() - 1, so that each can count into its own place. A negative return
 * stops. 0, or the first negative value; SONDE_EARG: the session is not open; SONDE_ENOMEM.
 */
typedef int (*sonde_map_fn)(void *arg, unsigned worker, const struct sonde_event *e);
SONDE_API int sonde_session_map(struct sonde_session *s, sonde_map_fn fn, void *arg);
SONDE_API unsigned sonde_session_jobs(const struct sonde_session *s);

/*
 * The frames of a sample: its call chain without context marks, leaf first, each with its object
 * and symbol. Where there is one, the user part is that of the processor's call stack (LBR), or the
 * one that the kernel recorded later (CALLCHAIN_DEFERRED). A sample without a call chain, or whose
 * chain holds a mark that no kernel writes, has one frame: where it was. Fills *leaf, follow
 * `caller`. The number of frames, or SONDE_ENOMEM. The frames live until the next sample, or the
 * next call for this one; their structs belong to the library. May be called inside
 * sonde_session_map.
 */
SONDE_API int sonde_session_frames(
        struct sonde_session *s, const struct sonde_event *e, const struct sonde_frame **leaf);

/*
 * Names any address of the sample's own process, such as a branch or the address of data in code.
 * cpumode, of enum sonde_cpumode: in which mode it was used. Fills *out, with caller NULL; lives as
 * the frames do. 1 when at least the object is known, 0 when nothing is mapped there, or
 * SONDE_ENOMEM. May be called inside sonde_session_map.
 */
SONDE_API int sonde_session_resolve(struct sonde_session *s, const struct sonde_event *e,
        uint32_t cpumode, uint64_t address, const struct sonde_frame **out);

#ifdef __cplusplus
}
#endif

#endif
