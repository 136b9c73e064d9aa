/* SPDX-License-Identifier: MIT */
/* BPF programs that are loaded while it records: events that tell of them have rings of their own. */
#ifndef SONDE_CAPTURE_BPF_H
#define SONDE_CAPTURE_BPF_H

#include "host/bpf.h"

struct sonde_record;
struct capture_ring;

struct capture_bpf {
	struct host_bpf known;
	struct capture_ring *rings; /* of the events that tell of new programs */
	int *fds; /* by ring: what to poll */
	size_t nrings;
};

int capture_bpf_open(struct sonde_record *r);
void capture_bpf_close(struct sonde_record *r); /* also when it was never opened */

/* Asks for the programs that the rings tell of. */
void capture_bpf_look(struct sonde_record *r);

#endif
