/* SPDX-License-Identifier: MIT */
/* Calls of an on_progress function by loops over a file: at the start, and after each MiB. */
#ifndef SONDE_CORE_PROGRESS_H
#define SONDE_CORE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#define PROGRESS_STEP ((uint64_t)1 << 20) /* bytes */

typedef void (*progress_fn)(void *arg, uint64_t done, uint64_t total);

struct progress {
	progress_fn fn; /* NULL: none */
	void *arg;
	uint64_t total; /* bytes */
	uint64_t next; /* position of the next call */
};

static inline struct progress progress_begin(progress_fn fn, void *arg, uint64_t total)
{
	if (fn != NULL) {
		fn(arg, 0, total);
	}
	return (struct progress){fn, arg, total, fn != NULL ? PROGRESS_STEP : UINT64_MAX};
}

/* position: of the current record */
static inline void progress_at(struct progress *p, uint64_t position)
{
	if (p->fn != NULL && position >= p->next) {
		p->fn(p->arg, position < p->total ? position : p->total, p->total);
		p->next = position + PROGRESS_STEP;
	}
}

#endif
