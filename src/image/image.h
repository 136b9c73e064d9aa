/* SPDX-License-Identifier: MIT */
/*
 * The bytes of objects: mapped files, a read-only view of ELF in memory, build ids, and candidate
 * names for the file of an object or its separate debug file.
 *
 * Use by one thread at a time; after opening, any number of threads may read.
 */
#ifndef SONDE_IMAGE_IMAGE_H
#define SONDE_IMAGE_IMAGE_H

#include "core/span.h"
#include "core/status.h"

#define IMAGE_BUILD_ID_MAX 20
#define IMAGE_PATH_MAX     4096

/* A build id; size 0: unknown. */
struct image_build_id {
	uint8_t bytes[IMAGE_BUILD_ID_MAX];
	size_t size;
};

struct image_kept;

/* A regular file mapped read-only. Closed when zero-initialised. */
struct image_file {
	struct span bytes;
	void *map;
	struct image_kept *kept; /* NULL: nothing can be kept */
	uint32_t uid; /* the owner of the file */
};

int image_file_open(struct image_file *f, const char *path, struct error *err);
void image_file_close(struct image_file *f);

/*
 * Keeps part of the bytes as they are now: to read them does not end the process if the file
 * becomes shorter; what it has lost already is zero. Any thread may call it, before it reads. Without
 * memory, or where a process may not copy its memory by a system call, the part stays mapped.
 */
void image_file_keep(const struct image_file *f, struct span part);

/* For image_file_open: notes what is kept of n bytes; NULL: out of memory. Freed by free(). */
struct image_kept *image_kept_new(size_t n);

/*
 * For files that a process made: true if it runs in another mount namespace. Then writes the name
 * that its file `path` has here, as text of less than n bytes.
 */
bool image_live_path(uint32_t pid, const char *path, char *out, size_t n);

/* The number that a running process has in its own PID namespace; 0: unknown. */
uint32_t image_live_pid(uint32_t pid);

/*
 * A file read as a whole, including files of /proc without a size. The caller frees bytes with
 * free().
 */
struct image_text {
	uint8_t *bytes;
	size_t size;
	uint32_t uid; /* the owner of the file */
};

int image_text_read(struct image_text *t, const char *path, struct error *err);

/*
 * Reads at most n bytes from the beginning of a file, including files of /proc; returns 0 on
 * failure.
 */
size_t image_head_read(const char *path, uint8_t *out, size_t n);

/* A section; name is "" if the input's is damaged. */
struct image_section {
	const char *name;
	uint32_t type;
	uint32_t link;
	uint64_t flags;
	uint64_t addr;
	uint64_t offset;
	uint64_t size;
	uint64_t entsize;
};

/* One PT_LOAD segment. */
struct image_segment {
	uint64_t offset;
	uint64_t vaddr;
	uint64_t filesz;
	uint64_t memsz;
};

/* A view of ELF bytes, valid as long as they are. Closed when zero-initialised. */
struct image_elf {
	struct span bytes;
	struct image_section *sections;
	size_t nsections;
	struct image_segment *segments; /* only PT_LOAD */
	size_t nsegments;
	struct image_build_id build_id;
	uint16_t type;
	uint16_t machine;
	bool swap;
	bool is64;
};

/* An entry of a symbol section, with the values of the file. */
struct image_elf_symbol {
	uint64_t value;
	uint64_t size;
	uint32_t name;
	uint16_t section;
	uint8_t info;
};

/* SONDE_EFORMAT: not ELF, or unreadable headers. Other damage makes parts missing. */
int image_elf_open(struct image_elf *e, struct span bytes, struct error *err);
void image_elf_close(struct image_elf *e);

/* Returns the first section with this name, or NULL. */
const struct image_section *image_elf_section(const struct image_elf *e, const char *name);

/* Returns the section's bytes in the file; empty if it has none or they extend past the end. */
struct span image_elf_section_bytes(const struct image_elf *e, const struct image_section *s);

/* The text at an offset of a section of texts; .p is NULL if it has no end there. */
struct span image_elf_text(struct span texts, uint64_t offset);

/* Returns the first section of symbols of a type that has `least` entries or more, or NULL. */
const struct image_section *image_elf_symbols(
        const struct image_elf *e, uint32_t type, size_t least);

/* Returns the texts of a section of symbols: their names. */
struct span image_elf_names(const struct image_elf *e, const struct image_section *s);

