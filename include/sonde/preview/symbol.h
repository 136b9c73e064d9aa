/* SPDX-License-Identifier: MIT */
/*
 * Names and source lines of addresses: of an ELF object, of a running process, of a recording.
 * Preview: may change in any release.
 *
 *	struct sonde_symbols *s = sonde_symbols_new(NULL);
 *	const struct sonde_location *l;
 *	int object = sonde_symbols_add_object(s, "/bin/true");
 *
 *	if (object >= 0 && sonde_symbols_find(s, object, addresses, n, &l) >= 0) {
 *		... l[i].symbol, l[i].functions[0].line ...
 *	}
 *	sonde_symbols_free(s);
 */
#ifndef SONDE_PREVIEW_SYMBOL_H
#define SONDE_PREVIEW_SYMBOL_H

#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function at an address. */
struct sonde_source {
	const char *function; /* NULL: unknown */
	const char *file; /* path; NULL: unknown */
	uint32_t line; /* from 1; 0: unknown */
};

/* What is known about an address. */
struct sonde_location {
	uint64_t address; /* as the caller passed it */
	const char
	        *object; /* path, or such as "[kernel.kallsyms]"; NULL: nothing is mapped there */
	uint64_t object_address; /* virtual address in an ELF object, as in its disassembly; of the
	                            kernel, perf maps and unmapped memory the same as address */
	const char *symbol; /* from the symbol table; NULL: unknown */
	uint64_t symbol_offset; /* bytes from the symbol's start */
	/*
	 * The functions at the address, the innermost first: each but the last was inlined into the
	 * next one, and has the line of its code there; the next one has the line of the call. From
	 * debug information, but the last one is named by the symbol if there is one. Code that no symbol
	 * covers, such as padding, has the name of the function before it, as in addr2line. 0:
	 * nothing is known.
	 */
	const struct sonde_source *functions;
	size_t nfunctions;
};

struct sonde_symbols_options {
	size_t size; /* sizeof(struct sonde_symbols_options) of the caller */
	unsigned jobs; /* threads that read debug information; 0: one for each processor */
	bool no_demangle; /* names as in the object, not as in the source */
	/* As in struct sonde_session_options; copied. */
	const char *cache; /* folder for line indexes and the kernel's symbols; NULL: none */
	const char *home; /* debug files are also looked for in its `.debug`; NULL: no */
};

/* Objects and processes with their symbols. One thread at a time may use it. */
struct sonde_symbols;

/* options may be NULL. Returns NULL if memory runs out. */
SONDE_API struct sonde_symbols *sonde_symbols_new(const struct sonde_symbols_options *options);
SONDE_API void sonde_symbols_free(struct sonde_symbols *s); /* accepts NULL */

/* The last failure; never NULL. */
SONDE_API const struct sonde_error *sonde_symbols_error(const struct sonde_symbols *s);

/*
 * Adds an ELF object, whose addresses are those of its disassembly. Its symbols are read when they
 * are first needed, its separate debug file is found by build id or .gnu_debuglink. Returns its
 * number for sonde_symbols_find; SONDE_ENOENT, SONDE_EIO: the file cannot be read;
 * SONDE_EFORMAT: it is not ELF; SONDE_EARG: wrong options; SONDE_ENOMEM.
 */
SONDE_API int sonde_symbols_add_object(struct sonde_symbols *s, const char *path);

/*
 * Adds a running process with what is mapped in it now: add it again after it has mapped more.
 * Files are opened as the process sees them; code of a runtime is named by its perf map, addresses
 * of the kernel by /proc/kallsyms, but not those of modules. Returns its number for
 * sonde_symbols_find; SONDE_ENOENT: there is no such process, or its mappings may not be read;
 * SONDE_EARG: wrong options; SONDE_ENOMEM.
 */
SONDE_API int sonde_symbols_add_process(struct sonde_symbols *s, uint32_t pid);

/*
 * Finds n addresses of an object or process at once. Sets *out to n locations, in the order of the
 * addresses, valid until the next call for s. 0; SONDE_EARG: there is no such number;
 * SONDE_ENOMEM. What cannot be read leaves its addresses without names.
 */
SONDE_API int sonde_symbols_find(struct sonde_symbols *s, int number, const uint64_t *addresses,
        size_t n, const struct sonde_location **out);

/*
 * The same for a process of a recording, as it was at `time` (ns on the recording's clock), with
 * the options of the session. Addresses with the highest bit are those of the kernel. The locations
 * are valid until the next call for s. 0; SONDE_EARG: the session is not open; SONDE_ENOMEM.
 */
SONDE_API int sonde_session_locate(struct sonde_session *s, uint32_t pid, uint64_t time,
        const uint64_t *addresses, size_t n, const struct sonde_location **out);

#ifdef __cplusplus
}
#endif

#endif
