/* SPDX-License-Identifier: MIT */
/* Makes a packed, sorted, immutable table of raw symbols. */
#include "core/array.h"
#include "symbol/builder.h"

#include <stdlib.h>

#define PLT_SUFFIX "@plt"

void builder_fini(struct symbol_builder *b)
{
	free(b->raw);
	*b = (struct symbol_builder){0};
}

void builder_add(struct symbol_builder *b, const struct raw_symbol *s)
{
	/* Order has 32 bits, which limits the number of symbols. */
	if (b->failed || b->count == UINT32_MAX ||
	        !array_reserve(&b->raw, &b->cap, b->count + 1, sizeof(*b->raw))) {
		b->failed = true;
		return;
	}
	b->raw[b->count] = *s;
	b->raw[b->count].order = (uint32_t)b->count;
	b->count++;
}

void builder_rebase(struct symbol_builder *b, uint64_t base)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->count; i++) {
		struct raw_symbol s = b->raw[i];

		if (s.start >= base) {
			s.start -= base;
			s.end -= base;
			b->raw[kept++] = s;
		}
	}
	b->count = kept;
}

static int raw_compare(const void *pa, const void *pb)
{
	const struct raw_symbol *a = pa;
	const struct raw_symbol *b = pb;

	if (a->start != b->start) {
		return a->start < b->start ? -1 : 1;
	}
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Large tables are usually sorted already; checking that first saves the sort. */
static void raw_sort(struct symbol_builder *b)
{
	for (size_t i = 1; i < b->count; i++) {
		if (b->raw[i].start < b->raw[i - 1].start) {
			qsort(b->raw, b->count, sizeof(*b->raw), raw_compare);
			return;
		}
	}
}

static bool maybe_mangled(const char *name, size_t n)
{
	if (n > 2 && name[0] == 'L') { /* a Java method, in files of JIT-compiled code */
		return memchr(name, ';', n) != NULL;
	}
	return n > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D');
}

/* Properties of a name that decide between aliases. */
struct looks {
	size_t underscores; /* leading */
	size_t size;
};

/* perf compares names as it shows them, so mangled ones are demangled first, but for those of D. */
static struct looks looks_of(struct symbol_builder *b, const struct raw_symbol *s)
{
	struct looks l = {.size = s->name_size};
	const char *name = s->name;
	struct text shown = {0};
	int rc = 0;

	if (b->demangle && maybe_mangled(s->name, s->name_size) && s->name[1] != 'D') {
		rc = symbol_demangle(s->name, s->name_size, &shown);
	}
	b->failed = b->failed || rc < 0;
	if (rc > 0) {
		name = shown.p;
		l.size = shown.n;
	}
	while (l.underscores < l.size && name[l.underscores] == '_') {
		l.underscores++;
	}
	text_fini(&shown);
	return l;
}

/*
 * Whether b, later in the input, replaces a with the same start. Rules observed in perf 6.1: a
 * symbol without size is replaced; then preferred are not weak, global, fewer leading underscores,
 * the longer name.
 */
static bool replaces(
        struct symbol_builder *builder, const struct raw_symbol *a, const struct raw_symbol *b)
{
	struct looks la;
	struct looks lb;

	if (a->start == a->end) {
		return true;
	}
	if ((a->binding == SYMBOL_WEAK) != (b->binding == SYMBOL_WEAK)) {
		return a->binding == SYMBOL_WEAK;
	}
	if ((a->binding == SYMBOL_GLOBAL) != (b->binding == SYMBOL_GLOBAL)) {
		return b->binding == SYMBOL_GLOBAL;
	}
	la = looks_of(builder, a);
	lb = looks_of(builder, b);
	if (la.underscores != lb.underscores) {
		return lb.underscores < la.underscores;
	}
	return lb.size > la.size;
}

static void choose_aliases(struct symbol_builder *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->count; i++) {
		if (n == 0 || b->raw[n - 1].start != b->raw[i].start) {
			b->raw[n++] = b->raw[i];
			continue;
		}
		if (b->sorted_by_order_only || replaces(b, &b->raw[n - 1], &b->raw[i])) {
			b->raw[n - 1] = b->raw[i];
		}
	}
	b->count = n;
}

