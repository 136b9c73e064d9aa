/* SPDX-License-Identifier: MIT */
/* Folders from environment variables; the library itself reads none. */
#ifndef SONDE_CMD_CACHES_H
#define SONDE_CMD_CACHES_H

#include <sonde/session.h>

struct caches {
	char folder[4096];
};

/* Returns $TMPDIR or NULL, for the member temp_dir of options. */
const char *temp_dir(void);

/* Sets cache, home and temp_dir of the options; *c must live as long as the session. */
void caches_set(struct caches *c, struct sonde_session_options *o);

#endif
