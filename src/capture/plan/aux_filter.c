/* SPDX-License-Identifier: MIT */
/*
 * Address filters, as perf-record(1) describes them:
 *
 *	FILTERS = FILTER {(" " | ",") FILTER}
 *	FILTER  = ACTION PLACE ["/" SIZE] ["@" FILE]
 *	ACTION  = filter | start | stop | tracestop
 *	PLACE   = NUMBER | SYMBOL [NTH] | "*"       with blanks around a symbol
 *	SIZE    = NUMBER | SYMBOL [NTH]             up to the end of that symbol
 *	NTH     = "#" N (in order of addresses) | "#0" | "#g" | "#G" (a global one)
 *
 * Without a file, addresses are the kernel's, else offsets in the file. The kernel accepts:
 *
 *	(filter | start | stop) START ["/" SIZE] ["@" FILE] {"," ...}
 *
 * where stop with a size is the user's tracestop.
 */
#define _GNU_SOURCE
#include "capture/plan/aux.h"
#include "core/array.h"
#include "core/span.h"
#include "image/image.h"
#include "proc/proc.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SYMBOL_FUNC    2 /* ELF's type in the low bits of info */
#define SYMBOL_IFUNC   10
#define BIND_LOCAL     0
#define VERSION_HIDDEN 0x8000u /* in .gnu.version */
#define PAGE           4096u
#define NAME_MAX_      256

struct action {
	const char *word, *kernel;
	bool region; /* a region, which needs a size */
};

static const struct action actions[] = {
        {"filter", "filter", true},
        {"start", "start", false},
        {"stop", "stop", false},
        {"tracestop", "stop", true},
};

/* A location or an end as the user wrote it. */
struct word {
	bool number, all;
	uint64_t value;
	char name[NAME_MAX_];
	bool global;
	unsigned nth; /* 0: any, if there is only one */
};

struct filter {
	const struct action *action;
	struct word start, end;
	bool sized;
	char file[PATH_MAX]; /* "": the kernel */
};

struct symbol {
	uint64_t at, size; /* offset in the file, or address */
	bool local;
	char name[NAME_MAX_];
};

/* Symbols with one name, or all symbols, to compute sizes. */
struct symbols {
	struct symbol *v;
	size_t n, cap;
	uint64_t first, end; /* range of all symbols */
};

static bool add_symbol(struct symbols *s, uint64_t at, uint64_t size, bool local, const char *name)
{
	struct symbol *v;

	if (!array_reserve(&s->v, &s->cap, s->n + 1, sizeof(*s->v))) {
		return false;
	}
	v = &s->v[s->n++];
	*v = (struct symbol){.at = at, .size = size, .local = local};
	(void)snprintf(v->name, sizeof(v->name), "%s", name);
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a;
	const struct symbol *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * Sorts symbols; keeps one of several at the same address; a missing size extends to the next
 * symbol.
 */
static void settle(struct symbols *s)
{
	size_t i, n = 0;

	if (s->n == 0) {
		return;
	}
	qsort(s->v, s->n, sizeof(*s->v), by_address);
	for (i = 0; i < s->n; i++) {
		if (n == 0 || s->v[n - 1].at != s->v[i].at ||
		        strcmp(s->v[n - 1].name, s->v[i].name) != 0) {
			s->v[n++] = s->v[i];
		} else {
			s->v[n - 1].local &= s->v[i].local;
		}
	}
	s->n = n;
	for (i = 0; i < n; i++) {
		size_t next = i + 1;

		while (next < n && s->v[next].at == s->v[i].at) {
			next++;
		}
		if (s->v[i].size == 0) {
			/* the last one has no known end: like perf, assume at least a page */
			s->v[i].size = next < n ? s->v[next].at - s->v[i].at
			                        : (s->v[i].at + PAGE - 1) / PAGE * PAGE + PAGE -
			                                  s->v[i].at;
		}
	}
}

/* A symbol of a library for old programs only: "memcpy@GLIBC_2.2.5". */
static bool is_old_version(const struct image_elf *elf, struct span versions, size_t i)
{
	return i * 2 + 2 <= versions.n &&
	       (load_u16(versions.p + i * 2, elf->swap) & VERSION_HIDDEN) != 0;
}

static int file_symbols(struct symbols *s, const char *path, struct error *err)
{
	struct image_file file = {0};
	struct image_elf elf = {0};
	const struct image_section *section, *names;
	struct span text, versions = {0};
	size_t i, n;
	int rc = image_file_open(&file, path, err);

	if (rc < 0) {
		return rc;
	}
	s->end = file.bytes.n;
	rc = image_elf_open(&elf, file.bytes, err);
	section = rc < 0 ? NULL : image_elf_section(&elf, ".symtab");
	if (rc >= 0 && section == NULL) {
		section = image_elf_section(&elf, ".dynsym");
		names = image_elf_section(&elf, ".gnu.version");
		versions = names != NULL ? image_elf_section_bytes(&elf, names) : versions;
	}
	n = section != NULL && section->link < elf.nsections ? image_elf_symbol_count(&elf, section)
	                                                     : 0;
	names = n > 0 ? &elf.sections[section->link] : NULL;
	text = names != NULL ? image_elf_section_bytes(&elf, names) : (struct span){0};
	for (i = 0; rc >= 0 && i < n; i++) {
		struct image_elf_symbol v = image_elf_symbol_at(&elf, section, i);
		unsigned type = v.info & 15;
		uint64_t at;

		if ((type != SYMBOL_FUNC && type != SYMBOL_IFUNC) || v.section == 0 ||
		        is_old_version(&elf, versions, i) || v.name >= text.n ||
		        memchr(text.p + v.name, 0, text.n - v.name) == NULL ||
		        !image_elf_offset(&elf, v.value, &at)) {
			continue;
		}
		if (!add_symbol(s, at, v.size, v.info >> 4 == BIND_LOCAL,
		            (const char *)text.p + v.name)) {
			rc = error_nomem(err);
		}
	}
	image_elf_close(&elf);
	image_file_close(&file);
	return rc;
}

/* Parses /proc/kallsyms, lines: ADDRESS TYPE NAME [MODULE]; lower-case types are local. */
static int kernel_symbols(struct symbols *s, int root, struct error *err)
{
	FILE *f = proc_open_stream(root, "proc/kallsyms");
	char line[512], name[NAME_MAX_], type;
	unsigned long long at;
	int rc = 0;

	if (f == NULL) {
		return error_set(err, SONDE_EPERM, NO_OFFSET, "cannot read /proc/kallsyms");
	}
	while (rc == 0 && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%llx %c %255s", &at, &type, name) != 3 || at == 0 ||
		        strchr("tTwW", type) == NULL) {
			continue;
		}
		if (!add_symbol(s, at, 0, islower((unsigned char)type), name)) {
			rc = error_nomem(err);
		}
	}
	(void)fclose(f);
	return rc;
}

