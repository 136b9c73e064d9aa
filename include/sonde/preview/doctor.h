/* SPDX-License-Identifier: MIT */
/*
 * Checks which kinds of profiling a machine allows to this user, what limits them, and which command
 * removes a limit. Preview: may change in any release.
 */
#ifndef SONDE_PREVIEW_DOCTOR_H
#define SONDE_PREVIEW_DOCTOR_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_doctor_state {
	SONDE_DOCTOR_OK = 0, /* it works */
	SONDE_DOCTOR_LIMITED, /* it works in part */
	SONDE_DOCTOR_MISSING /* it does not work */
};

/* One check. Texts that are not static are valid until the next call for the handle. */
struct sonde_doctor_check {
	const char *name; /* for programs: "paranoid"; static */
	const char *title; /* for people: "paranoid level"; static */
	enum sonde_doctor_state state;
	const char *found; /* the current state, and its consequences for profiling */
	/* a shell command that changes the state, or instructions if no command does; NULL: nothing
	   to change */
	const char *fix;
};

struct sonde_doctor;

/* Texts must be valid as long as the handle. */
struct sonde_doctor_options {
	size_t size; /* sizeof(struct sonde_doctor_options) of the caller */
	const char *root; /* folder with the proc and sys of another machine; NULL: "/" */
	const char *build_ids; /* folder of objects by build id, below root; NULL: none */
	const char *debuginfod_urls; /* servers of debug files; NULL: none */
};

/* Returns a new handle; options may be NULL. NULL: out of memory. */
SONDE_API struct sonde_doctor *sonde_doctor_new(const struct sonde_doctor_options *options);
SONDE_API void sonde_doctor_free(struct sonde_doctor *d); /* NULL is fine */

/* The last failure; never NULL. Lives as long as the handle. */
SONDE_API const struct sonde_error *sonde_doctor_error(const struct sonde_doctor *d);

/*
 * Runs the next check. 1: *check is set; 0: no more checks; SONDE_ENOENT: root cannot be opened;
 * SONDE_EARG: invalid options; SONDE_ENOMEM.
 */
SONDE_API int sonde_doctor_next(struct sonde_doctor *d, const struct sonde_doctor_check **check);

/*
 * Runs all checks from the first one, and prints them as text or as JSON (schema sonde-doctor,
 * doc/json.md). 0, SONDE_EOUTPUT, or as sonde_doctor_next.
 */
SONDE_API int sonde_doctor_print(
        struct sonde_doctor *d, bool json, sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
