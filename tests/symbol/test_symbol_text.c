/* SPDX-License-Identifier: MIT */
/* Kallsyms and perf maps from fixture text. */
#include "symbol/symbol.h"

#include "core/text.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
                               "ffffffff81001000 t local_one\n"
                               "ffffffff81002000 T first\n"
                               "ffffffff81002000 t second\n"
                               "ffffffff81003000 R skipped\n"
                               "ffffffff81004000 D data\n"
                               "not a line\n"
                               "ffffffff81005000 W weak\n"
                               "ffffffffa0000000 t in_module\t[mm]\n"
                               "ffffffffa0000100 t in_module2\t[mm]\n"
                               "ffffffffa0001000 t other\t[mm2]\n";

static const char *name_at(const struct symbol_table *t, uint64_t addr)
{
	const struct symbol *s = symbol_table_find(t, addr);

	return s != NULL ? symbol_name(t, s) : NULL;
}

static struct span span_of(const char *text)
{
	return (struct span){.p = (const uint8_t *)text, .n = strlen(text)};
}

static void test_kernel(void)
{
	struct symbol_table *t;
	struct error err = {0};

	eq_u64(symbol_table_from_kallsyms(span_of(kallsyms), NULL, &t, &err), 0,
	        "kallsyms of a kernel are loaded");
	eq_u64(symbol_table_count(t), 5, "text, data and weak symbols are kept");
	eq_u64(symbol_table_skipped(t), 1, "a malformed line is counted");
	eq_str(name_at(t, 0xffffffff81000fff), "_stext", "a symbol extends to the next one");
	eq_str(name_at(t, 0xffffffff81002000), "second", "of two aliases the later one is chosen");
	eq_str(name_at(t, 0xffffffff81003800), "second", "read-only data is no symbol");
	eq_str(name_at(t, 0xffffffff81005fff), "weak",
	        "the last symbol, at the beginning of a page, ends with it");
	eq_str(name_at(t, 0xffffffff81006000), NULL, "the last symbol does not extend further");
	eq_str(name_at(t, 0xffffffff80ffffff), NULL,
	        "an address below the first symbol has no symbol");
	symbol_table_free(t);
}

static void test_module(void)
{
	struct symbol_table *t;
	struct error err = {0};

	eq_u64(symbol_table_from_kallsyms(span_of(kallsyms), "mm", &t, &err), 0,
	        "symbols of a module are loaded");
	eq_u64(symbol_table_count(t), 2, "a module's table has only its own symbols");
	eq_str(name_at(t, 0xffffffffa0000104), "in_module2", "a module's symbol is found");
	symbol_table_free(t);
	eq_u64(symbol_table_from_kallsyms(
	               span_of("0000000000000000 T a\n0000000000000000 t b\n"), NULL, &t, &err),
	        0, "kallsyms with hidden addresses are loaded");
	eq_u64(symbol_table_count(t), 0, "hidden addresses give no symbols");
	symbol_table_free(t);
}

/* Addresses of a module are relative to where it was loaded. */
static void test_module_base(void)
{
	char path[] = "/tmp/sonde-kallsyms-XXXXXX";
	int fd = mkstemp(path);
	struct symbol_request req = {.kind = SYMBOL_MODULE,
	        .path = "/lib/modules/6.1/kernel/mm.ko.xz",
	        .kallsyms = path,
	        .base = 0xffffffffa0000080};
	struct symbol_table *t = NULL;
	struct error err = {0};

	ok(fd >= 0 && write(fd, kallsyms, sizeof(kallsyms) - 1) > 0, "a kallsyms file is written");
	eq_u64(symbol_table_load(&req, &t, &err), 0, "symbols of a module's file are loaded");
	eq_str(name_at(t, 0x84), "in_module2", "addresses are relative to the base of the module");
	eq_u64(symbol_table_count(t), 1, "a symbol below the base of the module is dropped");
	symbol_table_free(t);
	(void)close(fd);
	(void)unlink(path);
}

/* The kernel was loaded at another address when it was recorded: its symbols move there. */
static void test_kernel_moved(void)
{
	static const char low[] = "0000000000001000 D per_cpu\n";
	char path[] = "/tmp/sonde-kallsyms-XXXXXX";
	int fd = mkstemp(path);
	struct symbol_request req = {.kind = SYMBOL_KERNEL,
	        .path = "[kernel.kallsyms]",
	        .kallsyms = path,
	        .base = 0xffffffffb4200000,
	        .reference = "_stext"};
	struct symbol_table *t = NULL;
	struct error err = {0};

	ok(fd >= 0 && write(fd, low, sizeof(low) - 1) > 0 &&
	                write(fd, kallsyms, sizeof(kallsyms) - 1) > 0,
	        "kallsyms of a kernel are written");
	eq_u64(symbol_table_load(&req, &t, &err), 0, "symbols of a moved kernel are loaded");
	eq_str(name_at(t, 0xffffffffb4202010), "second", "symbols move with the reference");
	symbol_table_free(t);
	req.base = 0x81000190;
	eq_u64(symbol_table_load(&req, &t, &err), 0, "symbols of a 32-bit kernel are loaded");
	eq_str(name_at(t, 0x810021a0), "second", "symbols below 4 GiB move with the reference");
	eq_str(name_at(t, 0x100001200), NULL, "a symbol that would wrap around is dropped");
	symbol_table_free(t);
	req.reference = "nothing";
	eq_u64(symbol_table_load(&req, &t, &err), 0,
	        "symbols of a kernel without the reference are loaded");
	eq_str(name_at(t, 0xffffffff81002010), "second",
	        "symbols of a kernel without the reference do not move");
	symbol_table_free(t);
	(void)close(fd);
	(void)unlink(path);
}

