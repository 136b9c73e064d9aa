/* SPDX-License-Identifier: MIT */
/* BPF programs: what the kernel says about those that were there while it was recorded. */
#ifndef SONDE_CAPTURE_BPF_H
#define SONDE_CAPTURE_BPF_H

#include "core/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_BPF_INFO 232u /* bytes of a program's information that perf 6.1 knows */

struct sonde_record;
struct capture_ring;

struct capture_bpf_program {
	uint32_t id;
	uint32_t info_size; /* bytes that the kernel filled */
	uint8_t info[CAPTURE_BPF_INFO]; /* its pointers are offsets into data */
	uint8_t *data;
	size_t size; /* bytes, a multiple of 8 */
};

struct capture_bpf_types {
	uint32_t id, size;
	uint8_t *data;
};

struct capture_bpf {
	struct capture_bpf_program *programs;
	size_t n, cap;
	struct capture_bpf_types *types;
	size_t ntypes, types_cap;
	struct capture_ring *rings; /* of the events that tell of new programs */
	int *fds; /* by ring: what to poll */
	size_t nrings;
};

int capture_bpf_open(struct sonde_record *r);
void capture_bpf_close(struct sonde_record *r); /* also when it was never opened */

/* Records of the programs that are there. */
void capture_bpf_synth(struct sonde_record *r, struct text *out);

/* Asks for the programs that the rings tell of. */
void capture_bpf_look(struct sonde_record *r);

bool capture_bpf_put_programs(const struct sonde_record *r, struct text *out);
bool capture_bpf_put_types(const struct sonde_record *r, struct text *out);

#endif
