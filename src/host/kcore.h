/* SPDX-License-Identifier: MIT */
/* The copy of the kernel's code that --kcore stores with the data. */
#ifndef SONDE_HOST_KCORE_H
#define SONDE_HOST_KCORE_H

#include "core/status.h"

/* Whether it may be read. SONDE_EPERM. */
int host_kcore_check(int root, struct error *err);

/* A folder with kcore, kallsyms and modules of one kernel, below the directory `root`. */
struct host_kcore_source {
	int root;
	const char *folder; /* "proc" */
};

/* Copies the three files to a directory. Failures are those of host_kcore_copy. */
int host_kcore_copy_to(const struct host_kcore_source *source, int dir, struct error *err);

/* Creates FOLDER/kcore_dir. SONDE_EPERM, SONDE_EUNSUPPORTED, SONDE_EIO, SONDE_ENOMEM. */
int host_kcore_copy(int root, const char *folder, struct error *err);

#endif
