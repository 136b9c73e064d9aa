/* SPDX-License-Identifier: MIT */
/*
 * Builds the line index of a file:
 *
 *	1. ranges of all units, made flat: pieces of addresses, each of one unit, in order
 *	2. for each unit, on any thread: its rows in each of its pieces (line_unit.c)
 *	3. the rows of all pieces in order of addresses, with one table of texts
 *
 * The ranges of the units' DIEs are read, so that .debug_aranges, which some compilers do not write,
 * is not needed. Units of link-time optimisation have code outside of them: what no unit claims, but
 * a line table has, becomes an extra piece. Each thread has its own handle of libdw, whose handles must
 * not be shared, over one handle of libelf, so that a compressed section is inflated once.
 */
#include "core/array.h"
#include "core/pool.h"
#include "core/search.h"
#include "symbol/line_unit.h"

#include <assert.h>
#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * libdw keeps every line table that it has read, about 40 bytes a row. A handle that has read this
 * many rows is closed and opened again.
 */
#define ROWS_KEPT (4u << 20)

struct built_row {
	uint64_t start;
	struct line_row row; /* file: id of its text + 1 */
};

/* Addresses that belong to one unit. */
struct piece {
	uint64_t start, end;
	uint32_t unit;
	uint32_t next; /* piece of this unit; UINT32_MAX: none */
	size_t row, nrows; /* in the unit's */
};

struct unit {
	Dwarf_Off offset; /* of its DIE */
	struct built_row *rows; /* of its pieces, one after the other */
	size_t nrows, rows_cap;
	struct line_nodes nodes;
	struct piece *extra; /* what only its line table has */
	size_t nextra, extra_cap;
	uint32_t reader; /* whose texts it uses */
};

struct build {
	int fd;
	char *copy; /* of the bytes; NULL: they are those of fd */
	Elf *elf;
	struct unit *units;
	size_t nunits, units_cap;
	struct piece *pieces; /* sorted */
	uint32_t *first; /* piece of each unit */
	size_t npieces;
	struct covers code; /* executable sections, flat */
	struct line_reader *readers;
	struct line_package *package; /* of split debug information; NULL: none */
	unsigned jobs;
	size_t *read; /* rows that each reader's handle keeps */
};

/* Texts of all readers become one table. */
struct merge {
	const struct build *build;
	struct line_parts parts;
	struct intern texts;
	uint32_t **ids; /* for each reader, by id: that in `texts` + 1, 0: not used yet */
	uint32_t *offsets; /* of each of `texts` */
	size_t nrows;
};

static void build_fini(struct build *b)
{
	for (size_t i = 0; i < b->nunits; i++) {
		free(b->units[i].rows);
		free(b->units[i].nodes.v);
		free(b->units[i].extra);
	}
	for (unsigned i = 0; b->readers != NULL && i < b->jobs; i++) {
		line_reader_fini(&b->readers[i]);
	}
	line_package_free(b->package);
	free(b->units);
	free(b->pieces);
	free(b->first);
	covers_fini(&b->code);
	free(b->readers);
	free(b->read);
	(void)elf_end(b->elf);
	free(b->copy);
	if (b->fd >= 0) {
		(void)close(b->fd);
	}
}

/* The bytes of all sections, inflated: no undamaged file has more rows. */
static uint64_t section_bytes(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) != NULL && header.sh_type != SHT_NOBITS) {
			sum += header.sh_size;
		}
	}
	return sum;
}

/* Dead functions, which the linker removed, keep addresses of 0 in line tables. */
static int code_list(struct build *b)
{
	struct covers sections = {0};
	Elf_Scn *section = NULL;
	GElf_Shdr h;
	int rc = 0;

	while (rc == 0 && (section = elf_nextscn(b->elf, section)) != NULL) {
		if (gelf_getshdr(section, &h) != NULL && (h.sh_flags & SHF_EXECINSTR) != 0 &&
		        h.sh_size <= UINT64_MAX - h.sh_addr) {
			rc = covers_add(&sections, &(struct cover){.start = h.sh_addr,
			                                   .end = h.sh_addr + h.sh_size,
			                                   .rank = sections.n});
		}
	}
	rc = rc == 0 ? covers_flatten(&sections, &b->code) : rc;
	covers_fini(&sections);
	return rc;
}

