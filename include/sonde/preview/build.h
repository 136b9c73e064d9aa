/* SPDX-License-Identifier: MIT */
/* What was built into the library. Preview: may change in any release. */
#ifndef SONDE_PREVIEW_BUILD_H
#define SONDE_PREVIEW_BUILD_H

#include <sonde/base.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An optional library or part; all texts are static. */
struct sonde_build_option {
	const char *name; /* "libdw" */
	const char *use; /* "source lines, inlined functions" */
	const char *version; /* of the library that it was built with, "0.188"; "": unknown */
	bool present;
};

/* Returns an option by its number from 0, in no particular order; NULL after the last one. */
SONDE_API const struct sonde_build_option *sonde_build_option_at(size_t index);

#ifdef __cplusplus
}
#endif

#endif
