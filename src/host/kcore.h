/* SPDX-License-Identifier: MIT */
/* The copy of the kernel's code that --kcore makes beside the data. */
#ifndef SONDE_HOST_KCORE_H
#define SONDE_HOST_KCORE_H

#include "core/status.h"

/* May it be read? SONDE_EPERM. */
int host_kcore_check(int root, struct error *err);

/* Makes FOLDER/kcore_dir. SONDE_EPERM, SONDE_EUNSUPPORTED, SONDE_EIO, SONDE_ENOMEM. */
int host_kcore_copy(int root, const char *folder, struct error *err);

#endif
