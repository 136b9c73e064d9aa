/* SPDX-License-Identifier: MIT */
/* Paths of control groups by id. */
#include "core/array.h"
#include "core/hash.h"
#include "session/inside.h"

/* Returns the index of a control group, or INDEX_NONE with *at for inserting it. */
static uint32_t cgroup_find(const struct sonde_session *s, uint64_t id, size_t *at)
{
	uint32_t hash = (uint32_t)hash_u64(id);
	uint32_t i;

	*at = hash;
	while ((i = index_next(&s->cgroup_ids, hash, at)) != INDEX_NONE && s->cgroups[i].id != id) {
		++*at;
	}
	return i;
}

const char *session_cgroup(const struct sonde_session *s, uint64_t id)
{
	size_t at;
	uint32_t i = s->ncgroups != 0 ? cgroup_find(s, id, &at) : INDEX_NONE;

	return i != INDEX_NONE ? s->cgroups[i].path : NULL;
}

/* u64 id; the path, NUL-terminated; sample_id (linux/perf_event.h) */
int session_cgroup_add(struct sonde_session *s, const struct record *r)
{
	struct cursor c = cursor_make(r->body, s->swap);
	uint64_t id = cursor_u64(&c);
	const char *path = (const char *)r->body.p + sizeof(id);
	size_t at;

	if (c.bad || memchr(path, '\0', r->body.n - sizeof(id)) == NULL) {
		diag_report(
		        &s->diags, SONDE_DIAG_DAMAGED, r->offset, "a CGROUP record is cut short");
		return 0;
	}
	if (s->options.counts_only) {
		return 0;
	}
	TRY(index_room(&s->cgroup_ids));
	if (cgroup_find(s, id, &at) != INDEX_NONE) {
		return 0;
	}
	if (!array_reserve(&s->cgroups, &s->cgroups_cap, s->ncgroups + 1, sizeof(*s->cgroups))) {
		return SONDE_ENOMEM;
	}
	index_put(&s->cgroup_ids, (uint32_t)hash_u64(id), at, (uint32_t)s->ncgroups);
	s->cgroups[s->ncgroups++] = (struct session_cgroup){.id = id, .path = path};
	return 0;
}
