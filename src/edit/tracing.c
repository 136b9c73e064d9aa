/* SPDX-License-Identifier: MIT */
#include "edit/tracing.h"

static void skip_text(struct cursor *c)
{
	while (cursor_u8(c) != 0) {
	}
}

/* Skips n sections of formats, each u64 size and bytes. */
static void skip_formats(struct cursor *c, uint32_t n)
{
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		(void)cursor_bytes(c, cursor_u64(c));
	}
}

struct edit_tracing edit_tracing_split(struct span all)
{
	struct cursor c = cursor_make(all, false);
	struct edit_tracing out;
	uint32_t systems;

	(void)cursor_bytes(&c, 10);
	skip_text(&c); /* the version */
	c.swap = (cursor_u8(&c) != 0) != HOST_BIG_ENDIAN;
	(void)cursor_bytes(&c, 5); /* sizes of a long and a page */
	for (unsigned i = 0; i < 2; i++) {
		skip_text(&c);
		skip_formats(&c, 1);
	}
	skip_formats(&c, cursor_u32(&c));
	systems = cursor_u32(&c);
	for (uint32_t i = 0; i < systems && !c.bad; i++) {
		skip_text(&c);
		skip_formats(&c, cursor_u32(&c));
	}
	out.symbols = cursor_bytes(&c, cursor_u32(&c));
	out.prints = cursor_bytes(&c, cursor_u32(&c));
	out.names = cursor_bytes(&c, cursor_u64(&c));
	return out;
}
