/* SPDX-License-Identifier: MIT */
/* The target of a recording: a file, a stream, a directory; several in turn with switch_output. */
#ifndef SONDE_CAPTURE_SINK_OUTPUT_H
#define SONDE_CAPTURE_SINK_OUTPUT_H

#include "capture/log.h"
#include "capture/sink/chains.h"
#include "capture/sink/lane.h"

struct capture_output {
	bool pipe, directory;
	struct capture_lane lane; /* of the main file */
	struct capture_chains *chains; /* makes call chains, for all files; NULL: no such stage */
	uint64_t copies; /* samples in complete files that kept their copies of stacks */
	struct file_writer writer;
	int fd; /* of the main file; -1: none */
	char *name; /* of the recording; "-": standard output */
	char *path; /* of the main file */
	uint64_t began_ns; /* CLOCK_MONOTONIC, when the file was started */
	uint64_t done; /* bytes of records in complete files */
	uint64_t rounds; /* wake-ups counted in earlier files */
	char **kept; /* complete files; once all slots are in use, the oldest is at `next` */
	size_t next, nkept; /* nkept: limit; 0: none */
};

/* Creates the file, or the directory with its main file, replacing an existing one. */
int capture_output_open(struct capture_output *o, struct error *err);

/* Renames a complete file to its time, and removes the oldest one if there are too many. */
int capture_output_stamp(
        struct capture_output *o, const struct capture_log *log, struct error *err);

void capture_output_close(struct capture_output *o);

#endif
