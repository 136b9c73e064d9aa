/* SPDX-License-Identifier: MIT */
/*
 * Candidate names for the file of an object and for its debug file.
 *
 *	ID as xx/rest: the first byte of the build id in hex, then the others
 *	~/.debug/.build-id/xx/rest      a link to a folder with `elf`, `kallsyms` or `vdso`, or a file
 *	/usr/lib/debug/.build-id/xx/rest.debug, then ~/.debug/.build-id/xx/rest/debug
 *	/usr/lib/debug/PATH.debug, /usr/lib/debug/PATH
 *	.gnu_debuglink NAME: DIR/NAME, DIR/.debug/NAME, /usr/lib/debug/DIR/NAME
 */
#include "image/image.h"

#include <stdio.h>

#define DEBUG_ROOT "/usr/lib/debug"
#define ID_TEXT    (2 * IMAGE_BUILD_ID_MAX + 2)

static bool id_text(const struct image_build_id *id, char out[ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	char *p = out;

	if (id->size < 2) {
		return false;
	}
	for (size_t i = 0; i < id->size; i++) {
		*p++ = digits[id->bytes[i] >> 4];
		*p++ = digits[id->bytes[i] & 15];
		if (i == 0) {
			*p++ = '/';
		}
	}
	*p = 0;
	return true;
}

static bool fits(int len, size_t n)
{
	return len > 0 && (size_t)len < n;
}

bool image_root_name(
        const struct image_roots *roots, size_t i, const char *path, char *out, size_t n)
{
	if (roots->n == 0) {
		return i == 0 && fits(snprintf(out, n, "%s", path), n);
	}
	return i < roots->n &&
	       fits(snprintf(out, n, "%s%s%s", roots->v[i], *path != '/' ? "/" : "", path), n);
}

static bool cache_name(const struct image_where *w, unsigned i, char *out, size_t n)
{
	static const char *const leaves[] = {"/elf", "/kallsyms", "/vdso", ""};
	char id[ID_TEXT];

	if (w->build_ids == NULL || i >= sizeof(leaves) / sizeof(leaves[0]) ||
	        !id_text(&w->id, id)) {
		return false;
	}
	return fits(snprintf(out, n, "%s/.build-id/%s%s", w->build_ids, id, leaves[i]), n);
}

/* As image_root_name, for a path of two parts. */
static bool joined_name(const struct image_where *w, size_t root, const char *folder,
        const char *rest, char *out, size_t n)
{
	char path[IMAGE_PATH_MAX];

	return fits(snprintf(path, sizeof(path), "%s%s", folder, rest), sizeof(path)) &&
	       image_root_name(&w->roots, root, path, out, n);
}

bool image_place_name(
        const struct image_where *w, enum image_place place, unsigned i, char *out, size_t n)
{
	char id[ID_TEXT], rest[ID_TEXT + sizeof("/.build-id/.debug")];
	char path[IMAGE_PATH_MAX];

	switch (place) {
	case IMAGE_PLACE_PATH: return image_root_name(&w->roots, i, w->path, out, n);
	case IMAGE_PLACE_CACHE: return cache_name(w, i, out, n);
	case IMAGE_PLACE_DEBUG_ID:
		if (!id_text(&w->id, id)) {
			return false;
		}
		if (i > 0 && i >= w->roots.n) {
			return i == (w->roots.n > 0 ? w->roots.n : 1) && w->build_ids != NULL &&
			       fits(snprintf(out, n, "%s/.build-id/%s/debug", w->build_ids, id), n);
		}
		(void)snprintf(rest, sizeof(rest), "/.build-id/%s.debug", id);
		return joined_name(w, i, DEBUG_ROOT, rest, out, n);
	case IMAGE_PLACE_DEBUG_PATH:
		return fits(snprintf(path, sizeof(path), "%s%s", w->path,
		                    i % 2 == 0 ? ".debug" : ""),
		               sizeof(path)) &&
		       joined_name(w, i / 2, DEBUG_ROOT, path, out, n);
	}
	return false;
}

bool image_debuglink_name(
        const struct image_where *w, const char *link, unsigned i, char *out, size_t n)
{
	static const struct {
		const char *before, *after; /* of the object's folder */
	} names[] = {{"", "/"}, {"", "/.debug/"}, {DEBUG_ROOT, "/"}};
	const unsigned nnames = sizeof(names) / sizeof(names[0]);
	const char *slash = strrchr(w->path, '/');
	int dir = slash != NULL ? (int)(slash - w->path) : 0;
	char path[IMAGE_PATH_MAX];

	return fits(snprintf(path, sizeof(path), "%s%.*s%s%s", names[i % nnames].before, dir,
	                    w->path, names[i % nnames].after, link),
	               sizeof(path)) &&
	       image_root_name(&w->roots, i / nnames, path, out, n);
}
