/* SPDX-License-Identifier: MIT */
/* Compressed sections of ELF files (System V gABI, "Section Compression"), by zlib. */
#ifndef SONDE_IMAGE_INFLATE_H
#define SONDE_IMAGE_INFLATE_H

#include "image/image.h"

/*
 * Inflates a section with SHF_COMPRESSED to *out, of out->n bytes, which the caller frees; empty if
 * the section is not compressed by zlib, damaged, or this build has no zlib. SONDE_ENOMEM.
 */
int image_elf_section_inflate(
        const struct image_elf *e, const struct image_section *s, uint8_t **out, size_t *n);

#endif
