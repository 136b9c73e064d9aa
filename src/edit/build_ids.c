/* SPDX-License-Identifier: MIT */
/*
 * The stage that lists the build ids of objects: in the header feature BUILD_ID, which a stream has
 * as records, and if wanted in the mappings themselves. An entry of the feature:
 *
 *	u32 type 0, u16 misc, u16 size, s32 pid -1, id (20), u8 size of the id, 3 unused, name
 *
 * and an MMAP2 record, where device and inode may be replaced by a build id (misc has
 * MISC_MMAP_BUILD_ID):
 *
 *	header (8)  pid tid start len pgoff (32)  | maj min ino generation    | prot flags (8)  name
 *	                                          | u8 size, 3 unused, id (20) |
 */
#include "edit/inside.h"

#include "core/array.h"
#include "core/text.h"
#include "frame/frame.h"

#include <stdlib.h>

#define KERNEL_NAME       "[kernel.kallsyms]"
#define HEAD              (RECORD_HEADER_SIZE + 32u) /* of a mapping, up to the device */
#define ID_PART           24u
#define PROT_PART         8u
#define PROT_READ         1u
#define PROT_READ_EXECUTE 5u
#define MAP_PRIVATE_FLAG  2u

struct found_id {
	uint8_t bytes[BUILD_ID_MAX];
	size_t size; /* 0: unknown */
};

static struct found_id known_id(const struct edit_known_id *known)
{
	struct found_id id = {.size = known->size};

	memcpy(id.bytes, known->id, sizeof(id.bytes));
	return id;
}

static const char *object_name(const struct timeline *t, const struct timeline_object *o)
{
	return o->kind == TIMELINE_KERNEL ? KERNEL_NAME : timeline_text(t, o->name);
}

/* Sets *id to the user's id for an object, the recorded one, or that of its file. */
static int id_of(struct sonde_editor *e, const struct timeline_object *o, struct found_id *id)
{
	const struct timeline *t = session_timeline(e->session);
	const struct frame_resolver *f = session_frames(e->session);
	const struct edit_known_id *known = edit_known_find(&e->known, object_name(t, o));
	int n;

	if (known != NULL) {
		*id = known_id(known);
		return 0;
	}
	*id = (struct found_id){.size = o->build_id_size};
	memcpy(id->bytes, o->build_id, sizeof(id->bytes));
	if (id->size == 0) {
		n = frame_object_build_id(f, o, id->bytes);
		if (n < 0) {
			return error_nomem(&e->error);
		}
		id->size = (size_t)n;
	}
	return 0;
}

static void put_entry(
        struct text *out, bool swap, uint16_t misc, const struct found_id *id, const char *name)
{
	const size_t fixed = 36;
	size_t room = (strlen(name) / 64 + 1) * 64;
	uint8_t head[36] = {0};

	if (fixed + room > UINT16_MAX) {
		return;
	}
	store_u16(head + 4, misc | MISC_BUILD_ID_SIZE, swap);
	store_u16(head + 6, (uint16_t)(fixed + room), swap);
	store_u32(head + 8, UINT32_MAX, swap);
	memcpy(head + 12, id->bytes, id->size);
	head[12 + BUILD_ID_MAX] = (uint8_t)id->size;
	text_bytes(out, (const char *)head, fixed);
	text_str(out, name);
	text_fill(out, '\0', room - strlen(name));
}

/* Sets hit[i] for the objects that are listed. */
static int choose_objects(struct sonde_editor *e, bool *hit)
{
	const struct timeline *t = session_timeline(e->session);
	/* which objects traces hit is not known without decoding them */
	bool all = e->o.build_ids == SONDE_EDIT_BUILD_IDS_ALL || session_has_traces(e->session);
	int rc = all ? 0 : session_hits(e->session, hit);

	if (rc < 0) {
		return error_take(&e->error, sonde_session_error(e->session));
	}
	for (size_t i = 0; i < timeline_objects(t); i++) {
		/* no file can replace the vdso */
		hit[i] |= all || timeline_object(t, (uint32_t)i)->kind == TIMELINE_VDSO;
	}
	return 0;
}

static int list_make(struct sonde_editor *e, struct text *out)
{
	const struct timeline *t = session_timeline(e->session);
	bool swap = session_swap(e->session);
	size_t n = timeline_objects(t);
	bool *hit = calloc(n + 1, sizeof(*hit));
	int rc;

	if (hit == NULL) {
		return error_nomem(&e->error);
	}
	rc = choose_objects(e, hit);
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		const struct timeline_object *o = timeline_object(t, (uint32_t)i);
		bool kernel = o->kind == TIMELINE_KERNEL || o->kind == TIMELINE_MODULE;
		struct found_id id = {.size = 0};

		if (hit[i] && !o->guest) {
			rc = id_of(e, o, &id);
		}
		if (rc >= 0 && id.size != 0) {
			put_entry(out, swap, kernel ? MISC_KERNEL : MISC_USER, &id,
			        object_name(t, o));
		}
	}
	free(hit);
	return rc;
}

/* ---- build ids in mappings ---- */

/* Returns the entry of a name, or a new one; NULL: out of memory. */
static struct edit_name_id *name_entry(struct sonde_editor *e, const char *name)
{
	struct edit_name_ids *ids = &e->mapped;
	uint32_t hash = (uint32_t)hash_bytes(name, strlen(name));
	size_t at = hash;
	uint32_t i;

