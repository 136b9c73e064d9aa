/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *configured; /* set once, by main */

const char *temp_dir(void)
{
	return getenv("TMPDIR");
}

void caches_use_build_ids(const char *folder)
{
	configured = folder;
}

/* As in perf, the folder /dev/null is none. */
bool caches_build_ids(char path[CACHES_PATH])
{
	const char *home = getenv("HOME");
	int n = 0;

	if (configured != NULL && configured[0] != '\0') {
		n = strcmp(configured, "/dev/null") != 0
		            ? snprintf(path, CACHES_PATH, "%s", configured)
		            : 0;
	} else if (home != NULL && home[0] != '\0') {
		n = snprintf(path, CACHES_PATH, "%s/.debug", home);
	}
	return n > 0 && n < CACHES_PATH;
}

/*
 * SONDE_CACHE names the folder; empty: no cache. The XDG Base Directory Specification requires that
 * paths which do not begin with '/' are ignored.
 */
void caches_set(struct caches *c, struct sonde_session_options *o)
{
	const char *own = getenv("SONDE_CACHE");
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int n = 0;

	if (own != NULL) {
		n = snprintf(c->folder, sizeof(c->folder), "%s", own);
	} else if (base != NULL && base[0] == '/') {
		n = snprintf(c->folder, sizeof(c->folder), "%s/sonde", base);
	} else if (home != NULL && home[0] == '/') {
		n = snprintf(c->folder, sizeof(c->folder), "%s/.cache/sonde", home);
	}
	o->cache = n > 0 && (size_t)n < sizeof(c->folder) ? c->folder : NULL;
	o->home = home;
	o->build_ids = caches_build_ids(c->build_ids) ? c->build_ids : "/dev/null";
	o->temp_dir = temp_dir();
}
