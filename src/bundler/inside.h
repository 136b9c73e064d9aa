/* SPDX-License-Identifier: MIT */
/* Private to bundler. */
#ifndef SONDE_BUNDLER_INSIDE_H
#define SONDE_BUNDLER_INSIDE_H

#include "bundle/bundle.h"
#include "core/intern.h"
#include "image/image.h"
#include "session/session.h"

#include <sonde/preview/bundle.h>

/* A file that appears under its name when it is whole. Closed when zero-initialised with fd -1. */
struct bundler_output {
	int fd;
	char *path; /* NULL: the descriptor is the caller's */
	char *temporary; /* NULL: the file has no name yet */
};

/* SONDE_EARG: something else than a regular file has the name; SONDE_EOUTPUT. */
int bundler_output_open(struct bundler_output *o, const char *path, struct error *err);
/* Gives the file its name. */
int bundler_output_finish(struct bundler_output *o, struct error *err);
/* Removes a file that is not whole. */
void bundler_output_close(struct bundler_output *o);

struct sonde_bundler {
	struct sonde_bundler_options o;
	struct error error;
	int failure; /* of the options, or SONDE_EARG after the first use */
	struct sonde_session *session;
	struct bundler_output output;
	struct bundle_writer writer;
	struct intern names; /* of members */
};

/* Writes a member unless there is one of this name. */
int bundler_put(struct sonde_bundler *b, const char *path, const char *name, struct span bytes);
/* Reports a file that was not found. */
void bundler_lack(struct sonde_bundler *b, const char *path, const char *reason);

/* recording.c: the recording's own files. */
int bundler_put_recording(struct sonde_bundler *b, const char *input);
/* objects.c: what its samples need. */
int bundler_put_objects(struct sonde_bundler *b);
/*
 * parts.c: reduces an ELF object to symbols, lines, unwinding tables and code. *out: its bytes, then the
 * reduced ones in *memory, which the caller frees; unchanged, with NULL, if they cannot be reduced.
 * SONDE_ENOMEM.
 */
int bundler_parts(const struct image_elf *elf, struct span *out, uint8_t **memory);
/* sources.c: the source files of its functions. */
int bundler_put_sources(struct sonde_bundler *b);
/* Writes a file that has no build id; path: its name in messages, stored: in the recording. */
int bundler_put_root(
        struct sonde_bundler *b, const char *path, const char *stored, struct span bytes);

#endif
