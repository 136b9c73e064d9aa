/* SPDX-License-Identifier: MIT */
/*
 * Candidate names for the file of an object and for its debug file.
 *
 *	ID as xx/rest: the first byte of the build id in hex, then the others
 *	~/.debug/.build-id/xx/rest      a link to a folder with `elf`, `kallsyms` or `vdso`, or a file
 *	/usr/lib/debug/.build-id/xx/rest.debug
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

static const char *prefix(const struct image_where *w)
{
	return w->symfs != NULL ? w->symfs : "";
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

bool image_place_name(
        const struct image_where *w, enum image_place place, unsigned i, char *out, size_t n)
{
	char id[ID_TEXT];

	switch (place) {
	case IMAGE_PLACE_PATH:
		return i == 0 && fits(snprintf(out, n, "%s%s", prefix(w), w->path), n);
	case IMAGE_PLACE_CACHE: return cache_name(w, i, out, n);
	case IMAGE_PLACE_DEBUG_ID:
		if (i != 0 || !id_text(&w->id, id)) {
			return false;
		}
		return fits(
		        snprintf(out, n, "%s%s/.build-id/%s.debug", prefix(w), DEBUG_ROOT, id), n);
	case IMAGE_PLACE_DEBUG_PATH:
		return i < 2 && fits(snprintf(out, n, "%s%s%s%s", prefix(w), DEBUG_ROOT, w->path,
		                             i == 0 ? ".debug" : ""),
		                        n);
	}
	return false;
}

bool image_debuglink_name(
        const struct image_where *w, const char *link, unsigned i, char *out, size_t n)
{
	const char *slash = strrchr(w->path, '/');
	int dir = slash != NULL ? (int)(slash - w->path) : 0;
	const char *p = prefix(w);

	switch (i) {
	case 0: return fits(snprintf(out, n, "%s%.*s/%s", p, dir, w->path, link), n);
	case 1: return fits(snprintf(out, n, "%s%.*s/.debug/%s", p, dir, w->path, link), n);
	case 2: return fits(snprintf(out, n, "%s%s%.*s/%s", p, DEBUG_ROOT, dir, w->path, link), n);
	default: return false;
	}
}