static int load(struct symbols *s, const struct filter *f, int root, struct error *err)
{
	TRY(f->file[0] != '\0' ? file_symbols(s, f->file, err) : kernel_symbols(s, root, err));
	settle(s);
	if (f->file[0] == '\0' && s->n > 0) {
		s->first = s->v[0].at;
		s->end = s->v[s->n - 1].at + s->v[s->n - 1].size;
	}
	return 0;
}

static void ambiguous(const struct symbols *s, const char *name, struct error *err)
{
	struct text list = {0};
	unsigned nth = 0;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (strcmp(s->v[i].name, name) != 0) {
			continue;
		}
		text_printf(&list, "\n#%u\t0x%llx\t%c\t%s", ++nth, (unsigned long long)s->v[i].at,
		        s->v[i].local ? 'l' : 'g', name);
		if (i + 1 < s->n) {
			text_printf(&list, "\n\t\twhich is near\t\t%s", s->v[i + 1].name);
		}
	}
	(void)error_set(err, SONDE_EARG, NO_OFFSET,
	        "Multiple symbols with name '%s'%.*s\nname one with #n behind it, such as '%s "
	        "#%u', or the global one with #g",
	        name, (int)(list.n < 600 ? list.n : 600), list.p != NULL ? list.p : "", name, nth);
	text_fini(&list);
}

/* NULL: no symbol, or more than one; see err. */
static const struct symbol *find(const struct symbols *s, const struct word *w, struct error *err)
{
	const struct symbol *first = NULL;
	unsigned found = 0;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (strcmp(s->v[i].name, w->name) != 0 || (w->global && s->v[i].local)) {
			continue;
		}
		found++;
		if (first == NULL && (w->nth == 0 || found == w->nth)) {
			first = &s->v[i];
		}
	}
	if (first == NULL && w->nth != 0 && found > 0) {
		(void)error_set(err, SONDE_EARG, NO_OFFSET,
		        "there are only %u symbols '%s', not %u", found, w->name, w->nth);
	} else if (first == NULL) {
		(void)error_set(err, SONDE_EARG, NO_OFFSET,
		        "%s '%s' not found; only functions can be named",
		        w->global ? "Global symbol" : "Symbol", w->name);
	} else if (w->nth == 0 && found > 1) {
		ambiguous(s, w->name, err);
		return NULL;
	}
	return first;
}

