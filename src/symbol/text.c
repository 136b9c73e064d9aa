/* SPDX-License-Identifier: MIT */
/*
 * The two text formats.
 *
 * kallsyms has a line for each symbol; the module follows a tab:
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0001000 t ext4_init_fs	[ext4]
 *
 * A perf map has a line for each symbol; addresses in hex with or without 0x, the name is the rest
 * of the line:
 *
 *	7f0012340000 40 LazyCompile:~f /a b.js:1
 */
#include "symbol/builder.h"

struct line {
	const char *p;
	const char *end;
};

/* An empty file may have no address at all. */
static struct line whole_text(struct span text)
{
	const char *p = text.n > 0 ? (const char *)text.p : "";

	return (struct line){.p = p, .end = p + text.n};
}

/* Reads the next line without its newline; false at the end. */
static bool next_line(struct line *rest, struct line *out)
{
	const char *nl;

	if (rest->p == rest->end) {
		return false;
	}
	nl = memchr(rest->p, '\n', (size_t)(rest->end - rest->p));
	*out = (struct line){.p = rest->p, .end = nl != NULL ? nl : rest->end};
	rest->p = nl != NULL ? nl + 1 : rest->end;
	return true;
}

/* Not text: a line that is far too long, or contains a NUL, which would cut the name. */
static bool is_damaged(const struct line *l)
{
	return l->end - l->p > UINT16_MAX || memchr(l->p, 0, (size_t)(l->end - l->p)) != NULL;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a hex number of 1 to 16 digits and advances past it. */
static bool take_hex(struct line *l, uint64_t *v)
{
	const char *first = l->p;

	*v = 0;
	for (; l->p < l->end; l->p++) {
		int d = hex_digit(*l->p);

		if (d < 0) {
			break;
		}
		*v = *v << 4 | (unsigned)d;
	}
	return l->p > first && l->p - first <= 16;
}

static void skip_0x(struct line *l)
{
	if (l->end - l->p > 2 && l->p[0] == '0' && (l->p[1] == 'x' || l->p[1] == 'X')) {
		l->p += 2;
	}
}

static bool take_char(struct line *l, char c)
{
	if (l->p == l->end || *l->p != c) {
		return false;
	}
	l->p++;
	return true;
}

/* Removes "\t[module]" from the end of the line; an empty span: no module. */
static struct span cut_module(struct line *l)
{
	const char *tab = memchr(l->p, '\t', (size_t)(l->end - l->p));
	struct span m = {0};

	if (tab == NULL) {
		return m;
	}
	if (l->end - tab > 3 && tab[1] == '[' && l->end[-1] == ']') {
		m = (struct span){.p = (const uint8_t *)tab + 2, .n = (size_t)(l->end - tab - 3)};
	}
	l->end = tab;
	return m;
}

/* "[bpf]" and "[__builtin__ftrace]" are not part of the kernel itself either. */
static bool is_wanted(struct span m, const char *module)
{
	size_t n = module != NULL ? strlen(module) : 0;

	return m.n == n && (n == 0 || memcmp(m.p, module, n) == 0);
}

/* As perf: text, weak, data and bss in both cases; not read-only, absolute and weak objects. */
static bool is_kept(char type)
{
	int t = type | 0x20;

	return t == 't' || t == 'w' || t == 'd' || t == 'b';
}

static bool read_kallsyms_line(struct line l, const char *module, struct raw_symbol *s, bool *bad)
{
	struct span m;
	char type;

	if (!take_hex(&l, &s->start) || !take_char(&l, ' ') || l.end - l.p < 3 || l.p[1] != ' ') {
		*bad = true;
		return false;
	}
	type = l.p[0];
	l.p += 2;
	if (!is_kept(type)) {
		return false;
	}
	m = cut_module(&l);
	if (l.p == l.end || !is_wanted(m, module)) {
		return false;
	}
	s->end = s->start;
	s->name = l.p;
	s->name_size = (uint32_t)(l.end - l.p);
	s->type = (uint8_t)type;
	s->binding = type >= 'a' ? SYMBOL_LOCAL : SYMBOL_GLOBAL;
	if ((type | 0x20) == 'w') {
		s->binding = SYMBOL_WEAK;
	}
	return true;
}

bool kallsyms_find(struct span text, const char *name, uint64_t *address)
{
	struct line rest = whole_text(text);
	size_t n = strlen(name);
	struct line l;
	uint64_t v;

	while (next_line(&rest, &l)) {
		if (take_hex(&l, &v) && l.end - l.p == (ptrdiff_t)n + 3 &&
		        memcmp(l.p + 3, name, n) == 0) {
			*address = v;
			return true;
		}
	}
	return false;
}

void builder_read_kallsyms(struct symbol_builder *b, struct span text, const char *module)
{
	struct line rest = whole_text(text);
	struct line l;

	b->last_size = SYMBOL_LAST_SIZE;
	while (next_line(&rest, &l)) {
		struct raw_symbol s = {0};
		bool bad = false;

		if (is_damaged(&l) || !read_kallsyms_line(l, module, &s, &bad)) {
			b->skipped += bad || is_damaged(&l);
			continue;
		}
		if (s.start != 0) {
			builder_add(b, &s);
		}
	}
}

static bool read_map_line(struct line l, struct raw_symbol *s)
{
	uint64_t size;

	skip_0x(&l);
	if (!take_hex(&l, &s->start) || !take_char(&l, ' ')) {
		return false;
	}
	skip_0x(&l);
	if (!take_hex(&l, &size) || !take_char(&l, ' ') || l.p == l.end) {
		return false;
	}
	if (size > UINT64_MAX - s->start) {
		return false;
	}
	/* Size 0 becomes 1 byte: nothing is known of the bytes after it. */
	s->end = s->start + size + (size == 0 && s->start != UINT64_MAX);
	s->name = l.p;
	s->name_size = (uint32_t)(l.end - l.p);
	s->binding = SYMBOL_GLOBAL;
	return true;
}

void builder_read_perf_map(struct symbol_builder *b, struct span text)
{
	struct line rest = whole_text(text);
	struct line l;

	b->sorted_by_order_only = true;
	b->demangle = false; /* these names are not mangled */
	while (next_line(&rest, &l)) {
		struct raw_symbol s = {0};

		if (is_damaged(&l) || !read_map_line(l, &s)) {
			b->skipped++;
			continue;
		}
		builder_add(b, &s);
	}
}
