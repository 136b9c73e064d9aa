/* SPDX-License-Identifier: MIT */
/* Whether a recording is whole: what is damaged, where, and what the recording itself lost. */
#ifndef SONDE_PREVIEW_CHECK_H
#define SONDE_PREVIEW_CHECK_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_verdict {
	SONDE_WHOLE = 0, /* everything is there and makes sense */
	SONDE_USABLE = 1, /* damaged or cut, the rest can be used */
	SONDE_UNUSABLE = 2 /* nothing can be read */
};

struct sonde_check_options {
	size_t size; /* sizeof(struct sonde_check_options) of the caller */
	bool json; /* a JSON document, doc/json.md, in place of lines of text */
	bool check_owner; /* refuse files that belong neither to this user nor to root */
	uint64_t most; /* list at most this many problems; 0: 100. All are counted */
	const char *temp_dir; /* as of struct sonde_file_options */
};

/*
 * Reads all of the recording at path and prints what is wrong with it. An enum sonde_verdict, or
 * SONDE_EOUTPUT, or SONDE_ENOMEM.
 */
SONDE_API int sonde_check(const char *path, const struct sonde_check_options *options,
        sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