/* A symbol without an end extends to the next start; one with an end stops there at the latest. */
static void fix_ends(struct symbol_builder *b)
{
	for (size_t i = 0; i + 1 < b->count; i++) {
		struct raw_symbol *s = &b->raw[i];

		if (s->end <= s->start || s->end > s[1].start) {
			s->end = s[1].start;
		}
	}
	if (b->count > 0) {
		struct raw_symbol *s = &b->raw[b->count - 1];

		if (s->end <= s->start && b->last_size != 0) {
			uint64_t most = UINT64_MAX - 4095 - b->last_size;

			s->end = s->start < most
			                 ? ((s->start + 4095) & ~(uint64_t)4095) + b->last_size
			                 : UINT64_MAX;
		}
	}
}

static bool table_alloc(struct symbol_table *t, size_t count, size_t names, bool mangled)
{
	t->symbols = malloc((count + 1) * sizeof(*t->symbols));
	t->names = malloc(names + 1);
	if (mangled) {
		t->shown = calloc(count + 1, sizeof(*t->shown));
	}
	return t->symbols != NULL && t->names != NULL && (!mangled || t->shown != NULL);
}

struct symbol_table *symbol_table_new(size_t count, size_t names)
{
	struct symbol_table *t = calloc(1, sizeof(*t));

	if (t != NULL && !table_alloc(t, count, names, false)) {
		symbol_table_free(t);
		return NULL;
	}
	if (t != NULL) {
		t->count = count;
	}
	return t;
}

bool symbol_table_divide(struct symbol_table *t)
{
	size_t piece = 0;
	uint64_t size;

	t->first = t->count != 0 ? t->symbols[0].start : 0;
	size = t->count != 0 ? t->symbols[t->count - 1].start - t->first : 0;
	t->piece_bits = 0;
	while (size >> t->piece_bits > t->count) { /* about one symbol in a piece */
		t->piece_bits++;
	}
	t->npieces = (size_t)(size >> t->piece_bits) + 1;
	free(t->pieces);
	t->pieces = malloc((t->npieces + 1) * sizeof(*t->pieces));
	if (t->pieces == NULL) {
		return false;
	}
	for (size_t i = 0; i < t->count; i++) {
		for (; piece <= (t->symbols[i].start - t->first) >> t->piece_bits; piece++) {
			t->pieces[piece] = (uint32_t)i;
		}
	}
	for (; piece <= t->npieces; piece++) {
		t->pieces[piece] = (uint32_t)t->count;
	}
	return true;
}

static void table_fill(struct symbol_table *t, const struct symbol_builder *b)
{
	size_t at = 0;

	for (size_t i = 0; i < b->count; i++) {
		const struct raw_symbol *s = &b->raw[i];

		t->symbols[i] = (struct symbol){.start = s->start,
		        .end = s->end,
		        .name = (uint32_t)at,
		        .binding = s->binding,
		        .type = s->type};
		if (s->name_size != 0) {
			memcpy(t->names + at, s->name, s->name_size);
		}
		at += s->name_size;
		if (s->plt) {
			memcpy(t->names + at, PLT_SUFFIX, sizeof(PLT_SUFFIX) - 1);
			at += sizeof(PLT_SUFFIX) - 1;
		}
		t->names[at++] = 0;
	}
	t->count = b->count;
}

static int make_table(struct symbol_builder *b, struct symbol_table *t, struct error *err)
{
	size_t names = 0;
	bool mangled = false;

	raw_sort(b);
	choose_aliases(b);
	if (b->failed) {
		return error_nomem(err);
	}
	fix_ends(b);
	for (size_t i = 0; i < b->count; i++) {
		const struct raw_symbol *s = &b->raw[i];

		names += s->name_size + (s->plt ? sizeof(PLT_SUFFIX) : 1);
		mangled = mangled || (b->demangle && maybe_mangled(s->name, s->name_size));
	}
	if (names > UINT32_MAX) {
		return error_set(err, SONDE_ELIMIT, NO_OFFSET, "more than 4 GiB of symbol names");
	}
	if (!table_alloc(t, b->count, names, mangled)) {
		return error_nomem(err);
	}
	table_fill(t, b);
	t->skipped = b->skipped;
	return symbol_table_divide(t) ? SONDE_OK : error_nomem(err);
}

