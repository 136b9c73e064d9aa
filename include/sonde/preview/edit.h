/* SPDX-License-Identifier: MIT */
/*
 * Editing of recordings: an editor adds stages to a rewriter (sonde/preview/rewrite.h), for what
 * `sonde inject` and `sonde convert` do.
 *
 *	struct sonde_editor_options o = {.size = sizeof(o), .build_ids = SONDE_EDIT_BUILD_IDS_HIT};
 *	struct sonde_editor *e = sonde_editor_new(&o);
 *	struct sonde_rewriter *rw = sonde_rewriter_new(NULL);
 *	int rc = e && rw ? sonde_rewriter_open(rw, "perf.data") : SONDE_ENOMEM;
 *
 *	if (rc >= 0) rc = sonde_editor_add(e, rw);
 *	if (rc >= 0) rc = sonde_rewriter_write(rw, "new.data");
 *	... rw ? sonde_rewriter_error(rw)->text : ... ...
 *	sonde_rewriter_free(rw);
 *	sonde_editor_free(e);
 */
#ifndef SONDE_PREVIEW_EDIT_H
#define SONDE_PREVIEW_EDIT_H

#include <sonde/preview/filter.h>
#include <sonde/preview/rewrite.h>
#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_edit_build_ids {
	SONDE_EDIT_BUILD_IDS_KEEP = 0, /* those of the input */
	SONDE_EDIT_BUILD_IDS_HIT, /* of objects that samples hit; all of a recording with traces */
	SONDE_EDIT_BUILD_IDS_ALL /* of all mapped objects */
};

struct sonde_editor_options {
	size_t size; /* sizeof(struct sonde_editor_options) of the caller */
	/* How the recording is opened to look objects up: symfs, caches. NULL: the defaults. It
	   must be valid as long as the editor. */
	const struct sonde_session_options *session;
	enum sonde_edit_build_ids build_ids; /* the list of build ids of the output */
	/* Also writes the build ids of files into their mappings: records MMAP and MMAP2 become
	   MMAP2 records with a build id instead of device and inode. */
	bool mapped_build_ids;
	/* "ID PATH,ID PATH" or "file://NAME" of a file with a line for each: build ids that are
	   used instead of those of the files. NULL: none. */
	const char *known_build_ids;
	/* Replaces Intel PT traces by the samples that they are decoded to, with the letters of
	   `script --itrace`; "": all kinds. NULL: traces stay. */
	const char *itrace;
	/* Replaces copies of user stacks by the call chains that they are unwound to. */
	bool convert_chains;
	bool strip; /* with itrace: also omits the samples that were recorded */
	/* Merges each sample of sched_stat_* with the last one of sched_switch of the same task: call
	   chain of where it slept, time and period of how long. Other samples of both, and of
	   sched_process_exit, are omitted. SONDE_EFORMAT: a format is missing. */
	bool sched_stat;
	/* Keeps only the samples in all of these lists, by time, processes, threads, names of
	   threads and processors; `dsos` and `symbols` are ignored. Of other records, those that
	   these samples need are kept. NULL: all. */
	const struct sonde_filter *keep;
	const char *keep_events; /* names of events, with commas between them; NULL: all */
	/* Keeps one in so many samples, chosen at random but each time the same ones, and
	   multiplies their periods. 0, 1: all */
	uint64_t one_in;
	/* Replaces names of threads, files, control groups and the host, and the words of command
	   lines, by hashes with this key: the same name has the same hash in all recordings that
	   were written with the key. "": a random key that nobody knows. NULL: names stay */
	const char *redact;
	/* Writes the code in the jitdump files of the recording to ELF files beside them, with
	   symbols, source lines and unwinding tables, and adds a mapping for each. */
	bool jit;
	/* Paths of recordings whose records are added to those of the input, in order of time and
	   with its clock; not together with the other changes. Numbers of events clash no more,
	   events that are equal in all but their ids become one. SONDE_EFORMAT: the clocks cannot be
	   aligned, or a recording has hardware traces, counts, no event or another byte order. They
	   must be valid as long as the editor. */
	const char *const *merge;
	size_t nmerge;
	/* Moves all addresses: ranges of mappings and of other addresses one after the other, the code
	   of the kernel by one distance, so that everything resolves as before and the output does
	   not show where anything was loaded. Copies of stacks keep what unwinding needs; raw data of
	   samples and the code of BPF programs are omitted. Not together with itrace, jit and
	   convert_chains. SONDE_EUNSUPPORTED: the recording has hardware traces, a copy of the kernel,
	   or a kernel at low addresses. */
	bool aslr;
	/* "PATH,PID[,OFFSET[,SCALE]]": adds the mappings, names of threads and so on of a recording
	   that was made in a virtual machine of process PID, with new event ids, the host's time and
	   the threads of the virtual processors; not together with other changes. The host's TSC is
	   the guest's minus OFFSET (decimal, or hexadecimal after 0x), divided by SCALE. NULL: none.
	   SONDE_EARG: not such a text; SONDE_EFORMAT: the process has no threads 'CPU N/KVM', or the
	   guest's recording has no times or another byte order. */
	const char *guest_data;
};

