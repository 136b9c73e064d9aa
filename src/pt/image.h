/* SPDX-License-Identifier: MIT */
/* Code behind an address, inside the layer. */
#ifndef SONDE_PT_IMAGE_H
#define SONDE_PT_IMAGE_H

#include "pt/insn.h"

#include <sonde/pt_flow.h>

/* The code of a space in some generations; it does not change any more when a flow has its index.
 */
struct pt_view;

#define PT_VIEWS_MAX (1u << 20)
#define PT_VIEW_NONE UINT32_MAX

/* The view of a space in a generation, made if need be; PT_VIEW_NONE: no memory, or too many. */
uint32_t pt_image_view(const struct sonde_pt_image *image, uint32_t space, uint32_t generation);

uint32_t pt_image_space(const struct sonde_pt_image *image, uint32_t view);

/* A mapped file. */
struct pt_mapping {
	void *p;
	size_t n;
};

/* It lives as long as the image; false: no memory. */
bool pt_image_keep(struct sonde_pt_image *image, const struct pt_mapping *mapping);

/*
 * The code at address: a pointer to *n bytes, at most PT_INSN_MAX of them where they were put
 * together in `room`. *n is 0 where there is none.
 */
const uint8_t *pt_image_fetch(const struct sonde_pt_image *image, uint32_t view, uint64_t address,
        uint8_t room[PT_INSN_MAX], size_t *n);

/* The instruction at address: 0, or an enum sonde_pt_error. */
int pt_image_insn(const struct sonde_pt_image *image, uint32_t context, uint64_t address,
        struct pt_insn *out);

/* A context says how an address is to be read: in which view and mode. */
static inline uint32_t pt_context(uint32_t view, enum pt_mode mode)
{
	return view << 2 | (uint32_t)mode;
}

static inline enum pt_mode pt_context_mode(uint32_t context)
{
	return (enum pt_mode)(context & 3);
}

#endif
