/* SPDX-License-Identifier: MIT */
/* Columns of a report: their titles, widths and texts, and what rows are ordered by. */
#include "report/report.h"

#include "core/escape.h"
#include "symbol/symbol.h"

#include <inttypes.h>
#include <stdio.h>

#define ADDRESS_WIDTH     16u
#define TRANSACTION_WIDTH 32u
#define NUMBER_MAX        64u /* most digits of a forced width */

static const char *column_title(const struct report *r, unsigned id)
{
	bool self = id == FIELD_OVERHEAD && r->profile.options.children && !r->strict;

	return self ? "Self" : field_at(id)->info.title;
}

static inline uint64_t column_sum(
        const struct report *r, const struct profile_row *row, unsigned id, unsigned member)
{
	const struct field *f = field_at(id);
	const struct report_table *t = r->table;
	const uint64_t *modes = NULL;

	if ((f->style & FIELD_BY_MODE) != 0) {
		modes = t->modes + ((size_t)(row - t->rows) * t->members + member) * PROFILE_MODES;
	}
	if (member != 0) {
		const struct report_sums *s =
		        &t->sums[(size_t)(row - t->rows) * (t->members - 1) + member - 1];

		return f->total(s->samples, s->period, s->children, modes);
	}
	return f->total(row->samples, row->period, row->children, modes);
}

uint64_t report_columns_sum(
        const struct report *r, const struct profile_row *row, unsigned id, unsigned member)
{
	return column_sum(r, row, id, member);
}

static uint64_t column_number(const struct report *r, const struct profile_row *row, unsigned id)
{
	const struct field *f = field_at(id);

	return f->total != NULL ? column_sum(r, row, id, 0)
	                        : profile_row_number(&r->profile, row, id);
}

uint64_t report_columns_rank(const struct report *r, const struct profile_row *row, unsigned id)
{
	const struct field *f = field_at(id);
	uint64_t number = column_number(r, row, id);

	return f->total != NULL ? ~number : field_rank(f, number);
}

/*
 * Returns the text of a column for `out`; NULL: unknown, the column has no texts, or out of memory
 * (out->failed is set).
 */
static const char *column_text(
        const struct report *r, const struct profile_row *row, unsigned id, struct text *out)
{
	const struct field *f = field_at(id);
	const struct profile *p = &r->profile;

	if (id == FIELD_DSO) {
		return intern_text(&p->names, row->dso);
	}
	if (id == FIELD_SYM || id == FIELD_SYMOFF) {
		const char *name = profile_row_name(p, row);

		out->failed = out->failed || (name == NULL && row->has_symbol);
		return name;
	}
	if (id == FIELD_PARENT) {
		return p->parents[profile_row_number(p, row, id)];
	}
	if (id == FIELD_SRCLINE || id == FIELD_SRCFILE) {
		return profile_row_source(p, row, id);
	}
	return f->text_of != NULL ? f->text_of(&p->source, column_number(r, row, id)) : NULL;
}

/* What the shares of a column are of. */
static uint64_t column_whole(
        const struct report *r, const struct profile_row *row, unsigned id, unsigned member)
{
	const uint64_t *totals =
	        id == FIELD_LATENCY ? r->profile.latencies : r->profile.shown_totals;

	return totals[row->event + member];
}

/* Returns the value of a column without texts; width: of the column. */
static struct field_value column_value(
        const struct report *r, const struct profile_row *row, unsigned id, int width)
{
	uint64_t number = id != FIELD_DSO && id != FIELD_SYM ? column_number(r, row, id) : 0;
	bool sums = (field_at(id)->style & FIELD_SUMS) != 0;

	return (struct field_value){.number = sums ? number * row->samples : number,
	        .whole = column_whole(r, row, id, 0),
	        .comm = profile_row_first(&r->profile, row)->first_comm,
	        .width = width};
}

/* The offset, and the function unless it has a column of its own; an address without one. */
static void symoff_json(const struct report *r, const struct profile_row *row, struct json *out)
{
	const char *name = column_text(r, row, FIELD_SYM, out->out);
	const char *key = field_at(FIELD_SYMOFF)->info.name;

	if (name != NULL) {
		json_u64(out, key, column_number(r, row, FIELD_SYMOFF));
	} else {
		json_text(out, key, NULL);
	}
	if (report_columns_find(r, FIELD_SYM) != r->columns.n) {
		return;
	}
	json_text(out, field_at(FIELD_SYM)->info.name, name);
	if (name == NULL) {
		json_u64(out, "address", profile_row_address(row));
	}
}

