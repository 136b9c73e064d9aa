/* SPDX-License-Identifier: MIT */
/* Kallsyms and perf maps from fixture text. */
#include "symbol/symbol.h"

#include "tap.h"

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

	eq_u64(symbol_table_from_kallsyms(span_of(kallsyms), NULL, &t, &err), 0, "kernel loads");
	eq_u64(symbol_table_count(t), 5, "text, data and weak symbols");
	eq_u64(symbol_table_skipped(t), 1, "a bad line is counted");
	eq_str(name_at(t, 0xffffffff81000fff), "_stext", "a symbol reaches to the next");
	eq_str(name_at(t, 0xffffffff81002000), "second", "the later of two aliases");
	eq_str(name_at(t, 0xffffffff81003800), "second", "read-only data is not a symbol");
	eq_str(name_at(t, 0xffffffff81006fff), "weak", "the last one: its page and one more");
	eq_str(name_at(t, 0xffffffff81007000), NULL, "and no further");
	eq_str(name_at(t, 0xffffffff80ffffff), NULL, "below the first");
	symbol_table_free(t);
}

static void test_module(void)
{
	struct symbol_table *t;
	struct error err = {0};

	eq_u64(symbol_table_from_kallsyms(span_of(kallsyms), "mm", &t, &err), 0, "module loads");
	eq_u64(symbol_table_count(t), 2, "its own symbols only");
	eq_str(name_at(t, 0xffffffffa0000104), "in_module2", "a module's symbol");
	symbol_table_free(t);
	eq_u64(symbol_table_from_kallsyms(
	               span_of("0000000000000000 T a\n0000000000000000 t b\n"), NULL, &t, &err),
	        0, "hidden addresses load");
	eq_u64(symbol_table_count(t), 0, "and give no symbols");
	symbol_table_free(t);
}

/* The addresses of a module count from where it was loaded. */
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
	eq_u64(symbol_table_load(&req, &t, &err), 0, "symbols of a module's file load");
	eq_str(name_at(t, 0x84), "in_module2", "addresses count from the base of the module");
	eq_u64(symbol_table_count(t), 1, "a symbol below the base of the module is dropped");
	symbol_table_free(t);
	(void)close(fd);
	(void)unlink(path);
}

/* The kernel was loaded elsewhere when it was recorded: its symbols move there. */
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
	eq_u64(symbol_table_load(&req, &t, &err), 0, "symbols of a moved kernel load");
	eq_str(name_at(t, 0xffffffffb4202010), "second", "symbols move with the reference");
	symbol_table_free(t);
	req.base = 0x81000190;
	eq_u64(symbol_table_load(&req, &t, &err), 0, "a kernel of 32 bits loads");
	eq_str(name_at(t, 0x810021a0), "second", "symbols move below 4 GiB");
	eq_str(name_at(t, 0x100001200), NULL, "a symbol that would move the other way is dropped");
	symbol_table_free(t);
	req.reference = "nothing";
	eq_u64(symbol_table_load(&req, &t, &err), 0, "a kernel without the reference loads");
	eq_str(name_at(t, 0xffffffff81002010), "second", "and its symbols stay");
	symbol_table_free(t);
	(void)close(fd);
	(void)unlink(path);
}

/* Of a file that is not there nothing is mapped. */
static void test_nothing(void)
{
	struct symbol_table *t = NULL;
	struct error err = {0};

	eq_u64(symbol_table_from_perf_map((struct span){NULL, 0}, &t, &err), 0,
	        "an empty perf map");
	ok(t == NULL || symbol_table_find(t, 0x1000) == NULL, "has no symbols");
	symbol_table_free(t);
}

static void test_perf_map(void)
{
	static const char text[] = "10000000 40 one\n0x10000020 0x40 two with blanks\n"
	                           "garbage\n10000100 10 old\n10000100 20 newer\n10000200 0 zero\n"
	                           "fffffffffffffff0 100 wraps\n20000000 8 _Z3foov";
	struct symbol_table *t;
	struct error err = {0};

	eq_u64(symbol_table_from_perf_map(span_of(text), &t, &err), 0, "perf map loads");
	eq_u64(symbol_table_skipped(t), 2, "bad lines are counted");
	eq_str(name_at(t, 0x1000001f), "one", "before an overlap");
	eq_str(name_at(t, 0x10000020), "two with blanks", "the later one in an overlap");
	eq_str(name_at(t, 0x1000011f), "newer", "the later line for the same start");
	eq_str(name_at(t, 0x10000200), "zero", "size 0: its start");
	eq_str(name_at(t, 0x10000201), NULL, "size 0: no more");
	eq_str(name_at(t, 0x20000007), "_Z3foov", "not demangled, no newline at the end");
	symbol_table_free(t);
}

static void test_demangle(void)
{
	char *name = symbol_demangle("_ZN3foo3barEiPc");

	eq_str(name, "foo::bar", "C++ without parameters");
	free(name);
	name = symbol_demangle("_ZN3foo3barEi@plt");
	eq_str(name, "foo::bar@plt", "with a suffix");
	free(name);
	name = symbol_demangle("_RNvC6_123foo3bar");
	eq_str(name, "123foo::bar", "Rust v0");
	free(name);
	ok(symbol_demangle("main") == NULL, "a plain name");
}

int main(void)
{
	test_kernel();
	test_module();
	test_module_base();
	test_kernel_moved();
	test_perf_map();
	test_nothing();
	test_demangle();
	return tap_done();
}
