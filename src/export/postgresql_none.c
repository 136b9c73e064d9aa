/* SPDX-License-Identifier: MIT */
#include "export/export.h"

int sonde_export_postgresql(
        struct sonde_session *s, const struct sonde_export_options *options, const char *conninfo)
{
	struct sonde_export_options o;

	(void)conninfo;
	TRY(export_options(s, options, &o));
	return error_set(session_error(s), SONDE_EUNSUPPORTED, NO_OFFSET,
	        "this build cannot write PostgreSQL databases: libpq was not there");
}