static const char *skip(const char *p, bool commas)
{
	while (isspace((unsigned char)*p) || (commas && *p == ',')) {
		p++;
	}
	return p;
}

/* Parses a number, a symbol or "*"; NULL: none of them. */
static const char *take_word(const char *p, struct word *w)
{
	size_t n;
	char *end;

	p = skip(p, false);
	if (isdigit((unsigned char)*p)) {
		w->number = true;
		w->value = strtoull(p, &end, 0);
		return end;
	}
	n = strcspn(p, " \t");
	if (n == 0 || n >= sizeof(w->name) || *p == '@' || *p == '/') {
		return NULL;
	}
	memcpy(w->name, p, n);
	w->all = n == 1 && *p == '*';
	p = skip(p + n, false);
	if (*p != '#') {
		return p;
	}
	p++;
	if (*p == 'g' || *p == 'G') {
		w->global = true;
		return p + 1;
	}
	if (!isdigit((unsigned char)*p)) {
		return NULL;
	}
	w->nth = (unsigned)strtoul(p, &end, 10);
	w->global = w->nth == 0;
	return end;
}

/* NULL: invalid. */
static const char *take_filter(const char *p, struct filter *f)
{
	size_t i, n = strcspn(p, " \t");
	char name[PATH_MAX];

	*f = (struct filter){0};
	for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (bytes_are(p, n, actions[i].word)) {
			f->action = &actions[i];
		}
	}
	if (f->action == NULL || (p = take_word(p + n, &f->start)) == NULL) {
		return NULL;
	}
	p = skip(p, false);
	if (*p == '/') {
		f->sized = true;
		p = take_word(p + 1, &f->end);
		if (p == NULL || f->end.all) {
			return NULL;
		}
		p = skip(p, false);
	}
	if (*p != '@') {
		return p;
	}
	p = skip(p + 1, false);
	n = strcspn(p, " \t,");
	if (n == 0 || n >= sizeof(name)) {
		return NULL;
	}
	memcpy(name, p, n);
	name[n] = '\0';
	if (realpath(name, f->file) == NULL) {
		(void)snprintf(f->file, sizeof(f->file), "%s", name);
	}
	return p + n;
}

static int resolve(struct filter *f, const struct symbols *s, struct error *err)
{
	const struct symbol *symbol;

	if (f->start.all) {
		f->start.value = s->first;
		f->end.value = s->end - s->first;
	} else if (!f->start.number) {
		symbol = find(s, &f->start, err);
		if (symbol == NULL) {
			return SONDE_EARG;
		}
		f->start.value = symbol->at;
		if (!f->sized) {
			f->end.value = symbol->size;
		}
	}
	if (f->sized && !f->end.number) {
		symbol = find(s, &f->end, err);
		if (symbol == NULL) {
			return SONDE_EARG;
		}
		if (symbol->at < f->start.value) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "Symbol '%s' (0x%llx) comes before '%s' (0x%llx)", f->end.name,
			        (unsigned long long)symbol->at, f->start.name,
			        (unsigned long long)f->start.value);
		}
		f->end.value = symbol->at + symbol->size - f->start.value;
	}
	if (f->action->region && f->end.value == 0) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "a region that begins at a number needs a size: %s 0x%llx / SIZE",
		        f->action->word, (unsigned long long)f->start.value);
	}
	return 0;
}

static int put_filter(struct filter *f, int root, struct text *out, struct error *err)
{
	struct symbols s = {0};
	int rc = 0;

	if (!f->start.number || (f->sized && !f->end.number)) {
		rc = load(&s, f, root, err);
	}
	rc = rc < 0 ? rc : resolve(f, &s, err);
	free(s.v);
	if (rc < 0) {
		return rc;
	}
	text_printf(out, "%s%s 0x%llx", out->n > 0 ? "," : "", f->action->kernel,
	        (unsigned long long)f->start.value);
	if (f->action->region || f->sized) {
		text_printf(out, "/0x%llx", (unsigned long long)f->end.value);
	}
	if (f->file[0] != '\0') {
		text_char(out, '@');
		text_str(out, f->file);
	}
	return 0;
}

int capture_aux_filter(int root, const char *text, struct text *out, struct error *err)
{
	const char *p = skip(text, true);
	struct filter f;

	do {
		p = take_filter(p, &f);
		if (p == NULL) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "Failed to parse address filter: '%s'\nit is made of: "
			        "filter|start|stop|tracestop <start symbol or address> [/ <end "
			        "symbol or size>] [@<file name>]; several are separated by space "
			        "or comma",
			        text);
		}
		TRY(put_filter(&f, root, out, err));
		p = skip(p, true);
	} while (*p != '\0');
	text_char(out, '\0');
	return out->failed ? error_nomem(err) : 0;
}
