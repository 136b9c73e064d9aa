/* SPDX-License-Identifier: MIT */
/* Threads that read rings into files of their own (--threads): data.0, data.1, ... */
#ifndef SONDE_CAPTURE_SINK_STREAM_H
#define SONDE_CAPTURE_SINK_STREAM_H

#include "capture/rings/rings.h"

struct capture_stream;

struct capture_streams {
	struct capture_stream *v; /* NULL: no threads */
	size_t n;
	size_t over; /* atomic: threads whose tasks have all ended */
	int news_fd; /* raised by a thread when its tasks have all ended, or max_bytes is reached */
	int stop_fd; /* ends the threads */
	int failed_fd; /* borrowed: raised by a thread that failed */
	uint64_t before; /* bytes in the main file at their start */
	const struct capture_rings *rings; /* borrowed; also for its options and its error */
};

#define CAPTURE_NO_STREAMS ((struct capture_streams){.news_fd = -1, .stop_fd = -1})

/* Which rings each thread reads, from options.output.threads; nothing to do without it. SONDE_EARG. */
int capture_streams_plan(struct capture_streams *all, const struct capture_rings *rings);

/* Opens the files in a directory, and starts the threads; they read until capture_streams_stop. */
int capture_streams_start(
        struct capture_streams *all, const char *folder, uint64_t before, int failed_fd);

/* Ends the threads after they have read the remaining data; returns the first failure. */
int capture_streams_stop(struct capture_streams *all, uint64_t *wakeups);

/* Completes the files, and adds their totals. */
int capture_streams_finish(struct capture_streams *all, struct sonde_recorder_result *result);

/* After a failure: keeps only complete records. */
void capture_streams_salvage(struct capture_streams *all, struct sonde_recorder_result *result);

/* Bytes so far; approximate while threads run. */
uint64_t capture_streams_written(const struct capture_streams *all);
void capture_streams_free(struct capture_streams *all);

#endif
