/* SPDX-License-Identifier: MIT */
/* Reading code by address, private to pt. */
#ifndef SONDE_PT_IMAGE_H
#define SONDE_PT_IMAGE_H

#include "pt/insn.h"

#include <sonde/pt_flow.h>

/* The code of a space in some generations; immutable once a flow has its index. */
struct pt_view;

#define PT_VIEWS_MAX (1u << 20)
#define PT_VIEW_NONE UINT32_MAX

/*
 * Returns the view of a space in a generation, making it if needed; PT_VIEW_NONE: out of memory, or
 * too many.
 */
uint32_t pt_image_view(const struct sonde_pt_image *image, uint32_t space, uint32_t generation);

uint32_t pt_image_space(const struct sonde_pt_image *image, uint32_t view);

/*
 * Units: code that spaces have at any address, such as a mapping of a library. It is known by its
 * address in the unit, so that it is decoded once. A unit is a view, too.
 */
struct pt_unit_at {
	uint64_t first, last; /* in the space; both inclusive */
	uint64_t bias; /* address in the space - address in the unit */
	uint32_t unit; /* number of the unit, from 0 on without gaps */
};

/*
 * Finds the unit at an address of a space. false: none from out->first to out->last, the code there
 * belongs to the space alone; the caller has set both to the address. Different ranges of a unit are
 * different units. Called on any thread.
 */
typedef bool (*pt_unit_find_fn)(
        void *arg, uint32_t space, uint64_t address, struct pt_unit_at *out);
/* Copies up to n bytes at an address in a unit; called on any thread. */
typedef size_t (*pt_unit_read_fn)(
        void *arg, uint32_t unit, uint64_t address, uint8_t *to, size_t n);

void pt_image_set_units(
        struct sonde_pt_image *image, pt_unit_find_fn find, pt_unit_read_fn read, void *arg);
bool pt_image_has_units(const struct sonde_pt_image *image);
/* Returns the view of the unit at an address of a view; PT_VIEW_NONE: none. */
uint32_t pt_image_unit(const struct sonde_pt_image *image, uint32_t view, uint64_t address,
        struct pt_unit_at *out);

/* The addresses of a unit, or all. */
struct pt_bounds {
	uint64_t first, last; /* both inclusive */
};
struct pt_bounds pt_image_bounds(const struct sonde_pt_image *image, uint32_t view);

/* A mapped file. */
struct pt_mapping {
	void *p;
	size_t n;
};

/* The image unmaps it when freed; false: out of memory. */
bool pt_image_keep(struct sonde_pt_image *image, const struct pt_mapping *mapping);

/*
 * Returns a pointer to *n bytes of code at address. Where they span sections they are copied to
 * `room`, at most PT_INSN_MAX. *n is 0 if there is no code.
 */
const uint8_t *pt_image_fetch(const struct sonde_pt_image *image, uint32_t view, uint64_t address,
        uint8_t room[PT_INSN_MAX], size_t *n);

/* Decodes the instruction at address. Returns 0 or an enum sonde_pt_error. */
int pt_image_insn(const struct sonde_pt_image *image, uint32_t context, uint64_t address,
        struct pt_insn *out);

/* A context identifies how to read code at an address: the view and the mode. */
static inline uint32_t pt_context(uint32_t view, enum pt_mode mode)
{
	return view << 2 | (uint32_t)mode;
}

static inline enum pt_mode pt_context_mode(uint32_t context)
{
	return (enum pt_mode)(context & 3);
}

#endif
