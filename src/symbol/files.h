/* SPDX-License-Identifier: MIT */
/* Finds and opens the file of an object and its separate debug file; for symbol and frame. */
#ifndef SONDE_SYMBOL_FILES_H
#define SONDE_SYMBOL_FILES_H

#include "image/image.h"
#include "symbol/remote.h"
#include "symbol/symbol.h"

/* An open ELF file. Closed when zero-initialised. */
struct symbol_file {
	struct image_file file;
	struct image_elf elf;
};

void symbol_file_close(struct symbol_file *f);

struct symbol_search {
	struct image_where where;
	const struct bundle *bundle; /* NULL: none */
	struct symbol_remote *remote; /* NULL: no servers are asked */
	char name[IMAGE_PATH_MAX]; /* name of the current candidate */
	enum symbol_lack lack; /* of the file that came closest to being the wanted one */
	enum symbol_origin origin; /* of the file that was opened last */
	bool failed; /* out of memory */
};

/* The request's texts must live as long as the search. */
void symbol_search_init(struct symbol_search *s, const struct symbol_request *req);

/*
 * Whether files of this machine may be used: not without a build id, if there is a bundle with those
 * of the recorded machine.
 */
bool symbol_search_here(const struct symbol_search *s);

/* The wanted build id; empty: unknown. */
struct span symbol_search_id(const struct symbol_search *s);

/* Whether a file was read. If not, other candidates remain, unless memory ran out. */
bool symbol_search_read(struct symbol_search *s, int rc);

/* Recorded ids may be truncated or padded: compares the common part. */
bool symbol_same_id(const struct image_build_id *a, const struct image_build_id *b);

/* Opens the first candidate of a group whose build id is the wanted one, if that is known. */
bool symbol_file_open(struct symbol_search *s, enum image_place place, struct symbol_file *f);

/* Opens the file that was executed; from then on only files of the same build are accepted. */
bool symbol_file_open_object(struct symbol_search *s, struct symbol_file *f);

/*
 * Opens the vdso; own: that of this process will do, if it has the wanted build id or that is
 * unknown.
 */
bool symbol_file_open_vdso(struct symbol_search *s, bool own, struct symbol_file *f);

/* Opens the ELF file of the kernel that a request names; false: it names none, or another kernel's. */
bool symbol_file_open_kernel(
        struct symbol_search *s, const struct symbol_request *req, struct symbol_file *f);

/* The text that symbols of the kernel and its modules, or of a perf map, are read from. */
struct symbol_text {
	struct span text;
	struct image_text file; /* its owner; closed: the bundle is */
	char name[IMAGE_PATH_MAX]; /* of a perf map in the recording */
	enum symbol_lack lack; /* if there is none */
};

/* 1; 0: there is none, or it hides all addresses; SONDE_ENOMEM. Call symbol_text_close in any case. */
int symbol_text_read(const struct symbol_request *req, struct symbol_text *out);
void symbol_text_close(struct symbol_text *t);

/* Opens the separate debug file of an object; NULL: the object was not found. */
bool symbol_file_open_debug(
        struct symbol_search *s, const struct image_elf *object, struct symbol_file *f);

#endif
