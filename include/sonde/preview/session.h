/* SPDX-License-Identifier: MIT */
/*
 * More functions of a session (sonde/session.h): side-band in the same order as samples, filters,
 * the header, and lists of processes, threads, objects and mappings. Preview: may change in any
 * release.
 *
 *	struct sonde_session_choice choice = {.size = sizeof(choice), .kinds = SONDE_KINDS_TASKS};
 *	const struct sonde_typed_record *r;
 *
 *	rc = sonde_session_choose(s, &choice);
 *	while (rc >= 0 && (rc = sonde_session_next(s, &e)) > 0) {
 *		if (e->type != SONDE_RECORD_SAMPLE && sonde_session_record(s, e, &r) > 0) {
 *			... r->comm.comm, r->task.ppid ...
 *		}
 *	}
 */
#ifndef SONDE_PREVIEW_SESSION_H
#define SONDE_PREVIEW_SESSION_H

#include <sonde/preview/filter.h>
#include <sonde/record.h>
#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- events of sonde_session_next and sonde_session_map ---- */

/* Types of the kernel's records (perf_event_open(2)). */
enum sonde_record_type {
	SONDE_RECORD_MMAP = 1,
	SONDE_RECORD_LOST = 2,
	SONDE_RECORD_COMM = 3,
	SONDE_RECORD_EXIT = 4,
	SONDE_RECORD_THROTTLE = 5,
	SONDE_RECORD_UNTHROTTLE = 6,
	SONDE_RECORD_FORK = 7,
	SONDE_RECORD_READ = 8,
	SONDE_RECORD_SAMPLE = 9,
	SONDE_RECORD_MMAP2 = 10,
	SONDE_RECORD_AUX = 11,
	SONDE_RECORD_ITRACE_START = 12,
	SONDE_RECORD_LOST_SAMPLES = 13,
	SONDE_RECORD_SWITCH = 14,
	SONDE_RECORD_SWITCH_CPU_WIDE = 15,
	SONDE_RECORD_NAMESPACES = 16,
	SONDE_RECORD_KSYMBOL = 17,
	SONDE_RECORD_BPF_EVENT = 18,
	SONDE_RECORD_CGROUP = 19,
	SONDE_RECORD_TEXT_POKE = 20,
	SONDE_RECORD_AUX_OUTPUT_HW_ID = 21,
	SONDE_RECORD_CALLCHAIN_DEFERRED = 22
};

#define SONDE_KIND(type) (UINT32_C(1) << (type))
/* Kinds of records about threads, mappings and context switches. */
#define SONDE_KINDS_TASKS                                                                          \
	(SONDE_KIND(SONDE_RECORD_COMM) | SONDE_KIND(SONDE_RECORD_FORK) |                           \
	        SONDE_KIND(SONDE_RECORD_EXIT))
#define SONDE_KINDS_MMAPS (SONDE_KIND(SONDE_RECORD_MMAP) | SONDE_KIND(SONDE_RECORD_MMAP2))
#define SONDE_KINDS_SWITCHES                                                                       \
	(SONDE_KIND(SONDE_RECORD_SWITCH) | SONDE_KIND(SONDE_RECORD_SWITCH_CPU_WIDE))

struct sonde_session_choice {
	size_t size; /* sizeof(struct sonde_session_choice) of the caller */
	uint32_t kinds; /* records to return besides samples: SONDE_KIND bits of their types */
	bool no_samples; /* do not return samples */
	struct sonde_filter filter; /* of samples; for other records only its cpus are used */
};

/*
 * Selects the events that sonde_session_next and sonde_session_map return from now on;
 * sonde_session_next starts again at the first event. choice NULL: all samples and no other
 * records, as after opening. The texts of the filter are needed only during the call. 0;
 * SONDE_EARG: the session is not open, or the filter is invalid; SONDE_ENOMEM.
 */
SONDE_API int sonde_session_choose(
        struct sonde_session *s, const struct sonde_session_choice *choice);

