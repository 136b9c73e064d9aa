/* SPDX-License-Identifier: MIT */
/* Threads that read rings into files of their own (--threads): data.0, data.1, ... */
#ifndef SONDE_CAPTURE_SINK_STREAM_H
#define SONDE_CAPTURE_SINK_STREAM_H

#include "capture/rings/rings.h"

struct capture_stream;

struct capture_streams {
	struct capture_stream *v; /* NULL: no threads */
	size_t n;
	size_t over; /* threads whose tasks have all ended; atomic */
	int news_fd; /* raised by a thread: its tasks have all ended, or max_bytes is reached */
	int stop_fd; /* ends the threads */
	int failed_fd; /* borrowed: raised by a thread that failed */
	uint64_t before; /* bytes in the main file when they started */
	const struct capture_rings *rings; /* borrowed; its options and its error, too */
};

#define CAPTURE_NO_STREAMS ((struct capture_streams){.news_fd = -1, .stop_fd = -1})

/* Which rings each thread reads, from options.threads; nothing to do without it. SONDE_EARG. */
int capture_streams_plan(struct capture_streams *all, const struct capture_rings *rings);

/* Opens the files in a folder, and lets the threads read until capture_streams_stop. */
int capture_streams_start(
        struct capture_streams *all, const char *folder, uint64_t before, int failed_fd);

/* Ends the threads when they have taken what is left in the rings; the first failure. */
int capture_streams_stop(struct capture_streams *all, uint64_t *wakeups);

/* Completes the files, and adds what is in them. */
int capture_streams_finish(struct capture_streams *all, struct sonde_recorder_result *result);

/* After a failure: leaves whole records only. */
void capture_streams_salvage(struct capture_streams *all, struct sonde_recorder_result *result);

/* Bytes so far; while threads run this is a glance. */
uint64_t capture_streams_written(const struct capture_streams *all);
void capture_streams_free(struct capture_streams *all);

#endif
