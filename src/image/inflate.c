/* SPDX-License-Identifier: MIT */
/*
 * A compressed section begins with
 *
 *	64-bit  u32 type, u32 0, u64 size, u64 alignment     size: of the contents, in bytes
 *	32-bit  u32 type, u32 size, u32 alignment
 */
#include "image/inflate.h"

#include <stdlib.h>

#define SHF_COMPRESSED (1u << 11)
#define SECTION_MAX    (SIZE_MAX / 2)

static const struct method {
	uint32_t type;
	uint32_t ratio; /* output bytes for an input byte, at most */
	bool (*inflate)(struct span packed, uint8_t *out, size_t n);
} methods[] = {
        {1, 1032, image_inflate_zlib},
        /* a block of 128 KiB of one byte is 4 bytes */
        {2, 32768, image_inflate_zstd},
};

static const struct method *method_find(uint32_t type)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (methods[i].type == type) {
			return &methods[i];
		}
	}
	return NULL;
}

int image_elf_section_inflate(
        const struct image_elf *e, const struct image_section *s, uint8_t **out, size_t *n)
{
	const struct method *method;
	struct cursor c;
	uint64_t size;

	*out = NULL;
	*n = 0;
	if ((s->flags & SHF_COMPRESSED) == 0 || s->offset > e->bytes.n ||
	        s->size > e->bytes.n - s->offset) {
		return 0;
	}
	c = cursor_make((struct span){e->bytes.p + s->offset, (size_t)s->size}, e->swap);
	method = method_find(cursor_u32(&c));
	if (e->is64) {
		(void)cursor_u32(&c);
	}
	size = e->is64 ? cursor_u64(&c) : cursor_u32(&c);
	(void)cursor_take(&c, e->is64 ? 8 : 4);
	if (c.bad || method == NULL || size == 0 || size > SECTION_MAX ||
	        size / method->ratio > cursor_left(&c)) {
		return 0;
	}
	*out = malloc((size_t)size);
	if (*out == NULL) {
		return SONDE_ENOMEM;
	}
	if (!method->inflate((struct span){c.p, cursor_left(&c)}, *out, (size_t)size)) {
		free(*out);
		*out = NULL;
		return 0;
	}
	*n = (size_t)size;
	return 0;
}