static int unit_add(struct build *b, struct covers *ranges, Dwarf_Die *unit)
{
	struct line_reader *r = &b->readers[0];
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (!array_reserve(&b->units, &b->units_cap, b->nunits + 1, sizeof(*b->units))) {
		return SONDE_ENOMEM;
	}
	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0 && r->budget != 0) {
		r->budget--;
		if (start < end) {
			TRY(covers_add(ranges,
			        &(struct cover){
			                .start = start, .end = end, .value = (uint32_t)b->nunits}));
		}
	}
	b->units[b->nunits++] = (struct unit){.offset = dwarf_dieoffset(unit)};
	return b->nunits == UINT32_MAX ? SONDE_ELIMIT : 0;
}

/* Stores the pieces, each with the next one of its unit. SONDE_ELIMIT, SONDE_ENOMEM. */
static int pieces_store(struct build *b, const struct covers *flat)
{
	if (flat->n >= UINT32_MAX) {
		return SONDE_ELIMIT;
	}
	b->pieces = calloc(flat->n + 1, sizeof(*b->pieces));
	b->first = malloc((b->nunits + 1) * sizeof(*b->first));
	if (b->pieces == NULL || b->first == NULL) {
		return SONDE_ENOMEM;
	}
	memset(b->first, 0xff, (b->nunits + 1) * sizeof(*b->first));
	b->npieces = flat->n;
	for (size_t i = flat->n; i-- > 0;) { /* backwards: each unit's list is in order */
		const struct cover *c = &flat->v[i];

		b->pieces[i] = (struct piece){.start = c->start,
		        .end = c->end,
		        .unit = c->value,
		        .next = b->first[c->value]};
		b->first[c->value] = (uint32_t)i;
	}
	return 0;
}

/* Where units share addresses, the one whose range starts last has them. */
static int pieces_make(struct build *b, struct covers *ranges)
{
	struct covers flat = {0};
	int rc;

	covers_sort(ranges);
	for (size_t i = 0; i < ranges->n; i++) {
		ranges->v[i].rank = i;
	}
	rc = covers_flatten(ranges, &flat);
	rc = rc == 0 ? pieces_store(b, &flat) : rc;
	covers_fini(&flat);
	return rc;
}

