/* SPDX-License-Identifier: MIT */
/* Replaces decoder_xz.c in a build without liblzma. */
#include "file/decoder.h"

const struct decoder_ops decoder_xz = {.name = "xz", .library = "liblzma"};
