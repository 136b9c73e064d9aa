/* SPDX-License-Identifier: MIT */
/* The recording's own files: one, those of a directory, or members of another bundle. */
#include "bundler/inside.h"

#include "file/file.h"
#include "image/image.h"
#include "session/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER BUNDLE_RECORDING "/"
#define KCORE  "kcore_dir"

static int put(struct sonde_bundler *b, const char *name, struct span bytes)
{
	return bundler_put(b, name, name, bytes);
}

/* Writes a file of the directory. */
static int file_put(struct sonde_bundler *b, const char *path, const char *name)
{
	struct image_file file = {0};
	struct stat st;
	int rc;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) {
		return put(b, name, (struct span){NULL, 0});
	}
	TRY(image_file_open(&file, path, &b->error));
	rc = put(b, name, file.bytes);
	image_file_close(&file);
	return rc;
}

static bool is_wanted(const char *name, bool inside)
{
	return inside ? name[0] != '.'
	              : strcmp(name, "data") == 0 || strncmp(name, "data.", 5) == 0 ||
	                        strncmp(name, KCORE, strlen(KCORE)) == 0;
}

/* Writes the files of the directory, or of a folder in it. */
static int folder_put(struct sonde_bundler *b, const char *path, const char *name, bool inside)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int rc = 0;

	if (dir == NULL) {
		return error_errno(
		        &b->error, status_of_errno(errno), errno, "cannot read %s", path);
	}
	while (rc >= 0 && (entry = readdir(dir)) != NULL) {
		char from[BUNDLE_NAME_MAX], to[BUNDLE_NAME_MAX];
		int n = snprintf(from, sizeof(from), "%s/%s", path, entry->d_name);
		struct stat st;

		if (!is_wanted(entry->d_name, inside) || lstat(from, &st) != 0) {
			continue;
		}
		if (n < 0 || (size_t)n >= sizeof(from)) {
			rc = error_set(&b->error, SONDE_ELIMIT, NO_OFFSET,
			        "%s: the path is too long", path);
			break;
		}
		(void)snprintf(to, sizeof(to), "%s/%s", name, entry->d_name);
		if (S_ISREG(st.st_mode)) {
			rc = file_put(b, from, to);
		} else if (S_ISDIR(st.st_mode) && !inside) {
			rc = folder_put(b, from, to, true);
		}
	}
	(void)closedir(dir);
	return rc;
}

static int members_put(struct sonde_bundler *b, const struct bundle *from)
{
	for (size_t i = 0; i < bundle_count(from); i++) {
		const struct bundle_member *m = bundle_at(from, i);

		if (strcmp(m->name, BUNDLE_RECORDING) == 0 ||
		        strncmp(m->name, FOLDER, strlen(FOLDER)) == 0) {
			TRY(put(b, m->name, m->bytes));
		}
	}
	return 0;
}

int bundler_put_recording(struct sonde_bundler *b, const char *input)
{
	const struct file *f = session_file(b->session);

	if (f->bundle != NULL) {
		return members_put(b, f->bundle);
	}
	return f->directory ? folder_put(b, input, BUNDLE_RECORDING, false)
	                    : put(b, BUNDLE_RECORDING, f->bytes);
}