void report_columns_json(
        const struct report *r, const struct profile_row *row, unsigned id, struct json *out)
{
	struct field_value value = column_value(r, row, id, 0);

	if (id == FIELD_TRACE_FIELDS) {
		report_trace_json(r, row, column_text(r, row, id, out->out), out);
		return;
	}
	if (field_at(id)->location != FIELD_NO_LOCATION) {
		report_location_json(r, row, id, out);
		return;
	}
	if (id == FIELD_SYMOFF) {
		symoff_json(r, row, out);
		return;
	}
	value.text = column_text(r, row, id, out->out);
	if (id == FIELD_OVERHEAD_CHILDREN && !r->profile.options.children) {
		json_text(out, field_at(id)->info.name, NULL);
	} else {
		field_json(field_at(id), &r->profile.source, &value, out);
	}
	if (id == FIELD_SYM && value.text == NULL) {
		json_u64(out, "address", profile_row_address(row));
	}
	if (id == FIELD_SYM) {
		json_bool(out, "kernel", row->kernel);
	}
}

/*
 * With options.verbose: the address of the first sample, as in perf at run time if that is of a
 * caller, and the letter of enum symbol_origin.
 */
static void put_place(const struct report *r, struct text *t, const struct profile_row *row)
{
	const struct profile_frame *f = &r->profile.counts.frames[row->first_frame];
	const struct symbol_table *table = NULL;
	char address[REPORT_PLACE_WIDTH];

	if (!r->profile.options.verbose) {
		return;
	}
	if (f->object != PROFILE_NONE) {
		table = frame_symbols(session_frames(r->session), f->object);
	}
	(void)snprintf(
	        address, sizeof(address), "%#-18" PRIx64 " ", row->step == 0 ? f->address : f->ip);
	text_str(t, address);
	text_char(t, (char)(table != NULL ? symbol_table_origin(table) : SYMBOL_FROM_NOTHING));
	text_char(t, ' ');
}

/* Returns the width of what is before a function or an address. */
static size_t place_width(const struct report *r)
{
	return REPORT_LEVEL_WIDTH + (r->profile.options.verbose ? REPORT_PLACE_WIDTH : 0);
}

/* Prints the address of a row without a symbol. */
static void put_address(struct text *t, const struct profile_row *row)
{
	uint64_t address = profile_row_address(row);

	text_str(t, address != 0 ? "0x" : "");
	text_hex(t, address, ADDRESS_WIDTH, '0');
}

/*
 * Writes the text of a key's column, without padding, to r->cell; width: of the column, the minimum
 * number of digits of a processor. False: the text is never cut.
 */
static bool cell_make(struct report *r, const struct profile_row *row, unsigned id, int width)
{
	const char *text = column_text(r, row, id, &r->cell);
	struct text *t = &r->cell;

	t->n = 0;
	if (id == FIELD_TRACE_FIELDS) {
		report_trace_cells(r, row, text, t);
		return false;
	}
	if (id == FIELD_SYM) {
		put_place(r, t, row);
	}
	if ((field_at(id)->style & FIELD_LEVEL) != 0) {
		text_str(t, report_level(row->kernel));
	}
	if (text != NULL) {
		text_str(t, text);
		if (id == FIELD_SYMOFF) {
			text_str(t, "+0x");
			text_hex(t, column_number(r, row, id), 0, ' ');
		}
	} else if (field_at(id)->location != FIELD_NO_LOCATION) {
		report_location_text(r, row, id, (size_t)width);
		return field_at(id)->location != FIELD_LOCATION_ADDRESS;
	} else if (id == FIELD_SYM || id == FIELD_SYMOFF) {
		put_address(t, row);
		return false;
	} else {
		struct field_value value = column_value(r, row, id, width);

		field_text(field_at(id), &r->profile.source, &value, t);
	}
	return (field_at(id)->style & FIELD_CUT) != 0;
}

