/* SPDX-License-Identifier: MIT */
/* Values of options, frames and rows. */
#include "profile/profile.h"

bool profile_has_sources(const struct profile_options *o)
{
	return o->keys.chosen[FIELD_SRCLINE] || o->keys.chosen[FIELD_SRCFILE] || o->by_line ||
	       o->by_address;
}

bool profile_has_places(const struct profile_options *o)
{
	return o->keys.chosen[FIELD_CODE_ADDR] || o->keys.chosen[FIELD_SYMOFF] ||
	       o->keys.chosen[FIELD_DSO_SIZE];
}

bool profile_by_place(const struct profile_options *o)
{
	return profile_has_sources(o) || o->inlined || o->verbose || profile_has_places(o);
}

bool profile_is_kernel(const struct profile *p, uint32_t object)
{
	enum timeline_object_kind kind =
	        timeline_object(session_timeline(p->session), object)->kind;

	return kind == TIMELINE_KERNEL || kind == TIMELINE_MODULE || kind == TIMELINE_CODE;
}

int profile_row_unknown(const struct profile *p, const struct profile_row *row)
{
	uint32_t object = p->counts.frames[row->first_frame].object;
	const struct symbol_table *table;

	if (!p->by_object || object == PROFILE_NONE) {
		return row->unknown;
	}
	table = frame_symbols(session_frames(p->session), object);
	return table == NULL ? SONDE_ENOMEM
	                     : symbol_table_find(table, profile_row_first(p, row)->address) == NULL;
}

const char *profile_symbol(const struct profile *p, uint32_t object, const struct symbol *sym)
{
	if (sym != NULL && sym->type == PROFILE_INLINED) {
		return ((const struct profile_inlined *)sym)->name;
	}
	return frame_symbol_name(session_frames(p->session), object, sym);
}

const char *profile_frame_line(const struct profile *p, const struct profile_frame *f)
{
	uint32_t id = p->sources != NULL ? p->sources[f - p->counts.frames].line : PROFILE_NONE;

	return id != PROFILE_NONE ? intern_text(&p->source_texts, id) : NULL;
}

const char *profile_row_source(const struct profile *p, const struct profile_row *row, unsigned key)
{
	return intern_text(&p->source_texts, (uint32_t)profile_row_number(p, row, key));
}

static const struct profile_place *row_place(const struct profile *p, const struct profile_row *row)
{
	return &p->places[p->place_of[row->first_frame]];
}

uint64_t profile_row_number(const struct profile *p, const struct profile_row *row, unsigned id)
{
	const struct symbol *symbol = profile_row_symbol(row);

	switch (id) {
	case FIELD_PARENT: return p->parent_of[row->first_chain];
	case FIELD_SRCLINE: return p->sources[row->first_frame].row;
	case FIELD_SYMOFF: return symbol != NULL ? row_place(p, row)->address - symbol->start : 0;
	case FIELD_CODE_ADDR: return row_place(p, row)->ip;
	case FIELD_DSO_SIZE: return row_place(p, row)->size;
	case FIELD_SRCFILE: return p->sources[row->first_frame].file;
	case FIELD_SYMBOL_SIZE: return symbol != NULL ? symbol->end - symbol->start : 0;
	default: return field_number(field_at(id), profile_row_words(p, row, id));
	}
}
