/* SPDX-License-Identifier: MIT */
/* Folders from environment variables and the configuration; the library itself reads none. */
#ifndef SONDE_CMD_CACHES_H
#define SONDE_CMD_CACHES_H

#include <sonde/session.h>

#define CACHES_PATH 4096

struct caches {
	char folder[CACHES_PATH], build_ids[CACHES_PATH];
};

/* Returns $TMPDIR or NULL, for the member temp_dir of options. */
const char *temp_dir(void);

/* Sets the folder of objects by build id, instead of ~/.debug; NULL or "": ~/.debug. */
void caches_use_build_ids(const char *folder);

/* Writes the path of that folder; false: there is none. */
bool caches_build_ids(char path[CACHES_PATH]);

/* Sets cache, build_ids, home and temp_dir of the options; *c must live as long as the session. */
void caches_set(struct caches *c, struct sonde_session_options *o);

#endif
