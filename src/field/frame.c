/* SPDX-License-Identifier: MIT */
#include "field/frame.h"

#include <stdlib.h>

int frame_cache_init(struct frame_cache *c, struct sonde_session *session)
{
	c->session = session;
	c->slots = calloc(FRAME_SLOTS, sizeof(*c->slots));
	return c->slots != NULL ? 0 : SONDE_ENOMEM;
}

void frame_cache_fini(struct frame_cache *c)
{
	for (size_t i = 0; c->slots != NULL && i < FRAME_SLOTS; i++) {
		free(c->slots[i].longer);
	}
	free(c->slots);
	c->slots = NULL;
}

const char *frame_object_name(const struct timeline *t, const struct timeline_object *o)
{
	return timeline_text(t, o->kind == TIMELINE_MODULE && !o->listed ? o->short_name : o->name);
}

static void put_symbol(
        struct text *out, const struct symbol_table *table, uint64_t address, unsigned parts)
{
	const struct symbol *sym = table != NULL ? symbol_table_find(table, address) : NULL;

	text_char(out, ' ');
	if (sym == NULL) {
		text_str(out, "[unknown]");
		return;
	}
	text_str(out, symbol_name(table, sym));
	if ((parts & FRAME_SYMOFF) != 0) {
		text_bytes(out, "+0x", 3);
		text_hex(out, address - sym->start, 0, ' ');
	}
}

static void put_object(struct text *out, const struct timeline *t, const struct timeline_mapping *m,
        uint64_t address, unsigned parts)
{
	text_bytes(out, " (", 2);
	if (m == NULL) {
		text_str(out, "[unknown]");
	} else {
		const struct timeline_object *o = timeline_object(t, m->object);

		text_str(out, (parts & FRAME_PATH) != 0 ? timeline_text(t, o->name)
		                                        : frame_object_name(t, o));
		if ((parts & FRAME_DSOFF) != 0) {
			text_bytes(out, "+0x", 3);
			text_hex(out, address - m->start + m->pgoff, 0, ' ');
		}
	}
	text_char(out, ')');
}

/* The long way: finds out what the address is. */
static void make_text(struct frame_cache *c, struct text *out, const struct timeline_view *view,
        uint32_t cpumode, uint64_t address, unsigned parts)
{
	const struct timeline *t = session_timeline(c->session);
	const struct timeline_mapping *m = NULL;

	if ((parts & FRAME_LINE) != 0) {
		text_char(out, '\t');
		text_hex(out, address, 16, ' ');
	}
	if ((parts & (FRAME_SYM | FRAME_DSO | FRAME_DSOFF)) != 0) {
		m = timeline_find(t, view, cpumode, address);
	}
	if ((parts & FRAME_SYM) != 0) {
		put_symbol(out, m != NULL ? session_symbols(c->session, m->object) : NULL,
		        m != NULL ? timeline_object_address(t, m, address) : 0, parts);
	}
	if ((parts & (FRAME_DSO | FRAME_DSOFF)) != 0) {
		put_object(out, t, m, address, parts);
	}
	if ((parts & FRAME_LINE) != 0) {
		text_char(out, '\n');
	}
}

struct frame_key {
	uint64_t address;
	uint32_t root, later_root;
	uint16_t cpumode, parts;
};

/* Kernel addresses mean the same to all processes. */
static struct frame_key make_key(
        const struct timeline_view *view, uint32_t cpumode, uint64_t address, unsigned parts)
{
	struct frame_key key = {
	        .address = address, .cpumode = (uint16_t)cpumode, .parts = (uint16_t)parts};

	if (cpumode == MISC_KERNEL) {
		key.root = view->kernel_root;
	} else {
		key.root = view->root;
		key.later_root = view->later_root;
	}
	return key;
}

static struct frame_slot *slot_of(struct frame_cache *c, const struct frame_key *key)
{
	uint64_t h = (key->address ^ (uint64_t)key->root << 40) * 0x9e3779b97f4a7c15ULL;

	return &c->slots[h >> 40 & (FRAME_SLOTS - 1)];
}

static bool slot_fits(const struct frame_slot *s, const struct frame_key *key)
{
	return s->address == key->address && s->root == key->root &&
	       s->later_root == key->later_root && s->cpumode == key->cpumode &&
	       s->parts == key->parts && s->n != 0;
}

static void slot_fill(struct frame_slot *s, const struct frame_key *key, const char *text, size_t n)
{
	char *to = s->text;

	s->n = 0;
	free(s->longer);
	s->longer = NULL;
	if (n > FRAME_INLINE) {
		s->longer = to = malloc(n);
	}
	if (to == NULL || n > UINT32_MAX) {
		return; /* not remembered, made anew next time */
	}
	memcpy(to, text, n);
	s->address = key->address;
	s->root = key->root;
	s->later_root = key->later_root;
	s->cpumode = key->cpumode;
	s->parts = key->parts;
	s->n = (uint32_t)n;
}

void frame_text(struct frame_cache *c, struct text *out, const struct timeline_view *view,
        uint32_t cpumode, uint64_t address, unsigned parts)
{
	struct frame_key key = make_key(view, cpumode, address, parts);
	struct frame_slot *s = slot_of(c, &key);
	size_t start = out->n;
	char *p;

	if (slot_fits(s, &key)) {
		if (s->longer != NULL) {
			text_bytes(out, s->longer, s->n);
			return;
		}
		p = text_room(out, FRAME_INLINE);
		if (p != NULL) {
			memcpy(p, s->text,
			        FRAME_INLINE); /* a fixed size is cheaper than the exact one */
			out->n += s->n;
		}
		return;
	}
	make_text(c, out, view, cpumode, address, parts);
	if (!out->failed && out->n > start) {
		slot_fill(s, &key, out->p + start, out->n - start);
	}
}