struct sonde_editor;

/* Returns a new handle; options may be NULL: nothing is changed. NULL: out of memory. Free with
 * sonde_editor_free after the rewriter. */
SONDE_API struct sonde_editor *sonde_editor_new(const struct sonde_editor_options *options);
SONDE_API void sonde_editor_free(struct sonde_editor *e); /* NULL is fine */

/*
 * Adds the stages to a rewriter whose input is open; once. 0; SONDE_EARG: wrong options;
 * SONDE_ENOENT, SONDE_EIO: a file of the options cannot be read; SONDE_ENOMEM. The text is the
 * rewriter's.
 */
SONDE_API int sonde_editor_add(struct sonde_editor *e, struct sonde_rewriter *rw);

/* The offset of the time-stamp counter of a virtual processor. */
struct sonde_vm_time_offset {
	uint64_t vmcs; /* number of the page of its control structure */
	uint64_t offset; /* guest's TSC - host's TSC, from the trace */
	bool has_vmcs; /* else the trace does not say which virtual processor it is */
	bool known; /* else only estimated for each time: the options must have the offset */
};
typedef void (*sonde_vm_time_fn)(void *arg, const struct sonde_vm_time_offset *offset);

struct sonde_vm_time_options {
	size_t size; /* sizeof(struct sonde_vm_time_options) of the caller */
	/* "OFFSET[:VMCS[,VMCS]...]", with spaces between several of them: offsets of guests, that
	   without VMCS for all others. NULL: they are found in the traces. */
	const char *offsets;
	bool dry_run; /* the recording stays as it is */
	bool any_owner; /* also changes files of other users */
	sonde_vm_time_fn on_offset; /* called for each offset that was not given; NULL: none */
	void *offset_arg;
	sonde_diag_fn on_diag; /* NULL: none */
	void *diag_arg;
};

struct sonde_vm_time;

/*
 * Changes the times of guests in the Intel PT traces of a recording to the host's, in place.
 * sonde_vm_time_new returns a new handle; options may be NULL. NULL: out of memory.
 */
SONDE_API struct sonde_vm_time *sonde_vm_time_new(const struct sonde_vm_time_options *options);
SONDE_API void sonde_vm_time_free(struct sonde_vm_time *v); /* NULL is fine */

/* The last failure; never NULL; valid as long as the handle. */
SONDE_API const struct sonde_error *sonde_vm_time_error(const struct sonde_vm_time *v);

/*
 * Changes the recording, a file or directory; once a handle, and once a recording. 0; 1: some
 * times stay as they are, which on_diag is called for. SONDE_EARG: wrong options; SONDE_EFORMAT:
 * no Intel PT traces, or without MTC packets; SONDE_EUNSUPPORTED: the recording is packed;
 * SONDE_EOUTPUT: it cannot be written; as sonde_file_open.
 */
SONDE_API int sonde_vm_time_change(struct sonde_vm_time *v, const char *path);

#ifdef __cplusplus
}
#endif

#endif
