/* SPDX-License-Identifier: MIT */
/*
 * A build id is a note with owner "GNU" and type 3:
 *
 *   0: u32 namesz (4)   4: u32 descsz (20)   8: u32 type (3)   12: "GNU\0"   16: the id
 *   04 00 00 00  14 00 00 00  03 00 00 00  47 4e 55 00  4a 5a 9b 0a ...
 *
 * Name and descriptor are padded to 4 bytes each.
 */
#include "image/image.h"

#include <elf.h>

static size_t padded(size_t n)
{
	return (4 - n % 4) % 4;
}

bool image_build_id_of_notes(struct span notes, bool swap, struct image_build_id *id)
{
	struct cursor c = cursor_make(notes, swap);

	while (cursor_left(&c) >= 12) {
		uint32_t namesz = cursor_u32(&c);
		uint32_t descsz = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		struct span name = cursor_bytes(&c, namesz);
		struct span desc;

		cursor_take(&c, padded(namesz));
		desc = cursor_bytes(&c, descsz);
		if (c.bad) {
			return false;
		}
		if (type == NT_GNU_BUILD_ID && name.n == 4 && memcmp(name.p, "GNU", 4) == 0 &&
		        desc.n > 0) {
			id->size = desc.n < IMAGE_BUILD_ID_MAX ? desc.n : IMAGE_BUILD_ID_MAX;
			memcpy(id->bytes, desc.p, id->size);
			return true;
		}
		if (cursor_left(&c) < padded(descsz)) {
			return false;
		}
		cursor_take(&c, padded(descsz));
	}
	return false;
}
