/* SPDX-License-Identifier: MIT */
/* Jitdump files: a runtime maps its own, so that an MMAP record names it. */
#include "frame/jit.h"
#include "session/inside.h"

#include <stdio.h>
#include <time.h>

/* Whether times of samples are of CLOCK_MONOTONIC, as those of jitdump files should be. */
static bool is_monotonic(const struct sonde_session *s)
{
	const struct sonde_attr *attr = s->nevents != 0 ? &s->events[0].attr : NULL;

	return attr != NULL && sonde_attr_has(attr, SONDE_FLAG_USE_CLOCKID) &&
	       attr->clockid == CLOCK_MONOTONIC;
}

int session_jit_add(struct sonde_session *s, const struct record *r, uint64_t time)
{
	struct frame_jit_mapping mapping = {.roots = s->roots,
	        .bundle = s->file->bundle,
	        .time = time,
	        .offset = r->offset,
	        .has_time = s->events[0].plan.time != RECORD_NOT_THERE,
	        .monotonic = is_monotonic(s),
	        .tsc = s->tsc.time_mult != 0 ? &s->tsc : NULL};
	struct record_mmap m;
	char path[4096];

	if ((r->misc & MISC_CPUMODE_MASK) != MISC_USER || !record_mmap_decode(r, s->swap, &m) ||
	        !frame_jit_is_dump(m.name) || m.name.n >= sizeof(path)) {
		return 0;
	}
	memcpy(path, m.name.p, m.name.n);
	path[m.name.n] = '\0';
	mapping.path = path;
	mapping.pid = m.pid;
	mapping.tid = m.tid;
	TRY(session_find_kernel(s, &mapping.own_machine));
	return frame_jit_add(&s->frames, s->timeline, &mapping, &s->diags);
}