/* Number of entries of a symbol section, and entry i (below that number). */
size_t image_elf_symbol_count(const struct image_elf *e, const struct image_section *s);
struct image_elf_symbol image_elf_symbol_at(
        const struct image_elf *e, const struct image_section *s, size_t i);

/* Converts a virtual address to a file offset by the PT_LOAD segments; false: in none of them. */
bool image_elf_offset(const struct image_elf *e, uint64_t vaddr, uint64_t *offset);

/* Finds the GNU build-id note in a span of notes; false: none. */
bool image_build_id_of_notes(struct span notes, bool swap, struct image_build_id *id);

/* Return the size of the id, 0 if there is none, or SONDE_ENOMEM. */
int image_build_id_of_file(const char *path, uint8_t id[IMAGE_BUILD_ID_MAX]);
int image_build_id_of_span(struct span bytes, uint8_t id[IMAGE_BUILD_ID_MAX]);
int image_build_id_of_kernel(uint8_t id[IMAGE_BUILD_ID_MAX]);
/*
 * Whether a recording without build ids can be of the running kernel: it has the same release
 * (uname -r), and was made on a host of this name, if it has one. NULL: it has none.
 */
bool image_is_running_kernel(const char *release, const char *host);
/* name without brackets: "ext4"; '-' in it means '_'. */
int image_build_id_of_module(const char *name, uint8_t id[IMAGE_BUILD_ID_MAX]);
int image_build_id_of_vdso(uint8_t id[IMAGE_BUILD_ID_MAX]);

/* This process's own vdso as ELF bytes; empty if there is none. Always valid. */
struct span image_vdso(void);

/* Folders that have the files of the recorded system, in the order of the search; n 0: "/". */
struct image_roots {
	const char *const *v;
	size_t n;
};

/*
 * Writes the name that the recorded system's file `path` has below root i, as text of less than n
 * bytes; false: no such root, or the name is too long.
 */
bool image_root_name(
        const struct image_roots *roots, size_t i, const char *path, char *out, size_t n);

/* Where to search. */
struct image_where {
	const char *path; /* the object's name in the recording */
	struct image_roots roots; /* for all files of the recorded system */
	const char *build_ids; /* ~/.debug; NULL: none */
	struct image_build_id id;
};

/* Groups of candidate names, in the order in which to try them. */
enum image_place {
	IMAGE_PLACE_PATH, /* the object itself */
	IMAGE_PLACE_CACHE, /* ~/.debug/.build-id/xx/rest/elf (kallsyms, vdso), or the link itself */
	/* /usr/lib/debug/.build-id/xx/rest.debug, ~/.debug/.build-id/xx/rest/debug */
	IMAGE_PLACE_DEBUG_ID,
	IMAGE_PLACE_DEBUG_PATH /* /usr/lib/debug/PATH(.debug) */
};

/*
 * Returns the i-th candidate of a group, as text of less than n bytes; false: no more. Opens
 * nothing.
 */
bool image_place_name(
        const struct image_where *w, enum image_place place, unsigned i, char *out, size_t n);

/*
 * Returns the i-th candidate for a .gnu_debuglink with the text `link`: in the same folder,
 * .debug/, /usr/lib/debug/FOLDER.
 */
bool image_debuglink_name(
        const struct image_where *w, const char *link, unsigned i, char *out, size_t n);

/* Returns the .gnu_debuglink text of an object, or NULL. */
const char *image_elf_debuglink(const struct image_elf *e);

/*
 * The ELF object in .gnu_debugdata of a stripped one: its symbol table, packed with xz, without the
 * symbols of .dynsym. Closed when zero-initialised.
 */
struct image_inner {
	struct image_elf elf;
	uint8_t *bytes;
};

/* 1; 0: there is none, it is damaged, or the build lacks liblzma; SONDE_ENOMEM. */
int image_inner_open(struct image_inner *in, const struct image_elf *e);
void image_inner_close(struct image_inner *in);

/* Unpacks xz into *out, which the caller frees; at most `most` bytes. Returns as above. */
int image_unpack_xz(struct span packed, size_t most, uint8_t **out, size_t *size);

/* Whether a file has the checksum in the .gnu_debuglink of an object. Reads the whole file. */
bool image_elf_debuglink_fits(const struct image_elf *e, struct span file);

#endif
