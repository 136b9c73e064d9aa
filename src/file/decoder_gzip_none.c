/* SPDX-License-Identifier: MIT */
/* Replaces decoder_gzip.c in a build without zlib. */
#include "file/decoder.h"

const struct decoder_ops decoder_gzip = {.name = "gzip", .library = "zlib"};