static size_t text_width(struct report *r, const struct profile_row *row, unsigned id)
{
	const char *text = column_text(r, row, id, &r->cell);

	if (text != NULL && id != FIELD_SYMOFF) {
		return strlen(text) + (id == FIELD_SYM ? place_width(r) : 0);
	}
	if (id == FIELD_SYM) {
		/* as in perf, for 0 too; and without the place, though that is shown */
		return REPORT_LEVEL_WIDTH + strlen("0x") + ADDRESS_WIDTH;
	}
	(void)cell_make(r, row, id, 0);
	return r->cell.n;
}

/*
 * As in perf, the column of names is as wide as the last names of the rows' first threads: a longer
 * name from before an exec is cut. The column of processors is as wide as its title, though numbers
 * may be longer.
 */
static size_t cell_width(struct report *r, const struct profile_row *row, unsigned id)
{
	if (id == FIELD_TRANSACTION) { /* as in perf, as wide for any transaction */
		return column_number(r, row, id) != 0 ? TRANSACTION_WIDTH : 0;
	}
	if ((field_at(id)->style & FIELD_GROWS) == 0 || id == FIELD_TRACE_FIELDS) {
		return 0;
	}
	if (field_at(id)->location != FIELD_NO_LOCATION) {
		return report_location_width(r, row, id);
	}
	if (id != FIELD_COMM) {
		return text_width(r, row, id);
	}
	return strlen(timeline_text(
	        session_timeline(r->session), profile_row_first(&r->profile, row)->first_comm));
}

/* Columns of fields are there only for events that have such fields. */
static bool column_hidden(const struct report *r, unsigned i)
{
	return r->columns.id[i] == FIELD_TRACE_FIELDS && report_trace_hidden(r);
}

int report_columns_reset(struct report *r)
{
	for (unsigned i = 0; i < r->columns.n; i++) {
		unsigned id = r->columns.id[i];
		int title = (int)strlen(column_title(r, id));
		int width = r->forced[i] != 0 ? r->forced[i]
		                              : (int)field_width(field_at(id), &r->profile.source);

		if (!field_is_key(id) && r->table->members > 1) {
			int all = (int)(field_at(id)->width * r->table->members);

			width = all > width ? all : width;
		}
		r->width[i] =
		        width > title || (r->forced[i] != 0 && field_is_key(id)) ? width : title;
		if (id == FIELD_TRACE_FIELDS) {
			r->width[i] = report_trace_reset(r);
			TRY(r->width[i]);
		}
	}
	return 0;
}

/* Returns the only part of a row that cell_width depends on, never 0; 0: it depends on more. */
static inline uint64_t width_value(
        const struct report *r, const struct profile_row *row, unsigned id)
{
	switch (id) {
	case FIELD_COMM: return (uint64_t)profile_row_first(&r->profile, row)->first_comm + 1;
	case FIELD_DSO: return (uint64_t)row->dso + 1;
	case FIELD_SYM: return row->has_symbol ? (uintptr_t)row->code.symbol : 1;
	default: return 0;
	}
}

void report_columns_widen(struct report *r, const struct profile_row *row)
{
	for (unsigned i = 0; i < r->columns.n; i++) {
		unsigned id = r->columns.id[i];
		uint64_t value;

		if (!field_is_key(id) || r->forced[i] != 0) {
			continue;
		}
		value = width_value(r, row, id);
		if (value == 0 || value != r->last[i].widened) {
			int width = (int)cell_width(r, row, id);

			r->width[i] = width > r->width[i] ? width : r->width[i];
			r->last[i].widened = value;
		}
	}
}

/* Symbols are looked up for this only if the names of objects leave no room for an address. */
int report_columns_room(struct report *r, const uint32_t *rows, size_t n)
{
	unsigned i = report_columns_find(r, FIELD_DSO);

	if (i == r->columns.n || r->forced[i] != 0 || r->width[i] >= (int)ADDRESS_WIDTH ||
	        r->options.widths != NULL || r->options.separator != NULL ||
	        r->options.filter.dsos != NULL) {
		return 0;
	}
	for (size_t k = 0; k < n; k++) {
		const struct profile_row *row = &r->table->rows[rows[k]];
		int unknown = row->hidden ? 0 : profile_row_unknown(&r->profile, row);

		TRY(unknown);
		if (unknown != 0) {
			r->width[i] = ADDRESS_WIDTH;
			break;
		}
	}
	return 0;
}

