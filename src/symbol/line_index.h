/* SPDX-License-Identifier: MIT */
/*
 * Private to symbol: the lines and inlined functions of all addresses of an object, in one block of
 * bytes that is the same in memory and on disk. The format is in line_index.c. Any number of threads
 * may search an open index.
 */
#ifndef SONDE_SYMBOL_LINE_INDEX_H
#define SONDE_SYMBOL_LINE_INDEX_H

#include "image/image.h"
#include "symbol/lines.h"

#define LINE_INDEX_NAME 64 /* bytes of a file's name */

/* What a stored index belongs to; no padding. */
struct line_index_key {
	uint64_t size; /* of the files with the debug information */
	uint32_t id_size;
	uint8_t id[20]; /* build id */
};

/* From its start to that of the next row. */
struct line_row {
	uint32_t node; /* innermost function */
	uint32_t file; /* offset in texts; 0: the line is unknown */
	uint32_t line;
};

/* A function at some addresses, and where it was inlined. Node 0 is an unknown function. */
struct line_node {
	uint32_t function; /* offset in texts; 0: unknown */
	uint32_t file, line; /* of its call, if it was inlined */
	uint32_t parent; /* the function that it was inlined into; 0: it was not inlined */
};

/* Views of one block of bytes. Empty when zero-initialised. */
struct line_index {
	const uint64_t *starts; /* rising */
	const struct line_row *rows;
	const struct line_node *nodes; /* a parent precedes its children */
	const char *texts;
	size_t nrows, nnodes, ntexts;
	void *memory; /* allocated, or NULL if it is in the file */
	struct image_file file;
};

void line_index_close(struct line_index *x);

/*
 * Allocates a block for an index, with room for its parts, which the caller fills through the
 * pointers that are const elsewhere. SONDE_ELIMIT: too large. Then line_index_seal.
 */
struct line_parts {
	uint64_t *starts;
	struct line_row *rows;
	struct line_node *nodes;
	char *texts;
	size_t nrows, nnodes, ntexts;
	uint8_t *block;
	size_t size;
};

int line_parts_new(struct line_parts *p, size_t nrows, size_t nnodes, size_t ntexts);

/* Leaves room for fewer rows: the parts after them move. */
void line_parts_fit(struct line_parts *p, size_t nrows);

/* Completes the header; the index owns the block. */
void line_index_seal(
        struct line_parts *p, const struct line_index_key *key, struct line_index *out);

/* SONDE_EFORMAT: another version or object, or damaged. The bytes must stay valid. */
int line_index_read(struct span bytes, const struct line_index_key *key, struct line_index *out);

/* Fills the functions at a virtual address; false: its line is not known. */
bool line_index_find(const struct line_index *x, uint64_t address, struct lines_place *out);

/* The stored index of an object; false: none, or not a valid one. */
bool line_index_load(const char *folder, const struct line_index_key *key, struct line_index *out);
/* A failure is ignored. */
void line_index_save(
        const char *folder, const struct line_index_key *key, const struct line_index *x);

/* A file with debug information, by its name, or by its bytes if they are not those of a file. */
struct line_source {
	const char *path;
	const char *package; /* of its split units, PROGRAM.dwp; NULL: none */
	struct span bytes; /* .p NULL: open path */
};

/*
 * Reads the debug information of a file through libdw on `jobs` threads. The index is empty if there
 * is none. SONDE_ENOMEM; SONDE_ELIMIT: it is too large for an index.
 */
int line_index_build(const struct line_source *source, unsigned jobs,
        const struct line_index_key *key, struct line_index *out);

#endif
