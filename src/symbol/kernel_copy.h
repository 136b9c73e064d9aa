/* SPDX-License-Identifier: MIT */
/* Finds the copy of a recorded kernel in the cache of build ids: its kcore, kallsyms and modules. */
#ifndef SONDE_SYMBOL_KERNEL_COPY_H
#define SONDE_SYMBOL_KERNEL_COPY_H

#include "image/image.h"

struct symbol_module {
	const char *name; /* as recorded: "[ext4]" */
	uint64_t start;
};

/* A kernel as it was recorded. */
struct symbol_kernel {
	const char *build_ids; /* the folder of the cache */
	struct image_build_id id;
	const char *reference; /* a symbol, at address base; NULL: not recorded */
	uint64_t base;
	const struct symbol_module *modules; /* [nmodules] */
	size_t nmodules;
};

/*
 * Writes the path of the kallsyms of the best copy, the latest one of several; "kcore" is beside it. 2: it
 * has the kernel and its modules at the recorded addresses; 1: only the kernel, and it does not run now; 0:
 * there is none.
 */
int symbol_kernel_copy(const struct symbol_kernel *k, char out[IMAGE_PATH_MAX]);

#endif
