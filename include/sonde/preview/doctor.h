/* SPDX-License-Identifier: MIT */
/* What a machine allows of profiling, why not more, and the command that changes it. */
#ifndef SONDE_PREVIEW_DOCTOR_H
#define SONDE_PREVIEW_DOCTOR_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_doctor_state {
	SONDE_DOCTOR_OK = 0, /* it works */
	SONDE_DOCTOR_LIMITED, /* a part of it works */
	SONDE_DOCTOR_MISSING /* it does not work */
};

/* One check. Texts are valid until the next call or sonde_doctor_free. */
struct sonde_doctor_check {
	const char *name; /* "paranoid": for programs; static */
	const char *title; /* "paranoid level": for people; static */
	enum sonde_doctor_state state;
	const char *found; /* what was found, and what follows from it */
	const char *
	        fix; /* a command for a shell, or words where there is no command; NULL: none needed */
};

struct sonde_doctor;

struct sonde_doctor_options {
	size_t size; /* sizeof(struct sonde_doctor_options) */
	const char *root; /* a folder with proc and sys of another machine; NULL: "/" */
	const char *home; /* of the user, within root; NULL: not known */
	const char *debuginfod_urls; /* servers of debug files; NULL: none */
};

/* NULL: no memory. */
SONDE_API struct sonde_doctor *sonde_doctor_new(const struct sonde_doctor_options *options);

/* The next check. 1: *check is set; 0: that was all; SONDE_ENOENT: there is no such root;
 * SONDE_ENOMEM. */
SONDE_API int sonde_doctor_next(struct sonde_doctor *d, const struct sonde_doctor_check **check);

/* NULL is fine. */
SONDE_API void sonde_doctor_free(struct sonde_doctor *d);

/*
 * All of it as text, or as JSON (schema sonde-doctor, doc/json.md). A negative number that write
 * returns stops it: SONDE_EOUTPUT. 0, or as sonde_doctor_next.
 */
SONDE_API int sonde_doctor_print(
        const struct sonde_doctor_options *options, bool json, sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
