/* SPDX-License-Identifier: MIT */
/* When events are on: delays and ranges (-D), and commands over a descriptor (--control). */
#ifndef SONDE_CAPTURE_CONTROL_H
#define SONDE_CAPTURE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_LINE 256

struct sonde_record;

struct capture_control {
	bool delayed; /* events do not start by themselves */
	uint64_t *turns; /* ns since the start: on, off, on, ... */
	size_t nturns, turn; /* turn: the next one */
	bool ends; /* with the last turn */
	uint64_t began_ns;
	char line[CONTROL_LINE]; /* a command that is not complete */
	size_t n;
	bool closed; /* nobody will send anything any more */
};

enum capture_control_say { CONTROL_GO_ON = 0, CONTROL_STOP = 1 };

/* Reads options.delay. SONDE_EARG. */
int capture_control_plan(struct sonde_record *r);
void capture_control_begin(struct sonde_record *r); /* time starts */
void capture_control_free(struct sonde_record *r);

/* ms until the next turn; -1: there is none. */
int capture_control_timeout(const struct sonde_record *r);
/* Takes the turns that are due; enum capture_control_say, or a status. */
int capture_control_turn(struct sonde_record *r);

/* Reads and carries out commands; enum capture_control_say, or a status. */
int capture_control_read(struct sonde_record *r);

#endif