/* A missing file is not mapped. */
static void test_nothing(void)
{
	struct symbol_table *t = NULL;
	struct error err = {0};

	eq_u64(symbol_table_from_perf_map((struct span){NULL, 0}, &t, &err), 0,
	        "an empty perf map is loaded");
	ok(t == NULL || symbol_table_find(t, 0x1000) == NULL, "an empty perf map has no symbols");
	symbol_table_free(t);
}

static void test_perf_map(void)
{
	static const char text[] = "10000000 40 one\n0x10000020 0x40 two with blanks\n"
	                           "garbage\n10000100 10 old\n10000100 20 newer\n10000200 0 zero\n"
	                           "fffffffffffffff0 100 wraps\n20000000 8 _Z3foov";
	struct symbol_table *t;
	struct error err = {0};

	eq_u64(symbol_table_from_perf_map(span_of(text), &t, &err), 0, "a perf map is loaded");
	eq_u64(symbol_table_skipped(t), 2, "malformed lines of a perf map are counted");
	eq_str(name_at(t, 0x1000001f), "one",
	        "an address before an overlap belongs to the earlier symbol");
	eq_str(name_at(t, 0x10000020), "two with blanks",
	        "an address in an overlap belongs to the later symbol");
	eq_str(name_at(t, 0x1000011f), "newer",
	        "of two lines with the same start the later one is used");
	eq_str(name_at(t, 0x10000200), "zero", "a symbol of size 0 covers its start");
	eq_str(name_at(t, 0x10000201), NULL, "a symbol of size 0 covers one byte only");
	eq_str(name_at(t, 0x20000007), "_Z3foov",
	        "names of a perf map are not demangled, the last line needs no newline");
	symbol_table_free(t);
}

static void demangles(const char *mangled, const char *name, const char *what)
{
	struct text shown = {0};
	int rc = symbol_demangle(mangled, strlen(mangled), &shown);

	text_char(&shown, 0);
	ok(rc == (name[0] != 0) && strcmp(shown.p, name) == 0, what);
	text_fini(&shown);
}

static void test_demangle(void)
{
	demangles("_ZN3foo3barEiPc", "foo::bar", "a C++ name is demangled without parameters");
	demangles("_ZN3foo3barEi@plt", "foo::bar@plt", "a demangled name keeps its suffix @plt");
	demangles("_ZN3foo3barEv.isra.0", "foo::bar", "the suffix of a clone is not shown");
	demangles("_RNvC6_123foo3bar", "123foo::bar", "a Rust v0 name is demangled");
	demangles("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write",
	        "a legacy Rust name is demangled without its hash");
	demangles("_D3foo3barFiZv", "foo.bar(int)", "a D name is demangled with its parameters");
	demangles("_Dmain", "D main", "the main function of D is demangled");
	demangles("_D3foo3barFHiiQdQfQhQjQlQnQpQrQtQvQxQzQBbQBeQBhQBkQBnQBqQBtQBwQBzQCcQCfQCiQClQCo"
	          "QCrZv",
	        "", "a D name with very many references to types is not demangled");
	demangles("main", "", "a plain name is not demangled");
	demangles("_ZN3foo3ba", "", "a damaged name leaves no partial text");
}

/* The last symbol that begins at or below an address, found by reading all. */
static const struct symbol *find_plainly(const struct symbol_table *t, uint64_t addr)
{
	const struct symbol *found = NULL;

	for (size_t i = 0; i < symbol_table_count(t); i++) {
		const struct symbol *s = symbol_table_at(t, i);

		found = s->start <= addr ? s : found;
	}
	return found != NULL && addr < found->end ? found : NULL;
}

/* A perf map whose symbols are up to `gap` bytes apart, and sometimes very far. */
static void make_map(struct text *out, uint64_t *state, uint64_t gap)
{
	uint64_t start = 0x1000;

	for (unsigned i = 0; i < 300; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;
		start += 1 + (*state >> 33) % gap + (*state >> 60 == 0 ? (uint64_t)1 << 40 : 0);
		text_printf(out, "%" PRIx64 " %x s%u\n", start, (unsigned)(*state >> 50) % 64, i);
	}
}

static void test_search(void)
{
	static const uint64_t gaps[] = {1, 50, 5000, 1 << 20};
	uint64_t state = 1;
	bool same = true;

	for (unsigned k = 0; k < sizeof(gaps) / sizeof(gaps[0]); k++) {
		struct symbol_table *t = NULL;
		struct error err = {0};
		struct text map = {0};

		make_map(&map, &state, gaps[k]);
		(void)symbol_table_from_perf_map(
		        (struct span){(const uint8_t *)map.p, map.n}, &t, &err);
		for (size_t i = 0; t != NULL && i < symbol_table_count(t); i++) {
			uint64_t start = symbol_table_at(t, i)->start;
			uint64_t end = symbol_table_at(t, i)->end;
			uint64_t places[] = {start - 1, start, end - 1, end, end + gaps[k] / 2};

			for (unsigned n = 0; n < sizeof(places) / sizeof(places[0]); n++) {
				same = same && symbol_table_find(t, places[n]) ==
				                       find_plainly(t, places[n]);
			}
		}
		same = same && t != NULL && symbol_table_count(t) > 200 &&
		       symbol_table_find(t, UINT64_MAX) == find_plainly(t, UINT64_MAX);
		symbol_table_free(t);
		text_fini(&map);
	}
	ok(same, "symbols are found however far they are from each other");
}

int main(void)
{
	test_kernel();
	test_module();
	test_module_base();
	test_kernel_moved();
	test_perf_map();
	test_nothing();
	test_search();
	test_demangle();
	return tap_done();
}
