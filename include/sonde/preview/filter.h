/* SPDX-License-Identifier: MIT */
/* Filters of samples. Preview: may change in any release. */
#ifndef SONDE_PREVIEW_FILTER_H
#define SONDE_PREVIEW_FILTER_H

#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A sample must be in all lists; NULL: no restriction. Items are separated by commas; a list of
 * names may be "file://PATH", with one name per line. The texts must be valid while the filter is
 * used.
 */
struct sonde_filter {
	const char *comms; /* names of threads */
	const char *dsos; /* objects of the sampled address: path, or the last component of it */
	const char
	        *symbols; /* functions; 0x...: the sampled address, or the start of its function */
	/* Bytes from each address 0x... of `symbols` that are selected too; 0: only the address. */
	uint64_t address_range;
	const char *pids;
	const char *tids;
	const char *cpus; /* 0,2-3 */
	/*
	 * "START,END" in seconds of the recording's clock; either may be omitted, and several are
	 * separated by blanks. Or shares of the time from the first to the last sample:
	 * "10%-20%,30%-40%"; "10%/2" is the second tenth.
	 */
	const char *time;
	bool relative_time; /* seconds in `time` count from the first sample */
};

#ifdef __cplusplus
}
#endif

#endif
