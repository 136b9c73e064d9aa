/* SPDX-License-Identifier: MIT */
/*
 * Bundles: a recording with the files that it needs, in one tar archive (doc/format/bundle.md). Members
 * are read where they are in the archive; nothing is extracted.
 *
 *	sonde-bundle                     a line of text with the version
 *	perf.data                        the recording; or perf.data/data, perf.data/data.0, ...,
 *	perf.data/kcore_dir/kallsyms     with copies of the kernel
 *	debug/.build-id/xx/REST/elf      objects with a build id, as in perf's cache; also `debug`,
 *	                                 `kallsyms` and `vdso`
 *	root/PATH                        files without one: objects, perf maps, jitdump files, sources
 */
#ifndef SONDE_BUNDLE_H
#define SONDE_BUNDLE_H

#include "core/span.h"
#include "core/status.h"

#define BUNDLE_MARK      "sonde-bundle"
#define BUNDLE_VERSION   1
#define BUNDLE_RECORDING "perf.data"
#define BUNDLE_OBJECTS   "debug/.build-id/"
#define BUNDLE_ROOT      "root/"
#define BUNDLE_KCORE     BUNDLE_RECORDING "/kcore_dir/"
#define BUNDLE_NAME_MAX  4096u /* bytes of a name, with its NUL */
#define BUNDLE_ID_MAX    20u /* bytes of a build id */

/* Names of what a bundle can have of an object with a build id. */
#define BUNDLE_ELF      "elf"
#define BUNDLE_DEBUG    "debug"
#define BUNDLE_KALLSYMS "kallsyms"
#define BUNDLE_VDSO     "vdso"

struct bundle;

struct bundle_member {
	const char *name;
	struct span
	        bytes; /* in the archive; shorter than in the header if the archive is cut off */
};

/* Whether bytes begin as a tar archive does. */
bool bundle_is_tar(struct span bytes);

/*
 * Reads the names of the members; the bytes must stay valid until bundle_free. An archive that is cut
 * off is used up to its end, with a diagnostic. SONDE_EFORMAT: it is no bundle, or has members that no
 * bundle has: links, devices, names with "..", the same name twice. SONDE_ELIMIT, SONDE_ENOMEM.
 */
int bundle_open(struct bundle **out, struct span bytes, struct diag_sink *diags, struct error *err);
void bundle_free(struct bundle *b); /* accepts NULL */

/* Members in order of their names. */
size_t bundle_count(const struct bundle *b);
const struct bundle_member *bundle_at(const struct bundle *b, size_t i);

/* Finds a member by its name; false: there is none, or it is empty. Functions accept a NULL bundle. */
bool bundle_find(const struct bundle *b, const char *name, struct span *out);

/* Finds a file by the path that it has on the recorded machine. */
bool bundle_file(const struct bundle *b, const char *path, struct span *out);

/*
 * Finds a part of an object by its build id. Recorded ids may be truncated or padded: the common part
 * is compared.
 */
bool bundle_object(const struct bundle *b, struct span id, const char *part, struct span *out);

/* Finds the symbols of the recorded kernel, if it has this build id; an empty id fits any. */
bool bundle_kallsyms(const struct bundle *b, struct span id, struct span *out);

/* Whether a member can have a name: it is short enough, and no part of it is empty, "." or "..". */
bool bundle_is_name(const char *name);

/*
 * Writes the name of the member for a path, whose parts "." and ".." are resolved by their text, as there
 * are no links in a bundle. False: it is too long, or leads nowhere.
 */
bool bundle_root_name(char out[BUNDLE_NAME_MAX], const char *path);

/* Writes the name of a part of an object. */
void bundle_object_name(char out[BUNDLE_NAME_MAX], struct span id, const char *part);

/* Writes an archive to a descriptor, which stays open; `written` counts bytes. */
struct bundle_writer {
	int fd;
	uint64_t written;
};

/* SONDE_EIO with errno as the cause in err. The name must be shorter than BUNDLE_NAME_MAX. */
int bundle_put(struct bundle_writer *w, const char *name, struct span bytes, struct error *err);
int bundle_put_mark(struct bundle_writer *w, struct error *err); /* the first member */
int bundle_put_end(struct bundle_writer *w, struct error *err);

#endif
