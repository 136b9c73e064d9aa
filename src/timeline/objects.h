/* SPDX-License-Identifier: MIT */
/* Inside of the timeline: what was mapped, each object once, by what MMAP records call it. */
#ifndef SONDE_TIMELINE_OBJECTS_H
#define SONDE_TIMELINE_OBJECTS_H

#include "core/index.h"
#include "timeline/timeline.h"

#define OBJECT_NONE UINT32_MAX /* no memory */

/* Zero-initialised, but for texts, is a valid empty one. */
struct objects {
	struct intern *texts; /* of the timeline */
	struct timeline_object *items;
	size_t n, cap;
	struct index index; /* by name */
	uint32_t nlisted; /* build ids that were added */
};

void objects_fini(struct objects *all);

/* The index of the object that a record maps. */
uint32_t objects_user(struct objects *all, const struct record_mmap *m);
uint32_t objects_kernel(struct objects *all, const struct record_mmap *m);

/* See timeline_add_build_id. */
int objects_add_build_id(
        struct objects *all, const char *name, const uint8_t *id, size_t size, bool kernel);

#endif
