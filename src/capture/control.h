/* SPDX-License-Identifier: MIT */
/* When events are on: delays and ranges (-D), and commands over a descriptor (--control). */
#ifndef SONDE_CAPTURE_CONTROL_H
#define SONDE_CAPTURE_CONTROL_H

#include "host/control.h"

#include <stdint.h>

struct sonde_recorder;

struct capture_control {
	uint64_t *turns; /* ns since the start: on, off, on, ... */
	size_t nturns, turn; /* turn: index of the next one */
	bool ends; /* the recording ends with the last turn */
	uint64_t began_ns;
	struct host_control commands;
};

/* Reads options.control.delay. SONDE_EARG. */
int capture_control_plan(struct sonde_recorder *r);
void capture_control_begin(struct sonde_recorder *r); /* starts the time */
void capture_control_free(struct sonde_recorder *r);

/* Returns ms until the next turn; -1: none. */
int capture_control_timeout(const struct sonde_recorder *r);
/* Executes the turns that are due. Returns HOST_CONTROL_STOP after the last range, or a status. */
int capture_control_turn(struct sonde_recorder *r);

/* Reads and executes commands. Returns HOST_CONTROL_STOP, or a status. */
int capture_control_read(struct sonde_recorder *r);

#endif