static int units_list(struct build *b)
{
	struct covers ranges = {0};
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	int rc = 0;

	while (rc == 0 &&
	        dwarf_get_units(b->readers[0].dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
		if (type == DW_UT_compile || type == DW_UT_skeleton) {
			rc = unit_add(b, &ranges, &die);
		}
	}
	rc = rc == 0 ? pieces_make(b, &ranges) : rc;
	rc = rc == 0 ? code_list(b) : rc;
	covers_fini(&ranges);
	return rc;
}

static int row_add(struct unit *u, size_t first, uint64_t start, const struct line_row *row)
{
	const struct line_row *last = u->nrows > first ? &u->rows[u->nrows - 1].row : NULL;

	if (last != NULL && memcmp(last, row, sizeof(*row)) == 0) {
		return 0;
	}
	if (!array_reserve(&u->rows, &u->rows_cap, u->nrows + 1, sizeof(*u->rows))) {
		return SONDE_ENOMEM;
	}
	u->rows[u->nrows++] = (struct built_row){.start = start, .row = *row};
	return 0;
}

/* The end of what a sorted list has at an address, or the start of its next element. */
static uint64_t change_after(uint64_t start, uint64_t end, uint64_t at, uint64_t until)
{
	uint64_t next = start <= at ? end : start;

	return next < until ? next : until;
}

static int piece_rows(struct unit *u, struct piece *p, const struct line_reader *r)
{
	const struct covers *f = &r->functions;
	size_t line = SEARCH_LAST(r->runs, r->nruns, start, p->start);
	size_t function = SEARCH_LAST(f->v, f->n, start, p->start);
	uint64_t next;

	p->row = u->nrows;
	for (uint64_t at = p->start; at < p->end; at = next) {
		struct line_row row = {0};

		next = p->end;
		while (line < r->nruns && r->runs[line].end <= at) {
			line++;
		}
		while (function < f->n && f->v[function].end <= at) {
			function++;
		}
		if (line < r->nruns) {
			const struct line_run *run = &r->runs[line];

			next = change_after(run->start, run->end, at, next);
			if (run->start <= at && run->file != 0) {
				row.file = run->file;
				row.line = run->line;
			}
		}
		if (function < f->n) {
			next = change_after(f->v[function].start, f->v[function].end, at, next);
			if (f->v[function].start <= at && row.file != 0) {
				row.node = f->v[function].value;
			}
		}
		TRY(row_add(u, p->row, at, &row));
	}
	p->nrows = u->nrows - p->row;
	return 0;
}

static int extra_add(struct unit *u, uint32_t unit, uint64_t start, uint64_t end)
{
	struct piece *last = u->nextra != 0 ? &u->extra[u->nextra - 1] : NULL;

	if (last != NULL && last->end == start) {
		last->end = end;
		return 0;
	}
	if (!array_reserve(&u->extra, &u->extra_cap, u->nextra + 1, sizeof(*u->extra))) {
		return SONDE_ENOMEM;
	}
	u->extra[u->nextra++] = (struct piece){.start = start, .end = end, .unit = unit};
	return 0;
}

/* Adds the addresses of a run that are code of no piece. */
static int run_extra(struct build *b, uint32_t unit, const struct line_run *run)
{
	size_t section = SEARCH_LAST(b->code.v, b->code.n, start, run->start);
	size_t i = SEARCH_LAST(b->pieces, b->npieces, start, run->start);
	uint64_t at = run->start;

	if (b->code.n == 0 || b->code.v[section].start > at || b->code.v[section].end < run->end) {
		return 0;
	}
	while (at < run->end) {
		const struct piece *p = i < b->npieces ? &b->pieces[i] : NULL;
		uint64_t until = p != NULL && p->start < run->end ? p->start : run->end;

		if (at < until) {
			TRY(extra_add(&b->units[unit], unit, at, until));
			at = until;
		}
		if (p == NULL || at == run->end) {
			break;
		}
		at = p->end > at ? p->end : at;
		i++;
	}
	return 0;
}

static int extras_make(struct build *b, uint32_t unit, const struct line_reader *r)
{
	struct unit *u = &b->units[unit];
	const struct piece *last = NULL;

	assert(b->pieces != NULL);
	for (size_t i = 0; i < r->nruns; i++) {
		const struct line_run *run = &r->runs[i];

		if (last == NULL || run->start < last->start || run->end > last->end) {
			last = &b->pieces[SEARCH_LAST(b->pieces, b->npieces, start, run->start)];
		}
		if (!run->doubtful && (run->start < last->start || run->end > last->end)) {
			TRY(run_extra(b, unit, run));
		}
	}
	for (size_t i = 0; i < u->nextra; i++) {
		TRY(piece_rows(u, &u->extra[i], r));
	}
	return 0;
}

/* Gives the memory of line tables back now and then. */
static bool handle_ready(struct build *b, unsigned worker)
{
	struct line_reader *r = &b->readers[worker];

	b->read[worker] += r->nruns;
	if (b->read[worker] > ROWS_KEPT) {
		dwarf_end(r->dwarf);
		r->dwarf = dwarf_begin_elf(b->elf, DWARF_C_READ, NULL);
		b->read[worker] = 0;
	}
	return r->dwarf != NULL;
}

static int unit_task(void *arg, unsigned worker, size_t task)
{
	struct build *b = arg;
	struct line_reader *r = &b->readers[worker];
	struct unit *u = &b->units[task];
	Dwarf_Die die;

	u->reader = worker;
	if (!handle_ready(b, worker) || dwarf_offdie(r->dwarf, u->offset, &die) == NULL) {
		return 0;
	}
	TRY(line_unit_read(r, &die, &u->nodes));
	for (uint32_t i = b->first[task]; i != UINT32_MAX; i = b->pieces[i].next) {
		TRY(piece_rows(u, &b->pieces[i], r));
	}
	TRY(extras_make(b, (uint32_t)task, r));
	array_fit(&u->rows, &u->rows_cap, u->nrows, sizeof(*u->rows));
	array_fit(&u->nodes.v, &u->nodes.cap, u->nodes.n, sizeof(*u->nodes.v));
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->start != y->start) {
		return x->start < y->start ? -1 : 1;
	}
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* Puts the extra pieces among the others; of those that share addresses, the first one remains. */
static int extras_join(struct build *b)
{
	size_t n = b->npieces, kept = 0;
	struct piece *all;

	for (size_t i = 0; i < b->nunits; i++) {
		n += b->units[i].nextra;
	}
	if (n == b->npieces) {
		return 0;
	}
	all = realloc(b->pieces, (n + 1) * sizeof(*all));
	if (all == NULL) {
		return SONDE_ENOMEM;
	}
	b->pieces = all;
	for (size_t i = 0; i < b->nunits; i++) {
		const struct unit *u = &b->units[i];

		for (size_t k = 0; k < u->nextra; k++) {
			all[b->npieces++] = u->extra[k];
		}
	}
	qsort(all, n, sizeof(*all), by_start);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || all[i].start >= all[kept - 1].end) {
			all[kept++] = all[i];
		}
	}
	b->npieces = kept;
	return 0;
}

