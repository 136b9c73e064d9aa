/* SPDX-License-Identifier: MIT */
/* A build without SQLite. */
#include "export/export.h"

int sonde_export_sqlite(
        struct sonde_session *s, const struct sonde_export_options *options, const char *path)
{
	struct sonde_export_options o;

	(void)path;
	TRY(export_options(s, options, &o));
	return error_set(session_error(s), SONDE_EUNSUPPORTED, NO_OFFSET,
	        "this sonde was built without SQLite (libsqlite3)");
}
