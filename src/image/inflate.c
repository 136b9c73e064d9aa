/* SPDX-License-Identifier: MIT */
/*
 * A compressed section begins with
 *
 *	64-bit  u32 type, u32 0, u64 size, u64 alignment     size: of the contents, in bytes
 *	32-bit  u32 type, u32 size, u32 alignment
 */
#include "image/inflate.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#define SHF_COMPRESSED    (1u << 11)
#define ELFCOMPRESS_ZLIB  1u
#define DEFLATE_RATIO_MAX 1032u /* output bytes for an input byte, at most */

int image_elf_section_inflate(
        const struct image_elf *e, const struct image_section *s, uint8_t **out, size_t *n)
{
	struct cursor c;
	uint32_t type;
	uint64_t size;
	uLongf got;

	*out = NULL;
	*n = 0;
	if ((s->flags & SHF_COMPRESSED) == 0 || s->offset > e->bytes.n ||
	        s->size > e->bytes.n - s->offset) {
		return 0;
	}
	c = cursor_make((struct span){e->bytes.p + s->offset, (size_t)s->size}, e->swap);
	type = cursor_u32(&c);
	if (e->is64) {
		(void)cursor_u32(&c);
	}
	size = e->is64 ? cursor_u64(&c) : cursor_u32(&c);
	(void)cursor_take(&c, e->is64 ? 8 : 4);
	if (c.bad || type != ELFCOMPRESS_ZLIB || size == 0 ||
	        size / DEFLATE_RATIO_MAX > cursor_left(&c) || size > ULONG_MAX) {
		return 0;
	}
	*out = malloc((size_t)size);
	if (*out == NULL) {
		return SONDE_ENOMEM;
	}
	got = (uLongf)size;
	if (uncompress(*out, &got, c.p, (uLong)cursor_left(&c)) != Z_OK || got != size) {
		free(*out);
		*out = NULL;
		return 0;
	}
	*n = (size_t)size;
	return 0;
}