/* Replaces a reader's text by one of the merged texts; both as id + 1. */
static int text_merge(struct merge *m, uint32_t reader, uint32_t *text)
{
	const struct intern *from = &m->build->readers[reader].texts;
	uint32_t *known;

	if (*text == 0) {
		return 0;
	}
	known = &m->ids[reader][*text - 1];
	if (*known == 0) {
		const char *s = intern_text(from, *text - 1);
		uint32_t id = intern_add(&m->texts, s, strlen(s));

		if (id == INTERN_NONE) {
			return SONDE_ENOMEM;
		}
		*known = id + 1;
	}
	*text = *known;
	return 0;
}

/* In order of units, so that the result does not depend on which thread read which unit. */
static int texts_merge(struct merge *m, size_t *nnodes, size_t *nrows)
{
	*nnodes = 1;
	*nrows = 0;
	for (size_t i = 0; i < m->build->nunits; i++) {
		struct unit *u = &m->build->units[i];

		for (size_t k = 1; k < u->nodes.n; k++) {
			TRY(text_merge(m, u->reader, &u->nodes.v[k].function));
			TRY(text_merge(m, u->reader, &u->nodes.v[k].file));
		}
		for (size_t k = 0; k < u->nrows; k++) {
			TRY(text_merge(m, u->reader, &u->rows[k].row.file));
		}
		*nnodes += u->nodes.n != 0 ? u->nodes.n - 1 : 0;
		*nrows += u->nrows;
	}
	return 0;
}

/* The size of all texts, after "". */
static int offsets_make(struct merge *m, size_t *size)
{
	*size = 1;
	m->offsets = calloc((size_t)m->texts.count + 1, sizeof(*m->offsets));
	if (m->offsets == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < m->texts.count; i++) {
		if (*size > UINT32_MAX) {
			return SONDE_ELIMIT;
		}
		m->offsets[i + 1] = (uint32_t)*size; /* by id + 1 */
		*size += strlen(intern_text(&m->texts, (uint32_t)i)) + 1;
	}
	return 0;
}

static void texts_fill(struct merge *m)
{
	m->parts.texts[0] = 0;
	for (size_t i = 0; i < m->texts.count; i++) {
		const char *s = intern_text(&m->texts, (uint32_t)i);

		memcpy(m->parts.texts + m->offsets[i + 1], s, strlen(s) + 1);
	}
}

/* Unit after unit; the first node of each unit is the common one. */
static void nodes_fill(struct merge *m, uint32_t *before)
{
	uint32_t n = 1;

	m->parts.nodes[0] = (struct line_node){0};
	for (size_t i = 0; i < m->build->nunits; i++) {
		const struct line_nodes *nodes = &m->build->units[i].nodes;

		before[i] = n - 1;
		for (size_t k = 1; k < nodes->n; k++) {
			struct line_node node = nodes->v[k];

			node.function = m->offsets[node.function];
			node.file = m->offsets[node.file];
			node.parent += node.parent != 0 ? before[i] : 0;
			m->parts.nodes[n++] = node;
		}
	}
}

static void row_put(struct merge *m, uint64_t start, const struct line_row *row)
{
	if (m->nrows != 0 && memcmp(&m->parts.rows[m->nrows - 1], row, sizeof(*row)) == 0) {
		return;
	}
	m->parts.starts[m->nrows] = start;
	m->parts.rows[m->nrows++] = *row;
}

