/* SPDX-License-Identifier: MIT */
#include "field/address.h"

#include "core/array.h"
#include "core/escape.h"

#include <inttypes.h>
#include <stdlib.h>

int address_cache_init(struct address_cache *c, struct sonde_session *session)
{
	c->session = session;
	TRY(frame_reader_init(&c->frames, session_frames(session)));
	c->slots = array_map(ADDRESS_SLOTS * sizeof(*c->slots));
	if (c->slots == NULL) {
		frame_reader_fini(&c->frames);
		return SONDE_ENOMEM;
	}
	return 0;
}

void address_cache_fini(struct address_cache *c)
{
	for (size_t i = 0; c->slots != NULL && i < ADDRESS_SLOTS; i++) {
		free(c->slots[i].longer);
	}
	array_unmap(c->slots, ADDRESS_SLOTS * sizeof(*c->slots));
	c->slots = NULL;
	frame_reader_fini(&c->frames);
}

static void put_offset(struct text *out, const struct frame *f, unsigned parts)
{
	if ((parts & ADDRESS_SYMOFF) != 0 && f->symbol != NULL) {
		text_bytes(out, "+0x", 3);
		text_hex(out, f->address - f->symbol->start, 0, ' ');
	}
}

static void put_symbol(
        struct text *out, const struct frame_resolver *r, const struct frame *f, unsigned parts)
{
	const char *name;

	text_char(out, ' ');
	if (f->symbol == NULL) {
		text_str(out, "[unknown]");
		return;
	}
	name = frame_symbol_name(r, f->object, f->symbol);
	if (name == NULL) {
		out->failed = true;
		return;
	}
	text_plain(out, name);
	put_offset(out, f, parts);
}

/* Inline: new addresses are the slow part of `script`. */
static inline __attribute__((always_inline)) void put_object(
        struct text *out, const struct timeline *t, const struct frame *f, unsigned parts)
{
	text_char(out, '(');
	if (f->mapping == NULL) {
		text_str(out, "[unknown]");
	} else {
		const struct timeline_object *o = timeline_object(t, f->object);
		size_t start = out->n;

		text_str(out, (parts & ADDRESS_PATH) != 0 ? timeline_text(t, o->name)
		                                          : frame_object_name(t, o));
		if (!o->plain) {
			escape_plain_from(out, start);
		}
		if ((parts & ADDRESS_DSOFF) != 0) {
			text_bytes(out, "+0x", 3);
			text_hex(out, f->ip - f->mapping->start + f->mapping->pgoff, 0, ' ');
		}
	}
	text_char(out, ')');
}

void address_object(
        struct text *out, const struct timeline *t, const struct frame *f, unsigned parts)
{
	put_object(out, t, f, parts);
}

/*
 * As in perf, a line that is unknown is printed only after a known function, and only where inlined
 * functions are printed.
 */
static void put_source(
        struct text *out, const struct frame *f, const struct lines_frame *from, unsigned parts)
{
	const char *file = from->file;

	if ((parts & ADDRESS_SOURCE) == 0) {
		return;
	}
	if (file != NULL) {
		file = (parts & ADDRESS_SOURCE_PATH) != 0 ? file : lines_file_name(file);
		text_str(out, "\n  ");
		text_plain(out, file);
		text_printf(out, ":%" PRIu32, from->line);
	} else if ((parts & ADDRESS_INLINED) != 0 && f->symbol != NULL) {
		text_str(out, "\n  ??:0");
	}
}

void address_unknown_source(struct text *out, const struct timeline *t, const struct frame *f,
        const struct lines_place *place)
{
	if (f->mapping != NULL) {
		text_plain(out, timeline_text(t, timeline_object(t, f->object)->short_name));
		text_printf(out, "[%" PRIx64 "]", place->address);
	}
}

/* An address without a function has its address in the object. */
static int put_own_source(
        struct text *out, const struct frame_resolver *r, const struct frame *f, unsigned parts)
{
	struct lines_place place;

	TRY(frame_lines(r, f, &place));
	if (place.found != LINES_NONE) {
		put_source(out, f, &place.frames[0], parts);
	} else if (f->mapping != NULL) {
		text_str(out, "\n  ");
		address_unknown_source(out, r->timeline, f, &place);
	}
	return 0;
}

static void put_line_start(struct text *out, uint64_t address)
{
	text_char(out, '\t');
	text_hex(out, address, 16, ' ');
}

/* Appends the lines of the functions that were inlined at a frame, as perf prints them. */
static int put_inlined(struct text *out, const struct frame_resolver *r, const struct frame *f,
        unsigned parts, struct lines_place *place)
{
	size_t start;

	TRY(frame_inlined(r, f, (parts & ADDRESS_CALLER) != 0, place));
	for (unsigned i = 0; i + 1 < place->n; i++) {
		put_line_start(out, f->ip);
		if ((parts & ADDRESS_SYM) != 0) {
			text_char(out, ' ');
			start = out->n;
			TRY(frame_function_text(r, place->frames[i].function, out));
			escape_plain_from(out, start);
			put_offset(out, f, parts);
		}
		put_source(out, f, &place->frames[i], parts);
		text_str(out, " (inlined)\n");
	}
	return 0;
}

