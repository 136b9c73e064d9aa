/* SPDX-License-Identifier: MIT */
/* BPF programs loaded during a recording: their events have separate rings. */
#ifndef SONDE_CAPTURE_RINGS_BPF_H
#define SONDE_CAPTURE_RINGS_BPF_H

#include "capture/rings/watch.h"
#include "host/bpf.h"

struct capture_rings;

struct capture_bpf {
	struct host_bpf known;
	struct capture_watch watch;
};

/*
 * Opens events on the cpus of these rings. If the kernel does not allow it the recording continues.
 */
void capture_bpf_open(struct capture_bpf *b, const struct capture_rings *r);
void capture_bpf_close(struct capture_bpf *b, const struct host_kernel *kernel);

/* Queries the kernel about the programs that the rings report. */
void capture_bpf_look(struct capture_bpf *b);

#endif
