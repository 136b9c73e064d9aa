/* SPDX-License-Identifier: MIT */
/* Code behind an address, inside the layer. */
#ifndef SONDE_PT_IMAGE_H
#define SONDE_PT_IMAGE_H

#include "pt/insn.h"

#include <sonde/pt_flow.h>

/*
 * The code at address: a pointer to *n bytes, at most PT_INSN_MAX of them where they were put
 * together in `room`. *n is 0 where there is none.
 */
const uint8_t *pt_image_fetch(const struct sonde_pt_image *image, uint32_t space, uint64_t address,
        uint8_t room[PT_INSN_MAX], size_t *n);

/* The instruction at address: 0, or an enum sonde_pt_error. */
int pt_image_insn(const struct sonde_pt_image *image, uint32_t context, uint64_t address,
        struct pt_insn *out);

/* A context says how an address is to be read: in which address space and mode. */
static inline uint32_t pt_context(uint32_t space, enum pt_mode mode)
{
	return space << 2 | (uint32_t)mode;
}

static inline enum pt_mode pt_context_mode(uint32_t context)
{
	return (enum pt_mode)(context & 3);
}

#endif