/*
 * Decodes the record of an event into a struct; e->type selects the member of its union, which is
 * `sample` for samples. *r is valid until the next event, the data that it points to until the
 * session is freed. 1; 0: the record is too short, and missing members are 0. May be called inside
 * sonde_session_map.
 */
SONDE_API int sonde_session_record(
        struct sonde_session *s, const struct sonde_event *e, const struct sonde_typed_record **r);

/* ---- the header ---- */

/*
 * Returns the input of the session as a handle of sonde/file.h and sonde/record.h: header, features
 * and their fields, ids of events, raw records. The session owns it: do not free it. NULL: the
 * session is not open.
 */
SONDE_API struct sonde_file *sonde_session_file(struct sonde_session *s);

/* ---- lists ---- */

/*
 * Each of these functions returns the next item of a list. *at belongs to the caller, and is 0 at
 * first. 1: the item is valid until the next call for the same list, its texts as long as the
 * session; 0: end of the list; SONDE_EARG: the session is not open.
 */

/* A process, from its first record until its pid is reused. */
struct sonde_process {
	uint32_t pid;
	uint32_t ppid; /* UINT32_MAX: unknown */
	uint64_t start; /* ns on the recording's clock; 0: it ran before the recording */
	const char *comm; /* last name of its main thread; NULL: no record of that thread */
};
SONDE_API int sonde_session_next_process(
        struct sonde_session *s, size_t *at, const struct sonde_process **process);

/* A thread, from its first record until its tid is reused. */
struct sonde_thread_life {
	uint32_t pid, tid;
	uint64_t start; /* ns; 0: it ran before the recording */
	const char *comm; /* last name */
};
SONDE_API int sonde_session_next_thread(
        struct sonde_session *s, size_t *at, const struct sonde_thread_life **thread);

enum sonde_object_kind {
	SONDE_OBJECT_FILE = 1, /* an ELF file */
	SONDE_OBJECT_KERNEL,
	SONDE_OBJECT_MODULE, /* of the kernel */
	SONDE_OBJECT_VDSO,
	SONDE_OBJECT_ANONYMOUS, /* executable memory without a file */
	SONDE_OBJECT_CODE, /* code that the kernel made at run time, such as a BPF program */
	SONDE_OBJECT_DATA, /* data without a file */
	SONDE_OBJECT_JIT /* a function that a runtime compiled, from its jitdump file */
};

/* An object that was mapped. */
struct sonde_object {
	enum sonde_object_kind kind;
	const char *name; /* path as recorded; /tmp/perf-PID.map of anonymous memory */
	const char *short_name; /* as reports print it: "libc.so.6", "[ext4]" */
	const uint8_t *build_id;
	size_t build_id_size; /* bytes; 0: unknown */
};
SONDE_API int sonde_session_next_object(
        struct sonde_session *s, size_t *at, const struct sonde_object **object);

/*
 * A mapping as it was made; the list is in time order. A forked process has the mappings of its
 * parent, which are not listed again.
 */
struct sonde_mapping {
	uint32_t pid; /* UINT32_MAX: of the kernel */
	uint32_t prot, flags; /* of mmap(2); 0: not recorded */
	uint64_t start, end; /* addresses [start, end) */
	uint64_t offset; /* of start in the object, bytes */
	uint64_t time; /* ns; 0: before the recording */
	const struct sonde_object *object; /* valid as long as the mapping */
};
SONDE_API int sonde_session_next_mapping(
        struct sonde_session *s, size_t *at, const struct sonde_mapping **mapping);

/*
 * Finds the thread that ran on a processor at `time` (ns), from context switches: SWITCH and
 * SWITCH_CPU_WIDE records, or sched:sched_switch if every switch was sampled. thread->pid is
 * UINT32_MAX if no record has the process; its name is valid as long as the session. 1; 0: no
 * switch records the thread, or the next switch has another old thread, because the recording lacks
 * a switch; SONDE_EARG: the session is not open.
 */
SONDE_API int sonde_session_running(
        struct sonde_session *s, uint32_t cpu, uint64_t time, struct sonde_thread *thread);

#ifdef __cplusplus
}
#endif

#endif
