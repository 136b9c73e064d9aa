/* SPDX-License-Identifier: MIT */
/*
 * Blocks of the code that ran. Runs overlap; each start and end of one is a change of the count:
 *
 *	runs    [0, 30) 5 times, [10, 30) twice      changes  0: +5, 10: +2, 30: -7
 *	pieces  [0, 10) 5 times, [10, 30) 7 times    cut after each branch that was not taken
 */
#include "ptview/cover.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

struct change {
	uint64_t address;
	uint64_t add, sub;
};

static bool list_has(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p != NULL; p = strchr(p, ',')) {
		p += p != list;
		if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == '\0')) {
			return true;
		}
	}
	return false;
}

bool cover_is_wanted(const struct cover *c, uint32_t object)
{
	const struct timeline *t = c->names.frames.resolver->timeline;
	const char *name;

	if (c->objects == NULL || object == FRAME_NOWHERE) {
		return c->objects == NULL;
	}
	name = frame_object_name(t, timeline_object(t, object));
	return list_has(c->objects, name) || list_has(c->objects, lines_file_name(name));
}

static int run_order(const void *a, const void *b)
{
	const struct cover_run *x = a, *y = b;

	if (x->object != y->object) {
		return x->object < y->object ? -1 : 1;
	}
	return (x->start > y->start) - (x->start < y->start);
}

static int change_order(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

struct piece {
	uint32_t object;
	uint64_t start, end, count;
	uint64_t moved; /* run-time addresses are so much higher */
};

/* The symbol of an address, and where its code ends. SONDE_ENOMEM. */
static int symbol_at(struct cover *c, const struct piece *p, uint64_t address,
        const struct symbol **out, uint64_t *end)
{
	const struct symbol_table *table;
	size_t low = 0, high;

	*out = NULL;
	*end = UINT64_MAX;
	if (p->object == FRAME_NOWHERE) {
		return 0;
	}
	table = frame_symbols(c->names.frames.resolver, p->object);
	if (table == NULL) {
		return SONDE_ENOMEM;
	}
	*out = symbol_table_find(table, address);
	if (*out != NULL) {
		*end = (*out)->end;
		return 0;
	}
	high = symbol_table_count(table);
	while (low < high) { /* the first symbol above the address */
		size_t middle = low + (high - low) / 2;

		if (symbol_table_at(table, middle)->start > address) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	if (low < symbol_table_count(table)) {
		*end = symbol_table_at(table, low)->start;
	}
	return 0;
}

/* Makes the block from `start` up to the end of the first branch, or to `end`. SONDE_ENOMEM. */
static int read_block(struct cover *c, const struct piece *p, uint64_t start, uint64_t end,
        struct cover_block *out)
{
	const struct frame_code_place place = {
	        .object = p->object, .address = start, .ip = start + p->moved};
	struct frame_code_kind kind;
	struct span code;
	uint64_t at = 0, size = end - start;

	*out = (struct cover_block){.start = start,
	        .end = end,
	        .count = p->count,
	        .object = p->object,
	        .unknown = true};
	TRY(frame_code_of(c->code, &place, (size_t)size + FRAME_INSN_MAX, &kind, &code));
	if (!frame_code_is_x86(&kind)) {
		return 0;
	}
	while (at < size && at < code.n) {
		struct frame_insn insn =
		        frame_insn_decode(&kind, (struct span){code.p + at, code.n - (size_t)at});

		if (insn.size == 0) {
			return 0;
		}
		at += insn.size;
		out->insns += at <= size; /* else it is counted where its last part is */
		if (insn.leaves) {
			break;
		}
	}
	out->unknown = at == 0;
	out->end = at != 0 && at < size ? start + at : end;
	return 0;
}

static int add_block(struct cover *c, const struct piece *p, uint64_t *at)
{
	const struct symbol *symbol;
	struct cover_block b;
	uint64_t end;
	int64_t function;

	TRY(symbol_at(c, p, *at, &symbol, &end));
	TRY(read_block(c, p, *at, end < p->end ? end : p->end, &b));
	function = ptview_function_of(&c->names, p->object, symbol);
	if (function < 0 ||
	        !array_reserve(&c->blocks, &c->blocks_cap, c->nblocks + 1, sizeof(*c->blocks))) {
		return SONDE_ENOMEM;
	}
	b.function = (uint32_t)function;
	*at = b.end;
	c->blocks[c->nblocks++] = b;
	return 0;
}

static int add_piece(struct cover *c, const struct piece *p)
{
	uint64_t at = p->start;

	while (at < p->end) {
		TRY(add_block(c, p, &at));
	}
	return 0;
}

/* changes: [n], room for them */
static int add_object(
        struct cover *c, const struct cover_run *runs, size_t n, struct change *changes)
{
	struct piece p = {.object = runs[0].object, .moved = runs[0].ip - runs[0].start};

	for (size_t i = 0; i < n; i++) {
		changes[2 * i] = (struct change){runs[i].start, runs[i].count, 0};
		changes[2 * i + 1] = (struct change){runs[i].end, 0, runs[i].count};
	}
	qsort(changes, 2 * n, sizeof(*changes), change_order);
	for (size_t i = 0; i < 2 * n;) {
		p.start = changes[i].address;
		for (; i < 2 * n && changes[i].address == p.start; i++) {
			p.count += changes[i].add - changes[i].sub;
		}
		if (p.count != 0) {
			p.end = changes[i].address; /* the last change makes the count 0 */
			TRY(add_piece(c, &p));
		}
	}
	return 0;
}

int cover_sum(struct cover *c)
{
	c->nfunctions = c->names.n;
	c->functions = calloc(c->nfunctions + 1, sizeof(*c->functions));
	if (c->functions == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < c->nblocks; i++) {
		const struct cover_block *b = &c->blocks[i];
		struct cover_function *f = &c->functions[b->function];

		f->blocks++;
		f->insns += b->count * b->insns;
		f->unknown = f->unknown || b->unknown;
		c->insns += b->count * b->insns;
	}
	for (size_t i = 0; i < c->nfunctions && i < c->calls_cap; i++) {
		c->functions[i].calls = c->calls[i];
	}
	return 0;
}

int cover_blocks(struct cover *c)
{
	struct change *changes = calloc(2 * c->nruns + 1, sizeof(*changes));
	int rc = changes != NULL ? 0 : SONDE_ENOMEM;

	c->code = frame_code_new(c->names.frames.resolver);
	if (c->code == NULL) {
		rc = SONDE_ENOMEM;
	}
	if (c->nruns != 0) {
		qsort(c->runs, c->nruns, sizeof(*c->runs), run_order);
	}
	for (size_t i = 0, n; i < c->nruns && rc >= 0; i += n) {
		for (n = 1; i + n < c->nruns && c->runs[i + n].object == c->runs[i].object; n++) {
		}
		if (cover_is_wanted(c, c->runs[i].object)) {
			rc = add_object(c, &c->runs[i], n, changes);
		}
	}
	free(changes);
	return rc;
}

size_t cover_block_after(const struct cover *c, uint32_t object, uint64_t address)
{
	size_t low = 0, high = c->nblocks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct cover_block *b = &c->blocks[middle];

		if (b->object > object || (b->object == object && b->end > address)) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return low;
}
