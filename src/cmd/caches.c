/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"

#include <stdio.h>
#include <stdlib.h>

const char *temp_dir(void)
{
	return getenv("TMPDIR");
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
	o->temp_dir = temp_dir();
}
