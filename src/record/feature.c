/* SPDX-License-Identifier: MIT */
#include "record/feature.h"

#include "abi/abi.h"
#include "core/status.h"

#include <assert.h>
#include <sonde/record.h>

const char *feature_name(unsigned bit)
{
	const struct layout *l = layout_of_feature(bit);

	return l != NULL ? l->name : NULL;
}

const char *sonde_feature_name(unsigned bit)
{
	return feature_name(bit);
}

size_t feature_size(unsigned bit)
{
	const struct layout *l = layout_of_feature(bit);

	return l != NULL ? l->size : 0;
}

int feature_decode(const struct feature_source *source, unsigned bit, struct arena *a, void *out,
        size_t size, struct span *tail)
{
	const struct layout *l = layout_of_feature(bit);
	struct layout_source from = {
	        .bytes = source->bytes, .swap = source->swap, .cpus = source->ncpus};

	if (l == NULL) {
		if (tail != NULL) {
			*tail = source->bytes;
		}
		return SONDE_EUNSUPPORTED;
	}
	assert(size == l->size);
	(void)size;
	return layout_fill(l, &from, a, out, tail);
}

bool feature_encode(struct text *t, unsigned bit, const void *value, struct span tail, bool swap)
{
	const struct layout *l = layout_of_feature(bit);
	struct layout_source to = {.swap = swap};

	if (l != NULL && value != NULL) {
		layout_store(t, l, &to, value);
	}
	text_bytes(t, (const char *)tail.p, tail.n);
	return l != NULL;
}

/* { s32 pid; u8 id[20], u8 id size, 3 bytes; name }, or { u8 id[20], 4 bytes; name } */
bool feature_build_id_view(
        struct span body, uint16_t misc, bool swap, struct feature_build_id_view *out)
{
	struct cursor c = cursor_make(body, swap);
	bool old = body.n > 28 && (body.p[24] == '/' || body.p[24] == '[') && body.p[25] >= ' ' &&
	           body.p[26] >= ' ' && body.p[27] >= ' ';
	uint8_t size = BUILD_ID_MAX;

	*out = (struct feature_build_id_view){.misc = misc, .pid = -1};
	if (!old) {
		out->pid = (int32_t)cursor_u32(&c);
	}
	out->id = cursor_bytes(&c, BUILD_ID_MAX);
	if (!old) {
		size = cursor_u8(&c);
	}
	(void)cursor_bytes(&c, old ? 4 : 3);
	out->name = cursor_text(&c, cursor_left(&c));
	if (old || (misc & MISC_BUILD_ID_SIZE) == 0) {
		size = BUILD_ID_MAX;
	}
	out->damaged = size > BUILD_ID_MAX;
	out->id.n = out->damaged ? BUILD_ID_MAX : size;
	return !c.bad;
}

bool feature_build_id_next(struct cursor *c, struct feature_build_id_view *out)
{
	uint16_t misc, size;

	if (cursor_left(c) < RECORD_HEADER_SIZE) {
		return false; /* padding */
	}
	(void)cursor_u32(c);
	misc = cursor_u16(c);
	size = cursor_u16(c);
	if (size < RECORD_HEADER_SIZE ||
	        !feature_build_id_view(
	                cursor_bytes(c, size - RECORD_HEADER_SIZE), misc, c->swap, out)) {
		c->bad = true;
	}
	return !c->bad;
}