const char *report_color(const struct report *r, uint64_t part, uint64_t total)
{
	double percent = total == 0 ? 0.0 : 100.0 * (double)part / (double)total;

	if (!r->options.color || percent < 0.5) {
		return "";
	}
	return percent >= 5.0 ? "\033[31m" : "\033[32m";
}

static void put_percent(struct report *r, uint64_t part, uint64_t total, unsigned width)
{
	const char *color = r->options.separator == NULL ? report_color(r, part, total) : "";

	text_str(&r->text, color);
	text_char(&r->text, ' ');
	text_percent(&r->text, part, total, width);
	text_char(&r->text, '%');
	text_str(&r->text, *color != 0 ? REPORT_COLOR_OFF : "");
}

/* Prints the sum of a member, right-aligned, or left-aligned with a separator. */
static void put_sum(struct report *r, const struct profile_row *row, unsigned i, unsigned member)
{
	unsigned id = r->columns.id[i];
	unsigned width = r->forced[i] != 0 ? (unsigned)r->forced[i] : field_at(id)->width;
	uint64_t value = column_sum(r, row, id, member);

	width = width > NUMBER_MAX ? NUMBER_MAX : width;
	if (id == FIELD_OVERHEAD_CHILDREN && !r->profile.options.children) {
		text_padded(&r->text, "N/A", (int)width); /* as in perf, even with a separator */
		return;
	}
	width = r->options.separator != NULL ? 0 : width;
	if (field_at(id)->info.type != SONDE_FIELD_SHARE) {
		text_char(&r->text, ' ');
		text_u64(&r->text, value, width > 1 ? width - 1 : 0, ' ');
	} else {
		put_percent(r, value, column_whole(r, row, id, member), width > 2 ? width - 2 : 0);
	}
}

/* Prints the sums of all members of a group. */
static void put_number(struct report *r, const struct profile_row *row, unsigned i)
{
	unsigned id = r->columns.id[i];
	/* as in perf, "N/A" is printed once */
	bool once = id == FIELD_OVERHEAD_CHILDREN && !r->profile.options.children;

	for (unsigned m = 0; m < (once ? 1 : r->table->members); m++) {
		put_sum(r, row, i, m);
	}
}

void report_columns_gap(struct report *r, unsigned i)
{
	if (r->options.separator == NULL) {
		text_str(&r->text, "  ");
	} else if (i != 0) {
		text_str(&r->text, r->options.separator);
	}
}

/* Number of bytes from `start` on without width: escapes of colours. */
static size_t escapes_size(const struct report *r, size_t start)
{
	static const size_t on_and_off = sizeof("\033[31m") - 1 + sizeof(REPORT_COLOR_OFF) - 1;
	size_t n = 0;

	if (!r->options.color) {
		return 0;
	}
	for (size_t i = start; i < r->text.n; i++) {
		n += r->text.p[i] == '\033';
	}
	return n / 2 * on_and_off;
}

static inline void put_cell(struct report *r, const struct profile_row *row, unsigned i, bool last)
{
	unsigned id = r->columns.id[i];
	size_t width = (size_t)r->width[i];
	size_t start = r->text.n, n;

	if (!field_is_key(id)) {
		put_number(r, row, i);
	} else if (id == FIELD_SYM && !row->has_symbol) { /* plain, and never cut */
		put_place(r, &r->text, row);
		text_str(&r->text, report_level(row->kernel));
		put_address(&r->text, row);
	} else {
		if (cell_make(r, row, id, r->width[i]) && r->cell.n > width) {
			r->cell.n = width;
		}
		escape_plain_from(&r->cell, 0);
		text_bytes(&r->text, r->cell.p, r->cell.n);
	}
	n = r->text.n - start - escapes_size(r, start);
	if (n < width && !(last && (field_at(id)->style & FIELD_RAGGED) != 0)) {
		text_fill(&r->text, ' ', width - n);
	}
	if (field_is_key(id) && id != FIELD_TRACE_FIELDS) { /* its cells are clean already */
		report_text_clean(r, &r->text, start);
	}
}