	if (index_room(&ids->index) < 0) {
		return NULL;
	}
	while ((i = index_next(&ids->index, hash, &at)) != INDEX_NONE) {
		if (strcmp(ids->items[i].name, name) == 0) {
			return &ids->items[i];
		}
		at++;
	}
	name = arena_text(&e->arena, name, strlen(name));
	if (name == NULL ||
	        !array_reserve(&ids->items, &ids->cap, ids->n + 1, sizeof(*ids->items))) {
		return NULL;
	}
	index_put(&ids->index, hash, at, (uint32_t)ids->n);
	ids->items[ids->n] = (struct edit_name_id){.name = name, .object = EDIT_NO_OBJECT};
	return &ids->items[ids->n++];
}

/* Remembers which object has which name. */
static int names_collect(struct sonde_editor *e)
{
	const struct timeline *t = session_timeline(e->session);

	for (size_t i = 0; i < timeline_objects(t); i++) {
		const struct timeline_object *o = timeline_object(t, (uint32_t)i);
		struct edit_name_id *entry = name_entry(e, object_name(t, o));

		if (entry == NULL) {
			return error_nomem(&e->error);
		}
		if (entry->object == EDIT_NO_OBJECT || o->build_id_size != 0) {
			entry->object = (uint32_t)i;
		}
	}
	return 0;
}

/* Sets *id to the id for a mapped file, which is looked up once; size 0: it has none. */
static int mapped_id(struct sonde_editor *e, const char *name, struct found_id *id)
{
	const struct timeline *t = session_timeline(e->session);
	struct edit_name_id *entry = name_entry(e, name);

	*id = (struct found_id){.size = 0};
	if (entry == NULL) {
		return error_nomem(&e->error);
	}
	if (!entry->known && entry->object != EDIT_NO_OBJECT) {
		TRY(id_of(e, timeline_object(t, entry->object), id));
		memcpy(entry->id, id->bytes, sizeof(entry->id));
		entry->size = (uint8_t)id->size;
	}
	entry->known = true;
	memcpy(id->bytes, entry->id, sizeof(entry->id));
	id->size = entry->size;
	return 0;
}

static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct sonde_editor *e = arg;
	struct text list = {0};
	int rc = edit_open(e, rw);

	if (rc >= 0 && e->o.build_ids != SONDE_EDIT_BUILD_IDS_KEEP) {
		rc = list_make(e, &list);
		rc = rc >= 0 && list.failed ? error_nomem(&e->error) : rc;
		if (rc >= 0) {
			rc = sonde_rewriter_set_feature(
			        rw, FEATURE_BUILD_ID, list.n != 0 ? list.p : NULL, list.n);
		}
	}
	text_fini(&list);
	rc = rc >= 0 && e->o.mapped_build_ids ? names_collect(e) : rc;
	return edit_failed(e, rw, rc);
}

static bool is_user_mapping(const struct sonde_raw_record *r)
{
	return (r->type == RECORD_MMAP || r->type == RECORD_MMAP2) &&
	       (r->misc & MISC_CPUMODE_MASK) == MISC_USER && (r->misc & MISC_MMAP_BUILD_ID) == 0;
}

/* Writes the mapping with a build id to the room; returns its size, 0: it would be too long. */
static size_t mapping_write(
        struct sonde_editor *e, const struct sonde_raw_record *r, const struct found_id *id)
{
	bool swap = session_swap(e->session);
	bool old = r->type == RECORD_MMAP;
	size_t from = old ? HEAD : HEAD + ID_PART;
	size_t size = r->size + (old ? ID_PART + PROT_PART : 0);
	const uint8_t *bytes = r->bytes;
	uint8_t *p = e->room + HEAD;

	if (size > UINT16_MAX) {
		return 0;
	}
	memcpy(e->room, bytes, HEAD);
	store_u32(e->room, RECORD_MMAP2, swap);
	store_u16(e->room + 4, r->misc | MISC_MMAP_BUILD_ID, swap);
	store_u16(e->room + 6, (uint16_t)size, swap);
	memset(p, 0, ID_PART);
	p[0] = (uint8_t)id->size;
	memcpy(p + 4, id->bytes, id->size);
	p += ID_PART;
	if (old) { /* MMAP does not record them */
		store_u32(p, (r->misc & MISC_MMAP_DATA) != 0 ? PROT_READ : PROT_READ_EXECUTE, swap);
		store_u32(p + 4, MAP_PRIVATE_FLAG, swap);
		p += PROT_PART;
	}
	memcpy(p, bytes + from, r->size - from);
	return size;
}

static int mapping(
        struct sonde_editor *e, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	const struct record view = edit_view(r);
	struct sonde_raw_record made = *r;
	struct found_id id = {.size = 0};
	struct record_mmap m;

	if (record_mmap_decode(&view, session_swap(e->session), &m)) {
		TRY(edit_failed(e, rw, mapped_id(e, (const char *)m.name.p, &id)));
	}
	if (id.size == 0) {
		return sonde_rewriter_put(rw, r);
	}
	made.size = mapping_write(e, r, &id);
	made.bytes = e->room;
	return sonde_rewriter_put(rw, made.size != 0 ? &made : r);
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct sonde_editor *e = arg;

	if (r->type == RECORD_BUILD_ID && e->o.build_ids != SONDE_EDIT_BUILD_IDS_KEEP) {
		return 0; /* of a stream: the list replaces it */
	}
	return e->o.mapped_build_ids && is_user_mapping(r) ? mapping(e, rw, r)
	                                                   : sonde_rewriter_put(rw, r);
}

struct sonde_rewriter_stage edit_build_ids_stage(struct sonde_editor *e)
{
	return (struct sonde_rewriter_stage){.size = sizeof(struct sonde_rewriter_stage),
	        .arg = e,
	        .begin = begin,
	        .record = record};
}

void edit_build_ids_fini(struct sonde_editor *e)
{
	index_fini(&e->mapped.index);
	free(e->mapped.items);
}
