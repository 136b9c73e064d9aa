/* SPDX-License-Identifier: MIT */
/* A name for an event that the file does not name, made from its attr as perf makes it. */
#ifndef SONDE_FILE_EVENT_NAME_H
#define SONDE_FILE_EVENT_NAME_H

#include "core/arena.h"

#include <sonde/attr.h>

/* A text in the arena; NULL: no memory. */
const char *file_event_name(struct arena *arena, const struct sonde_attr *attr);

#endif