static void rows_fill(struct merge *m, const uint32_t *before)
{
	const struct build *b = m->build;

	for (size_t i = 0; i < b->npieces; i++) {
		const struct piece *p = &b->pieces[i];
		const struct built_row *from =
		        p->nrows != 0 ? b->units[p->unit].rows + p->row : NULL;

		for (size_t k = 0; k < p->nrows; k++) {
			struct line_row row = from[k].row;

			row.file = m->offsets[row.file];
			row.node += row.node != 0 ? before[p->unit] : 0;
			row_put(m, from[k].start, &row);
		}
		if (i + 1 == b->npieces || b->pieces[i + 1].start != p->end) {
			row_put(m, p->end, &(struct line_row){0});
		}
	}
}

static int merge_ids(struct merge *m)
{
	m->ids = calloc(m->build->jobs, sizeof(*m->ids));
	for (unsigned i = 0; m->ids != NULL && i < m->build->jobs; i++) {
		m->ids[i] = calloc(m->build->readers[i].texts.count + 1, sizeof(**m->ids));
		if (m->ids[i] == NULL) {
			return SONDE_ENOMEM;
		}
	}
	return m->ids != NULL ? 0 : SONDE_ENOMEM;
}

static int merge(struct merge *m, const struct line_index_key *key, struct line_index *out)
{
	uint32_t *before = malloc((m->build->nunits + 1) * sizeof(*before));
	size_t nnodes = 0, nrows = 0, ntexts = 0;
	int rc = before != NULL ? merge_ids(m) : SONDE_ENOMEM;

	rc = rc == 0 ? texts_merge(m, &nnodes, &nrows) : rc;
	rc = rc == 0 ? offsets_make(m, &ntexts) : rc;
	/* a gap may follow each piece */
	rc = rc == 0 ? line_parts_new(&m->parts, nrows + m->build->npieces, nnodes, ntexts) : rc;
	if (rc == 0) {
		texts_fill(m);
		nodes_fill(m, before);
		rows_fill(m, before);
		line_parts_fit(&m->parts, m->nrows);
		line_index_seal(&m->parts, key, out);
	}
	free(before);
	return rc;
}

static void merge_fini(struct merge *m)
{
	for (unsigned i = 0; m->ids != NULL && i < m->build->jobs; i++) {
		free(m->ids[i]);
	}
	free(m->ids);
	free(m->offsets);
	intern_fini(&m->texts);
}

/* 1; 0: there is no debug information. */
static int handles_open(struct build *b, const struct line_source *source)
{
	b->readers = calloc(b->jobs, sizeof(*b->readers));
	b->read = calloc(b->jobs, sizeof(*b->read));
	if (b->readers == NULL || b->read == NULL) {
		return SONDE_ENOMEM;
	}
	(void)elf_version(EV_CURRENT);
	if (source->bytes.p != NULL) {
		/* a copy: libelf changes the headers of sections that it inflates */
		b->copy = malloc(source->bytes.n);
		if (b->copy == NULL) {
			return SONDE_ENOMEM;
		}
		memcpy(b->copy, source->bytes.p, source->bytes.n);
		b->elf = elf_memory(b->copy, source->bytes.n);
	} else {
		b->fd = open(source->path, O_RDONLY | O_CLOEXEC);
		b->elf = b->fd >= 0 ? elf_begin(b->fd, ELF_C_READ_MMAP, NULL) : NULL;
	}
	if (b->elf != NULL && source->package != NULL) {
		TRY(line_package_open(source->package, b->elf, &b->package));
	}
	for (unsigned i = 0; i < b->jobs && b->elf != NULL; i++) {
		b->readers[i].package = b->package;
		b->readers[i].dwarf = dwarf_begin_elf(b->elf, DWARF_C_READ, NULL);
		if (b->readers[i].dwarf == NULL) {
			return 0;
		}
		b->readers[i].budget = section_bytes(b->elf);
	}
	return b->elf != NULL;
}

int line_index_build(const struct line_source *source, unsigned jobs,
        const struct line_index_key *key, struct line_index *out)
{
	struct build b = {.fd = -1, .jobs = jobs != 0 ? jobs : 1};
	struct merge m = {.build = &b};
	int rc = handles_open(&b, source);

	*out = (struct line_index){0};
	if (rc > 0) {
		rc = units_list(&b);
		rc = rc == 0 ? pool_run(b.jobs, b.nunits, unit_task, &b) : rc;
		rc = rc == 0 ? extras_join(&b) : rc;
		rc = rc == 0 ? merge(&m, key, out) : rc;
	}
	merge_fini(&m);
	build_fini(&b);
	return rc;
}

bool lines_supported(void)
{
	return true;
}