void report_columns_cell(struct report *r, const struct profile_row *row, unsigned i, bool last)
{
	put_cell(r, row, i, last);
}

/*
 * Sets *value to the only part of a row that the text of a column depends on. False: it depends on
 * more than one.
 */
static inline bool cell_value(
        const struct report *r, const struct profile_row *row, unsigned id, uint64_t *value)
{
	switch (id) {
	case FIELD_OVERHEAD: *value = row->period; return r->table->members == 1;
	case FIELD_OVERHEAD_CHILDREN: *value = row->children; return r->table->members == 1;
	case FIELD_DSO: *value = row->dso; return true;
	case FIELD_COMM: *value = *profile_row_words(&r->profile, row, FIELD_COMM); return true;
	default: return false;
	}
}

/* As put_cell, but copies the text of the row before if it is the same. */
static inline void put_cell_again(
        struct report *r, const struct profile_row *row, unsigned i, bool last)
{
	struct report_cell *cell = &r->last[i];
	size_t start = r->text.n;
	uint64_t value;
	bool simple = cell_value(r, row, r->columns.id[i], &value);

	if (simple && cell->n != 0 && cell->value == value) {
		text_bytes(&r->text, cell->text, cell->n);
		return;
	}
	put_cell(r, row, i, last);
	cell->n = 0;
	if (simple && !r->text.failed && r->text.n - start <= sizeof(cell->text)) {
		cell->value = value;
		cell->n = (uint32_t)(r->text.n - start);
		memcpy(cell->text, r->text.p + start, cell->n);
	}
}

void report_columns_forget(struct report *r)
{
	for (unsigned i = 0; i < r->columns.n; i++) {
		r->last[i].n = 0;
		r->last[i].widened = 0;
	}
}

void report_columns_row(struct report *r, const struct profile_row *row)
{
	for (unsigned i = 0; i < r->columns.n; i++) {
		if (!column_hidden(r, i)) {
			report_columns_gap(r, i);
			put_cell_again(r, row, i, i + 1 == r->columns.n);
		}
	}
	text_char(&r->text, '\n');
}

void report_columns_title(struct report *r, unsigned i)
{
	unsigned id = r->columns.id[i];
	const char *title = column_title(r, id);
	size_t n = strlen(title), width = (size_t)r->width[i];

	if (id == FIELD_TRACE_FIELDS) {
		report_trace_title(r, &r->text);
		return;
	}
	n = n > width ? width : n;
	if (!field_is_key(id)) {
		text_fill(&r->text, ' ', width - n);
	}
	text_bytes(&r->text, title, n);
	if (field_is_key(id)) {
		text_fill(&r->text, ' ', width - n);
	}
}

void report_columns_titles(struct report *r)
{
	struct text *t = &r->text;

	text_str(t, "# ");
	for (unsigned i = 0; i < r->columns.n; i++) {
		if (column_hidden(r, i)) {
			continue;
		}
		if (i != 0) {
			report_columns_gap(r, i);
		}
		report_columns_title(r, i);
	}
	text_char(t, '\n');
	if (r->options.separator != NULL) {
		return;
	}
	for (unsigned i = 0; i < r->columns.n; i++) {
		if (column_hidden(r, i)) {
			continue;
		}
		text_str(t, i == 0 ? "# " : "  ");
		if (r->columns.id[i] == FIELD_TRACE_FIELDS) {
			report_trace_dots(r, t);
		} else {
			text_fill(t, '.', (size_t)r->width[i]);
		}
	}
	text_str(t, "\n#\n");
}

/* Prints the values of elided columns, in perf's order. */
void report_columns_elided(struct report *r)
{
	static const struct {
		unsigned id;
		const char *what;
	} lines[] = {{FIELD_COMM, "comm"}, {FIELD_DSO, "dso"}, {FIELD_SYM, "symbol"}};
	const char *const names[] = {r->pick.only_comm, r->pick.only_dso, r->pick.only_symbol};

	for (unsigned k = 0; k < 3; k++) {
		for (unsigned i = 0; i < r->nelided; i++) {
			if (r->elided[i] == lines[k].id) {
				text_printf(&r->text, "# %s: %s\n", lines[k].what, names[k]);
			}
		}
	}
}
