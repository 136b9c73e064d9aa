/* SPDX-License-Identifier: MIT */
/*
 * Outputs that appear as a whole or not at all: a file without a name in the folder of the output gets its
 * name when it is complete, so that a process that is killed leaves nothing; in file systems without such
 * files it is a temporary file. Devices and pipes are written directly, and so are files in folders in which no
 * file can be made.
 */
#ifndef SONDE_CORE_REPLACE_H
#define SONDE_CORE_REPLACE_H

#include <stdbool.h>

/* Nothing to do for commit and abandon when zero-initialised. */
struct replace {
	char *path; /* with symbolic links resolved */
	char *temporary; /* NULL: written directly, or without a name */
	bool nameless;
	int fd; /* of a file without a name */
};

#define REPLACE_PATH_MAX 32u

/*
 * Opens the output for writing; a new file gets the permissions `mode` less the umask, one that
 * replaces another those of the other. Returns a descriptor of the caller, or -1 with errno.
 */
int replace_open(struct replace *r, const char *path, unsigned mode);

/* Where the file is until then, for those that open it again; room[REPLACE_PATH_MAX]. NULL: written directly. */
const char *replace_path(const struct replace *r, char *room);

/* Moves the complete file to its name. False with errno; abandon then removes the file. */
bool replace_commit(struct replace *r);

/* The same, but if a file has appeared there since, that stays: false with EEXIST. */
bool replace_commit_new(struct replace *r);

/* Removes the temporary file, unless it was moved, and frees *r, which is empty afterwards. */
void replace_abandon(struct replace *r);

/* Removes a folder that the caller made, with all that is in it. */
void replace_remove_folder(const char *path);

#endif
