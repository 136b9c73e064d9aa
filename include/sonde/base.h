/* SPDX-License-Identifier: MIT */
/*
 * Status codes, errors and diagnostics: what every other header of libsonde uses.
 *
 * Threads: the library has no globals. A handle is used by one thread at a time; different handles
 * are independent.
 *
 * Options: NULL means the defaults, and so does a member that is 0, unless its comment names
 * another default. The first member of an option struct is its size; members that a caller compiled
 * against an older header does not have get their defaults. SONDE_EARG: the size is 0, or a caller
 * compiled against a newer header has set a member that this library does not know. A handle made
 * from such options exists, holds the error, and its first call that would use them fails.
 */
#ifndef SONDE_BASE_H
#define SONDE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SONDE_API __attribute__((visibility("default")))
#else
#define SONDE_API
#endif

#if defined(__GNUC__)
#define SONDE_EXTENSION __extension__ /* unnamed unions in C99 */
#else
#define SONDE_EXTENSION
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Status of a call: 0 or more is good. Numbers are only ever added. */
enum sonde_status {
	SONDE_OK = 0,
	SONDE_ENOMEM = -1, /* out of memory */
	SONDE_EIO = -2, /* reading or writing failed */
	SONDE_EFORMAT = -3, /* the input has the wrong format, and none of it can be used */
	SONDE_EUNSUPPORTED = -4, /* valid, but this build or this kernel cannot do it */
	SONDE_ELIMIT = -5, /* a documented limit would be exceeded */
	SONDE_EARG = -6, /* invalid arguments of the caller (event string, field list, ...) */
	SONDE_EINTERRUPTED = -7, /* stopped on request */
	SONDE_EPERM = -8, /* the system does not allow it */
	SONDE_ENOENT = -9, /* the named thing does not exist */
	/* standard output cannot be written, or the caller's output function returned a failure */
	SONDE_EOUTPUT = -10
};

/* A short English text for a status; never NULL, static. */
SONDE_API const char *sonde_status_text(int status);

/* The library's version, "MAJOR.MINOR.PATCH"; static. */
SONDE_API const char *sonde_version(void);

/*
 * The last failure of a handle, and its causes. It is valid as long as the handle, and changes with
 * the next failure. The text ends with the text of the cause: that of "cannot open perf.data:
 * Permission denied" is "Permission denied".
 */
struct sonde_error {
	int status; /* enum sonde_status; 0 when nothing failed */
	uint64_t offset; /* in the file, in bytes; UINT64_MAX: none */
	const char *text; /* what happened, why, and what to do; never NULL */
	const struct sonde_error *cause; /* NULL: no other failure led to this one */
};

/* Damaged or unknown input is reported, counted and skipped. */
enum sonde_diag_kind {
	SONDE_DIAG_TRUNCATED = 0, /* the input ends before it should */
	SONDE_DIAG_DAMAGED, /* invalid bytes were skipped */
	SONDE_DIAG_UNKNOWN, /* a newer record, feature or bit was skipped */
	SONDE_DIAG_LOST, /* events or samples were lost, according to the recording */
	SONDE_DIAG_NOTE, /* information for the user; nothing is missing */
	SONDE_DIAG_NOT_SHOWN, /* recorded data that this version cannot show */
	SONDE_DIAG_KINDS
};

struct sonde_diag {
	enum sonde_diag_kind kind;
	uint64_t offset; /* place in the file, in bytes; UINT64_MAX when there is none */
	const char *detail; /* text; valid during the call only */
};

/* Called once for each diagnostic, on the thread whose call read the input. */
typedef void (*sonde_diag_fn)(void *arg, const struct sonde_diag *diag);

/*
 * Receives the next n bytes that a function prints; not NUL-terminated, valid during the call.
 * There is one call at a time. After a negative result the printing function stops and returns
 * SONDE_EOUTPUT.
 */
typedef int (*sonde_write_fn)(void *arg, const char *text, size_t n);

#ifdef __cplusplus
}
#endif

#endif
