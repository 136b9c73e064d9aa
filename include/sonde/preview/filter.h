/* SPDX-License-Identifier: MIT */
/* Which samples count. Preview: may change in any release. */
#ifndef SONDE_PREVIEW_FILTER_H
#define SONDE_PREVIEW_FILTER_H

#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Lists are separated by commas; a list of names may be "file://PATH", one name a line. NULL takes
 * all. The texts must live while the filter is in use.
 */
struct sonde_filter {
	const char *comms; /* names of threads */
	const char *dsos; /* objects of the sampled address: path or last part of it */
	const char
	        *symbols; /* functions of the sampled address; 0x...: an address, or its function */
	const char *pids;
	const char *tids;
	const char *cpus; /* 0,2-3 */
	/*
	 * "START,END" in seconds of the recording's clock, either may be left out, several
	 * separated by blanks; or shares of the time from the first to the last sample:
	 * "10%-20%,30%-40%", "10%/2" for the second tenth.
	 */
	const char *time;
};

#ifdef __cplusplus
}
#endif

#endif
