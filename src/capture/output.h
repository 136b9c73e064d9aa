/* SPDX-License-Identifier: MIT */
/* Where a recording goes: a file, a stream, a folder; one after the other with switch_output. */
#ifndef SONDE_CAPTURE_OUTPUT_H
#define SONDE_CAPTURE_OUTPUT_H

#include "capture/sink/lane.h"

struct sonde_record;

struct capture_output {
	bool pipe, directory;
	struct capture_lane lane; /* of the main file */
	int fd; /* of the main file; -1: none */
	char *path; /* of the main file */
	uint64_t began_ns; /* CLOCK_MONOTONIC, when the file was begun */
	uint64_t done; /* bytes of records in files that are complete */
	uint64_t rounds; /* wake-ups that earlier files had */
	char **kept; /* files that are complete, the oldest at `next` once all places are in use */
	size_t next;
};

/* Opens the first file and writes what comes before records. SONDE_EIO, SONDE_EPERM, ... */
int capture_output_start(struct sonde_record *r);
void capture_output_close(struct sonde_record *r);

/* Features of a folder, before its threads write. */
int capture_output_describe(struct sonde_record *r);

/* Completes the file; quick: without reading it back. */
int capture_output_finish(struct sonde_record *r, bool quick);

/* After a failure: leaves whole records only, and features if there is room. Keeps the error. */
void capture_output_salvage(struct sonde_record *r);

/* Goes on in another file. */
int capture_output_switch(struct sonde_record *r);

/* ms until the file must be switched because of its age; -1: never. */
int capture_output_timeout(const struct sonde_record *r);
/* 1: it is time to switch; 2: all is full, stop. */
int capture_output_due(struct sonde_record *r);

#endif
