/* SPDX-License-Identifier: MIT */
/* The libraries and parts that this build has; meson.build makes the rows. */
#include <sonde/preview/build.h>

static const struct sonde_build_option options[] = {
#include "doctor/build_rows.inc"
};

const struct sonde_build_option *sonde_build_option_at(size_t index)
{
	return index < sizeof(options) / sizeof(options[0]) ? &options[index] : NULL;
}
