/* SPDX-License-Identifier: MIT */
/* Where a recording goes: a file, a stream, a folder; one after the other with switch_output. */
#ifndef SONDE_CAPTURE_SINK_OUTPUT_H
#define SONDE_CAPTURE_SINK_OUTPUT_H

#include "capture/log.h"
#include "capture/sink/lane.h"

struct capture_output {
	bool pipe, directory;
	struct capture_lane lane; /* of the main file */
	struct file_writer writer;
	int fd; /* of the main file; -1: none */
	char *name; /* of the recording; "-": standard output */
	char *path; /* of the main file */
	uint64_t began_ns; /* CLOCK_MONOTONIC, when the file was begun */
	uint64_t done; /* bytes of records in files that are complete */
	uint64_t rounds; /* wake-ups that earlier files had */
	char **kept; /* files that are complete, the oldest at `next` once all places are in use */
	size_t next, nkept; /* nkept: how many at most; 0: all */
};

/* Creates the file, or the folder with its main file, over what was there. */
int capture_output_open(struct capture_output *o, struct error *err);

/* Renames a complete file after the time, and removes the oldest one when there are too many. */
int capture_output_stamp(
        struct capture_output *o, const struct capture_log *log, struct error *err);

void capture_output_close(struct capture_output *o);

#endif