int builder_finish(struct symbol_builder *b, struct symbol_table **out, struct error *err)
{
	struct symbol_table *t = b->failed ? NULL : calloc(1, sizeof(*t));
	int rc = t == NULL ? error_nomem(err) : make_table(b, t, err);

	builder_fini(b);
	if (rc < 0) {
		symbol_table_free(t);
		t = NULL;
	}
	*out = t;
	return rc;
}

bool symbol_table_move(struct symbol_table *t, uint64_t from, uint64_t to)
{
	uint64_t by = to - from;
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct symbol s = t->symbols[i];
		uint64_t before = s.start;

		s.start += by;
		s.end += by;
		if ((s.start < before) == (to < from) && s.end >= s.start) {
			t->symbols[kept++] = s;
		}
	}
	t->count = kept;
	return symbol_table_divide(t);
}

void symbol_table_free(struct symbol_table *t)
{
	if (t == NULL) {
		return;
	}
	for (size_t i = 0; t->shown != NULL && i < t->count; i++) {
		char *name = atomic_load_explicit(&t->shown[i], memory_order_relaxed);

		if (name != t->names + t->symbols[i].name) {
			free(name);
		}
	}
	free(t->shown);
	free(t->pieces);
	free(t->symbols);
	free(t->names);
	free(t);
}

const struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t addr)
{
	const struct symbol *base = t->symbols;
	uint64_t piece;
	size_t n;

	if (t->count == 0 || addr < t->first) {
		return NULL;
	}
	piece = (addr - t->first) >> t->piece_bits;
	piece = piece < t->npieces ? piece : t->npieces - 1;
	n = t->pieces[piece + 1];
	if (t->pieces[piece] != 0) { /* the symbol may begin in a piece before this one */
		base += t->pieces[piece] - 1;
		n -= t->pieces[piece] - 1;
	}
	/* Invariant: the last symbol that starts at or below addr is in base[0..n). */
	while (n > 1) {
		size_t half = n / 2;

		base = base[half].start <= addr ? base + half : base;
		n -= half;
	}
	return addr < base->end ? base : NULL;
}

/* Returns the demangled name, or raw if it is not mangled; NULL: out of memory. */
static char *shown_make(char *raw)
{
	struct text shown = {0};
	int rc = symbol_demangle(raw, strlen(raw), &shown);
	char *made = rc > 0 ? strndup(shown.p, shown.n) : rc == 0 ? raw : NULL;

	text_fini(&shown);
	return made;
}

const char *symbol_name(const struct symbol_table *t, const struct symbol *s)
{
	char *raw = t->names + s->name;
	_Atomic(char *) *slot;
	char *name;
	char *made;

	/* the first character before the length, which would be read only for this */
	if (t->shown == NULL || (*raw != '_' && *raw != 'L') || !maybe_mangled(raw, strlen(raw))) {
		return raw;
	}
	slot = &t->shown[s - t->symbols];
	name = atomic_load_explicit(slot, memory_order_acquire);
	if (name != NULL) {
		return name;
	}
	made = shown_make(raw);
	if (made == NULL) {
		return NULL;
	}
	if (atomic_compare_exchange_strong_explicit(
	            slot, &name, made, memory_order_acq_rel, memory_order_acquire)) {
		return made;
	}
	/* Another thread was faster; its text is equal. */
	if (made != raw) {
		free(made);
	}
	return name;
}

size_t symbol_table_count(const struct symbol_table *t)
{
	return t->count;
}

const struct symbol *symbol_table_at(const struct symbol_table *t, size_t i)
{
	return &t->symbols[i];
}

uint64_t symbol_table_skipped(const struct symbol_table *t)
{
	return t->skipped;
}

enum symbol_lack symbol_table_lack(const struct symbol_table *t)
{
	return t->lack;
}

enum symbol_origin symbol_table_origin(const struct symbol_table *t)
{
	return t->count != 0 ? t->origin : SYMBOL_FROM_NOTHING;
}
