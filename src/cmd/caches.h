/* SPDX-License-Identifier: MIT */
/* The folders of caches that the environment names; the library reads none by itself. */
#ifndef SONDE_CMD_CACHES_H
#define SONDE_CMD_CACHES_H

#include <sonde/session.h>

struct caches {
	char folder[4096];
};

/* Sets cache and home of the options; *c must live as long as the session. */
void caches_set(struct caches *c, struct sonde_session_options *o);

#endif
