/* SPDX-License-Identifier: MIT */
/* Compressed sections of ELF files (System V gABI, "Section Compression"), by zlib and zstd. */
#ifndef SONDE_IMAGE_INFLATE_H
#define SONDE_IMAGE_INFLATE_H

#include "image/image.h"

/*
 * Inflates a section with SHF_COMPRESSED to *out, of *n bytes, which the caller frees; empty if the
 * section is not compressed, damaged, or this build lacks the library. SONDE_ENOMEM.
 */
int image_elf_section_inflate(
        const struct image_elf *e, const struct image_section *s, uint8_t **out, size_t *n);

/* Private to image: inflate to exactly n bytes; false: damaged, or the build lacks the library. */
bool image_inflate_zlib(struct span packed, uint8_t *out, size_t n);
bool image_inflate_zstd(struct span packed, uint8_t *out, size_t n);

#endif
