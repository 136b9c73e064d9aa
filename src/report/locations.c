/* SPDX-License-Identifier: MIT */
/* Columns of keys that are locations in code or data. */
#include "report/report.h"

#include "symbol/symbol.h"

#include <stdio.h>

#define ADDRESS_DIGITS 16u
#define ELF_OBJECT     1u /* symbol.type: a variable */

const char *report_level(bool kernel)
{
	return kernel ? "[k] " : "[.] ";
}

/* As in perf, the level of a symbol is its own, that of an address of the row's first sample. */
static const char *location_level(
        const struct report *r, const struct profile_row *row, unsigned id)
{
	const struct profile_location *at = profile_row_location(&r->profile, row, id);

	if (field_at(id)->location == FIELD_LOCATION_LINE && at->object == PROFILE_NONE) {
		return "[X] ";
	}
	if (field_at(id)->location == FIELD_LOCATION_LINE && at->shared) {
		return "[s] ";
	}
	if (field_at(id)->location != FIELD_LOCATION_SYMBOL) {
		return report_level(row->kernel);
	}
	return at->object == PROFILE_NONE
	               ? "[H] "
	               : report_level(profile_is_kernel(&r->profile, at->object));
}

/* Types of ELF are numbers, those of kallsyms letters. */
static bool is_variable(const struct symbol *s)
{
	return s->type == ELF_OBJECT || (s->type >= 'A' && strchr("tTwW", s->type) == NULL);
}

/* Whether the offset in the symbol is printed. */
static bool shows_offset(enum field_location location, const struct profile_location *at)
{
	return location == FIELD_LOCATION_ADDRESS
	               ? at->address != at->symbol->start
	               : location == FIELD_LOCATION_IP && is_variable(at->symbol);
}

static const char *object_name(const struct profile *p, const struct profile_location *at)
{
	uint32_t object = at->object;

	return intern_text(&p->names, object != PROFILE_NONE ? p->dso[object] : p->unknown);
}

static const char *source_line(const struct profile *p, const struct profile_location *at)
{
	return intern_text(&p->source_texts, at->line);
}

void report_location_text(
        struct report *r, const struct profile_row *row, unsigned id, size_t width)
{
	const struct profile_location *at = profile_row_location(&r->profile, row, id);
	enum field_location location = field_at(id)->location;
	uint64_t address = location == FIELD_LOCATION_IP ? at->ip : at->address;
	const char *name = profile_symbol(&r->profile, at->object, at->symbol);
	struct text *t = &r->cell;

	if (location == FIELD_LOCATION_OBJECT || location == FIELD_LOCATION_SOURCE) {
		text_str(t, location == FIELD_LOCATION_OBJECT ? object_name(&r->profile, at)
		                                              : source_line(&r->profile, at));
		return;
	}
	text_str(t, location_level(r, row, id));
	if (at->symbol == NULL || location == FIELD_LOCATION_LINE) {
		text_str(t, address != 0 ? "0x" : "");
		text_hex(t, address, ADDRESS_DIGITS, '0');
		return;
	}
	if (name == NULL) {
		t->failed = true;
		return;
	}
	text_str(t, name);
	if (location == FIELD_LOCATION_ADDRESS && t->n > width) {
		t->n = width; /* as in perf, the name is cut, and not the offset */
	}
	if (shows_offset(location, at)) {
		text_str(t, "+0x");
		text_hex(t, at->address - at->symbol->start, 0, ' ');
	}
}

/* As in perf, columns of addresses have room for addresses without a symbol only. */
size_t report_location_width(const struct report *r, const struct profile_row *row, unsigned id)
{
	const struct profile_location *at = profile_row_location(&r->profile, row, id);
	enum field_location location = field_at(id)->location;
	const char *symbol = profile_symbol(&r->profile, at->object, at->symbol);
	size_t address = REPORT_LEVEL_WIDTH + strlen("0x") + ADDRESS_DIGITS;

	if (location == FIELD_LOCATION_OBJECT) { /* of branches also not for all objects */
		bool named = r->options.memory ? at->object != PROFILE_NONE : at->symbol != NULL;

		return named ? strlen(object_name(&r->profile, at)) : ADDRESS_DIGITS;
	}
	if (location == FIELD_LOCATION_SOURCE) {
		return strlen(source_line(&r->profile, at));
	}
	if (symbol == NULL) {
		return address;
	}
	switch (location) {
	case FIELD_LOCATION_SYMBOL: return REPORT_LEVEL_WIDTH + strlen(symbol);
	case FIELD_LOCATION_IP: return address + strlen(symbol);
	case FIELD_LOCATION_LINE: return address;
	case FIELD_NO_LOCATION:
	case FIELD_LOCATION_OBJECT:
	case FIELD_LOCATION_SOURCE:
	case FIELD_LOCATION_ADDRESS: break;
	}
	return 0;
}

/* Prints the name, and the address where that is part of the key or there is no name. */
void report_location_json(
        const struct report *r, const struct profile_row *row, unsigned id, struct json *out)
{
	const struct profile_location *at = profile_row_location(&r->profile, row, id);
	enum field_location location = field_at(id)->location;
	const char *symbol = location != FIELD_LOCATION_LINE
	                             ? profile_symbol(&r->profile, at->object, at->symbol)
	                             : NULL;
	const char *name = field_at(id)->info.name;
	char key[64];

	if (location == FIELD_LOCATION_OBJECT) {
		json_text(out, name,
		        at->object != PROFILE_NONE ? object_name(&r->profile, at) : NULL);
		return;
	}
	if (location == FIELD_LOCATION_SOURCE) {
		json_text(out, name, source_line(&r->profile, at));
		return;
	}
	out->out->failed = out->out->failed || (symbol == NULL && at->symbol != NULL &&
	                                               location != FIELD_LOCATION_LINE);
	json_text(out, name, symbol);
	if (at->symbol == NULL || location != FIELD_LOCATION_SYMBOL) {
		(void)snprintf(key, sizeof(key), "%s_address", name);
		json_u64(out, key, location == FIELD_LOCATION_IP ? at->ip : at->address);
	}
}