/* Appends the text of an address, and of the functions inlined there; SONDE_ENOMEM. */
static int put_place(const struct address_cache *c, struct text *out,
        const struct timeline_view *view, uint32_t cpumode, uint64_t address, unsigned parts)
{
	const struct frame_resolver *r = c->frames.resolver;
	struct lines_place place;
	struct frame f;

	if (parts == ADDRESS_LINE) {
		put_line_start(out, address);
		text_char(out, '\n');
		return 0;
	}
	place.n = 0;
	f = frame_locate_new(r, view, cpumode, address);
	if ((parts & (ADDRESS_SYM | ADDRESS_INLINED)) != 0) {
		TRY(frame_name(r, &f));
	}
	if ((parts & ADDRESS_INLINED) != 0) {
		TRY(put_inlined(out, r, &f, parts, &place));
	}
	if ((parts & ADDRESS_LINE) != 0) {
		put_line_start(out, address);
	}
	if ((parts & ADDRESS_SYM) != 0) {
		put_symbol(out, r, &f, parts);
	}
	if ((parts & (ADDRESS_DSO | ADDRESS_DSOFF)) != 0) {
		text_char(out, ' ');
		put_object(out, r->timeline, &f, parts);
	}
	if (place.n > 1) {
		put_source(out, &f, &place.frames[place.n - 1], parts);
	} else if ((parts & ADDRESS_SOURCE) != 0) {
		TRY(put_own_source(out, r, &f, parts));
	}
	if ((parts & ADDRESS_LINE) != 0) {
		text_char(out, '\n');
	}
	return 0;
}

struct address_key {
	uint64_t address;
	uint32_t root, later_root;
	uint16_t cpumode, parts;
};

/* Kernel addresses have the same text in all processes. */
static struct address_key make_key(
        const struct timeline_view *view, uint32_t cpumode, uint64_t address, unsigned parts)
{
	struct address_key key = {
	        .address = address, .cpumode = (uint16_t)cpumode, .parts = (uint16_t)parts};

	if (cpumode == MISC_KERNEL) {
		key.root = view->kernel_root;
	} else {
		key.root = view->root;
		key.later_root = view->later_root;
	}
	return key;
}

static struct address_slot *slot_of(struct address_cache *c, uint64_t address, uint32_t root)
{
	uint64_t h = (address ^ (uint64_t)root << 40) * 0x9e3779b97f4a7c15ULL;

	return &c->slots[h >> 40 & (ADDRESS_SLOTS - 1)];
}

void address_prefetch(struct address_cache *c, const struct timeline_view *view,
        const uint64_t *addresses, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool kernel = addresses[i] >> 63 != 0;
		const struct address_slot *s =
		        slot_of(c, addresses[i], kernel ? view->kernel_root : view->root);

		__builtin_prefetch(s);
		__builtin_prefetch(&s->text[ADDRESS_INLINE / 2]);
	}
}

static bool slot_fits(const struct address_slot *s, const struct address_key *key)
{
	return s->address == key->address && s->root == key->root &&
	       s->later_root == key->later_root && s->cpumode == key->cpumode &&
	       s->parts == key->parts && s->n != 0;
}

static void slot_fill(
        struct address_slot *s, const struct address_key *key, const char *text, size_t n)
{
	char *to = s->text;

	s->n = 0;
	free(s->longer);
	s->longer = NULL;
	if (n > ADDRESS_INLINE) {
		s->longer = to = malloc(n);
	}
	if (to == NULL || n > UINT32_MAX) {
		return; /* not cached */
	}
	memcpy(to, text, n);
	s->address = key->address;
	s->root = key->root;
	s->later_root = key->later_root;
	s->cpumode = key->cpumode;
	s->parts = key->parts;
	s->n = (uint32_t)n;
}

void address_text(struct address_cache *c, struct text *out, const struct timeline_view *view,
        uint32_t cpumode, uint64_t address, unsigned parts)
{
	struct address_key key = make_key(view, cpumode, address, parts);
	struct address_slot *s = slot_of(c, key.address, key.root);
	size_t start = out->n;
	char *p;

	if (slot_fits(s, &key)) {
		if (s->longer != NULL) {
			text_bytes(out, s->longer, s->n);
			return;
		}
		p = text_room(out, ADDRESS_INLINE);
		if (p != NULL) {
			memcpy(p, s->text,
			        ADDRESS_INLINE); /* copying a fixed size is faster than the exact
			                            one */
			out->n += s->n;
		}
		return;
	}
	if (put_place(c, out, view, cpumode, address, parts) < 0) {
		out->failed = true;
		return;
	}
	if (!out->failed && out->n > start) {
		slot_fill(s, &key, out->p + start, out->n - start);
	}
}
