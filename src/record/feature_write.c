/* SPDX-License-Identifier: MIT */
#include "record/feature_write.h"

#include "abi/abi.h"
#include "record/layout.h"

void feature_put_u32(struct text *t, uint32_t v)
{
	text_bytes(t, (const char *)&v, sizeof(v));
}

void feature_put_u64(struct text *t, uint64_t v)
{
	text_bytes(t, (const char *)&v, sizeof(v));
}

static void put_filled(struct text *t, const char *s)
{
	size_t n = strlen(s);

	text_bytes(t, s, n);
	text_fill(t, '\0', layout_text_room(s) - n);
}

void feature_put_text(struct text *t, const char *s)
{
	feature_put_u32(t, (uint32_t)layout_text_room(s));
	put_filled(t, s);
}

/* header {u32 type 0, u16 misc, u16 size}, s32 pid -1, u8 id[20], u8 id_size, 3 bytes, name */
bool feature_put_list(struct text *t, uint32_t n, struct text *items)
{
	feature_put_u32(t, n);
	text_bytes(t, items->p, items->n);
	t->failed |= items->failed;
	text_fini(items);
	return n > 0;
}

void feature_put_build_id(
        struct text *t, uint16_t misc, const uint8_t *id, size_t id_size, const char *name)
{
	uint16_t half[2] = {
	        (uint16_t)(misc | MISC_BUILD_ID_SIZE), (uint16_t)(36 + layout_text_room(name))};

	feature_put_u32(t, 0);
	text_bytes(t, (const char *)half, sizeof(half));
	feature_put_u32(t, UINT32_MAX);
	text_bytes(t, (const char *)id, id_size);
	text_fill(t, '\0', BUILD_ID_MAX - id_size);
	text_char(t, (char)id_size);
	text_fill(t, '\0', 3);
	put_filled(t, name);
}
