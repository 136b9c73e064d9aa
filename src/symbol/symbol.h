/* SPDX-License-Identifier: MIT */
/*
 * Symbol tables: built once, then immutable, so that any number of threads can read one without
 * locks. (Demangled names are made when first needed, by compare-and-swap; callers do not notice.)
 *
 * Addresses: for ELF objects and the vdso an offset in the file (ip - map start + map pgoff); for
 * modules an offset from their start; for the kernel and perf maps the run-time address.
 */
#ifndef SONDE_SYMBOL_SYMBOL_H
#define SONDE_SYMBOL_SYMBOL_H

#include "bundle/bundle.h"
#include "core/span.h"
#include "core/status.h"
#include "core/text.h"
#include "image/image.h"

enum symbol_binding { SYMBOL_LOCAL = 0, SYMBOL_GLOBAL = 1, SYMBOL_WEAK = 2 };

/* [start, end); type is the ELF type (2: function), or the letter of kallsyms. */
struct symbol {
	uint64_t start;
	uint64_t end;
	uint32_t name; /* offset in the table's names */
	uint8_t binding;
	uint8_t type;
};

struct symbol_table;

enum symbol_object_kind {
	SYMBOL_ELF,
	SYMBOL_KERNEL,
	SYMBOL_MODULE,
	SYMBOL_VDSO,
	SYMBOL_PERF_MAP /* JIT-compiled code of one process */
};

/* Why a table has no symbols, or only those of functions that an object exports. */
enum symbol_lack {
	SYMBOL_COMPLETE = 0,
	SYMBOL_NO_FILE, /* no file of this name, none in the cache of build ids */
	SYMBOL_NOT_ELF,
	SYMBOL_UNREADABLE, /* the file exists; this user may not read it, or reading failed */
	SYMBOL_OTHER_BUILD, /* the file has another build id */
	SYMBOL_STRIPPED, /* the file has no symbol table, and no debug file was found */
	SYMBOL_OTHER_KERNEL, /* the running kernel is not the recorded one */
	SYMBOL_HIDDEN, /* kallsyms shows no addresses to this user */
	SYMBOL_NO_MAP, /* the runtime wrote no perf map */
	SYMBOL_FOREIGN_MAP, /* the perf map belongs to another user */
	SYMBOL_LACKS
};

/* Which file names of symbols were read from, by the letter that `perf report -v` shows for it. */
enum symbol_origin {
	SYMBOL_FROM_NOTHING = '!', /* there are no names */
	SYMBOL_FROM_OBJECT = 'd', /* the file that was executed */
	SYMBOL_FROM_CACHE = 'B', /* a copy by build id: ~/.debug, a bundle, a server */
	SYMBOL_FROM_DEBUG_ID = 'b', /* /usr/lib/debug/.build-id */
	SYMBOL_FROM_DEBUG_PATH = 'f', /* /usr/lib/debug/PATH.debug */
	SYMBOL_FROM_DEBUGLINK = 'l',
	SYMBOL_FROM_KALLSYMS = 'k',
	SYMBOL_FROM_VMLINUX = 'v',
	SYMBOL_FROM_PERF_MAP = 'j'
};

struct symbol_remote;

struct symbol_request {
	enum symbol_object_kind kind;
	/* File name of the mapping; "[kernel.kallsyms]"; "[module]" or its .ko file; a perf map. */
	const char *path;
	uint32_t pid; /* of a perf map, if path is not the name of the map file */
	uint64_t base; /* of a module: its run-time address, which is address 0 in the table */
	/*
	 * Of the kernel: name of the symbol that was at `base` in the recording; the kernel may
	 * have been loaded elsewhere since. NULL: unknown.
	 */
	const char *reference;
	const uint8_t *build_id;
	size_t build_id_size; /* 0: unknown */
	/* Of the kernel and modules without a build id: the running kernel can be the recorded one. */
	bool running_kernel;
	bool demangle;
	struct image_roots roots; /* folders with the files of another system */
	const char *kallsyms; /* NULL: /proc/kallsyms, if it belongs to the right kernel */
	/* ELF file of the kernel, below the roots; used instead of other symbols of the kernel itself
	 * without kallsyms, unless its build id is another one. NULL: none */
	const char *vmlinux;
	bool demangle_kernel; /* `demangle` for symbols of the kernel and of modules */
	const char *build_ids; /* folder of objects by build id, ~/.debug; NULL: none */
	const char *cache; /* folder in which the kernel's symbols, and lines of objects, are stored
	                      between runs; NULL: none */
	/*
	 * Files of the recorded machine, which are used before those of this one. What has no build
	 * id is used only from there. NULL: none.
	 */
	const struct bundle *bundle;
	struct symbol_remote *remote; /* servers to ask for missing files; NULL: none */
	unsigned jobs; /* threads that read debug information; 0: one */
};

/*
 * Loads an object's symbols. SONDE_OK with an empty table if no symbols are found. Negative
 * (SONDE_ENOMEM, ...) only if the call itself fails.
 */
int symbol_table_load(
        const struct symbol_request *req, struct symbol_table **out, struct error *err);
void symbol_table_free(struct symbol_table *t); /* accepts NULL */

/* Returns the symbol that covers an address, or NULL. */
const struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t addr);

/*
 * Returns the name for output: demangled without parameters if requested. Valid as long as t. NULL:
 * out of memory.
 */
const char *symbol_name(const struct symbol_table *t, const struct symbol *s);

/* Symbols are sorted by start and do not overlap. */
size_t symbol_table_count(const struct symbol_table *t);
const struct symbol *symbol_table_at(const struct symbol_table *t, size_t i);

/* What was missing when symbol_table_load made the table. */
enum symbol_lack symbol_table_lack(const struct symbol_table *t);

/* Where the names came from; SYMBOL_FROM_NOTHING for a table without symbols. */
enum symbol_origin symbol_table_origin(const struct symbol_table *t);

/* Number of invalid lines or entries that were skipped. */
uint64_t symbol_table_skipped(const struct symbol_table *t);

/*
 * As symbol_table_load, from bytes in memory, which need not outlive the call. module: NULL for the
 * kernel itself, else a module's name without brackets.
 */
int symbol_table_from_kallsyms(
        struct span text, const char *module, struct symbol_table **out, struct error *err);
int symbol_table_from_perf_map(struct span text, struct symbol_table **out, struct error *err);
/* debug: the separate debug file; n 0: none. */
int symbol_table_from_elf(struct span object, struct span debug, bool demangle,
        struct symbol_table **out, struct error *err);

/*
 * Appends the demangled form of a name of n bytes to out, as perf 6.1 prints it: C++ and Rust
 * without parameters, Java with them, "@plt" kept. 1; 0: the name is not mangled; SONDE_ENOMEM.
 */
int symbol_demangle(const char *name, size_t n, struct text *out);

/* Private to symbol: the same for names of Java methods only. */
int symbol_demangle_java(const char *name, size_t n, struct text *out);

#endif
