/* SPDX-License-Identifier: MIT */
/* Replaces decoder_zstd.c in a build without libzstd. */
#include "file/decoder.h"

const struct decoder_ops decoder_zstd = {.name = "zstd", .library = "libzstd"};
