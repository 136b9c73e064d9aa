/* SPDX-License-Identifier: MIT */
/* Private to timeline: the table of mapped objects, keyed by the names in MMAP records. */
#ifndef SONDE_TIMELINE_OBJECTS_H
#define SONDE_TIMELINE_OBJECTS_H

#include "core/index.h"
#include "timeline/timeline.h"

#define OBJECT_NONE UINT32_MAX /* out of memory */

/* Empty when zero-initialised; the caller sets texts. */
struct objects {
	struct intern *texts; /* the timeline's, not owned */
	struct timeline_object *items;
	size_t n, cap;
	struct index index; /* by name */
	uint32_t nlisted; /* build ids that were added */
	bool has_jit; /* an object is JIT-compiled code */
	bool complete; /* has all objects and texts: they are only looked up, by any thread */
};

void objects_fini(struct objects *all);

/* Returns the id of a text; INTERN_NONE: out of memory. */
uint32_t objects_text(struct objects *all, const char *s, size_t n);

/* Return the index of the object that the record maps; it is added when new. */
uint32_t objects_user(struct objects *all, const struct record_mmap *m);
uint32_t objects_kernel(struct objects *all, const struct record_mmap *m, bool guest);
uint32_t objects_code(struct objects *all, const struct record_ksymbol *k);
uint32_t objects_jit(struct objects *all, const struct timeline_jit *jit);

/* See timeline_add_build_id. */
int objects_add_build_id(
        struct objects *all, const char *name, const uint8_t *id, size_t size, bool kernel);

#endif
